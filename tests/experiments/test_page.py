"""The page: whole in itself, and alive in a browser."""

import re
import shutil
import subprocess

import pytest

from rgboost.experiments.figures import COLOURS
from rgboost.experiments.page import make_page
from rgboost.experiments.verdicts import CLAIMS

from .studies import cell, falls_along, medium_is_best

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "google-chrome-stable")
browser = next(filter(None, map(shutil.which, BROWSERS)), None)

# Press everything that can be pressed, then write down what happened.
USE = """
<script>
window.addEventListener("error", (e) => { document.body.dataset.fault = e.message; });
const pointer = (type, x) => new PointerEvent(type, { clientX: x, clientY: 60, bubbles: true });
const curves = () => document.querySelectorAll(".curve").length;
const counts = [curves()];
document.querySelector(".legend button").click();
counts.push(curves());
document.querySelectorAll("input[type=radio]").forEach((input) => {
  input.checked = true;
  input.dispatchEvent(new Event("change"));
});
counts.push(curves());
const svg = document.querySelector(".panel svg");
const frame = svg.getBoundingClientRect();
svg.dispatchEvent(pointer("pointermove", frame.left + frame.width / 2));
document.body.dataset.tip = document.querySelector(".panel .tip").textContent;
svg.dispatchEvent(pointer("pointerleave", 0));
document.body.dataset.counts = counts.join(" ");
document.body.dataset.bad = [...document.querySelectorAll("svg *")].filter((node) =>
  [...node.attributes].some((a) => /NaN|Infinity|undefined/.test(a.value))).length;
document.body.dataset.wide = document.documentElement.scrollWidth > window.innerWidth + 1;
</script>
"""


@pytest.fixture
def studies():
    first = medium_is_best()
    first["cells"].append(cell(30, 0, rate=0.01, cost=1e-6, test=falls_along, engine="gram"))
    first["cells"] += [{**c, "step": "line-search"} for c in first["cells"][:9]]
    first["steps"] = ["constant", "line-search"]
    return [first, medium_is_best(name="a9a", grid=(30, 5, 1))]


def test_needs_nothing_from_elsewhere(studies):
    page = make_page(studies)
    assert "http://www.w3.org/2000/svg" in page  # a name, not an address
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert page.count("</script>") == 2  # the one in a setting is text
    assert "made &lt;up&gt;" in page


def test_says_what_is_beyond_the_paper(studies):
    page = make_page(studies)
    assert "beyond the paper: gram, t = 30 (same iterates, other cost)" in page
    assert page.count("<h3>Figure loss1") == 1


def test_marks_say_what_is_not_tested_here(studies):
    """The first of the two sets is none of the paper's: no crosses, and each claim says why."""
    page = make_page(studies[:1])
    marks = re.findall(r'<td><span class="badge [a-z-]+" title="([a-z ]+)"', page)
    assert set(marks) == {"not tested here"}
    assert len(marks) == 2 * len(CLAIMS)
    assert "moderately large training error<small>about colon-cancer</small>" in page
    assert "moderately large training error: about colon-cancer.</li>" in page
    both = make_page(studies)
    assert re.search(r'title="confirmed" aria-label="confirmed">✓<', both)


def test_colours_differ():
    assert len(set(COLOURS)) == 5


@pytest.mark.skipif(browser is None, reason="needs Chromium or Chrome")
def test_in_a_browser(studies, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(make_page(studies).replace("</body>", USE + "</body>"), "utf-8")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
        f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
        "--virtual-time-budget=2000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    body = re.search(r"<body[^>]*>", done.stdout).group()
    assert 'data-ready="true"' in body
    assert "data-fault" not in body
    assert "CONSOLE" not in done.stderr
    # 4 series in 6 panels and 3 in 4 of loss1 and 6; one is hidden; then another step rule
    assert 'data-counts="54 48 ' in body
    assert 'data-bad="0"' in body
    assert 'data-wide="false"' in body
    assert re.search(r'data-tip="iterations: [0-9.]+t = ', body)
