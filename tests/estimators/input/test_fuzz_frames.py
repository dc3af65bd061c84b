"""Frames made by hypothesis fit, or fail with a clear error. More: `benchmarks/fuzz_frames.py`."""

from unittest import mock

from hypothesis import given, settings

from tests.frame_strategies import cases, check_case


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=[4]))  # what a step rule adds is time to compile
def test_frames_fit_or_fail_with_a_clear_error(case):
    check_case(case)


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=["cv"]))
def test_means_from_statistics_fit_or_fail_with_a_clear_error(case):
    """Wherever statistics can give them; so few rows would go by rows."""

    def whenever_possible(work, *sizes, **more):
        return None if work.layout.n_learners else "no feature has a split"

    with (
        mock.patch("rgboost.training.plan.engines.statistics_obstacle", whenever_possible),
        mock.patch("rgboost.training.plan.engines.Mean.rows_are_faster", return_value=False),
    ):
        check_case(case)
