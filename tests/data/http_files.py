"""A small HTTP server of files that can be told to misbehave."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer:
    """Serves ``files`` (path to bytes) on this machine.

    ``breaks`` are taken one per request: close the connection after so many bytes of the body.
    ``statuses`` are taken one per request: answer with this status only.
    ``requests`` are the headers of the requests so far.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.etag: str | None = '"one"'
        self.last_modified: str | None = None
        self.with_ranges = True
        self.breaks: list[int] = []
        self.statuses: list[int] = []
        self.requests: list[dict[str, str]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                owner.answer(self)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, handler):
        self.requests.append({name.lower(): value for name, value in handler.headers.items()})
        content = self.files.get(handler.path)
        if self.statuses:
            handler.send_error(self.statuses.pop(0))
            return
        if content is None:
            handler.send_error(404)
            return
        start = self.start_of_range()
        if start >= len(content) > 0:
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(content)}")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            total = len(content)
            handler.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        if self.etag:
            handler.send_header("ETag", self.etag)
        if self.last_modified:
            handler.send_header("Last-Modified", self.last_modified)
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        body = content[start:]
        handler.wfile.write(body[: self.breaks.pop(0)] if self.breaks else body)

    def start_of_range(self):
        """Where to begin: 0 unless the request has a range of this version of the file."""
        headers = self.requests[-1]
        if not self.with_ranges or "range" not in headers:
            return 0
        if headers.get("if-range") not in (None, self.etag, self.last_modified):
            return 0
        return int(headers["range"].removeprefix("bytes=").removesuffix("-"))


@contextlib.contextmanager
def serve():
    server = FileServer()
    thread = threading.Thread(target=server.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.server.shutdown()
        server.server.server_close()
        thread.join()
