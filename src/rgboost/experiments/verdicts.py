"""What the paper says about its experiments, held against the runs.

Every claim of the section "Numerical Experiments" (and of Figure loss1, for a9a) becomes a rule on
the runs, stated with the verdict. Runs are compared seed by seed; medians are over the seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from .protocol import GAPS
from .summary import Run, Vector, runs_of, time_text

Status = Literal["confirmed", "not confirmed", "undecided"]

TIMES = 9
LOSS1_T = 24
"""The t that the paper's text on Figure loss1 compares with t = 123. It is not on the grid."""


@dataclass(frozen=True)
class Verdict:
    """A claim, the rule that decides it, the outcome, and the figures behind it."""

    claim: str
    quote: str
    rule: str
    step: str
    status: Status
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


def verdicts(study: dict[str, Any]) -> list[dict[str, str]]:
    """A verdict on each claim that speaks of data of this shape, for each step rule."""
    runs = [run for run in runs_of(study) if run.engine == "direct"]
    found = []
    for step in study["steps"]:
        mine = [run for run in runs if run.step == step]
        evidence = Evidence(mine, study["grid"], study["seeds"])
        for judge in _claims_for(study):
            found.append(asdict(judge(evidence, step)))
    return found


def _claims_for(study: dict[str, Any]) -> list[Callable[[Evidence, str], Verdict]]:
    wide = study["n_features"] >= 10 * study["n_train"]
    tall = study["n_train"] >= 10 * study["n_features"]
    claims: list[Callable[[Evidence, str], Verdict]] = [medium_t]
    claims += [savings]
    claims += [similar_profile] if tall else []
    claims += [best_test_at_large_training_error] if wide else []
    claims += [interior_test]
    claims += [] if wide else [saturation]
    claims += [loss1_per_iteration, loss1_not_the_smallest] if study["set"] == "a9a" else []
    return claims


def medium_t(evidence: Evidence, step: str) -> Verdict:
    """The smallest training error in the same running time."""
    horizon = min(float(run.seconds[-1]) for run in evidence.runs)
    times = np.geomspace(horizon / 100, horizon, TIMES)
    gap = {t: _median_log_gap(evidence.of(t), times) for t in evidence.grid}
    best = [min(evidence.grid, key=lambda t, k=k: gap[t][k]) for k in range(TIMES)]  # type: ignore[misc]
    inside = sum(t in evidence.interior for t in best)
    last, p, one = best[-1], evidence.grid[0], evidence.grid[-1]
    enough = inside > TIMES // 2 and last in evidence.interior
    return Verdict(
        claim="A medium t has the smallest training error in the same time",
        quote="RGBM with a medium t value leads to a model with the smallest training error with "
        "the same running time.",
        rule=f"The median gap is smallest for a t between {one} and {p} at the end "
        "of the shortest run, and at most of nine times in the two decades before.",
        step=step,
        status="confirmed" if enough else "not confirmed",
        figures=f"After {time_text(horizon)} t = {last} has the smallest gap, "
        f"{_gap(gap[last][-1])}, against {_gap(gap[p][-1])} for t = {p} and {_gap(gap[one][-1])} "
        f"for t = {one}. A medium t leads at {inside} of {TIMES} times "
        f"(best t, early to late: {', '.join(map(str, best))}).",
    )


def savings(evidence: Evidence, step: str) -> Verdict:
    """Time to a gap against t = p, and the test loss there."""
    p = evidence.grid[0]
    times = [{t: _median_time(evidence.of(t), k) for t in evidence.grid} for k in range(len(GAPS))]
    everybody = [k for k, time in enumerate(times) if np.isfinite(time[p])]
    somebody = [k for k, time in enumerate(times) if np.isfinite(min(time.values()))]
    if not somebody:
        return _undecided("savings", step, f"No t reaches a gap of {GAPS[0]:g} in the budget.")
    k = (everybody or somebody)[-1]
    time = times[k]
    best = min(evidence.grid[1:], key=lambda t: time[t], default=p)
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
    return Verdict(
        claim=_TITLES["savings"][0],
        quote=_TITLES["savings"][1],
        rule="Some t < p reaches the smallest gap of the table that t = p reaches in less time, by "
        "more than 10 %, with a test loss there that is not worse by more than 1 %.",
        step=step,
        status="confirmed" if enough else "not confirmed",
        figures=text,
    )


def similar_profile(evidence: Evidence, step: str) -> Verdict:
    """Test loss and training loss fall together."""
    correlation = {
        t: float(np.median([np.corrcoef(r.train_loss, r.test_loss)[0, 1] for r in runs]))
        for t in evidence.grid
        if (runs := evidence.of(t))
    }
    lowest = min(correlation, key=lambda t: correlation[t])
    return Verdict(
        claim="With many rows for each feature the test loss looks like the training loss",
        quote="For datasets with n >> p, the profile of the testing loss is similar to that of "
        "the training loss.",
        rule="For every t the correlation of test loss and training loss along a run is above "
        "0.95 (median over seeds).",
        step=step,
        status="confirmed" if correlation[lowest] > 0.95 else "not confirmed",
        figures=f"The smallest correlation is {correlation[lowest]:.4f}, for t = {lowest}.",
    )


