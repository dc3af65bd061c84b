"""
How many weak-learners should an iteration look at?
===================================================

The first figure of the paper (``loss1``). An iteration that looks at few features is cheap, and
finds a mediocre weak-learner. One that looks at all of them is dear, and finds the best. Between
the two lies what is fastest.

The paper's data are a9a: 123 columns of zeros and ones, from a census. They are read if the
environment variable ``RGBOOST_DATA`` names a folder with them, or ``rgboost reproduce a9a`` has
downloaded them before. Otherwise rows of the same kind are made.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

from rgboost import RGBMClassifier, Stumps
from rgboost.data.datasets import find, load
from rgboost.losses import Logistic
from rgboost.theory import optimal_loss


def made_rows(n=20_000):
    """Fourteen questions with some answers each, as columns of zeros and ones."""
    rng = np.random.default_rng(0)
    answers = [5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 4, 3, 2, 41]
    parts = [np.eye(k)[rng.choice(k, n, p=rng.dirichlet(np.ones(k)))] for k in answers]
    X = np.hstack(parts)
    score = X @ rng.normal(0, 1.2, X.shape[1])
    chance = 1 / (1 + np.exp(1.2 - score + score.mean()))
    return csr_matrix(X), np.where(rng.random(n) < chance, 1, -1)


data = load("a9a") if find("a9a") else None
X, y = made_rows() if data is None else (data.X, data.y)
test = np.random.default_rng(0).random(X.shape[0]) < 0.2

# %%
# The paper's settings: groups are features, t of them are drawn (Type 3), the step is constant.
# The optimum over all sums of stumps is computed, so that the figure can show distances to it.

fits = {
    t: RGBMClassifier.paper(subset_size=t, max_iter=2000, random_state=0).fit(
        X[~test], y[~test], X_val=X[test], y_val=y[test]
    )
    for t in (1, 5, 24, 60, X.shape[1])
}
best = optimal_loss(X[~test], y[~test], Logistic(1e-4), Stumps(max_bins=2)).loss

# %%
# On the left, iterations: a subset of 24 is nearly as good as all 123. On the right, the same fits
# in seconds: what is looked at costs time.

figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharex="col", sharey="row", layout="constrained")
for t, model in fits.items():
    trace = model.trace_
    for column, x in enumerate((trace.iteration, trace.seconds)):
        axes[0, column].semilogy(x, trace.train_loss - best, label=f"t = {t}")
        axes[1, column].plot(x, trace.validation_loss)
axes[0, 0].set(ylabel="training loss above the optimum")
axes[1, 0].set(ylabel="test loss", xlabel="iterations")
axes[1, 1].set(xlabel="seconds", xlim=(0, 0.6 * max(m.trace_.seconds[-1] for m in fits.values())))
axes[0, 0].legend()
plt.show()
