"""The rules that decide the paper's claims. Each takes the paper's runs of one step rule.

Runs are compared seed by seed; medians are over the seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .protocol import GAPS
from .summary import Run, Vector, time_text

TIMES = 9
LOSS1_T = 24
"""The t that the paper's text on Figure loss1 compares with t = 123. It is not on the grid."""


@dataclass(frozen=True)
class Outcome:
    """The rule in words, what it says (confirmed, not confirmed, undecided), and its figures."""

    rule: str
    status: str
    figures: str


@dataclass(frozen=True)
class Evidence:
    """The paper's runs of one step rule."""

    runs: list[Run]
    grid: list[int]
    seeds: list[int]

    def of(self, t: int) -> list[Run]:
        return [run for run in self.runs if run.t == t]

    @property
    def interior(self) -> list[int]:
        """Medium values of t: neither all features nor one."""
        return self.grid[1:-1]


def medium_t(evidence: Evidence) -> Outcome:
    """The smallest training error in the same running time."""
    horizon = min(float(run.seconds[-1]) for run in evidence.runs)
    times = np.geomspace(horizon / 100, horizon, TIMES)
    gap = {t: _median_log_gap(evidence.of(t), times) for t in evidence.grid}
    best = [min(evidence.grid, key=lambda t, k=k: gap[t][k]) for k in range(TIMES)]  # type: ignore[misc]
    inside = sum(t in evidence.interior for t in best)
    last, p, one = best[-1], evidence.grid[0], evidence.grid[-1]
    others = [f"{_gap(gap[t][-1])} for t = {t}" for t in (p, one) if t != last]
    enough = inside > TIMES // 2 and last in evidence.interior
    return Outcome(
        rule=f"The median gap is smallest for a t between {one} and {p} at the end "
        "of the shortest run, and at most of nine times in the two decades before.",
        status=_status(enough),
        figures=f"After {time_text(horizon)} t = {last} has the smallest gap, "
        f"{_gap(gap[last][-1])}, against {' and '.join(others)}. "
        f"A medium t leads at {inside} of {TIMES} times "
        f"(best t, early to late: {', '.join(map(str, best))}).",
    )


def savings(evidence: Evidence) -> Outcome:
    """Time to a gap against t = p, and the test loss there."""
    p = evidence.grid[0]
    times = [{t: _median_time(evidence.of(t), k) for t in evidence.grid} for k in range(len(GAPS))]
    everybody = [k for k, time in enumerate(times) if np.isfinite(time[p])]
    somebody = [k for k, time in enumerate(times) if np.isfinite(min(time.values()))]
    if not somebody:
        return _undecided(f"No t reaches a gap of {GAPS[0]:g} in the budget.")
    k = (everybody or somebody)[-1]
    time = times[k]
    best = min(evidence.grid[1:], key=lambda t: time[t])
    whole, mine = time[p], time[best]
    budget = float(np.median([float(run.seconds[-1]) for run in evidence.of(p)]))
    known = bool(np.isfinite(whole))
    gain = (whole if known else budget) / mine
    text = f"To a gap of {GAPS[k]:g}: "
    text += f"{time_text(mine)} with t = {best}, " if gain else "no other t in the budget, "
    text += f"{time_text(whole)}" if known else f"more than {time_text(budget)}"
    text += f" with t = {p}"
    text += f", {'' if known else 'at least '}{gain:.2g} times as long." if gain else "."
    worse = 0.0
    if known and gain:
        test = {t: _median_test_at(evidence.of(t), k) for t in (best, p)}
        worse = test[best] / test[p] - 1.0
        text += f" Test loss there: {test[best]:.4g} against {test[p]:.4g} ({worse:+.1%})."
    enough = gain > 1.1 and worse < 0.01
    return Outcome(
        rule="Some t < p reaches the smallest gap of the table that t = p reaches in less time, by "
        "more than 10 %, with a test loss there that is not worse by more than 1 %.",
        status=_status(enough),
        figures=text,
    )


def similar_profile(evidence: Evidence) -> Outcome:
    """Test loss and training loss fall together."""
    correlation = {
        t: float(np.median([np.corrcoef(r.train_loss, r.test_loss)[0, 1] for r in runs]))
        for t in evidence.grid
        if (runs := evidence.of(t))
    }
    lowest = min(correlation, key=lambda t: correlation[t])
    return Outcome(
        rule="For every t the correlation of test loss and training loss along a run is above "
        "0.95 (median over seeds).",
        status=_status(correlation[lowest] > 0.95),
        figures=f"The smallest correlation is {correlation[lowest]:.4f}, for t = {lowest}.",
    )


def best_test_at_large_training_error(evidence: Evidence) -> Outcome:
    """With more features than rows the best model is not the one with the smallest error."""
    gaps, smallest, excess = [], [], []
    for seed in evidence.seeds:
        runs = [run for run in evidence.runs if run.seed == seed]
        best = min(runs, key=lambda run: float(run.test_loss.min()))
        end = min(runs, key=lambda run: float(run.gap.min()))
        at = int(best.test_loss.argmin())
        gaps.append(float(best.gap[at]))
        smallest.append(float(end.gap.min()))
        excess.append(float(end.test_loss[end.gap.argmin()] / best.test_loss[at] - 1.0))
    enough = [g > 0.01 and g > 10 * s and e > 0.1 for g, s, e in zip(gaps, smallest, excess)]  # noqa: B905
    return Outcome(
        rule="In most seeds the best test loss of all runs is at a gap above 0.01 and above ten "
        "times the smallest, where the test loss is worse by more than 10 %.",
        status=_status(2 * sum(enough) > len(enough)),
        figures=f"Best test loss at a gap of {np.median(gaps):.2g} (smallest gap reached: "
        f"{np.median(smallest):.1g}), where the test loss is {np.median(excess):.0%} worse "
        f"(medians). The rule holds in {sum(enough)} of {len(enough)} seeds.",
    )


