"""
One decision, taken apart
=========================

Why did this row get that score? The model is a sum, so its terms are the answer: they add up to the
score exactly.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from rgboost import RGBMClassifier
from rgboost.plot import ShapeFunctionDisplay, WaterfallDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
labels = y.map({0: "malignant", 1: "benign"})
model = RGBMClassifier(random_state=0).fit(X, labels)

# %%
# A tumour that the model is not sure of. Every bar is what one feature adds to the log-odds, beside
# what it adds in the mean over all rows.

unsure = (model.predict_proba(X)[:, 0] - 0.5).__abs__().argmin()
WaterfallDisplay.from_estimator(model, X.iloc[[unsure]], label="malignant", max_features=8)
plt.show()

# %%
# Where its values lie on the curves of the three features that speak loudest.

reasons = model.explain_local(X.iloc[[unsure]]).centered()
loudest = abs(reasons.contributions[0]).argsort()[::-1][:3]
names = [reasons.names[k] for k in loudest]
display = ShapeFunctionDisplay.from_estimator(model, names)
for ax, name in zip(display.ax_.flat, names, strict=True):
    ax.axvline(X[name].iloc[unsure], color="#D55E00", linewidth=1.5)
plt.show()
