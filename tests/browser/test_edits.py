"""Curves are dragged, by mouse and by keyboard; what is downloaded does the same in Python."""

import json

import numpy as np
import pandas as pd
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.editing import apply_edits
from rgboost.report import write_report

HOSTILE = "</script><img src=x onerror=alert(1)>"
N = 300
FEW = dict(max_iter=40, max_bins=12, interactions=0, random_state=0)
LEFT, RIGHT, TOP, BOTTOM = 46, 312, 8, 150
"""The frame of a curve with missing values, in its own units."""


def made_rows():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.uniform(0, 100, N), "kind": rng.choice(["x", "y", HOSTILE], N)})
    rows.loc[::10, "age"] = np.nan
    return rows, rows["age"].fillna(20) / 50 + 2.0 * (rows["kind"] == "x") + 0.1 * rng.normal(
        size=N
    )


ROWS, Y = made_rows()


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    model = RGBMRegressor(**FEW).fit(ROWS, Y)
    path = tmp_path_factory.mktemp("edits") / "report.html"
    write_report(model, ROWS, Y, path)
    return model, path


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    labels = np.array(["low", "mid", "top"])[np.digitize(Y, [1, 2])]
    model = RGBMClassifier(**FEW).fit(ROWS, labels)
    path = tmp_path_factory.mktemp("edits") / "report.html"
    write_report(model, ROWS, labels, path)
    return model, path


@pytest.fixture
def editing(open_page, regression):
    model, path = regression
    page = open_page(path)
    page.press("#edit")
    return model, page


def edits(page):
    """The edits that would be downloaded."""
    return page.run("return documentOf()")["edits"]


def same_as_python(page, model, ask=None):
    """Download, apply in Python, and compare the predictions of some rows; the edited model."""
    page.give_reasons("because")
    edited = apply_edits(model, page.download())
    rows = ROWS.iloc[:25]
    found = edited.predict_proba(rows) if ask else edited.predict(rows)[:, None]
    for k, (age, kind) in enumerate(rows.itertuples(index=False)):
        page.set({"age": None if np.isnan(age) else repr(age), "kind": kind})
        np.testing.assert_allclose(page.prediction(), found[k], rtol=1e-9)
    return edited


def across(x):
    return LEFT + (RIGHT - LEFT) * x


def test_a_step_is_dragged(editing):
    model, page = editing
    before = page.prediction()
    plot = page.card("age")
    start = page.prediction()
    page.drag(plot, (across(0.5), 90), (across(0.5), 80), (across(0.5), 40))
    (edit,) = edits(page)
    assert (edit["term"], edit["do"]) == (["age"], "set")
    first, last = edit["bins"]
    assert first == last
    old = model.explain_global()["age"]
    low, high = old.values.min(), old.values.max()
    assert edit["value"] > old.values[first] + 0.2 * (high - low)
    median = ROWS["age"].median()
    here = int(np.searchsorted(old.cuts, median))
    assert first == here  # the middle of the picture is the middle of the rows: the what-if follows
    moved = edit["value"] - old.values[first]
    assert page.prediction()[0] == pytest.approx(before[0] + moved, rel=1e-12)
    assert start == before
    assert page.text("#to_edits") == "1 curve changed: review and download"
    assert page.text("#now") == "What if: " + page.text("#prediction")
    edited = same_as_python(page, model)
    new = edited.explain_global()["age"]
    assert np.flatnonzero(new.values != old.values).tolist() == [first]


def test_several_steps_are_chosen_and_dragged(editing):
    model, page = editing
    plot = page.card("age")
    page.drag(plot, (across(0.2), 90), (across(0.3), 91), (across(0.7), 92))
    assert edits(page) == []
    assert "Chosen: " in plot.text
    assert " steps, above " in plot.text
    page.drag(plot, (across(0.5), 70), (across(0.5), 80), (across(0.5), 110))
    (edit,) = edits(page)
    first, last = edit["bins"]
    assert last - first >= 3
    old = model.explain_global()["age"].values[first : last + 1]
    moves = np.array(edit["value"]) - old
    np.testing.assert_allclose(moves, moves[0], rtol=1e-9)
    assert moves[0] < 0
    same_as_python(page, model)


def test_missing_values_are_dragged(editing):
    model, page = editing
    plot = page.card("age")
    page.drag(plot, (338, 60), (338, 70), (338, 100))
    (edit,) = edits(page)
    last = len(model.explain_global()["age"].values)
    assert edit["bins"] == [last, last]
    edited = same_as_python(page, model)
    assert edited.explain_global()["age"].missing == edit["value"]


