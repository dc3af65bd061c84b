"""
Curves alone, and curves with pairs
===================================

Bicycles are hired at eight and at five on working days, and at noon on the others. A sum of
curves cannot say that: it has one curve of the hour. A pair of features can.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay

rng = np.random.default_rng(0)
days = pd.DataFrame(
    {
        "hour": rng.integers(0, 24, 6000),
        "workingday": rng.choice(["no", "yes"], 6000, p=[0.3, 0.7]),
        "temperature": rng.normal(15, 8, 6000),
    }
)
commuters = 250 * (np.exp(-((days.hour - 8) ** 2) / 3) + np.exp(-((days.hour - 17) ** 2) / 5))
strollers = 220 * np.exp(-((days.hour - 13) ** 2) / 18)
hired = np.where(days.workingday == "yes", commuters, strollers)
riders = hired + 4 * days.temperature + rng.normal(0, 25, 6000)
X_train, X_test, y_train, y_test = train_test_split(days, riders, random_state=0)

# %%
# Two models of the same rows. The second one is the default: pairs enter if rows that were held
# out gain.

curves = RGBMRegressor(interactions=0, random_state=0).fit(X_train, y_train)
pairs = RGBMRegressor(random_state=0).fit(X_train, y_train)
for name, model in (("curves", curves), ("curves and pairs", pairs)):
    print(f"R² of {name}: {model.score(X_test, y_test):.3f}")

# %%
# The heat map shows what the pair adds to both curves. As slices it is a curve for each kind of
# day, with what the two features do by themselves.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
InteractionDisplay.from_estimator(pairs, ("hour", "workingday"), ax=axes[0])
InteractionDisplay.from_estimator(
    pairs, ("hour", "workingday"), kind="slices", with_curves=True, ax=axes[1]
)
plt.show()
