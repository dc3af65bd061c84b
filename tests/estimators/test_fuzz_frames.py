"""Frames made by hypothesis fit, or fail with a clear error. More: `benchmarks/fuzz_frames.py`."""

from hypothesis import given, settings

from tests.frame_strategies import cases, check_case


@settings(max_examples=300)
@given(cases(steps=["constant"]))  # what a step rule adds is time to compile
def test_frames_fit_or_fail_with_a_clear_error(case):
    check_case(case)
