"""
The selection rules side by side
================================

Types 0 to 3 of the paper draw the subset that an iteration looks at. Which weak-learner comes
out of it? The best one surely (Type 0), a good one (Types 1 and 3), or the best of one group
(Type 2).
"""

import matplotlib.pyplot as plt
import numpy as np

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import chosen_distribution

rng = np.random.default_rng(0)
scores = np.sort(rng.normal(size=40))[::-1]
groups = [list(range(k, 40, 8)) for k in range(8)]
rules = {
    "Type 0: all": AllLearners(),
    "Type 1: ten weak-learners": RandomLearners(10),
    "Type 2: one group of eight": RandomGroup(),
    "Type 3: two groups of eight": RandomGroups(2),
}

# %%
# The probability that the weak-learner of each rank is returned, the best one first.

rank = np.argsort(np.argsort(-np.abs(scores)))
figure, axes = plt.subplots(1, 4, figsize=(12, 3), sharey=True, layout="constrained")
for ax, (name, rule) in zip(axes, rules.items(), strict=True):
    probability = chosen_distribution(scores, rule, groups)
    ax.bar(rank + 1, probability, color="#0072B2")
    expected = probability @ np.abs(scores)
    ax.set(title=name, xlabel=f"rank; expected size {expected:.2f}", ylim=(0, 1.02))
axes[0].set_ylabel("probability")
plt.show()
