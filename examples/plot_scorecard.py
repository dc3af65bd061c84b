"""
A scorecard
===========

A model of two classes as a table of points, the way that banks have used for sixty years: look up
the points of each feature, add them, and compare the sum with a limit. It is the model itself, up
to rounding to whole points.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMClassifier

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.lognormal(1.0, 0.5, 4000).round(2), "late": rng.poisson(0.7, 4000)})
X["home"] = rng.choice(["own", "rent", "other"], 4000, p=[0.5, 0.4, 0.1])
odds = 1.5 * np.log(X.income) - 0.9 * X.late + 0.8 * (X.home == "own")
y = np.where(rng.random(4000) < 1 / (1 + np.exp(-odds)), "pays", "fails")

# %%
# Few bins make a short card, and a constraint makes it one that nobody has to argue about. 600
# points are odds of 50 to 1 for paying, and 20 points more are twice the odds.

rules = {"income": 1, "late": -1}
model = RGBMClassifier(max_bins=6, interactions=0, monotone_constraints=rules, random_state=0)
card = model.fit(X, y).to_scorecard(pdo=20, odds=50, points=600, label="pays")
print(card)

# %%
# The table as a picture: points of every bin, beside the points of those who paid and who did not.

table = card.to_frame()
table = table[table.weight > 0]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
colors = np.where(table.points >= 0, "#0072B2", "#D55E00")
left.barh(np.arange(len(table)), table.points, color=colors)
left.set_yticks(np.arange(len(table)), table.term + ": " + table.bin)
left.invert_yaxis()
left.set(xlabel=f"points, beside the {card.base} that everybody has")
points = card.score(X)
bins = np.arange(points.min(), points.max() + 12, 12)
for label, color in (("pays", "#0072B2"), ("fails", "#D55E00")):
    right.hist(points[y == label], bins, alpha=0.6, color=color, label=label)
right.set(xlabel="points of a row", ylabel="rows")
right.legend()
plt.show()
