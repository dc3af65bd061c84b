"""The page about a model."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.explain.page import page_data, write_page

from ..pairs import add_pairs

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["age", "</script><b>", "unused & {{data}}"])
X["unused & {{data}}"] = 0.0
y = X["age"] + X["</script><b>"] ** 2


@pytest.fixture(scope="module")
def model():
    return RGBMClassifier(max_iter=900, random_state=0).fit(X, np.where(y > 1, "high", "low"))


def embedded(text):
    """The data in a page, as a browser reads them."""
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)], parse_constant=refuse)


def refuse(word):
    """JSON has neither NaN nor Infinity; Python reads them all the same."""
    raise ValueError(f"{word} is not JSON")


def test_page(model, tmp_path):
    path = tmp_path / "page.html"
    write_page(model, path, title="Model <1> & {{data}}")
    text = path.read_text(encoding="utf-8")
    assert "<title>Model &lt;1&gt; &amp; {{data}}</title>" in text
    assert "{{title}}" not in text
    data = embedded(text)
    assert data == json.loads(json.dumps(page_data(model)))
    assert [f["name"] for f in data["features"]] == ["age", "</script><b>"]
    assert data["unused"] == 1
    facts = dict(data["facts"])
    assert (facts["classes"], facts["positive class"]) == ("high, low", "low")
    assert data["formula"].startswith("log-odds of class low = ")
    assert data["scale"] == "log-odds of class low"


def test_nothing_is_loaded_from_elsewhere(model, tmp_path):
    write_page(model, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    elsewhere = set(re.findall(r"https?://[^\"' ]+", text)) - {"http://www.w3.org/2000/svg"}
    assert not elsewhere
    assert not re.findall(r"<(link|img|iframe)|\bsrc=|@import|url\(", text)


def test_functions_are_centered_and_weighted(model):
    explanation = model.explain_global()
    for feature in page_data(model)["features"]:
        shape = explanation[feature["name"]]
        np.testing.assert_allclose(feature["values"], [shape.values - shape.mean], rtol=1e-5)
        np.testing.assert_allclose(feature["weights"], shape.weights, rtol=1e-5)
        assert len(feature["values"][0]) == len(feature["cuts"]) + 1
        assert len(feature["density"]) == len(feature["cells"]) + 1
        assert feature["range"][0] < min(feature["cells"])
        assert feature["range"][1] > max(feature["cells"])


def test_long_curves_are_thinned(model):
    curve = page_data(model)["curve"]
    assert len(curve["iteration"]) == len(curve["train"]) == 400
    assert curve["iteration"][0] == 0
    assert curve["iteration"][-1] == 900
    assert curve["validation"] is None


def test_a_model_without_functions_has_a_page(tmp_path):
    model = RGBMRegressor(max_iter=2).fit(np.ones((9, 2)), np.arange(9.0))
    write_page(model, tmp_path / "page.html")
    assert embedded((tmp_path / "page.html").read_text(encoding="utf-8"))["features"] == []


def strange(tmp_path):
    """A page of losses that are no numbers, and of the largest numbers."""
    far = 1.7e308 * np.linspace(-1, 1, 200)[:, None]
    model = RGBMClassifier(max_iter=8, random_state=0)
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums them
        model.fit(far, np.where(y > 1, "high", "low"))
    loss = model.trace_.train_loss.copy()
    loss[[0, 4]] = np.inf, np.nan
    held = np.full(len(loss), np.inf)
    model.trace_ = replace(model.trace_, train_loss=loss, validation_loss=held)
    write_page(model, tmp_path / "page.html")
    return tmp_path / "page.html", loss


def test_infinite_losses_are_null(tmp_path):
    path, loss = strange(tmp_path)
    data = embedded(path.read_text(encoding="utf-8"))
    curve = data["curve"]
    assert [k for k, value in enumerate(curve["train"]) if value is None] == [0, 4]
    np.testing.assert_allclose(curve["train"][1:4], loss[1:4], rtol=1e-5)
    assert set(curve["validation"]) == {None}
    assert np.isfinite(data["features"][0]["range"]).all()


def test_unfitted(tmp_path):
    with pytest.raises(NotFittedError):
        write_page(RGBMRegressor(), tmp_path / "page.html")


def test_categories_and_missing_values_have_values(tmp_path):
    rows = pd.DataFrame({"kind": np.array(["a", "b", None], object)[np.arange(200) % 3]})
    rows["size"] = np.where(np.arange(200) % 7 == 0, np.nan, X["age"])
    rows["many"] = pd.Categorical(np.arange(200) % 40 + 0.5)
    effect = (np.arange(200) % 3) + rows["size"].fillna(4) + (np.arange(200) % 40) / 9
    model = RGBMRegressor(max_iter=60, random_state=0).fit(rows, effect)
    found = {feature["name"]: feature for feature in page_data(model)["features"]}
    assert found["kind"]["categories"] == ["a", "b"]
    assert found["kind"]["missing_weight"] == 66
    assert found["size"]["missing"][0] > 0
    assert found["size"]["missing_weight"] == 29
    assert found["many"]["categories"][:2] == ["0.5", "1.5"]
    assert (len(found["many"]["categories"]), found["many"]["left_out"]) == (30, 10)
    write_page(model, tmp_path / "page.html")


def test_several_classes_have_a_function_each():
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [0.5, 1.5])]
    model = RGBMClassifier(max_iter=30, random_state=0).fit(X, labels)
    data = page_data(model)
    assert data["classes"] == ["high", "low", "middle"]
    assert data["scale"] == "score of each class"
    assert "positive class" not in dict(data["facts"])
    for feature in data["features"]:
        assert np.shape(feature["values"]) == (3, len(feature["weights"]))


HOSTILE = "</script><img src=x onerror=alert(1)>"


def with_pairs(classes):
    """Numbers with missing values, categories, a name that would like to be markup."""
    draw = np.random.default_rng(1)
    rows = pd.DataFrame({"a": draw.normal(size=300), HOSTILE: draw.normal(size=300)})
    rows["kind"] = draw.choice(["x", "y", HOSTILE, None], 300)
    rows.loc[::5, "a"] = np.nan
    target = rows[HOSTILE] + 2.0 * (rows["kind"] == "x")
    kind = RGBMRegressor if classes is None else RGBMClassifier
    labels = target if classes is None else np.digitize(target, np.linspace(0, 1, classes - 1))
    model = kind(max_iter=30, max_bins=12, random_state=0).fit(rows, labels)
    return add_pairs(model, rows, dict.fromkeys([(0, 1), (1, 2), (0, 2)], "random"))


@pytest.mark.parametrize("classes", [None, 3])
def test_pairs(classes, tmp_path):
    model = with_pairs(classes)
    write_page(model, tmp_path / "page.html")
    data = embedded((tmp_path / "page.html").read_text(encoding="utf-8"))
    explanation = model.explain_global()
    assert dict(data["facts"])["pairs of features"] == "3"
    assert "and of the pairs" in data["formula"]
    for found, pair in zip(data["pairs"], explanation.pairs, strict=True):
        assert found["name"] == pair.name
        rows, columns = (axis["missing"] for axis in found["axes"])
        assert rows == pair.axes[0].has_missing
        part = pair.values[: None if rows else -1, : None if columns else -1]
        values = np.array(found["values"]) * found["unit"]
        assert values.shape == (classes or 1, part.shape[0] * part.shape[1])
        wanted = part.reshape(len(found["weights"]), -1).T
        np.testing.assert_allclose(values, wanted, atol=np.abs(wanted).max() / 5000)
        curves = [np.array(axis["curve"]) for axis in found["axes"]]
        whole = explanation.together(*pair.features)
        both = whole.values[: None if rows else -1, : None if columns else -1]
        drawn = values.reshape(-1, *part.shape[:2]) + curves[0][:, :, None] + curves[1][:, None]
        wanted = np.moveaxis(both.reshape(*both.shape[:2], -1), 2, 0)
        np.testing.assert_allclose(drawn, wanted, atol=2e-3 * np.abs(wanted).max())
        assert np.shape(found["most"]) == (classes or 1, 2)
        for axis, own in zip(found["axes"], pair.axes, strict=True):
            assert axis["name"] == own.name
            if own.categories is None:
                np.testing.assert_allclose(axis["cuts"], own.cuts, rtol=1e-5)
            else:
                assert axis["categories"] == own.categories.tolist()
    shares = [term["importance"] for term in data["features"] + data["pairs"]]
    assert sum(shares) == pytest.approx(1, rel=1e-4)
    assert (data["left_out_pairs"], data["left_out_share"]) == (0, 0)


def test_losses_go_on_with_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    model = RGBMRegressor(interactions=1, random_state=0).fit(X, X[:, 0] * X[:, 1])
    data = page_data(model)
    curve, facts = data["curve"], dict(data["facts"])
    assert curve["pairs_from"] == model.n_iter_
    assert curve["iteration"][-1] == model.n_iter_ + len(model.pair_trace_)
    assert len(curve["iteration"]) == len(curve["train"]) == len(curve["validation"])
    assert facts["iterations"].endswith(f"{len(model.pair_trace_):,} with pairs")
    assert facts["training loss"] == f"{model.pair_trace_.train_loss[-1]:.6g}"
    model = RGBMRegressor(interactions=0, random_state=0).fit(X, X[:, 0])
    assert page_data(model)["curve"]["pairs_from"] is None


def test_many_pairs_are_not_all_drawn(monkeypatch):
    monkeypatch.setattr("rgboost.explain.page.data.PAIRS_MOST", 1)
    model = with_pairs(None)
    data = page_data(model)
    assert (len(data["pairs"]), data["left_out_pairs"]) == (1, 2)
    weak = model.term_importances_[-2:].sum()
    assert data["left_out_share"] == pytest.approx(weak, rel=1e-4)


@pytest.mark.parametrize(("classes", "of"), [(2, "5 runs (no interval)"), (3, "3 bags")])
def test_bands_are_those_of_the_explanation(classes, of):
    rows = X.assign(kind=np.array(["a", "b", None], object)[np.arange(200) % 3])
    rows.loc[::7, "age"] = np.nan
    labels = np.digitize(y + (rows["kind"] == "a"), [0.5, 1.5][: classes - 1])
    bags = dict(max_iter=20, bags=3) if "bags" in of else {}
    model = RGBMClassifier(interactions=0, random_state=0, **bags).fit(rows, labels)
    data, explanation = page_data(model), model.explain_global()
    assert of in data["band"]
    for found in data["features"]:
        band = explanation[found["name"]].band
        off = (band.high - band.low).reshape(len(band.low), -1) / 2
        np.testing.assert_allclose(np.array(found["off"]).T, off[:-1], rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(found["missing_off"], off[-1], rtol=1e-5, atol=1e-9)
    single = RGBMClassifier(max_iter=5, random_state=0)
    data = page_data(single.fit(rows, labels))
    assert data["band"] is None
    assert {feature["off"] for feature in data["features"]} == {None}


def test_bands_of_pairs():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    model = RGBMRegressor(interactions=1, random_state=0).fit(rows, rows[:, 0] * rows[:, 1])
    (found,), (pair,) = page_data(model)["pairs"], model.explain_global().pairs
    off = (pair.band.high - pair.band.low)[:-1, :-1].ravel() / 2
    np.testing.assert_allclose(np.array(found["off"][0]) * found["unit"], off, atol=found["unit"])


@pytest.mark.parametrize("classes", [2, 3])
def test_edits_show_what_was_before(classes):
    rows = X.assign(kind=np.array(["a", "b", None], object)[np.arange(200) % 3])
    labels = np.digitize(y + (rows["kind"] == "a"), [0.5, 1.5][: classes - 1])
    model = RGBMClassifier(max_iter=30, random_state=0).fit(rows, labels)
    assert page_data(model)["edited"] == []
    editor = model.edit().flatten("age", reason="<b>why</b>").set("kind", 1.5, (1, 2), reason="so")
    data = page_data(editor.model)
    assert [line.split(":")[0] for line in data["edited"]] == [
        "flatten age", "set kind (bins [1, 2], value 1.5)"
    ]  # fmt: skip
    assert "<b>why</b>" in data["edited"][0]
    old = model.explain_global().centered()
    for found in data["features"]:
        before, shape = found["before"], old[found["name"]]
        if found["name"] not in ("age", "kind"):
            assert before is None
            continue
        wanted = shape.values.reshape(len(shape.values), -1)
        np.testing.assert_allclose(np.array(before["values"]).T, wanted, rtol=1e-5)
        np.testing.assert_allclose(before["cuts"], shape.cuts, rtol=1e-5)
        np.testing.assert_allclose(before["missing"], np.ravel(shape.missing), rtol=1e-5)
