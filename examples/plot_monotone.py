"""
Monotone constraints
====================

A curve that is fitted for long follows the noise: it falls where it should rise. If one knows that
more income cannot mean less spending, one can say so, and the noise has no way to tell otherwise.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor

rng = np.random.default_rng(1)
X = pd.DataFrame({"income": rng.uniform(0, 10, 300), "age": rng.uniform(20, 80, 300)})
y = np.sqrt(X.income) + 0.01 * X.age + rng.normal(0, 1.5, len(X))

# %%
# Both curves of income, and the truth up to a constant.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(X.income, y - y.mean(), ".", color="0.85", markersize=4)
for name, rule in (("free", None), ("may not fall", {"income": 1})):
    model = RGBMRegressor(monotone_constraints=rule, max_iter=400, random_state=0).fit(X, y)
    curve = model.explain_global().centered()["income"]
    ax.stairs(curve.values, np.clip(curve.edges, 0, 10), label=name, baseline=None, linewidth=1.8)
line = np.linspace(0, 10, 200)
ax.plot(line, np.sqrt(line) - np.sqrt(X.income).mean(), "k--", linewidth=1, label="truth")
ax.set(xlabel="income", ylabel="added to the prediction", ylim=(-3, 3))
ax.legend(loc="upper left")
plt.show()
