"""
Changing a curve by hand
========================

A form was wrong for some weeks, and the old people of those weeks have labels that are too high.
The model has learnt it. A model of curves can be changed where it is wrong, and nowhere else. Every
edit has a reason, and is kept in the stored file.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor


def made_rows(n, wrong):
    rng = np.random.default_rng(n)
    X = pd.DataFrame({"age": 18 + 75 * rng.beta(1.2, 2.5, n), "income": rng.lognormal(1, 0.5, n)})
    y = np.minimum(X.age, 60) / 10 + np.log(X.income) + rng.normal(0, 0.8, n)
    return X, y + 3 * (wrong & X.age.between(66, 74))


X, y = made_rows(1500, wrong=True)
X_test, y_test = made_rows(3000, wrong=False)
model = RGBMRegressor(interactions=0, random_state=0).fit(X, y)

# %%
# One edit: above 64, the curve stays where it is at 63. What that costs is the mean loss of other
# rows, before and after. It falls.

editor = model.edit()
level = editor.before("age").at([63.0])[0]
editor.set("age", level, editor.bins("age", 64, 93), reason="labels of spring were wrong")
print(editor.cost(X_test, y_test))
print(editor.model.edits_)

# %%
# Before and after; the shaded strip shows where the rows are.

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, color in (("before", "#D55E00"), ("after", "#0072B2")):
    curve = getattr(editor, name)("age")
    edges = np.clip(curve.edges, 18, 93)
    ax.stairs(curve.values, edges, baseline=None, label=name, color=color, linewidth=1.8)
strip = ax.twinx()
strip.hist(X.age, 60, color="#0072B2", alpha=0.12)
strip.set(ylim=(0, 300), yticks=[])
ax.set(xlabel="age", ylabel="added to the prediction", xlim=(18, 93))
ax.legend(loc="upper left")
plt.show()
