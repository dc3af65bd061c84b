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
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: self.breaks.pop(0)] if self.breaks else content)


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
