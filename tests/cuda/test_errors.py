"""What is refused, and why."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse
from numba import cuda

from rgboost import RGBMClassifier, RGBMRegressor, callbacks
from rgboost._core.on_card import NoCardError
from rgboost.cli.errors import ExitCode, describe
from rgboost.cuda import card
from rgboost.cuda.card import SIMULATED, Card, out_of_memory

from .rows import labels, mixed_rows, send


def fit(X=None, y=None, made=RGBMRegressor, **parameters):
    plain, score = mixed_rows()
    given = {"device": "cuda", **parameters}
    return made(**given).fit(plain if X is None else X, score if y is None else y)


@pytest.mark.parametrize("device", ["gpu", "auto", "cuda0", "cuda:x", "cuda:-1", 0, None])
def test_unknown_devices(device):
    with pytest.raises(ValueError, match="is not known; use 'cpu', 'cuda'"):
        fit(device=device)


def test_a_card_that_is_not_there():
    n = 1 if SIMULATED else len(cuda.gpus)
    with pytest.raises(NoCardError, match=f"device='cuda:{n}': there .* 'cuda:0'"):
        fit(device=f"cuda:{n}")


def test_no_card(monkeypatch):
    monkeypatch.setattr(card, "SIMULATED", False)
    monkeypatch.setattr(cuda, "gpus", [])
    with pytest.raises(NoCardError, match="needs an NVIDIA card and its driver") as found:
        fit()
    code, message = describe(found.value)
    assert code == ExitCode.PACKAGE
    assert message.endswith("use --device cpu.")
    assert "\n" not in message


def test_no_package(monkeypatch):
    monkeypatch.setattr(card, "SIMULATED", False)
    plain = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numba_cuda" else plain(name)
    )
    with pytest.raises(ImportError, match=r"pip install 'rgboost\[cuda\]'; or use device='cpu'"):
        fit()


@pytest.mark.parametrize(
    ("parameters", "what"),
    [
        ({"learner": "trees"}, "learner='trees' is not for device='cuda': it is fitted on the"),
        ({"monotone_constraints": [1, 0, 0]}, "monotone_constraints is not for device='cuda'"),
        ({"bags": 3}, "bags=3 is not for device='cuda'"),
        ({"warm_start": True}, "warm_start=True is not for device='cuda'"),
        ({"device_memory": 0}, "device_memory"),
    ],
)
def test_parameters(parameters, what):
    with pytest.raises(ValueError, match=what):
        fit(**parameters)
    with pytest.raises(ValueError, match=what):
        fit(X=send(mixed_rows()[0]), **parameters)


def test_sparse_rows_and_checkpoints(tmp_path):
    with pytest.raises(ValueError, match="X is sparse, and device='cuda' has no sums"):
        fit(X=scipy.sparse.csr_array(np.eye(40)[:, :3]), y=np.arange(40.0))
    X, y = mixed_rows()
    path = tmp_path / "state"
    RGBMRegressor(max_iter=3, interactions=0, callbacks=[callbacks.Checkpoint(path, every=1)]).fit(
        X, y
    )
    with pytest.raises(ValueError, match="resume is not for device='cuda'"):
        RGBMRegressor(max_iter=5, interactions=0, device="cuda").fit(X, y, resume=path)


def test_dask():
    pytest.importorskip("distributed")  # a machine with a card may lack it
    dask = pytest.importorskip("rgboost.dask")
    for made in (dask.DaskRGBMRegressor, dask.DaskRGBMClassifier):
        with pytest.raises(TypeError, match="device='cuda' is not for rows on a cluster"):
            made(device="cuda")


def test_rows_on_a_card_are_not_fitted_in_memory():
    X, y = mixed_rows()
    for given in ({"X": send(X)}, {"X": X, "X_val": send(X), "y_val": y}):
        with pytest.raises(
            ValueError, match=r"is on a graphics card, .*set device='cuda', or bring"
        ):
            RGBMRegressor().fit(y=y, **given)
    made = RGBMRegressor(max_iter=2, interactions=0, early_stopping=False, random_state=0)
    found, expected = made.fit(X, send(y)).predict(X), made.fit(X, y).predict(X)
    np.testing.assert_array_equal(found, expected)


def test_rows_on_the_card_that_are_wrong():
    X, y = mixed_rows()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(X=send(X), y=y[1:])
    with pytest.raises(ValueError, match="only one class"):
        fit(X=send(X), y=np.zeros(len(X)), made=RGBMClassifier)
    bad = np.nan_to_num(X)
    bad[3, 2] = -np.inf
    with pytest.raises(ValueError, match="Input X contains infinity in column 2, first in row 3"):
        fit(X=send(bad))
    with pytest.raises(ValueError, match="Input X_val contains infinity in column 2"):
        RGBMRegressor(device="cuda").fit(send(X), y, X_val=send(bad), y_val=y)
    with pytest.raises(ValueError, match="X has 2 features"):
        RGBMRegressor(device="cuda").fit(send(X), y, X_val=send(X[:, :2].copy()), y_val=y)


def test_a_callback_that_looks_at_rows():
    from rgboost.theory import RecordCertificates

    with pytest.raises(ValueError, match="it looks at rows"):
        fit(made=RGBMClassifier, y=labels("two classes"), callbacks=[RecordCertificates(every=1)])


def test_memory_that_is_not_there():
    assert out_of_memory(MemoryError())
    assert out_of_memory(RuntimeError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"))
    assert not out_of_memory(RuntimeError("no"))
    assert Card("cuda", 5).memory == 5
