"""
The model as SQL, in DuckDB
===========================

A sum of look-ups is something that a database can do by itself. ``to_sql`` writes one SELECT with
the whole model in it: no Python where the rows are, and the same predictions.
"""

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rgboost import RGBMRegressor

rng = np.random.default_rng(0)
calls = pd.DataFrame({"id": range(50_000), "hour": rng.integers(0, 24, 50_000)})
calls["day"] = rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], 50_000)
weekend = calls.day.isin(["Sat", "Sun"])
busy = np.exp(-((calls.hour - np.where(weekend, 14, 10)) ** 2) / np.where(weekend, 30, 12))
minutes = 2 + 20 * busy + rng.gamma(2, 1, 50_000)

features = ["hour", "day"]
model = RGBMRegressor(random_state=0).fit(calls.loc[:9999, features], minutes[:10_000])
query = model.to_sql("calls", dialect="duckdb", columns=["id", "hour", "day"])
print(f"{len(query):,} characters, which end with", *query.splitlines()[-12:], sep="\n")

# %%
# The database predicts, and goes on with the predictions as with any other column.

connection = duckdb.connect()
connection.register("calls", calls)
found = connection.execute(query + " ORDER BY id").df()
print("largest difference:", abs(found.prediction - model.predict(calls[features])).max())
mean = connection.execute(
    f"SELECT day, hour, avg(prediction) AS minutes FROM ({query}) GROUP BY ALL ORDER BY ALL"
).df()
connection.close()

# %%
# How long people wait, as the database tells it.

week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
grid = mean.pivot(index="day", columns="hour", values="minutes").loc[week]
figure, ax = plt.subplots(figsize=(9, 3.4), layout="constrained")
image = ax.imshow(grid, aspect="auto", cmap="Blues", origin="upper")
ax.set(xlabel="hour", xticks=range(0, 24, 3), yticks=range(7), yticklabels=week)
figure.colorbar(image, label="minutes of waiting")
plt.show()
