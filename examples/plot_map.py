"""
Latitude and longitude together
===============================

Where a house stands is two numbers, and neither says much alone. The pair of both is a map.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay

rng = np.random.default_rng(0)
towns = rng.uniform(-1, 1, (6, 2))
places = np.vstack(
    [
        rng.uniform(-1, 1, (2000, 2)),
        towns[rng.integers(0, 6, 4000)] + rng.normal(0, 0.12, (4000, 2)),
    ]
)
houses = pd.DataFrame(places, columns=["longitude", "latitude"])
houses["rooms"] = rng.integers(1, 8, len(houses))
coast = np.exp(-5 * np.abs(houses.latitude + houses.longitude))
price = 3 * coast + 0.3 * houses.rooms + rng.normal(0, 0.3, len(houses))

model = RGBMRegressor(random_state=0).fit(houses, price)
print(model.term_names_)

# %%
# On the left the pair by itself, on the right with both curves: what the place says in all. The
# coast runs from the upper left to the lower right.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
pair = ("longitude", "latitude")
for ax, with_curves in zip(axes, (False, True), strict=True):
    InteractionDisplay.from_estimator(
        model, pair, along="longitude", with_curves=with_curves, ax=ax
    )
plt.show()
