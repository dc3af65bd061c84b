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
