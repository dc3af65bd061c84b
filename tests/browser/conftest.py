"""Pages in a real browser: Chromium, driven by Selenium. ``make browser`` installs both."""

import json
import shutil
import time
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
WIDE, TALL = 1280, 900
PATIENCE = 90.0
"""Seconds that a busy machine may take."""
STARTS = 3
"""Tries to start the browser: on a busy machine it may come too late for its driver."""

STILL = """
const [node, done] = arguments, margin = 390;  // the page draws what is less than 400 pixels away
const near = at => at.bottom > -margin && at.top < innerHeight + margin;
const waits = ({card, drawn}) => !drawn && card.isConnected && near(card.getBoundingClientRect());
let before = "", same = 0;
function look() {
  if (node) node.scrollIntoView({block: "center"});
  const places = [...document.querySelectorAll(".card, .plot, figure, button")].map(one => {
    const at = one.getBoundingClientRect();
    return [at.left, at.top, at.width, at.height];
  });
  const now = JSON.stringify([scrollX, scrollY, document.documentElement.scrollHeight, places]);
  same = now === before && !cards.some(waits) ? same + 1 : 0;
  before = now;
  if (same < 3) requestAnimationFrame(look); else done();
}
requestAnimationFrame(look);
"""

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    from selenium.common.exceptions import SessionNotCreatedException
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    def start():
        options = ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
        for flag in [*FLAGS, f"--window-size={WIDE},{TALL}"]:
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        return Chrome(options=options, service=Service(shutil.which("chromedriver")))

    for left in reversed(range(STARTS)):
        try:
            driver = start()
            break
        except SessionNotCreatedException:
            if not left:
                raise
    driver.set_script_timeout(PATIENCE)
    yield driver
    driver.quit()


@pytest.fixture
def open_page(driver, tmp_path):
    """Open a file as a page. Whatever a page told the console is a fault."""
    opened = []

    def open_file(path, width=WIDE, **media):
        page = Page(driver, tmp_path)
        page.show_as(width, **media)
        driver.get(Path(path).as_uri())
        opened.append(page)
        return page

    yield open_file
    told = [entry["message"] for entry in driver.get_log("browser")] if opened else []
    assert told == []


class Page:
    """What a person does with a page."""

    def __init__(self, driver, folder):
        self.driver = driver
        self.downloads = folder / "downloads"
        driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(self.downloads)},
        )

    def show_as(self, width, scheme="light", medium=""):
        metrics = {"width": width, "height": TALL, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        wanted = {"media": medium, "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def one(self, css):
        (found,) = self.all(css)
        return found

    def text(self, css):
        return self.one(css).text

    def wait(self, what):
        """What a function gives as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (found := what()):
            assert time.monotonic() < end, "it never came true"
            time.sleep(0.02)
        return found

    def settle(self, node=None):
        """Wait until the page stands still, with a node in the middle of the window.

        Pictures are drawn when they come near the window. They are taller than the room that was
        kept for them, so what is underneath moves, one or two frames after a scroll. It also moves
        when a picture says what is under the mouse: the mouse waits in the corner.
        """
        self.mouse((1, 1))
        self.driver.execute_async_script(STILL, node)
        return node

    # What-if.

    def field(self, name):
        """The field of a feature, in view."""
        place = self.run("return data.inputs.findIndex(one => one.name === arguments[0])", name)
        assert place >= 0, name
        field = self.run("fields[arguments[0]].closest('details')?.setAttribute('open', '');"
                         "return fields[arguments[0]]", place)  # fmt: skip
        return self.settle(field)

    def enter(self, name, text):
        """Type into a field, as a person does."""
        field = self.field(name)
        field.clear()
        field.send_keys(text)

    def choose(self, name, text):
        from selenium.webdriver.support.select import Select

        Select(self.field(name)).select_by_visible_text(text)

    def set(self, values):
        """Values of all fields at once, with the event that typing makes; None is missing."""
        self.run("""for (const [name, value] of Object.entries(arguments[0])) {
              const place = data.inputs.findIndex(one => one.name === name);
              if (place < 0) continue;
              const {labels} = data.inputs[place], known = labels && labels.indexOf(value);
              fields[place].value = value === null ? "" : !labels ? value
                : known < 0 ? labels.length : known;
              fields[place].dispatchEvent(new Event("input"));
            }""", values)  # fmt: skip

    def prediction(self):
        return json.loads(self.one("#prediction").get_attribute("data-value"))

    # Curves.

    def card(self, name):
        """The drawing of a term, in view."""
        place = self.run("return cards.findIndex(one => one.shape.name === arguments[0])", name)
        assert place >= 0, name
        self.settle(self.run("return cards[arguments[0]].card", place))
        return self.run("return cards[arguments[0]].plot", place)

    def point(self, plot, x, y):
        """A place in the window, by the units of a drawing (360 wide)."""
        self.settle()
        left, top, wide = self.run(
            """const at = arguments[0].querySelector("svg, canvas").getBoundingClientRect();
            return [at.left, at.top, at.width]""",
            plot,
        )
        return left + x * wide / 360, top + y * wide / 360

    def mouse(self, *moves):
        """Moves to points of the window; "down" and "up" press and release."""
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        actions = ActionBuilder(self.driver, duration=10)
        for move in moves:
            if move == "down":
                actions.pointer_action.pointer_down()
            elif move == "up":
                actions.pointer_action.pointer_up()
            else:
                actions.pointer_action.move_to_location(*(round(v) for v in move))
        actions.perform()

    def drag(self, plot, start, *stops):
        points = [self.point(plot, *stop) for stop in (start, *stops)]
        self.mouse(points[0], "down", *points[1:], "up")

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def press(self, css):
        self.settle(self.one(css)).click()

    def give_reasons(self, text):
        for field in self.all("#edit_table .reason"):
            self.settle(field).clear()
            field.send_keys(text)

    def download(self):
        """What the page downloads.

        Chromium keeps the name with an empty file and moves the whole one onto it at the end.
        """
        self.press("#download")
        return self.wait(self.downloaded)

    def downloaded(self):
        """The one file that is there and whole: all of a document can be read."""
        found = list(self.downloads.glob("*.json"))
        assert len(found) <= 1, found
        for path in found:
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue
            return path
        return None
