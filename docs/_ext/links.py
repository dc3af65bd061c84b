"""Links of the built pages lead somewhere: to a file that is there, and to a place in it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

log = logging.getLogger(__name__)


class Page(HTMLParser):
    """What a page links to, and the places that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update(found[name] for name in ("id", "name") if found.get(name))
        if tag in ("a", "img", "script", "link"):
            self.links.update(found[name] for name in ("href", "src") if found.get(name))


def check(app, exception):
    """Warn of every link to nowhere; with ``sphinx -W`` the build fails."""
    if exception or app.builder.name != "html":
        return
    root = Path(app.outdir)
    files = [path for path in root.rglob("*.html") if path.parent.name != "_static"]  # a template
    pages = {path.resolve(): Page(path) for path in files}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = pages.get(target)
            if not target.exists():
                log.warning("%s links to %s, which is not there", path.relative_to(root), link)
            elif "_modules" in path.parts:
                continue  # viewcode knows one of the names of a class, the reference another
            elif there and parts.fragment and unquote(parts.fragment) not in there.places:
                log.warning("%s links to %s: no such place", path.relative_to(root), link)


def setup(app):
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
