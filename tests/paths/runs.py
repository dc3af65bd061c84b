"""What is fitted and written down: a run of `boost`, an estimator, coordinate descent.

Names that may change are at the top, and only what is public is imported.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut

from rgboost import RGBMClassifier, RGBMRegressor, boost, random_then_greedy
from rgboost.callbacks import Checkpoint
from rgboost.learners import Stumps
from rgboost.losses import Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training import Validation

from .data import GROUPS, N_FEATURES, N_HELD, N_TRAIN, Rows, made_rows

DIRECT, GRAM, QUADRATIC_ENGINE = "direct", "gram", "quadratic"
MEMORY = 10**8
"""Bytes of Gram rows: not what the machine has left."""
SEED = 7


@dataclass(frozen=True)
class Run:
    """One call of `boost`; two, if it stops after ``resume_at`` iterations and goes on."""

    loss: Any = field(default_factory=Squared)
    selection: Any = field(default_factory=lambda: RandomGroups(3))
    step: Any = field(default_factory=ConstantStep)
    engine: str = DIRECT
    learner: Any = field(default_factory=lambda: Stumps(max_bins=24))
    data: str = "numbers"
    labels: str = "real"
    n_iter: int = 100
    learning_rate: float = 0.3
    start_score: float | None = None
    groups: Any = None
    weighted: bool = False
    offset: bool = False
    held: bool = False
    n_features: int = N_FEATURES
    memory: int = MEMORY
    tol: float = 1e-8
    resume_at: int | None = None

    def rows(self):
        return made_rows(self.data, self.labels, n_features=self.n_features)

    def boost(self, n_jobs, **more):
        X, y, weight, offset = self.rows()
        train, rest = slice(0, N_TRAIN), slice(N_TRAIN, None)
        given = {"weight": weight[train]} if self.weighted else {}
        held = {"weight": weight[rest]} if self.weighted else {}
        if self.offset:
            given["offset"], held["offset"] = offset[train], offset[rest]
        if self.held:
            given["validation"] = Validation(X[rest], y[rest], **held)
        settings = dict(
            loss=self.loss, learner=self.learner, selection=self.selection, step=self.step,
            n_iter=self.n_iter, learning_rate=self.learning_rate, start_score=self.start_score,
            groups=self.groups, random_state=SEED, n_jobs=n_jobs, engine=self.engine,
            gram_memory=self.memory, tol=self.tol,
        )  # fmt: skip
        return boost(X[train], y[train], **given, **{**settings, **more})

    def path(self, n_jobs=1):
        first, state = {}, None
        if self.resume_at is not None:
            begun = self.boost(n_jobs, n_iter=self.resume_at, keep_state=True)
            first, state = {"first piece": begun.trace.train_loss}, begun.state
        boosted = self.boost(n_jobs, resume=state)
        scores = boosted.model.score(self.rows().X[:N_TRAIN])
        return first | of_trace(boosted.trace) | {"scores": sums(scores)}

    def final_loss(self, n_jobs=1):
        trace = self.boost(n_jobs).trace
        return {"loss": trace.train_loss[-1], "rounds": len(trace)}


@dataclass(frozen=True)
class Estimated:
    """One fit of an estimator; two, if it stops after ``resume_at`` iterations and another one goes
    on from the checkpoint."""

    settings: dict[str, Any]
    data: str = "numbers"
    labels: str = "real"
    weighted: bool = False
    offset: bool = False
    held: bool = False
    n: int = N_TRAIN + N_HELD
    copies: int = 1
    """More than one: every fold is a copy of all rows. Rows held out have the loss of training rows
    then, and runs go on to the optimum."""
    resume_at: int | None = None

    def rows(self):
        again = np.tile(np.arange(self.n), self.copies)
        return Rows(*(part[again] for part in made_rows(self.data, self.labels, self.n)))

    def fitted(self, n_jobs, resume=None, **more):
        """(the estimator, the rows that it was fitted to)."""
        rows = self.rows()
        n_train = len(rows.y) - N_HELD if self.held else len(rows.y)
        train = Rows(*(part[:n_train] for part in rows))
        rest = Rows(*(part[n_train:] for part in rows))
        fit = {"resume": resume}
        if self.weighted:
            fit["sample_weight"] = train.weight
        if self.offset:
            fit["offset"] = train.offset
        if self.held:
            fit |= {"X_val": rest.X, "y_val": rest.y}
            fit |= {"sample_weight_val": rest.weight} if self.weighted else {}
        settings = dict(random_state=SEED, gram_memory=MEMORY, n_jobs=n_jobs, interactions=0)
        settings |= self.settings
        if self.copies > 1:
            settings["cv"] = LeaveOneGroupOut()
            fit["groups"] = np.repeat(np.arange(self.copies), self.n)
        model = estimator(self.labels)(**{**settings, **more})
        return model.fit(train.X, train.y, **fit), train

    def path(self, n_jobs=1):
        if self.resume_at is None:
            first, (model, train) = {}, self.fitted(n_jobs)
        else:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "run.npz"
                begun, _ = self.fitted(
                    n_jobs, max_iter=self.resume_at, callbacks=[Checkpoint(file)]
                )
                first = {"first piece": begun.trace_.train_loss}
                model, train = self.fitted(n_jobs, resume=file)
        return first | of_trace(model.trace_) | {"scores": sums(model.model_.score(train.X))}

    def final_loss(self, n_jobs=1):
        """The loss of the model on the rows that it was fitted to; the trace of a mean has the mean
        of the losses of its runs."""
        model, train = self.fitted(n_jobs)
        score = model.model_.score(train.X) + (train.offset if self.offset else 0.0)
        losses = model.loss_.value(train.y, score)
        loss = np.average(losses, weights=train.weight if self.weighted else None)
        return {"loss": loss, "rounds": model.n_iter_}


@dataclass(frozen=True)
class Coordinate:
    """Coordinate descent on a matrix."""

    loss: Any
    selection: Any
    step: Any
    data: str = "numbers"
    labels: str = "real"
    weighted: bool = False

    def path(self, n_jobs=1):
        X, y, weight, _ = made_rows(self.data, self.labels)
        found = random_then_greedy(
            X, y, self.loss, self.selection, self.step, 80, SEED, groups=GROUPS,
            weight=weight if self.weighted else None,
        )  # fmt: skip
        return {"train": found.trace.loss, "scores": sums(found.coef)}


@dataclass(frozen=True)
class Default:
    """An estimator at its defaults, but for the loss where that is the point."""

    load: Any = None
    """A set of scikit-learn; else rows are made."""
    data: str = "numbers"
    labels: str = "real"
    n: int = 900
    settings: dict[str, Any] = field(default_factory=dict)

    def test_loss(self, n_jobs=1):
        """The loss of every third row, fitted to the others."""
        if self.load is None:
            X, y, _, _ = made_rows(self.data, self.labels, self.n)
        else:
            X, y = self.load(return_X_y=True)
        held = np.arange(len(y)) % 3 == 1
        model = estimator(self.labels)(
            random_state=SEED, n_jobs=n_jobs, interactions=0, **self.settings
        )
        model.fit(X[~held], y[~held])
        if estimator(self.labels) is RGBMClassifier:
            chance = model.predict_proba(X[held])
            own = chance[np.arange(len(chance)), np.searchsorted(model.classes_, y[held])]
            loss = -np.mean(np.log(own))
        else:
            loss = np.mean(model.loss_.value(y[held], model.model_.score(X[held])))
        return {"loss": loss, "rounds": model.n_iter_}


def estimator(labels):
    return RGBMClassifier if labels == "sign" or "class" in labels else RGBMRegressor


def of_trace(trace):
    held = trace.validation_loss
    return {"train": trace.train_loss} | ({} if held is None else {"held": held})


def sums(scores):
    """(inner product with a fixed unit vector, norm)."""
    weight = np.arange(scores.size).reshape(scores.shape) % 7 + 1.0
    inner = np.sum(weight * scores) / np.sqrt(np.sum(weight * weight))
    return np.array([inner, np.sqrt(np.sum(scores * scores))])
