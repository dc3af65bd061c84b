"""
Curves, pairs and trees
=======================

Three targets of the same features: a sum of waves, a product of two features, and one that takes
three at once. A model can only be as good as its terms. Look at held-out rows before you give up a
model that can be read.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from rgboost import RGBMRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, (4000, 6)), columns=list("abcdef"))
targets = {
    "sin a + sin b + sin c": np.sin(3 * X.a) + np.sin(3 * X.b) + np.sin(3 * X.c),
    "a · b + sin c": 3 * X.a * X.b + np.sin(3 * X.c),
    "sign of a · b · c + sin c": np.sign(X.a * X.b * X.c) + np.sin(3 * X.c),
}
models = {
    "curves": RGBMRegressor(interactions=0, random_state=0),
    "curves and pairs": RGBMRegressor(random_state=0),
    "trees": RGBMRegressor(learner="trees", random_state=0),
}

# %%
# Of each target as much is noise: no model can explain more than nine tenths of the variance.

found = pd.DataFrame(index=list(targets), columns=list(models), dtype=float)
for target, y in targets.items():
    noisy = y + rng.normal(0, y.std() / 3, len(y))
    X_train, X_test, y_train, y_test = train_test_split(X, noisy, random_state=0)
    for name, model in models.items():
        found.loc[target, name] = model.fit(X_train, y_train).score(X_test, y_test)
print(found.round(3))

# %%
# Curves are best where they suffice, and can be read. Only trees see three features at once.

ax = found.plot.bar(rot=0, figsize=(8, 4), width=0.75, color=["#0072B2", "#56B4E9", "#D55E00"])
ax.axhline(0.9, color="0.4", linewidth=0.8, linestyle="--")
ax.annotate("all that can be explained", (-0.45, 0.91), color="0.4", fontsize="small")
ax.set(ylabel="R² of held-out rows", ylim=(min(0, found.min().min()), 1.05))
ax.legend(loc="lower left", ncols=3, frameon=False, bbox_to_anchor=(0, 1))
plt.show()
