"""A receiver of messages: a real HTTP server on loopback that keeps what Apprise sends to `json://127.0.0.1:PORT/...`.

Only this file decides how it answers: 200, or the number that the path ends in; `/hang` waits until the server is stopped,
`/lost` takes the message and closes the connection without an answer.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """Use it as a context manager; `received` are the messages' JSON, `paths` where they were sent to."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.arrived = threading.Event()
        self._ended = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.received.append(json.loads(body))
                outer.paths.append(self.path)
                outer.arrived.set()
                last = self.path.rstrip("/").rpartition("/")[2]
                if last == "hang":
                    outer._ended.wait(120)
                if last == "lost":
                    self.close_connection = True
                    return
                self.send_response(int(last) if last.isdigit() else 200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def url(self, path: str = "") -> str:
        """The URL that Apprise sends to."""
        return f"json://127.0.0.1:{self._server.server_port}/{path}"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)
