"""Fields, predictions and contributions answer to what is typed."""

import numpy as np
import pandas as pd
import pytest

from rgboost.report import write_report

from ..export.made import CLASSES, NAMES, NUMBER, SHADES, TEXT, made_models, python_rows, rows_of

ROWS = 40


def labels_for(model, n):
    classes = getattr(model, "classes_", np.array([1.0, 2.0]))
    return classes[np.arange(n) % len(classes)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report about a made model, by its name."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name, **options):
        made, path = made_models()[name], folder / f"{name} {len(options)}.html"
        rows = rows_of(made)
        write_report(made.model, rows, labels_for(made.model, len(rows)), path, **options)
        return path

    return write


def ask(model, rows):
    """Predictions of rows, a list for each."""
    found = model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)
    return found.reshape(len(rows), -1)


def as_typed(row, model):
    """What a person would type; categories by their labels, as they are shown."""
    return {
        name: value
        if value is None or isinstance(value, str)
        else f"{value:g}"
        if name == "code"
        else repr(float(value))
        for name, value in row.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_those_of_predict(open_page, report, name):
    made = made_models()[name]
    page, rows = open_page(report(name)), rows_of(made)
    wanted = ask(made.model, rows)
    local = made.model.explain_local(rows).centered()
    for k, row in enumerate(python_rows(made.frame)[:ROWS]):
        page.set(as_typed(row, made.model))
        np.testing.assert_allclose(page.prediction(), wanted[k], rtol=1e-9, atol=1e-9)
    if local.contributions.size:  # the last row's largest contribution is drawn first
        shown = (
            page.text("#parts .amount").split(" ")[0] if local.contributions.shape[1] == 1 else None
        )
        largest = page.all("#parts .amount")[0].text.split(" ")[0].replace(",", "")
        c = 0
        if local.contributions.ndim == 3:
            c = int(page.one("#shown_class").get_property("value"))
        found = local.contributions[ROWS - 1].reshape(local.contributions.shape[1], -1)[:, c]
        assert float(largest) == pytest.approx(found[np.abs(found).argmax()], rel=1e-2)
        assert shown is None or shown.replace(",", "") == largest


def test_typing(open_page, report):
    made = made_models()["regression"]
    page = open_page(report("regression"))
    row = pd.DataFrame({name: [None] for name in made.frame}).astype(
        made.frame.dtypes.to_dict() | {"select": float}
    )
    page.set(dict.fromkeys(made.frame))
    assert page.prediction() == pytest.approx(ask(made.model, row)[0], abs=1e-9)
    page.enter(NUMBER, "1.25")
    row[NUMBER] = 1.25
    assert page.prediction() == pytest.approx(ask(made.model, row)[0], abs=1e-9)
    before = page.text("#prediction")
    page.choose(TEXT, SHADES[1])
    row[TEXT] = SHADES[1]
    assert page.prediction() == pytest.approx(ask(made.model, row)[0], abs=1e-9)
    assert page.text("#prediction") != before
    assert any(f"{TEXT} = {SHADES[1]}" in part.text for part in page.all("#parts .name"))
    page.choose(TEXT, "(another one)")
    row[TEXT] = "never seen"
    assert page.prediction() == pytest.approx(ask(made.model, row)[0], abs=1e-9)


def test_what_is_no_number_is_said_so(open_page, report):
    page = open_page(report("regression"))
    page.enter(NUMBER, "2")
    known = page.prediction()
    page.enter(NUMBER, "2 metres")
    field = page.field(NUMBER)
    assert field.get_attribute("aria-invalid") == "true"
    assert "2 metres is not a number" in page.text("#faults")
    assert page.prediction() == known
    page.enter(NUMBER, "2.0")
    assert field.get_attribute("aria-invalid") is None
    assert page.text("#faults") == ""
    page.press("#again")
    assert field.get_property("value") != "2.0"


def test_several_classes(open_page, report):
    page = open_page(report("three classes"))
    assert len(page.all("#chances .track")) == 3
    assert sum(page.prediction()) == pytest.approx(1)
    best = sorted(CLASSES)[int(np.argmax(page.prediction()))]
    assert page.text("#prediction").startswith(f"Class {best}: ")
    first = page.text("#parts")
    page.run("$('shown_class').value = (Number($('shown_class').value) + 1) % 3;"
             "$('shown_class').dispatchEvent(new Event('change'))")  # fmt: skip
    assert page.text("#parts") != first


def test_rows_fill_the_fields(open_page, report):
    made = made_models()["two classes"]
    page = open_page(report("two classes", rows=12))
    assert "This file holds rows of the data." in page.text(".warning")
    wanted = ask(made.model, rows_of(made))
    buttons = page.all("#rows button")
    assert len(buttons) == 12
    for k in (0, 3, 11):
        page.settle(buttons[k]).click()
        assert page.prediction() == pytest.approx(wanted[k], abs=1e-12)
    assert len(page.all("#rows [aria-selected]")) == 1


def test_no_rows_unless_asked_for(open_page, report):
    page = open_page(report("two classes"))
    assert not page.one("#kept_rows").is_displayed()
