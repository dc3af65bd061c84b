"""
A certificate as the fit goes on
================================

The training loss falls. How far can it fall? A certificate is a rigorous bound on the optimum,
so the true distance lies between zero and what it says.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from rgboost import Stumps, boost
from rgboost.losses import Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.theory import RecordCertificates, optimal_loss

X, y = load_diabetes(return_X_y=True)
y = (y - y.mean()) / y.std()
learner = Stumps(max_bins=16)
at = np.unique(np.geomspace(1, 5000, 25).astype(int))
boosted = boost(
    X,
    y,
    loss=Squared(),
    learner=learner,
    selection=RandomGroups("sqrt"),
    step=ConstantStep(),
    n_iter=5000,
    random_state=0,
    callbacks=[RecordCertificates(at=at.tolist())],
)

# %%
# The bound is never below the truth, and close to it.

optimum = optimal_loss(X, y, Squared(), learner).loss
iterations = [iteration for iteration, _ in boosted.trace.certificates]
bounds = [found.gap for _, found in boosted.trace.certificates]
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.loglog(boosted.trace.train_loss - optimum, label="true distance to the optimum")
ax.loglog(iterations, bounds, "o", label="certified bound")
ax.set(xlabel="iterations", ylabel="training loss above the optimum")
ax.legend()
plt.show()
