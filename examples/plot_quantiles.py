"""
A band that nine of ten labels lie in
=====================================

A mean says nothing about how far labels are from it. Quantiles do: the loss ``Quantile(0.05)`` asks
for a value with one label of twenty below it, and ``Quantile(0.95)`` for one with one above.
"""

import matplotlib.pyplot as plt
import numpy as np

from rgboost import RGBMRegressor
from rgboost.losses import Quantile

rng = np.random.default_rng(0)
hour = rng.uniform(0, 24, 6000)
spread = 4 + 16 * np.exp(-((hour - 8) ** 2) / 6) + 10 * np.exp(-((hour - 18) ** 2) / 8)
minutes = 20 + 1.2 * spread + rng.gamma(2, spread / 2)
X = hour[:, None]

# %%
# How long a way to work takes, by the hour of departure. The band is wide in the rush hours.

grid = np.linspace(0.1, 23.9, 400)[:, None]
lines = {}
for level in (0.05, 0.5, 0.95):
    model = RGBMRegressor(loss=Quantile(level), max_bins=48, max_iter=800, random_state=0)
    lines[level] = model.fit(X, minutes).predict(grid)
    print(
        f"share of labels below the {level:.2f} quantile: {(minutes < model.predict(X)).mean():.3f}"
    )

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.plot(hour, minutes, ".", color="0.8", markersize=2)
ax.fill_between(grid[:, 0], lines[0.05], lines[0.95], color="#0072B2", alpha=0.25, step="mid")
ax.step(grid[:, 0], lines[0.5], color="#0072B2", where="mid", label="half of all take longer")
ax.set(xlabel="hour of departure", ylabel="minutes", xlim=(0, 24), ylim=(0, 110))
ax.legend(loc="upper center", frameon=False)
plt.show()