def interior_test(evidence: Evidence) -> Outcome:
    """The t of the best test loss."""
    p, best, margins = evidence.grid[0], [], []
    for seed in evidence.seeds:
        lowest = {r.t: float(r.test_loss.min()) for r in evidence.runs if r.seed == seed}
        best.append(min(lowest, key=lambda t: lowest[t]))
        if best[-1] != p:
            margins.append(1.0 - lowest[best[-1]] / lowest[p])
    inside = sum(t in evidence.interior for t in best)
    text = f"A medium t is best in {inside} of {len(best)} seeds (best t: "
    text += f"{', '.join(map(str, best))})."
    if margins:
        text += f" Where it is not t = {p}, it is better by {np.median(margins):.2%} (median)."
    return Outcome(
        rule="In most seeds the smallest test loss of all runs belongs to a medium t. The paper "
        "says so of many of its sets, not of all.",
        status=_status(2 * inside > len(best)),
        figures=text,
    )


def saturation(evidence: Evidence) -> Outcome:
    """The test loss stays near its minimum while the training loss falls."""
    fall, rise = {}, {}
    for t in evidence.grid:
        found = [_after_saturation(run) for run in evidence.of(t)]
        fall[t] = float(np.median([factor for factor, _ in found]))
        rise[t] = float(np.median([above for _, above in found]))
    saturated = [t for t in evidence.grid if fall[t] >= 3.0 and rise[t] <= 0.05]
    enough = 2 * len(saturated) > len(evidence.grid)
    each = "; ".join(f"t = {t}: {fall[t]:.3g} times, {rise[t]:.1%}" for t in evidence.grid)
    return Outcome(
        rule="For most t: once the test loss is within 1 % of its minimum (of all its fall), the "
        "gap still falls by a factor of 3, and the test loss ends within 5 % of it.",
        status=_status(enough),
        figures=f"Further fall of the gap, and where the test loss ends above its minimum: {each}.",
    )


def loss1_per_iteration(evidence: Evidence) -> Outcome:
    """Figure loss1, left: progress per iteration of the t next to the paper's 24."""
    p = evidence.grid[0]
    near = min(evidence.grid[1:], key=lambda t: abs(np.log(t / LOSS1_T)))
    ratios, text = [], []
    for k, target in enumerate(GAPS):
        mine, whole = (_median_reached(evidence.of(t), k, "iterations") for t in (near, p))
        if np.isfinite(mine) and np.isfinite(whole):
            ratios.append(mine / max(1.0, whole))
            text.append(f"{target:g}: {mine:,.0f} against {whole:,.0f}")
    if not ratios:
        return _undecided("No gap of the table is reached in the budget.")
    return Outcome(
        rule=f"t = {near}, the grid's value next to the paper's {LOSS1_T}, needs at most 1.5 times "
        f"the iterations of t = {p} to the smallest gap of the table that both reach.",
        status=_status(ratios[-1] <= 1.5),
        figures=f"Iterations of t = {near} against t = {p}, to gaps of {'; '.join(text)}.",
    )


def loss1_not_the_smallest(evidence: Evidence) -> Outcome:
    """Figure loss1, right: which t is fastest."""
    best = []
    for k, target in enumerate(GAPS):
        time = {t: _median_time(evidence.of(t), k) for t in evidence.grid}
        if np.isfinite(min(time.values())):
            best.append((target, min(evidence.grid, key=lambda t: time[t])))
    inside = sum(t in evidence.interior for _, t in best)
    return Outcome(
        rule="The fastest t lies between the smallest and p for most gaps of the table.",
        status=_status(2 * inside > len(best)),
        figures="; ".join(f"to a gap of {target:g} t = {t} is fastest" for target, t in best) + ".",
    )


def _status(holds: bool) -> str:
    return "confirmed" if holds else "not confirmed"


def _undecided(why: str) -> Outcome:
    return Outcome("Needs a longer budget.", "undecided", why)


def _median_log_gap(runs: list[Run], times: Vector) -> Vector:
    return np.median([np.interp(times, r.seconds, np.log10(r.gap)) for r in runs], axis=0)


def _median_reached(runs: list[Run], k: int, measure: str) -> float:
    values = [run.reached[k][measure] for run in runs]
    return float(np.median([np.inf if v is None else v for v in values]))


def _median_time(runs: list[Run], k: int) -> float:
    return _median_reached(runs, k, "seconds")


def _median_test_at(runs: list[Run], k: int) -> float:
    """The test loss when the gap was reached, over the seeds that reached it."""
    values = [
        np.interp(run.reached[k]["iterations"], run.x["iterations"], run.test_loss)
        for run in runs
        if run.reached[k]["iterations"] is not None
    ]
    return float(np.median(values))


def _after_saturation(run: Run) -> tuple[float, float]:
    """(factor by which the gap still falls, end above the minimum as a share of the fall)."""
    lowest = float(run.test_loss.min())
    fall = max(float(run.test_loss[0]) - lowest, np.finfo(float).tiny)
    near = int(np.flatnonzero(run.test_loss <= lowest + 0.01 * fall)[0])
    return float(run.gap[near] / run.gap[-1]), float((run.test_loss[-1] - lowest) / fall)


def _gap(log: float) -> str:
    return f"{10**log:.2g}"