def test_categories_are_dragged_to_the_side(editing):
    model, page = editing
    plot = page.card("kind")
    shape = model.explain_global()["kind"]
    place = shape.categories.tolist().index("y")
    y = 6 + 15 * place + 7
    page.drag(plot, (200, y), (215, y), (260, y + 1))
    (edit,) = edits(page)
    assert edit["bins"] == [place, place]
    assert edit["value"] > shape.values[place]
    same_as_python(page, model)


def test_classes_are_dragged_one_by_one(open_page, classes):
    model, path = classes
    page = open_page(path)
    page.press("#edit")
    plot = page.card("age")
    spot = page.run(
        """const entry = cards.find(one => one.plot === arguments[0]), {spots} = entry.drawing;
        return [middle(spots[3]), amountOf(entry, entry.term.values, 3, 1)]""",
        plot,
    )
    page.drag(plot, spot, (spot[0], spot[1] - 8), (spot[0], spot[1] - 25))
    (edit,) = edits(page)
    assert (edit["class"], edit["bins"]) == (1, [3, 3])
    same_as_python(page, model, ask="predict_proba")


def test_the_keyboard(editing):
    from selenium.webdriver.common.keys import Keys

    model, page = editing
    plot = page.card("age")
    page.run("arguments[0].focus()", plot)
    assert plot.get_attribute("role") == "slider"
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP)
    (edit,) = edits(page)
    shape = model.explain_global()["age"]
    assert edit["bins"] == [2, 2]
    one = edit["value"] - shape.values[2]
    assert one > 0
    told = plot.get_attribute("aria-valuetext")
    assert f"{shape.cuts[1]:.4g}" in told
    assert float(plot.get_attribute("aria-valuenow")) == pytest.approx(
        edit["value"] - shape.mean, rel=1e-2
    )
    page.keys(Keys.PAGE_UP)
    assert edits(page)[0]["value"] - shape.values[2] == pytest.approx(11 * one, rel=0.1)
    page.keys(Keys.END)
    page.keys(Keys.ARROW_DOWN)
    assert [edit["bins"] for edit in edits(page)] == [[2, 2], [len(shape.values)] * 2]
    page.keys(Keys.DELETE)
    assert [edit["bins"] for edit in edits(page)] == [[2, 2]]
    from selenium.webdriver.common.action_chains import ActionChains

    page.keys(Keys.HOME)
    shift = (
        ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    )
    shift.key_up(Keys.SHIFT).perform()
    page.keys(Keys.ARROW_UP)
    assert [edit["bins"] for edit in edits(page)] == [[0, 2]]
    page.keys(Keys.DELETE)
    assert edits(page) == []
    assert not page.one("#edits").is_displayed()


def test_changes_are_taken_back(editing):
    _, page = editing
    start = page.prediction()
    page.drag(page.card("age"), (across(0.5), 90), (across(0.5), 40))
    y = 6 + 15 * page.run("return data.inputs.find(i => i.name === 'kind').start") + 7
    page.drag(page.card("kind"), (200, y), (260, y))
    assert len(page.all("#edit_table tr")) == 2
    assert page.prediction() != start
    page.settle(page.all("#edit_table button")[0]).click()
    assert [edit["term"] for edit in edits(page)] == [["kind"]]
    page.press("#undo_all")
    assert edits(page) == []
    assert page.prediction() == start
    drawn = page.run("return cards.map(entry => entry.shape.values)")
    page.driver.refresh()
    for now, then in zip(
        drawn, page.run("return cards.map(entry => entry.shape.values)"), strict=True
    ):
        np.testing.assert_allclose(now, then, atol=1e-5)


def test_every_change_needs_a_reason(editing):
    _, page = editing
    page.drag(page.card("age"), (across(0.5), 90), (across(0.5), 40))
    page.press("#download")
    assert "needs a reason" in page.text("#edit_fault")
    assert page.run("return document.activeElement.className") == "reason"
    page.keys("too few ", '<b>"rows"</b>')
    path = page.download()
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["edits"][0]["reason"] == 'too few <b>"rows"</b>'
    assert (found["format"], found["version"]) == ("rgboost-edits", 1)
    other = RGBMRegressor(**FEW | {"max_iter": 39}).fit(ROWS, Y)
    with pytest.raises(ValueError, match="another model"):
        apply_edits(other, path)


def test_curves_stay_where_they_are_until_they_may_be_changed(open_page, regression):
    page = open_page(regression[1])
    plot = page.card("age")
    page.drag(plot, (across(0.5), 90), (across(0.5), 40))
    assert edits(page) == []
    assert plot.get_attribute("role") is None
    page.press("#edit")
    page.press("#edit")
    page.drag(page.card("age"), (across(0.5), 90), (across(0.5), 40))
    assert edits(page) == []
