"""
A loss of your own
==================

Value, residual (the negative derivative) and smoothness are enough. Here: being too low costs
three times as much as being too high, smoothly, as when a shelf runs empty.
"""

import matplotlib.pyplot as plt
import numpy as np

from rgboost import RGBMRegressor
from rgboost.losses import Loss


class Shortage(Loss):
    """(y - f)²/2, three times that where y > f."""

    smoothness = 3.0

    def value(self, y, f):
        return np.where(y > f, 1.5, 0.5) * (y - f) ** 2

    def residual(self, y, f):
        return np.where(y > f, 3.0, 1.0) * (y - f)


rng = np.random.default_rng(0)
X = rng.uniform(0, 10, (1500, 1))
demand = 5 + 3 * np.sin(X[:, 0]) + rng.normal(0, 0.4 + 0.15 * X[:, 0])

# %%
# The model with this loss stays above the mean, the more so where demand varies more.

grid = np.linspace(0, 10, 300)[:, None]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(X, demand, ".", color="0.75", markersize=3)
for name, loss in (("squared", "squared"), ("shortage", Shortage())):
    model = RGBMRegressor(loss=loss, max_iter=2000, max_bins=64, random_state=0).fit(X, demand)
    ax.plot(grid, model.predict(grid), label=name)
ax.set(xlabel="x", ylabel="demand")
ax.legend()
plt.show()
