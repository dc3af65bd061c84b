"""What the pages look like: pictures that answer to the mouse, small screens, names that are no
markup."""

import numpy as np
import pandas as pd
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.explain.page import write_page
from rgboost.report import write_report
from rgboost.theory import RecordCertificates

from ..explain.test_page import strange
from ..pairs import add_pairs

HOSTILE = "</script><img src=x onerror=alert(1)>"
LONG = "a_name_without_any_place_to_break_it_" * 4
N = 300
SMALL = 360


def made_rows():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"a": rng.normal(size=N), HOSTILE: rng.normal(size=N), LONG: rng.normal(size=N)}
    )
    rows["kind"] = rng.choice(["x", "'\"><b>y", HOSTILE, None, LONG], N)
    rows.loc[::5, "a"] = np.nan
    score = rows[HOSTILE] + 2.0 * (rows["kind"] == "x") + rows[LONG]
    return rows, score + 0.3 * rng.normal(size=N)


ROWS, Y = made_rows()
LABELS = {
    "numbers": Y.to_numpy(),
    "two": np.array(["no", HOSTILE], object)[(Y > 0).astype(int)],
    "three": np.array(["low", HOSTILE, LONG], object)[np.digitize(Y, [0, 1])],
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports on three models, with rows and groups, and the page about one of them."""
    folder = tmp_path_factory.mktemp("pages")
    for name, labels in LABELS.items():
        kind = RGBMRegressor if name == "numbers" else RGBMClassifier
        model = kind(max_iter=30, max_bins=12, interactions=0, random_state=0).fit(ROWS, labels)
        add_pairs(model, ROWS, dict.fromkeys([(0, 1), (1, 3)], "random"))
        path = folder / f"{name}.html"
        write_report(model, ROWS, labels, path, by="kind", rows=5, title=f"{name} {HOSTILE}")
    write_page(model, folder / "model.html", title=LONG)
    return folder


KINDS = [*LABELS, "model"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_screens_need_no_scrolling_to_the_side(open_page, pages, name, scheme):
    from selenium.webdriver.common.keys import Keys

    page = open_page(pages / f"{name}.html", SMALL, scheme=scheme)
    draw_all(page)
    for one in page.all("details"):
        page.run("arguments[0].open = true", one)
    if name != "model":
        page.press("#edit")
        page.card(LONG).click()
        page.keys(Keys.ARROW_UP)
        assert page.one("#edit_table").is_displayed()
    wide = page.run(
        """return [...document.querySelectorAll("body *")].filter(node =>
          node.getBoundingClientRect().right > arguments[0] + 1 && !node.closest(".scroll, svg"))
          .map(node => node.outerHTML.slice(0, 200))""",
        SMALL,
    )
    assert page.run("return document.documentElement.scrollWidth") <= SMALL, wide
    paper = page.run("return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 30)")


def draw_all(page):
    page.run("for (const entry of cards) if (!entry.drawn) drawTerm(entry)")


@pytest.mark.parametrize("name", KINDS)
def test_names_are_text(open_page, pages, name):
    page = open_page(pages / f"{name}.html")
    draw_all(page)
    assert page.all("img, b b, .card b, th b") == []
    assert HOSTILE in page.run("return document.querySelector('#bars').textContent")
    if name == "model":
        return
    assert page.text("#title") == f"{name} {HOSTILE}"
    assert HOSTILE in [cell.text for cell in page.all("#levels tbody th")]
    assert HOSTILE in page.run("return $('fields').textContent")
    page.choose("kind", HOSTILE)
    assert f"kind = {HOSTILE}" in [part.text for part in page.all("#parts .name")]


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_drawn_at_no_place(open_page, pages, name):
    page = open_page(pages / f"{name}.html")
    draw_all(page)
    odd = page.run(
        """const strange = node => [...node.attributes].some(a => /NaN|Inf|undef/.test(a.value));
        return [...document.querySelectorAll("svg *")].filter(strange).map(n => n.outerHTML)"""
    )
    assert odd == []
    words = page.run("return document.querySelector('main').innerText")
    assert not any(word in words for word in ("NaN", "undefined", "null", "[object"))


@pytest.mark.parametrize("name", ["numbers", "three", "model"])
def test_curves_and_maps_answer_to_the_mouse(open_page, pages, name):
    page = open_page(pages / f"{name}.html")
    for term in (LONG, "kind", f"a x {HOSTILE}"):
        plot = page.card(term)
        says = plot.find_element("css selector", ".says")
        page.mouse(page.point(plot, 150, 20))
        page.wait(lambda says=says: "weight of the rows" in says.text)
    choices = page.all(".card select.class")
    assert len(choices) == (0 if name == "numbers" else page.run("return pairs.length"))


def test_losses_that_are_no_numbers_leave_gaps(open_page, tmp_path):
    path, loss = strange(tmp_path)
    page = open_page(path)
    assert "are not drawn" in page.text("#curve")
    train = page.one("#curve .step").get_attribute("d")
    assert [part.count(",") for part in train.split("M")[1:]] == [3, len(loss) - 5]
    assert page.one("#curve .second").get_attribute("d") == ""
    assert "log-odds of class low" in page.text("#formula")


@pytest.mark.parametrize("name", list(LABELS))
def test_pictures_of_the_performance_answer_to_the_mouse(open_page, pages, name):
    page = open_page(pages / f"{name}.html")
    figures = page.all("#pictures figure")
    assert len(figures) == {"numbers": 2, "two": 2, "three": 1}[name]
    for figure in figures:
        page.settle(figure)
        hit = figure.find_elements("css selector", ".hit")[2]
        at = page.run("const at = arguments[0].getBoundingClientRect();"
                      "return [at.left + at.width / 2, at.top + at.height / 2]", hit)  # fmt: skip
        page.mouse(at)
        page.wait(lambda figure=figure: "row" in figure.find_element("css selector", ".says").text)


def test_everything_has_a_name_for_screen_readers(open_page, pages):
    for name in KINDS:
        page = open_page(pages / f"{name}.html")
        draw_all(page)
        if name != "model":
            page.press("#edit")
        nameless = page.run(
            """const named = node => node.labels?.length || node.getAttribute("aria-label") ||
              node.textContent.trim();
            const all = document.querySelectorAll("input, select, button, [role=img], [tabindex]");
            return [...all].filter(node => !named(node)).map(node => node.outerHTML)"""
        )
        assert nameless == []
        ids = page.run("return [...document.querySelectorAll('[id]')].map(node => node.id)")
        assert len(ids) == len(set(ids)) > 10


def test_all_is_reached_by_the_keyboard(open_page, pages):
    """Tab goes through contents, fields and curves; what has the focus shows it."""
    from selenium.webdriver.common.keys import Keys

    page = open_page(pages / "numbers.html")
    page.press("#edit")
    page.run("document.querySelector('.contents a').focus()")
    seen = set()
    for _ in range(60):
        page.keys(Keys.TAB)
        seen.add(
            page.run(
                "const at = document.activeElement; return at.id || at.className || at.tagName"
            )
        )
    assert {"edit", "search", "again"} <= seen
    assert any("editable" in one for one in seen)
    page.run("$('edit').focus()")
    page.keys(Keys.TAB)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_paper_has_all_pictures(open_page, pages):
    page = open_page(pages / "numbers.html", medium="print")
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("return cards.every(entry => entry.drawn)")
    assert not page.one(".tools").is_displayed()


def test_links_lead_to_terms_that_a_search_has_hidden(open_page, pages):
    page = open_page(pages / "numbers.html")
    page.one("#search").send_keys("nothing is called so")
    page.wait(lambda: not page.all(".card"))
    page.run("document.querySelector('#bars a').click()")
    page.wait(lambda: page.all(".card"))


def test_bands_and_edits_are_drawn(open_page, tmp_path):
    labels = LABELS["three"]
    model = RGBMClassifier(max_iter=30, max_bins=12, interactions=0, bags=3, random_state=0)
    model.fit(ROWS, labels)
    editor = model.edit().flatten("kind", (0, 2), reason=HOSTILE)
    edited = editor.set(LONG, 0.5, reason="a test").model
    write_report(edited, ROWS, labels, tmp_path / "edited.html")
    page = open_page(tmp_path / "edited.html")
    draw_all(page)
    assert HOSTILE in page.text("#edited ol")
    assert "3 bags" in page.text("#band")
    assert "log-loss" in page.text("#edited p:last-child")
    for name, sure in ((HOSTILE, True), (LONG, False), ("kind", False)):
        plot = page.card(name)
        assert bool(plot.find_elements("css selector", ".sure")) == sure
        assert bool(plot.find_elements("css selector", ".before")) != sure


def test_how_it_was_fitted(open_page, tmp_path):
    model = RGBMRegressor(
        max_iter=20, interactions=0, random_state=0, callbacks=[RecordCertificates(at=[20])]
    ).fit(ROWS[[HOSTILE, LONG]], Y)
    write_report(model, ROWS[[HOSTILE, LONG]], Y, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    page.run("document.querySelector('#plan details').open = true")
    settings = page.run("return document.querySelector('#settings').innerText")
    assert "max_iter" in settings
    assert page.text("#certificate").startswith("Certificate of iteration 20: no model")
    assert not page.one("#edited").is_displayed()
