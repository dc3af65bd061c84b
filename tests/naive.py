"""Naive twins: the formulas written down plainly, slow and easy to check by eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rgboost.learners.kernels import TIE
from rgboost.steps import LeafStep, LineSearch, NewtonStep


@dataclass
class NaiveStump:
    feature: int
    threshold: float
    learner: int


def naive_cuts(x, max_bins, kind, weight):
    """(thresholds, left weights) of one feature by the definition in `choose_cuts`."""
    values = np.unique(x)
    below = np.array([weight[x <= v].sum() for v in values])
    after = set()
    if max_bins is None or len(values) <= max_bins:
        after = set(range(len(values) - 1))
    else:
        n_even = 0 if kind == "quantile" else (max_bins - 1) // 2
        n_quantile = max_bins - 1 - n_even
        for i in range(1, n_quantile + 1):
            after.add(int(np.argmax(below >= weight.sum() * i / (n_quantile + 1))))
        for i in range(1, n_even + 1):
            edge = values[0] + (values[-1] - values[0]) * (i / (n_even + 1))
            after.add(int(np.flatnonzero(values <= edge)[-1]))
        after.discard(len(values) - 1)
    order = sorted(after)
    thresholds = []
    for k in order:
        middle = 0.5 * values[k] + 0.5 * values[k + 1]
        thresholds.append(middle if values[k] <= middle < values[k + 1] else values[k])
    return np.array(thresholds), below[order]


def naive_stumps(X, max_bins, kind, weight):
    stumps = []
    for g in range(X.shape[1]):
        for s in naive_cuts(X[:, g], max_bins, kind, weight)[0]:
            stumps.append(NaiveStump(g, s, len(stumps)))
    return stumps


def stump_vector(stump, X, r, weight, leaves):
    """(<b, r>, b): the normalised weak-learner, its sign such that <b, r> >= 0."""
    left = X[:, stump.feature] <= stump.threshold
    if leaves == "signed":
        b = np.where(left, 1.0, -1.0)
    else:
        b = np.where(left, np.average(r[left], weights=weight[left]), 0.0)
        b[~left] = np.average(r[~left], weights=weight[~left])
    norm = np.sqrt(weight @ (b * b))
    b = b / norm if norm > 0 else np.zeros_like(b)
    inner = weight @ (b * r)
    return abs(inner), -b if inner < 0 else b


def first_best(scores):
    """Index of the largest score; ties (to a share of TIE) go to the smallest index."""
    squares = np.square(scores)
    return int(np.argmax(squares >= squares.max() * (1 - TIE)))


def naive_boost(X, y, loss, stumps, subsets, step, weight, leaves, start=0.0, learning_rate=1.0):
    """Algorithm 2 over an explicit list of stumps; ``subsets`` are lists of learner indices."""
    f = np.full(len(y), start)
    path, losses, gradients = [], [weight @ loss.value(y, f)], []
    for J in subsets:
        r = loss.residual(y, f)
        vectors = [stump_vector(stumps[j], X, r, weight, leaves) for j in J]
        best = first_best([inner for inner, _ in vectors])
        gradient, b = vectors[best]
        if isinstance(step, LeafStep):
            stump = stumps[J[best]]
            left = X[:, stump.feature] <= stump.threshold
            value = [naive_leaf(loss, y[s], f[s], weight[s], step) for s in (left, ~left)]
            move = np.where(left, *value)
        else:
            rho = step.constant(loss)
            move = b * (step.find(loss, y, f, b, weight) if rho is None else rho * gradient)
        f = f + learning_rate * move
        path.append(J[best])
        gradients.append(gradient)
        losses.append(weight @ loss.value(y, f))
    return f, np.array(path), np.array(losses), np.array(gradients)


def naive_leaf(loss, y, f, weight, step):
    """The value of a leaf with these rows."""
    if isinstance(step, NewtonStep):
        value = (weight @ loss.residual(y, f)) / (weight @ loss.curvature(y, f) + step.l2)
        return np.clip(value, -step.limit(loss), step.limit(loss))
    if loss.smoothness is None and loss.newton_limit is None:  # a kink: the best is at a row
        values = np.sort(y - f)
        losses = np.array([weight @ loss.value(y, f + c) for c in values])
        return values[np.argmax(losses <= losses.min() + 1e-12)]
    return LineSearch().find(loss, y, f, np.ones_like(y), weight)


def expand_signed_stumps(X, stumps):
    """B of the signed stumps, columns not yet normalised."""
    columns = [np.where(X[:, s.feature] <= s.threshold, 1.0, -1.0) for s in stumps]
    return np.column_stack(columns)


def naive_class_leaf(y, f, r, weight, loss, step):
    """The values of a leaf with these rows, one for each class."""
    if isinstance(step, NewtonStep):
        p = loss.inverse_link(f)
        curvature = 2 * weight @ (p * (1 - p) + loss.ridge) + step.l2
        values = np.clip(weight @ r / curvature, -loss.newton_limit, loss.newton_limit)
        return values - values.mean()
    return weight @ r / (weight.sum() * loss.smoothness)


def naive_class_boost(X, y, loss, stumps, subsets, step, weight, rate, start=0.0):
    """Algorithm 2 with stumps whose leaves hold a value for each class."""
    f = np.full((len(y), loss.n_classes), start)
    path, losses, gradients = [], [weight @ loss.value(y, f)], []
    for J in subsets:
        r = loss.residual(y, f)
        blocks = []
        for j in J:
            left = X[:, stumps[j].feature] <= stumps[j].threshold
            means = [weight[s] @ r[s] / weight[s].sum() for s in (left, ~left)]
            blocks.append(np.where(left[:, None], *means))
        norms = [np.sqrt(weight @ (block * block).sum(axis=1)) for block in blocks]
        best = first_best(norms)
        stump = stumps[J[best]]
        left = X[:, stump.feature] <= stump.threshold
        sides = [naive_class_leaf(y[s], f[s], r[s], weight[s], loss, step) for s in (left, ~left)]
        f = f + rate * np.where(left[:, None], *sides)
        path.append(J[best])
        gradients.append(norms[best])
        losses.append(weight @ loss.value(y, f))
    return f, np.array(path), np.array(losses), np.array(gradients)


def naive_subsets(selection, layout, seed, n):
    """The weak-learners of each J, as they are drawn ahead."""
    found = selection.subsets(layout, np.random.default_rng(seed), n)
    for m in range(n):
        row = m % (len(found.start) - 1)
        at = np.arange(found.start[row], found.start[row + 1])
        if found.restricted:
            yield found.learners[found.first[at[0]] : found.first[at[-1] + 1]]
        else:
            columns = found.columns[at]
            yield np.concatenate([np.arange(*layout.offsets[g : g + 2]) for g in columns])


def naive_stretches(
    X, y, boosted, loss, selection, lengths, rate, weight=None, offset=None, fold=None
):
    """Runs on quadratic models by their definition: learner, left and right of every iteration and
    run in turn; and the mean losses where stretches end. Scores have an axis of outputs."""
    n, n_runs = len(y), 1 if fold is None else int(fold.max()) + 1
    w = np.ones(n) if weight is None else weight
    shape = (n,) if loss.outputs == 1 else (n, loss.outputs)
    offset = np.zeros(shape) if offset is None else offset

    def at(values, scores):
        """What the loss says of scores: (rows, outputs)."""
        return values(y, scores.reshape(shape)).reshape(n, -1)

    cuts, layout = boosted.prepared.cuts, boosted.prepared.layout
    feature = np.repeat(np.arange(X.shape[1]), np.diff(cuts.offsets))
    below = (X[:, feature] <= cuts.thresholds).astype(float)
    rest = [np.full(n, True) if fold is None else fold != k for k in range(n_runs)]
    null = (offset + loss.best_constant(y, w, offset)).reshape(n, -1)
    f = np.array([null] * n_runs)
    r, h = w[:, None] * at(loss.residual, null), w * at(loss.model_curvature, null)[:, 0]
    for k, rows in enumerate(rest if n_runs > 1 else []):
        f[k] += r[rows].sum(axis=0) / h[rows].sum()
    seeds = [0] if n_runs == 1 else [[0, k] for k in range(n_runs)]
    drawn = [naive_subsets(selection, layout, seed, sum(lengths)) for seed in seeds]
    path, ends = [], []
    for length in lengths:
        h = w * at(loss.model_curvature, f.mean(axis=0))[:, 0]
        moved = np.zeros_like(f)
        for _ in range(length):
            for k, rows in enumerate(rest):
                share = w[rows].sum() / w.sum()
                own = np.where(rows[:, None], w[:, None] * at(loss.residual, f[k]), 0.0)
                R = own - share * h[:, None] * moved[k]
                J = next(drawn[k])
                S, H = below[:, J].T @ R, share * (h @ below[:, J])
                T, other = R.sum(axis=0) - S, share * h.sum() - H
                score = (S**2).sum(axis=1) / H + (T**2).sum(axis=1) / other
                j = np.flatnonzero(score >= score.max() * (1 - 1e-9))[0]
                left, right = rate * S[j] / H[j], rate * T[j] / other[j]
                moved[k] += np.where(below[:, [J[j]]] == 1.0, left, right)
                path.append((J[j], left / n_runs, right / n_runs))
        f = f + moved
        value = [w * at(loss.value, one)[:, 0] for one in f]
        train = np.mean([value[k][rows].sum() / w[rows].sum() for k, rows in enumerate(rest)])
        held = sum(value[k][~rows].sum() for k, rows in enumerate(rest)) / w.sum()
        ends.append((train, held))
    learner, left, right = zip(*path, strict=True)
    tail = shape[1:]
    sides = [np.array(side).reshape(-1, *tail) for side in (left, right)]
    return np.array(learner), *sides, np.array(ends)