def best_test_at_large_training_error(evidence: Evidence, step: str) -> Verdict:
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
    return Verdict(
        claim="The best test error is at a moderately large training error",
        quote="The model with the best test error corresponds to a moderately large training "
        "error, and models with the smallest training error lead to poor generalization.",
        rule="In most seeds the best test loss of all runs is at a gap above 0.01 and above ten "
        "times the smallest, where the test loss is worse by more than 10 %.",
        step=step,
        status="confirmed" if 2 * sum(enough) > len(enough) else "not confirmed",
        figures=f"Best test loss at a gap of {np.median(gaps):.2g} (smallest gap reached: "
        f"{np.median(smallest):.1g}), where the test loss is {np.median(excess):.0%} worse "
        f"(medians). The rule holds in {sum(enough)} of {len(enough)} seeds.",
    )


def interior_test(evidence: Evidence, step: str) -> Verdict:
    """The t of the best test loss."""
    best: list[int] = []
    margins = []
    for seed in evidence.seeds:
        lowest = {r.t: float(r.test_loss.min()) for r in evidence.runs if r.seed == seed}
        best.append(min(lowest, key=lambda t: lowest[t]))
        margins.append(1.0 - lowest[best[-1]] / lowest[evidence.grid[0]])
    inside = sum(t in evidence.interior for t in best)
    return Verdict(
        claim="A t in the interior of its range has the best test loss",
        quote="In many examples, we observe that a choice of t in the interior of its range of "
        "possible values leads to a model with best test performance.",
        rule="In most seeds the smallest test loss of all runs belongs to a medium t.",
        step=step,
        status="confirmed" if 2 * inside > len(best) else "not confirmed",
        figures=f"A medium t is best in {inside} of {len(best)} seeds (best t: "
        f"{', '.join(map(str, best))}), by {np.median(margins):.2%} against t = "
        f"{evidence.grid[0]} (median).",
    )


def saturation(evidence: Evidence, step: str) -> Verdict:
    """The test loss stays near its minimum while the training loss falls."""
    fall, rise = {}, {}
    for t in evidence.grid:
        found = [_after_saturation(run) for run in evidence.of(t)]
        fall[t] = float(np.median([factor for factor, _ in found]))
        rise[t] = float(np.median([above for _, above in found]))
    saturated = [t for t in evidence.grid if fall[t] >= 3.0 and rise[t] <= 0.05]
    enough = 2 * len(saturated) > len(evidence.grid)
    each = "; ".join(f"t = {t}: {fall[t]:.3g} times, {rise[t]:.1%}" for t in evidence.grid)
    return Verdict(
        claim="The test loss saturates while the training loss still falls",
        quote="The testing error profiles saturate near the minimum even if the training error "
        "continues to decrease.",
        rule="For most t: once the test loss is within 1 % of its minimum (of all its fall), the "
        "gap still falls by a factor of 3, and the test loss ends within 5 % of it.",
        step=step,
        status="confirmed" if enough else "not confirmed",
        figures=f"Further fall of the gap, and where the test loss ends above its minimum: {each}.",
    )


def loss1_per_iteration(evidence: Evidence, step: str) -> Verdict:
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
        return _undecided("loss1", step, "No gap of the table is reached in the budget.")
    return Verdict(
        claim=_TITLES["loss1"][0],
        quote=_TITLES["loss1"][1],
        rule=f"t = {near}, the grid's value next to the paper's {LOSS1_T}, needs at most 1.5 times "
        f"the iterations of t = {p} to the smallest gap of the table that both reach.",
        step=step,
        status="confirmed" if ratios[-1] <= 1.5 else "not confirmed",
        figures=f"Iterations of t = {near} against t = {p}, to gaps of {'; '.join(text)}.",
    )


def loss1_not_the_smallest(evidence: Evidence, step: str) -> Verdict:
    """Figure loss1, right: which t is fastest."""
    best = []
    for k, target in enumerate(GAPS):
        time = {t: _median_time(evidence.of(t), k) for t in evidence.grid}
        if np.isfinite(min(time.values())):
            best.append((target, min(evidence.grid, key=lambda t: time[t])))
    inside = sum(t in evidence.interior for _, t in best)
    return Verdict(
        claim="Figure loss1: a small t, though not the smallest, needs the least time",
        quote="Overall, a small value of t (though, not the smallest) requires less computation "
        "(compared to a larger value of t) to achieve a similar training/testing error.",
        rule="The fastest t lies between the smallest and p for most gaps of the table.",
        step=step,
        status="confirmed" if 2 * inside > len(best) else "not confirmed",
        figures="; ".join(f"to a gap of {target:g} t = {t} is fastest" for target, t in best) + ".",
    )


_TITLES = {
    "savings": (
        "A smaller t saves time against t = p without a loss in error",
        "We get significant computational savings by using a smaller value of t, without any loss "
        "in training/testing error.",
    ),
    "loss1": (
        "Figure loss1: less progress per iteration, but not by a large margin",
        "When the number of groups t gets smaller, we may get less improvement per iteration, but "
        "not by a large margin (for example, the case t = 24 has a similar behavior as t = 123).",
    ),
}


def _undecided(name: str, step: str, why: str) -> Verdict:
    claim, quote = _TITLES[name]
    return Verdict(claim, quote, "Needs a longer budget.", step, "undecided", why)


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
