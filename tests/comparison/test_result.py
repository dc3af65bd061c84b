"""What a comparison says: rules on made-up models, words, figure, page."""

import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rgboost.comparison import ComparedModel, Comparison
from rgboost.comparison.page import notebook_html, write_page
from rgboost.comparison.picture import picture
from rgboost.comparison.words import bytes_in_words, plain_numbers, seconds_in_words
from rgboost.plot import ComparisonDisplay

SIZES = {
    "constant": (0, 0, 0, 8),
    "curves": (8, 0, 0, 20_000),
    "5 pairs": (8, 5, 0, 50_000),
    "EBM": (8, 24, 0, 5_000_000),
    "trees": (0, 0, 1_200, 4_000_000),
}


def made_up(measure="1 - R²", **found):
    """A comparison of models that have a loss, and a standard error of the difference."""
    found = {name.replace("_", " ").replace("five", "5"): one for name, one in found.items()}
    least = min(loss for loss, _ in found.values())
    models = [
        ComparedModel(name, loss, loss - least, error, *SIZES[name][:3], 1.5, SIZES[name][3])
        for name, (loss, error) in found.items()
    ]
    models = tuple(sorted(models, key=lambda one: one.size))
    errors = [[max(a.standard_error, b.standard_error) for b in models] for a in models]
    return Comparison(models, errors, measure, 900, 8, 900, 5, target="price")


CONSTANT = (1.0, 0.1)
ERRORS = ((0.0, 0.1), (0.1, 0.0))
"""Of two models."""


def test_order_of_size():
    found = made_up(
        trees=(0.3, 0), EBM=(0.3, 0.1), five_pairs=(0.3, 0.1), curves=(0.4, 0.1), constant=CONSTANT
    )
    assert [one.name for one in found.models] == list(SIZES)


@pytest.mark.parametrize(
    ("losses", "best", "smallest", "words"),
    [
        (
            dict(curves=(0.31, 0.02), five_pairs=(0.3, 0.0), trees=(0.305, 0.001)),
            "5 pairs", "curves",
            "The smallest model whose loss is within one standard error of the best is curves: "
            "8 curves to look at, and a loss (1 - R²) of 0.3100, 0.0100 ± 0.0200 above that of the "
            "best, 5 pairs.",
        ),
        (
            dict(curves=(0.31, 0.005), five_pairs=(0.3, 0.0), trees=(0.305, 0.01)),
            "5 pairs", "5 pairs",
            "The smallest model whose loss is within one standard error of the best is 5 pairs, "
            "which is the best itself: 8 curves and 5 heat maps to look at, and a loss (1 - R²) of "
            "0.3000.",
        ),
        (
            dict(curves=(0.5, 0.01), five_pairs=(0.4, 0.02), trees=(0.3, 0.0)),
            "trees", "trees",
            "The smallest model whose loss is within one standard error of the best is trees, "
            "which is the best itself: 1,200 trees, which nobody can look through, and a loss "
            "(1 - R²) of 0.300; of those that can be read, by the same rule, it is 5 pairs: 8 "
            "curves and 5 heat maps to look at, and a loss 0.100 ± 0.020 above the best.",
        ),
        (
            dict(curves=(0.5, 0.01), five_pairs=(0.405, 0.03), EBM=(0.4, 0.02), trees=(0.3, 0.0)),
            "trees", "trees",
            "The smallest model whose loss is within one standard error of the best is trees, "
            "which is the best itself: 1,200 trees, which nobody can look through, and a loss "
            "(1 - R²) of 0.300; of those that can be read, by the same rule, it is 5 pairs: 8 "
            "curves and 5 heat maps to look at, and a loss 0.105 ± 0.030 above the best.",
        ),
        (
            dict(curves=(0.302, 0.001), five_pairs=(0.304, 0.01), trees=(0.3, 0.0)),
            "trees", "curves",
            "The smallest model whose loss is within one standard error of the best, trees, is 5 "
            "pairs, and curves is smaller still with a smaller loss: 8 curves to look at, and a "
            "loss (1 - R²) of 0.3020, 0.0020 ± 0.0010 above the best.",
        ),
        (
            dict(curves=(1.02, 0.01), five_pairs=(1.0, 0.1), constant=(1.01, 0.1)),
            "5 pairs", "constant",
            "No model predicts these rows better than one answer for all of them, a loss (1 - R²) "
            "of 1.010, by more than one standard error.",
        ),
    ],
)  # fmt: skip
def test_which_one_and_the_sentence(losses, best, smallest, words):
    found = made_up(**{"constant": CONSTANT, **losses})
    assert found.best.name == best
    assert found.smallest.name == smallest
    assert found.sentence == words
    assert str(found).endswith("\n\n" + words)


@pytest.fixture
def found():
    return made_up(
        constant=CONSTANT, curves=(0.354, 0.014), five_pairs=(0.31, 0.012), trees=(0.3, 0.0)
    )


def test_table(found):
    records = found.table
    assert [one["model"] for one in records] == ["constant", "curves", "5 pairs", "trees"]
    assert records[2] == {
        "model": "5 pairs", "loss": 0.31, "difference": pytest.approx(0.01),
        "standard_error": 0.012, "curves": 8, "heat_maps": 5, "trees": 0, "things": 13,
        "seconds": 1.5, "bytes": 50_000,
    }  # fmt: skip
    frame = found.to_frame()
    assert frame.loc["5 pairs", "things"] == 13
    assert frame["things"].isna().tolist() == [False, False, False, True]
    assert isinstance(frame, pd.DataFrame)


