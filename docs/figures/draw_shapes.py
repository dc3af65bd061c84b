"""Draw shapes.png: the step functions that the README's example shows."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_diabetes

from rgboost import RGBMRegressor
from rgboost.plot import ShapeFunctionDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = RGBMRegressor(random_state=0).fit(X, y)
display = ShapeFunctionDisplay.from_estimator(model, ["bmi", "s5", "bp"])
display.figure_.savefig(Path(__file__).with_name("shapes.png"), dpi=110)
