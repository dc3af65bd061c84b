"""
How many weak-learners should an iteration look at?
===================================================

The first figure of the paper. An iteration that looks at few groups is cheap and finds a
mediocre weak-learner; one that looks at all is dear and finds the best. The training loss after
so many *looks* shows the trade: a medium number wins.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from rgboost import Stumps, boost
from rgboost.losses import Logistic
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.theory import optimal_loss

X, labels = load_breast_cancer(return_X_y=True)
y = np.where(labels == 1, 1.0, -1.0)
loss, learner = Logistic(1e-3), Stumps(max_bins=20)
optimum = optimal_loss(X, y, loss, learner).loss

# %%
# A group is a feature. The mean of three seeds, for five sizes of the subset.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for t in (1, 3, 6, 15, 30):
    losses = [
        boost(
            X,
            y,
            loss=loss,
            learner=learner,
            selection=RandomGroups(t),
            step=ConstantStep(),
            n_iter=3000,
            random_state=seed,
        ).trace.train_loss
        for seed in range(3)
    ]
    gap = np.mean(losses, axis=0) - optimum
    axes[0].semilogy(gap, label=f"t = {t}")
    axes[1].semilogy(t * np.arange(len(gap)), gap, label=f"t = {t}")
axes[0].set(xlabel="iterations", ylabel="training loss above the optimum")
axes[1].set(xlabel="features looked at", xlim=(0, 9000))
axes[0].legend()
plt.show()
