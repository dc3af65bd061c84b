"""
Latitude and longitude together
===============================

Where a house stands is two numbers, and neither says much alone. The pair of both is a map.

The houses are those of California, if the environment variable ``RGBOOST_DATA`` names a folder with
``california_housing/cal_housing.csv.xz``. Otherwise towns along a coast are made.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay


def made_houses(n=9000):
    rng = np.random.default_rng(0)
    towns = rng.uniform(-1, 1, (8, 2))
    near_a_town = towns[rng.integers(0, 8, n // 2)] + rng.normal(0, 0.15, (n // 2, 2))
    places = np.vstack([rng.uniform(-1, 1, (n - n // 2, 2)), near_a_town]).round(2)
    houses = pd.DataFrame(places, columns=["longitude", "latitude"])
    houses["rooms"] = rng.integers(1, 8, n)
    shore = houses.latitude + houses.longitude + 0.25 * np.sin(4 * houses.longitude)
    houses, shore = houses[shore > 0], shore[shore > 0]  # the rest is sea
    price = 3 * np.exp(-4 * shore) + 0.3 * houses.rooms
    return houses, price + rng.normal(0, 0.3, len(houses))


path = Path(os.environ.get("RGBOOST_DATA", ".")) / "california_housing" / "cal_housing.csv.xz"
if path.exists():
    houses = pd.read_csv(path)
    price = houses.pop("medianHouseValue") / 100_000
else:
    houses, price = made_houses()

model = RGBMRegressor(random_state=0).fit(houses, price)
print("The three strongest pairs:", list(model.pair_scores_)[:3])

# %%
# On the left the pair by itself, on the right with both curves: what the place says in all. Colours
# are faint where no house is near; the strips at the sides show where the houses are.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, with_curves in zip(axes, (False, True), strict=True):
    InteractionDisplay.from_estimator(
        model, ("longitude", "latitude"), along="longitude", with_curves=with_curves, ax=ax
    )
plt.show()
