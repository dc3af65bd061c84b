"""Draw map.png: what latitude and longitude together say of the prices of houses in California.

scikit-learn downloads the data (`fetch_california_housing`).
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import fetch_california_housing

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay

X, y = fetch_california_housing(return_X_y=True, as_frame=True)
model = RGBMRegressor(interactions=10, random_state=0).fit(X, y)
display = InteractionDisplay.from_estimator(
    model, ("Latitude", "Longitude"), with_curves=True, along="Longitude"
)
display.figure_.savefig(Path(__file__).with_name("map.png"), dpi=90)
