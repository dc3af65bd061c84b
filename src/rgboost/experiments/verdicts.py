"""What the paper says about its experiments, of which sets it says it, and whether it is so.

Every claim of the section "Numerical Experiments" (and of Figure loss1, for a9a) is held against
the runs of the sets that it is about, by a rule that is stated with the verdict. On other data it
is not tested: a claim about time, or about many more rows than features, says nothing of data
where an iteration costs some microseconds for any t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import rules
from .protocol import USUAL
from .rules import Evidence, Outcome
from .summary import runs_of

NOT_TESTED = "not tested here"

STANDS_FOR = {"rcv1-subsets": "rcv1", "year-test": "year"}
"""Sets that are judged as one of the paper's: of its kind and of a size where time can be seen.

The 1,176 rows of year-sample are not."""

ALL = ("a9a", "colon-cancer", "rcv1", "year")


@dataclass(frozen=True)
class Claim:
    """A claim in our words and the paper's, the sets that it is about, and the rule."""

    title: str
    quote: str
    sets: tuple[str, ...]
    rule: Callable[[Evidence], Outcome]

    @property
    def about(self) -> str:
        *first, last = [USUAL[name].title for name in self.sets]
        return f"{', '.join(first)} and {last}" if first else last


CLAIMS = (
    Claim(
        "A medium t has the smallest training error in the same time",
        "For all datasets, RGBM with a medium t value leads to a model with the smallest training "
        "error with the same running time.",
        ALL,
        rules.medium_t,
    ),
    Claim(
        "A smaller t saves time against t = p without a loss in error",
        "We get significant computational savings by using a smaller value of t, without any loss "
        "in training/testing error.",
        ALL,
        rules.savings,
    ),
    Claim(
        "With many rows for each feature the test loss looks like the training loss",
        "For datasets with n >> p, the profile of the testing loss is similar to that of "
        "the training loss.",
        ("a9a", "year"),
        rules.similar_profile,
    ),
    Claim(
        "The best test error is at a moderately large training error",
        "The colon-cancer dataset is a high-dimensional problem with p >> n; here, the model with "
        "the best test error corresponds to a moderately large training error, and models with the "
        "smallest training error lead to poor generalization.",
        ("colon-cancer",),
        rules.best_test_at_large_training_error,
    ),
    Claim(
        "A t in the interior of its range has the best test loss, in many of the sets",
        "In many examples, we observe that a choice of t in the interior of its range of "
        "possible values leads to a model with best test performance.",
        ALL,
        rules.interior_test,
    ),
    Claim(
        "The test loss saturates while the training loss still falls",
        "For many examples (e.g, the third and fourth rows), we see that the testing error "
        "profiles saturate near the minimum even if the training error continues to decrease.",
        ("rcv1", "year"),
        rules.saturation,
    ),
    Claim(
        "Figure loss1: less progress per iteration, but not by a large margin",
        "When the number of groups t gets smaller, we may get less improvement per iteration, but "
        "not by a large margin (for example, the case t = 24 has a similar behavior as t = 123).",
        ("a9a",),
        rules.loss1_per_iteration,
    ),
    Claim(
        "Figure loss1: a small t, though not the smallest, needs the least time",
        "Overall, a small value of t (though, not the smallest) requires less computation "
        "(compared to a larger value of t) to achieve a similar training/testing error.",
        ("a9a",),
        rules.loss1_not_the_smallest,
    ),
)


def verdicts(study: dict[str, Any]) -> list[dict[str, str]]:
    """A verdict on each claim for each step rule; ``not tested here`` if it is about other sets."""
    runs = [run for run in runs_of(study) if run.engine == "direct"]
    found = []
    for step in study["steps"]:
        mine = [run for run in runs if run.step == step]
        evidence = Evidence(mine, study["grid"], study["seeds"])
        for claim in CLAIMS:
            tested = is_about(claim, study["set"])
            outcome = claim.rule(evidence) if tested else Outcome("", NOT_TESTED, "")
            found.append(
                {
                    "claim": claim.title,
                    "quote": claim.quote,
                    "about": claim.about,
                    "rule": outcome.rule,
                    "step": step,
                    "status": outcome.status,
                    "figures": outcome.figures,
                }
            )
    return found


def is_about(claim: Claim, name: str) -> bool:
    """Whether a claim is about a set, or about the one that it stands for."""
    return STANDS_FOR.get(name, name) in claim.sets
