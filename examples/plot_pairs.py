"""
Curves alone, and curves with pairs: bike sharing
=================================================

Bicycles are hired at eight and at five on working days, and at noon on the others. A sum of curves
cannot say that: it has one curve of the hour. A pair of features can.

The rows are those of the bike sharing data of Washington, D.C., if the environment variable
``RGBOOST_DATA`` names a folder with ``bike_sharing/hour.csv.xz``. Otherwise rows with the same
columns are made.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay


def made_rides(n=8000):
    rng = np.random.default_rng(0)
    rides = pd.DataFrame(
        {
            "season": rng.integers(1, 5, n),
            "hr": rng.integers(0, 24, n),
            "workingday": rng.choice(2, n, p=[0.3, 0.7]),
            "weathersit": rng.choice(3, n, p=[0.66, 0.26, 0.08]) + 1,
            "temp": rng.beta(4, 4, n).round(2),
            "hum": rng.beta(5, 3, n).round(2),
        }
    )
    to_work = np.exp(-((rides.hr - 8) ** 2) / 3) + np.exp(-((rides.hr - 17) ** 2) / 5)
    at_noon = np.exp(-((rides.hr - 13) ** 2) / 18)
    rhythm = np.where(rides.workingday == 1, 500 * to_work, 450 * at_noon)
    wanted = rhythm * (0.3 + rides.temp) * (1.3 - 0.3 * rides.weathersit) + 30
    return rides.assign(cnt=rng.poisson(wanted * rng.gamma(20, 1 / 20, n)))


path = Path(os.environ.get("RGBOOST_DATA", ".")) / "bike_sharing" / "hour.csv.xz"
rides = pd.read_csv(path) if path.exists() else made_rides()
X = rides.drop(columns=["cnt", "instant", "dteday", "casual", "registered"], errors="ignore")
X["workingday"] = X.workingday.map({0: "no", 1: "yes"})
X_train, X_test, y_train, y_test = train_test_split(X, rides.cnt, random_state=0)

# %%
# Two models of the same rows. The second one is the default: pairs enter if rows that were held
# out gain by them.

curves = RGBMRegressor(interactions=0, random_state=0).fit(X_train, y_train)
pairs = RGBMRegressor(random_state=0).fit(X_train, y_train)
for name, model in (("curves", curves), ("curves and pairs", pairs)):
    print(f"R² of {name}: {model.score(X_test, y_test):.3f}")
print("The strongest pair:", next(iter(pairs.pair_scores_)))

# %%
# The heat map shows what the pair adds to both curves. As slices it is a curve for each kind of
# day, with what the two features do by themselves.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
pair = ("hr", "workingday")
InteractionDisplay.from_estimator(pairs, pair, along="hr", ax=axes[0])
InteractionDisplay.from_estimator(
    pairs, pair, along="hr", kind="slices", with_curves=True, ax=axes[1]
)
plt.show()
