"""Trees by brute force: every leaf, feature and split from the rows themselves."""

import numpy as np

TIE = 1e-9


def sums_of(r, w, rows):
    """(S_1, ..., S_C, W)."""
    return np.append(r[:, rows].sum(axis=1), w[rows].sum())


def worth(sums, l2=0.0):
    return float(np.sum(sums[:-1] ** 2) / (sums[-1] + l2))


def splits_of(x, r, w, rows, categorical, has_missing):
    """(number, rows on the left) of every split of some rows on a feature. ``x`` are bins 0, 1, ...
    with NaN where a value is missing, of all rows."""
    here, m = x[rows], int(np.nanmax(x)) + 1
    gone = np.isnan(here)
    if categorical:
        codes = np.where(gone, m, here).astype(int)
        there = np.unique(codes)
        means = [r[0, rows[codes == c]].sum() / w[rows[codes == c]].sum() for c in there]
        order = there[np.argsort(means, kind="stable")]
        for k in range(len(order) - 1):
            yield k, np.isin(codes, order[: k + 1])
        return
    for s in range(m - 1):
        yield s, np.where(gone, False, here <= s)
    if not has_missing:
        return
    yield m - 1, ~gone
    for s in range(m - 1):
        yield m + s, np.where(gone, True, here <= s)


def best_split(X, r, w, rows, columns, categorical, least, l2):
    """(gain, column, number, rows on the left) of the best split of a leaf; the first of equals."""
    total, best = sums_of(r, w, rows), (0.0, -1, -1, None)
    for g in columns:
        x = X[:, g]
        mine = (0.0, -1, -1, None)
        for number, left in splits_of(x, r, w, rows, g in categorical, np.isnan(x).any()):
            a = sums_of(r, w, rows[left])
            if min(a[-1], total[-1] - a[-1]) < least:
                continue
            gain = worth(a, l2) + worth(total - a, l2) - worth(total, l2)
            if gain > mine[0] * (1 + TIE):
                mine = (gain, g, number, left)
        if mine[0] > best[0] * (1 + TIE):
            best = mine
    return best


def grow(X, r, w, *, leaves, columns=None, categorical=(), least=1.0, l2=0.0, depth=None):
    """(leaf of every row, list of (leaf, column, number, gain)), best leaf first."""
    columns = range(X.shape[1]) if columns is None else columns
    leaf = np.zeros(len(w), int)
    args = (columns, categorical, least * (1 - 1e-9), l2)
    found = [best_split(X, r, w, np.arange(len(w)), *args)]
    deep, splits = [0], []
    for new in range(1, leaves):
        gains = [one[0] for one in found]
        q = int(np.argmax(np.array(gains) >= max(gains) * (1 - TIE)))
        gain, g, number, left = found[q]
        if gain <= 0.0:
            break
        rows = np.flatnonzero(leaf == q)
        leaf[rows[~left]] = new
        splits.append((q, g, number, gain))
        deep[q] += 1
        deep.append(deep[q])
        found.append(None)
        for part in (q, new):
            found[part] = (0.0, -1, -1, None)
            if depth is None or deep[part] < depth:
                found[part] = best_split(X, r, w, np.flatnonzero(leaf == part), *args)
    return leaf, splits


def ways_of(model, X):
    """(leaf of every row in the first tree, features on the way to each leaf, the last first)."""
    leaf, ways = np.empty(len(X), int), [[] for _ in range(model.starts[1] + 1)]

    def walk(k, rows, way):
        if k < 0:
            leaf[rows], ways[~k] = ~k, list(dict.fromkeys(reversed(way)))
            return
        g = model.feature[k]
        x = X[rows, g]
        if model.which_set[k] >= 0:
            j = list(model.category_features).index(g)
            known = model.categories[model.category_starts[j] : model.category_starts[j + 1]]
            code = np.where(np.isin(x, known), np.searchsorted(known, x), len(known))
            left = model.sets[model.which_set[k], code // 8] >> (code % 8) & 1 == 1
        else:
            left = np.where(np.isnan(x), model.missing_left[k] == 1, x <= model.threshold[k])
        for side, part in enumerate((left, ~left)):
            walk(model.children[k, side], rows[part], [*way, g])

    walk(0, np.arange(len(X)), [])
    return leaf, ways


def line_of(X, features, mine, r, h, w, limit, ridge=1.0):
    """What a leaf with the rows ``mine`` says to them before the learning rate: the mean of r / h,
    and a ridge regression of it on standardised features, missing values at their means; both cut
    at +-limit."""
    z = np.empty((len(X), len(features)))
    for k, g in enumerate(features):
        x, known = X[:, g], ~np.isnan(X[:, g])
        mean = np.average(x[known], weights=w[known])
        sd = np.sqrt(np.average((x[known] - mean) ** 2, weights=w[known]))
        z[:, k] = np.where(known, (x - mean) / sd, 0.0)
    z, r, h, w = z[mine], r[mine], h[mine], w[mine] * len(X) / w.sum()
    z = z - np.average(z, axis=0, weights=h) if len(features) else z
    below = (z * h[:, None]).T @ z + ridge * h.sum() / w.sum() * np.eye(len(features))
    mean = np.clip(r.sum() / h.sum(), -limit, limit)
    return np.clip(mean + z @ np.linalg.solve(below, z.T @ r), -limit, limit)
