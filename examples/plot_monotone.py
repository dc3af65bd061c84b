"""
Monotone constraints
====================

Few rows and much noise bend curves where they should not bend. If one knows that more income
cannot mean less spending, one can say so.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.uniform(0, 10, 400), "age": rng.uniform(20, 80, 400)})
truth = np.sqrt(X.income)
y = truth + 0.01 * X.age + rng.normal(0, 0.8, len(X))

free = RGBMRegressor(random_state=0).fit(X, y)
rising = RGBMRegressor(monotone_constraints={"income": 1}, random_state=0).fit(X, y)

# %%
# Both curves of income, and the truth up to a constant.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, model in (("free", free), ("may not fall", rising)):
    curve = model.explain_global().centered()["income"]
    ax.stairs(curve.values, np.clip(curve.edges, 0, 10), label=name, baseline=None, linewidth=1.6)
line = np.linspace(0, 10, 200)
ax.plot(line, np.sqrt(line) - truth.mean(), "k--", linewidth=1, label="truth")
ax.set(xlabel="income", ylabel="added to the prediction")
ax.legend()
plt.show()
