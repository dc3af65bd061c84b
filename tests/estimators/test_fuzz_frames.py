"""Frames made by hypothesis fit, or fail with a clear error. More: `benchmarks/fuzz_frames.py`."""

from unittest import mock

from hypothesis import given, settings

from rgboost.engines.gram import folds
from rgboost.engines.gram.gram import gram_obstacle
from rgboost.engines.quadratic import quadratic_mean
from tests.frame_strategies import cases, check_case


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=[4]))  # what a step rule adds is time to compile
def test_frames_fit_or_fail_with_a_clear_error(case):
    check_case(case)


@settings(max_examples=300)
@given(cases(steps=["constant"], max_iter=["cv"]))
def test_means_from_statistics_fit_or_fail_with_a_clear_error(case):
    """Wherever statistics can give them; so few rows would have separate fits."""

    def whenever_possible(problem, engine, memory):
        return gram_obstacle(problem) is None

    with (
        mock.patch.object(folds, "takes_statistics", whenever_possible),
        mock.patch.object(quadratic_mean, "takes_statistics", whenever_possible),
    ):
        check_case(case)
