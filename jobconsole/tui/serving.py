"""The dashboard in a browser: textual-serve with a door (SPEC 11, `serve`).

Only this file decides who gets in. textual-serve starts one dashboard for each visitor and has no login of its own: here every
request needs the cookie that the link with the token gives, and a socket must come from the page itself.
"""

from __future__ import annotations

import hmac
import shlex
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.server import Server

COOKIE = "jobconsole"
_DAY = 86_400


class GuardedServer(Server):
    """Serves one command to whoever has the token. `host` and `port` are where it listens, `public_url` what browsers see."""

    def __init__(self, command: Sequence[str], host: str, port: int, token: str, public_url: str | None = None) -> None:
        super().__init__(shlex.join(command), host, port, "jobconsole", public_url)
        self._token = token

    @property
    def link(self) -> str:
        """The address that lets a person in."""
        return f"{self.public_url}/?token={self._token}"

    def serve_until_stopped(self, tell: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM. `tell` is called once the socket listens. Raises `OSError` where it cannot."""
        web.run_app(self._make_app(), host=self.host, port=self.port, print=lambda *_: tell())

    async def on_startup(self, app: web.Application) -> None:
        """The command line has told the address already."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The link gives the cookie and leaves no token in the address line; without either nothing is served."""
        if self._is_token(request.query.get("token", "")):
            response: web.StreamResponse = web.Response(status=303, headers={"Location": f"{self.public_url}/"})
            is_secure = self.public_url.startswith("https:")
            response.set_cookie(COOKIE, self._token, max_age=_DAY, httponly=True, samesite="Strict", secure=is_secure)
            return response
        if not self._is_token(request.cookies.get(COOKIE, "")):
            return web.Response(status=403, text="Open the link that `jobconsole serve` printed.\n")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != urlsplit(self.public_url).netloc:
            return web.Response(status=403, text="This page is not ours.\n")
        return await handler(request)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())
