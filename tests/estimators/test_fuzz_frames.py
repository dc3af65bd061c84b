"""Frames made by hypothesis fit, or fail with a clear error. More: `benchmarks/fuzz_frames.py`."""

from unittest import mock

from hypothesis import given, settings

from rgboost.engines.gram.runs import gram_obstacle
from rgboost.engines.quadratic.runs import quadratic_obstacle
from tests.frame_strategies import cases, check_case


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=[4]))  # what a step rule adds is time to compile
def test_frames_fit_or_fail_with_a_clear_error(case):
    check_case(case)


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=["cv"]))
def test_means_from_statistics_fit_or_fail_with_a_clear_error(case):
    """Wherever statistics can give them; so few rows would go by rows."""

    def whenever_possible(problem, may_end):
        if problem.prepared.layout.n_learners == 0:
            return "direct"
        if gram_obstacle(problem) is None:
            return "gram"
        return "direct" if quadratic_obstacle(problem) else "quadratic"

    with (
        mock.patch("rgboost.training.boost.choose_engine", whenever_possible),
        mock.patch("rgboost.estimators.folds.rows_are_faster", return_value=False),
    ):
        check_case(case)