def test_text(found):
    assert str(found).splitlines()[:7] == [
        "900 rows of 8 features; each was held out once, in 5 folds",
        "",
        "model     1 - R²  above the best  curves  heat maps  trees  seconds   size",
        "constant   1.000   0.700 ± 0.100                                1.5    8 B",
        "curves     0.354   0.054 ± 0.014       8                        1.5  20 kB",
        "5 pairs    0.310   0.010 ± 0.012       8          5             1.5  50 kB",
        "trees      0.300        the best                     1,200      1.5   4 MB",
    ]


def test_a_model_by_its_name(found):
    assert found["trees"].trees == 1200
    with pytest.raises(KeyError, match="there is no model 'tree'; there are 'constant', 'curves'"):
        found["tree"]


def test_plain_numbers():
    given = dict(constant=(1.0, 0.1), curves=(0.25, 0.0))
    explained = "Share of the differences between the labels that is explained: "
    for measure in ("1 - R²", "1 - D²"):
        told = plain_numbers(made_up(measure, **given))
        assert told == explained + "constant 0.0 %, curves 75.0 %."
    assert plain_numbers(made_up("log-loss", **given)).endswith("constant 36.8 %, curves 77.9 %.")
    assert plain_numbers(made_up("mean absolute error", **given)) == ""


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (999_700, "1 MB"), (12_345_678, "12.3 MB"),
     (3.2e9, "3.2 GB"), (float("nan"), "")],
)  # fmt: skip
def test_bytes(n, words):
    assert bytes_in_words(n) == words


def test_seconds():
    assert [seconds_in_words(s) for s in (0.01, 0.234, 12.3, 123.4)] == [
        "< 0.1", "0.23", "12", "123",
    ]  # fmt: skip


def circles(svg):
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg)]


def test_figure(found):
    """Points in the order of their losses, and no constant."""
    x = circles(picture(found))
    assert len(x) == 3
    assert x == sorted(x, reverse=True)
    ratio = (x[0] - x[2]) / (x[1] - x[2])
    assert ratio == pytest.approx(0.054 / 0.010, rel=0.03)


class Reader(HTMLParser):
    """Texts and tags; every tag that is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_page(found, tmp_path):
    path = tmp_path / "page.html"
    found.page(path)
    text = path.read_text(encoding="utf-8")
    reader = read(text)
    assert reader.tags.count("svg") == reader.tags.count("table") == reader.tags.count("h1") == 1
    assert found.sentence in [text.replace("\xa0", " ") for text in reader.texts]
    assert "What a readable model costs to predict price" in reader.texts
    assert reader.tags.count("tr") == 5
    assert len(re.findall('class="chosen"', text)) == 1
    assert "0.010 ± 0.012" in reader.texts
    assert "{{" not in text


def test_nothing_is_loaded_from_elsewhere(found, tmp_path):
    found.page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"<(link|img|iframe|script)|\bsrc=|@import|url\(", text)


def test_names_are_no_markup(tmp_path):
    models = made_up(curves=(0.3, 0.0), trees=(0.4, 0.1)).models
    strange = "</script><b>{{table}} & more"
    found = Comparison(
        models, ERRORS, "mean <i> loss", 90, 2, 90, 5, strange, {"<b>5 pairs": "<u>why"}
    )
    write_page(found, tmp_path / "page.html")
    reader = read((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert f"What a readable model costs to predict {strange}" in reader.texts
    assert not {"b", "i", "u", "script"} & set(reader.tags)
    assert "left out: <b>5 pairs (<u>why)" in reader.texts
    found.page(tmp_path / "page.html", title="Mine {{rows}}")
    assert "Mine {{rows}}" in read((tmp_path / "page.html").read_text("utf-8")).texts


def test_notebook(found):
    reader = read(notebook_html(found))
    assert {"table", "svg"} <= set(reader.tags)
    assert found._repr_html_() == notebook_html(found)


def test_display(found):
    display = found.plot()
    assert isinstance(display, ComparisonDisplay)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "curves", "5 pairs", "trees",
    ]  # fmt: skip
    points = [bar.lines[0].get_xdata()[0] for bar in display.bars_]
    assert points == [0.354, 0.31, 0.3]
    (ends,) = display.bars_[0].lines[2][0].get_segments()
    np.testing.assert_allclose(ends[:, 0], [0.34, 0.368])
    assert display.ax_.get_xlabel() == "1 - R² of held-out rows, less is better"
    again = found.plot(plt.figure().subplots())
    assert again.figure_ is not display.figure_
    plt.close("all")


def test_who_is_left_out_for_one_reason():
    models = made_up(curves=(0.3, 0.0), trees=(0.4, 0.1)).models
    why = {"5 pairs": "no room.", "all pairs": "no room.", "trees": "no"}
    found = Comparison(models, ERRORS, "log-loss", 90, 2, 90, 5, left_out=why)
    told = "\n\nleft out: 5 pairs, all pairs (no room)\nleft out: trees (no)\n\n"
    assert told in str(found)


def test_only_a_constant():
    """Where nothing can be drawn, all else is there."""
    found = made_up(constant=(1.0, 0.0))
    assert picture(found) == ""
    assert found.sentence.startswith("No model predicts these rows better")
