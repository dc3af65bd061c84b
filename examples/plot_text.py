"""
Text as a sparse matrix
=======================

A matrix of word counts has a column per word and hardly any entries. It stays sparse: an
iteration visits the stored entries only. What comes out is readable: what each word adds to the
score.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from rgboost import RGBMClassifier

rng = np.random.default_rng(0)
common = ["the", "a", "of", "and", "room", "hotel", "night", "was", "at", "breakfast", "staff"]
good = ["friendly", "clean", "quiet", "lovely", "excellent", "comfortable"]
bad = ["dirty", "noisy", "rude", "broken", "cold", "smelly"]
names = [f"street{k}" for k in range(500)]
happy = rng.random(1500) < 0.6
reviews = [
    " ".join(
        np.r_[
            rng.choice(common, 12),
            rng.choice(names, 2),
            rng.choice(good if liked else bad, 2),
            rng.choice(bad if liked else good, rng.integers(0, 2)),
        ]
    )
    for liked in happy
]

# %%
# 1,500 reviews, more than 500 words.

vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(reviews)
model = RGBMClassifier(random_state=0).fit(counts, np.where(happy, "good", "bad"))
print(
    counts.shape,
    f"{counts.nnz:,} entries",
    f"accuracy {model.score(counts, np.where(happy, 'good', 'bad')):.3f}",
)

# %%
# What a word adds to the log-odds of "good" when it appears.

words = vectorizer.get_feature_names_out()
ones, zeros = np.eye(len(words)), np.zeros((1, len(words)))
effect = model.decision_function(ones) - model.decision_function(zeros)
order = np.argsort(effect)
shown = np.r_[order[:6], order[-6:]]
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.barh(words[shown], effect[shown], color=np.where(effect[shown] > 0, "#0072B2", "#D55E00"))
ax.set_xlabel('added to the log-odds of "good"')
plt.show()
