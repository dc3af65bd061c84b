"""What the figures of the quality table say about the aims, in sentences."""

from __future__ import annotations

from typing import Any

from .contestants import ADDITIVE, FEW_PAIRS, ONE_SPLIT, RIVALS, TREES

Found = dict[str, Any]
Results = dict[str, dict[str, Found]]
"""By set, then by contestant. Who has ``same_as`` fits the same as another one."""

WORSE = 0.005
"""Pairs may cost this share of the loss, or two standard errors."""
SLOWER, SHORT = 10.0, 0.1
"""How many times LightGBM's seconds a fit may take, where these are more than that."""
HALF = 0.5
"""Of the gain of all pairs: what ten of them should have."""


def named(found: dict[str, Found], name: str) -> str:
    """The contestant whose figures are meant."""
    while "same_as" in found.get(name, {}):
        name = found[name]["same_as"]
    return name


def figure(found: dict[str, Found], name: str, key: str) -> float | None:
    return found.get(named(found, name), {}).get(key)


def is_known(found: dict[str, Found], *names: str) -> bool:
    return all(figure(found, name, "loss") is not None for name in names)


def verdicts(results: Results) -> dict[str, list[str]]:
    """Sentences for each of the tables."""
    return {
        "interactions": [
            one
            for one in (
                _pairs_or_not(results),
                _lightgbm(results),
                _learner_trees(results),
                _ten(results),
            )
            if one
        ],
        "additive": [_ebm(results, ADDITIVE)],
        "one split": [_ebm(results, ONE_SPLIT)],
    }


def _values(results: Results, key: str, *names: str) -> dict[str, list[float]]:
    """Of the sets where all of them have it."""
    every = {
        which: [figure(found, name, key) for name in names] for which, found in results.items()
    }
    return {which: values for which, values in every.items() if None not in values}  # type: ignore[misc]


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"


def is_clear(behind: list[float] | None) -> bool:
    """Whether a difference is at least two standard errors."""
    return behind is not None and behind[0] >= 2.0 * behind[1]


def _error(found: Found) -> float:
    """The standard error of the difference to the rival, 0 where it is not known."""
    behind = found.get("behind")
    return 0.0 if behind is None else behind[1]


def _pairs_or_not(results: Results) -> str:
    """Whether the defaults are anywhere worse than curves alone."""
    losses = _values(results, "loss", "rgboost", ADDITIVE)
    losses = {
        which: two for which, two in losses.items() if "same_as" not in results[which]["rgboost"]
    }
    if not losses:
        return ""
    better = [which for which, (ours, curves) in losses.items() if ours < curves]
    worse = []
    for which, (ours, curves) in losses.items():
        if ours - curves > max(WORSE * curves, 2.0 * _error(results[which]["rgboost"])):
            worse.append(which)
    return (
        f"Of {len(losses)} sets where pairs may enter, the defaults have a smaller test loss than "
        f"`interactions=0` on {len(better)}; one that is larger by more than {100 * WORSE:g} % and "
        f"two standard errors on {len(worse)} ({_list(worse)})."
    )


def _lightgbm(results: Results) -> str:
    losses = _values(results, "loss", "rgboost", "LightGBM")
    if not losses:
        return ""
    worse = [which for which, (ours, theirs) in losses.items() if ours > theirs]
    seconds = _values(results, "seconds", "rgboost", "LightGBM")
    long = {which: two for which, two in seconds.items() if two[1] > SHORT}
    slow = [which for which, (ours, theirs) in long.items() if ours > SLOWER * theirs]
    return (
        f"rgboost has at most the test loss of LightGBM on {len(losses) - len(worse)} of "
        f"{len(losses)} sets (not: {_list(worse)}). Of {len(long)} where LightGBM takes more than "
        f"{SHORT:g} s, it takes at most {SLOWER:g} times as long on {len(long) - len(slow)} (not: "
        f"{_list(slow)})."
    )


def _learner_trees(results: Results) -> str:
    """How often our trees are at least as good as those of others, and how long they take."""
    told = []
    for other in ("LightGBM", "HistGB", "CatBoost", "ChimeraBoost"):
        losses = _values(results, "loss", TREES, other)
        worse = [which for which, (ours, theirs) in losses.items() if ours > theirs]
        if losses:
            good = f"{len(losses) - len(worse)} of {len(losses)}"
            told.append(f"{other} on {good} (not: {_list(worse)})")
    if not told:
        return ""
    said = f'{TREES} (`learner="trees"`) have at most the test loss of {"; ".join(told)}.'
    seconds = _values(results, "seconds", TREES, "ChimeraBoost")
    slow = [which for which, (ours, theirs) in seconds.items() if ours > HALF * theirs]
    if seconds:
        fast = f"{len(seconds) - len(slow)} of {len(seconds)}"
        said += f" They take at most half of ChimeraBoost's time on {fast} (not: {_list(slow)})."
    return said


def _ten(results: Results) -> str:
    """The share of the gain that ten pairs have, where there is one."""
    losses = _values(results, "loss", "rgboost", FEW_PAIRS, ADDITIVE)
    shares = {
        which: (curves - ten) / (curves - ours)
        for which, (ours, ten, curves) in losses.items()
        if curves - ours > max(WORSE * curves, 2.0 * _error(results[which]["rgboost"]))
    }
    if not shares:
        return ""
    enough = [which for which, share in shares.items() if share >= HALF]
    told = ", ".join(f"{which} {100 * share:.0f} %" for which, share in shares.items())
    return (
        f"Where pairs gain more than {100 * WORSE:g} % and two standard errors, ten of them have "
        f"at least half of the gain on {len(enough)} of {len(shares)}: {told}."
    )


def _ebm(results: Results, name: str) -> str:
    """How often we are at least as good as EBM, and in less than a hundredth of its time."""
    ebm = RIVALS[name]
    losses = _values(results, "loss", name, ebm)
    if not losses:
        return ""
    worse = [which for which, (ours, theirs) in losses.items() if ours > theirs]
    behind = {which: results[which].get(name, {}).get("behind") for which in losses}
    clearly = [which for which in worse if is_clear(behind[which])]
    clear = f"; it is larger by two standard errors or more on {len(clearly)} ({_list(clearly)})"
    seconds = _values(results, "seconds", name, ebm)
    slow = [which for which, (ours, theirs) in seconds.items() if ours > theirs / 100]
    sizes = _values(results, "bytes", name, ebm)
    large = [which for which, (ours, theirs) in sizes.items() if ours > theirs]
    given_up = [which for which, found in results.items() if "longer_than" in found.get(ebm, {})]
    size = (
        f"The pickled model is at most the size of EBM's on {len(sizes) - len(large)} of "
        f"{len(sizes)} (not: {_list(large)}). "
    )
    return (
        f"Of {len(losses)} sets with both, rgboost has at most the test loss of EBM on "
        f"{len(losses) - len(worse)} (not: {_list(worse)}){clear if any(behind.values()) else ''}. "
        f"Of {len(seconds)} where both were timed, it takes less than a hundredth of the time of "
        f"EBM on {len(seconds) - len(slow)} (not: {_list(slow)}). "
        f"{size if sizes else ''}EBM was given up on: {_list(given_up)}."
    )
