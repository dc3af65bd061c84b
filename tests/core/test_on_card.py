"""Arrays on a graphics card are told from others without a package for cards."""

import numpy as np
import pytest

from rgboost import RGBMRegressor
from rgboost._core.on_card import is_on_card, to_host


class OnCard:
    """What a library has whose array is there."""

    shape = (20, 2)

    @property
    def __cuda_array_interface__(self):
        return {"version": 3}

    def copy_to_host(self):
        return np.arange(20.0)


class NeedsGradient:
    """torch's: whoever asks for the memory is told that there is a gradient."""

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("it requires a gradient")


class ByDlpack:
    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        if self.kind is None:
            raise RuntimeError("lazy")
        return self.kind, 0


def test_what_is_on_a_card():
    for one in (OnCard(), NeedsGradient(), ByDlpack(2)):
        assert is_on_card(one)
    for one in (np.zeros(3), [1.0], None, "cuda", 1.0, ByDlpack(1), ByDlpack(None)):
        assert not is_on_card(one)
    assert to_host(OnCard()).tolist() == list(range(20))
    assert to_host("a string") == "a string"


def test_rows_on_a_card_need_a_fit_there():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"X is on a graphics card, .* set device='cuda', or"):
        RGBMRegressor().fit(OnCard(), np.arange(20.0))
    with pytest.raises(ValueError, match=r"X_val is on a graphics card"):
        RGBMRegressor().fit(X, np.arange(20.0), X_val=OnCard(), y_val=np.arange(20.0))
    model = RGBMRegressor(max_iter=3, early_stopping=False, interactions=0).fit(X, OnCard())
    assert model.score(X, OnCard()) > 0
    with pytest.raises(TypeError, match="Bring it to the host for this"):
        model.explain_local(OnCard())
