"""
Editing a curve, and how sure it is
===================================

A few very old people make the curve jump at its end. An expert knows better, changes that part, and
says why. The change is kept with the model, and costs next to nothing on other rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor
from rgboost.plot import ShapeFunctionDisplay

rng = np.random.default_rng(4)
age = np.clip(rng.gamma(9.0, 5.0, 1500), 18, 95)
X = pd.DataFrame({"age": age, "income": rng.lognormal(1.0, 0.4, 1500)})
y = np.minimum(age, 65) / 15 + np.log(X.income) + rng.normal(0, 1.5, len(X))
X_test, y_test = X[1000:], y[1000:]
model = RGBMRegressor(interactions=0, random_state=0).fit(X[:1000], y[:1000])

# %%
# The model is the mean of five runs. The band is how far they are apart: wide where rows are few.

editor = model.edit()
old = editor.bins("age", 65, 95)
editor.flatten("age", old, reason="few rows; nothing changes after 65")
print(editor.cost(X_test, y_test))
print(editor.model.edits_)

# %%
# Before and after.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for ax, one, title in zip(axes, (model, editor.model), ("before", "after"), strict=True):
    ShapeFunctionDisplay.from_estimator(one, ["age"], ax=[ax], share_y=False)
    ax.set_title(title)
plt.show()
