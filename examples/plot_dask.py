"""
A cluster, and a worker that is lost
====================================

Rows lie in partitions on three workers of a Dask cluster. In the middle of the fit one of them
goes, with all that it held. Its partitions are computed again by the others, and the model is the
same, to the last bit: sums are added in an order that does not depend on who computed them.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster, get_task_stream

from rgboost.dask import DaskRGBMClassifier

rng = da.random.default_rng(0)
X = rng.normal(size=(24_000, 6), chunks=(2_000, 6))
y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.logistic(size=24_000, chunks=2_000) > 0

options = dict(dashboard_address="127.0.0.1:0", silence_logs="error")
cluster = LocalCluster(n_workers=3, threads_per_worker=1, processes=False, **options)
client = Client(cluster)
model = DaskRGBMClassifier(interactions=0, random_state=0, max_iter=600)
undisturbed = model.fit(X, y).to_local()

# %%
# The same fit once more. A callback closes a worker after 150 iterations.

lost = []


def lose_a_worker(progress):
    if progress.iteration >= 150 and not lost:
        worker = next(iter(cluster.workers.values()))
        lost.append(worker.address)
        client.sync(worker.close)


with get_task_stream(client) as stream:
    disturbed = model.set_params(callbacks=[lose_a_worker]).fit(X, y).to_local()
some = X[:1000].compute()
same = disturbed.decision_function(some) == undisturbed.decision_function(some)
print("the same bits:", bool(same.all()))
client.close()
cluster.close()

# %%
# What the workers did, one bar for each task. Where the lost one ends, the others take over.

colors = {"bins": "#0072B2", "survey": "#56B4E9", "sums": "#E69F00", "gram": "#D55E00"}
names = sorted({task["worker"] for task in stream.data}, key=lambda name: name != lost[0])
begin = min(part["start"] for task in stream.data for part in task["startstops"])
figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
for task in stream.data:
    kind = next((kind for kind in colors if f"rgboost-{kind}" in str(task["key"])), None)
    for part in task["startstops"]:
        if part["action"] == "compute":
            row, seconds = names.index(task["worker"]), part["stop"] - part["start"]
            ax.barh(row, seconds, 0.7, part["start"] - begin, color=colors.get(kind, "0.8"))
for kind, color in colors.items():
    ax.barh(0, 0, color=color, label=kind)
ax.set(xlabel="seconds", yticks=range(3), yticklabels=["lost worker", "worker 2", "worker 3"])
ax.legend(ncols=4, frameon=False, loc="lower left", bbox_to_anchor=(0, 1))
plt.show()
