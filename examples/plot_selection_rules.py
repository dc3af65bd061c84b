"""
The selection rules side by side
================================

Types 0 to 3 of the paper draw the subset that an iteration looks at. Which weak-learner comes out
of it? The best one surely (Type 0), a good one (Types 1 and 3), or the best of one group (Type 2).
"""

import matplotlib.pyplot as plt
import numpy as np

from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import chosen_distribution

rng = np.random.default_rng(0)
scores = np.sort(np.abs(rng.normal(size=40)))[::-1]
groups = [list(range(k, 40, 8)) for k in range(8)]
rules = {
    "Type 0: all": AllLearners(),
    "Type 1: ten weak-learners": RandomLearners(10),
    "Type 2: one group of eight": RandomGroup(),
    "Type 3: two groups of eight": RandomGroups(2),
}

# %%
# Bars: the probability that the weak-learner of each rank comes out, the best one first. Line: how
# much each of them would gain. The dot is what the rule gains in the mean: its norm.

figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, layout="constrained")
rank = np.arange(1, 41)
for ax, (name, rule) in zip(axes.flat, rules.items(), strict=True):
    probability = chosen_distribution(scores, rule, groups)
    ax.bar(rank, probability, color="#0072B2", width=0.85)
    ax.set(title=name, ylabel="probability", xlim=(0, 41))
    gain, norm = ax.twinx(), probability @ scores
    gain.plot(rank, scores, color="#D55E00", linewidth=1.2)
    gain.plot(np.interp(-norm, -scores, rank), norm, "o", color="#D55E00")
    gain.annotate(f"{norm:.2f} in the mean", (16, 0.85 * scores[0]), color="#D55E00")
    gain.set(ylim=(0, 1.05 * scores[0]), ylabel="gain")
for ax in axes[1]:
    ax.set_xlabel("rank of the weak-learner")
plt.show()
