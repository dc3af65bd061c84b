"""
What a readable model costs
===========================

Curves, curves with pairs of features, and trees are fitted to the same rows and judged by the same
others. A bar is one standard error of the difference to the best model, on both sides: whoever
reaches the dashed line cannot be told from the best.
"""

import numpy as np
import pandas as pd

import rgboost

rng = np.random.default_rng(0)
names = ["hour", "warmth", "wind", "day"]
X = pd.DataFrame(rng.uniform(-1, 1, size=(1500, 4)), columns=names)
y = np.sin(3 * X["hour"]) + X["warmth"] + 2 * X["hour"] * (X["day"] > 0)
y += rng.normal(0, 0.3, len(y))

found = rgboost.compare(X, y, pairs=[1, 3], cv=3)
found.plot()

# %%
# The table ends with a sentence that names the smallest model that will do.

print(found)
