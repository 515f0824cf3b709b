"""A widget that follows a feed: one comm, a bounded state when a browser connects, then patches (UX 1b).

Only this file decides what goes over a comm and when. Nothing here waits for the store: messages from the browser are answered
in the console's loop, so that a handler returns at once whatever thread it runs in. Foreign text travels in custom messages and
in one JSON text without `<`, never in markup, so that a saved widget state cannot end a script element.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any, ClassVar

import anywidget
import msgspec
import traitlets

from jobconsole.errors import JobconsoleError
from jobconsole.notebook import assets, still
from jobconsole.notebook.attending import Care, attend
from jobconsole.notebook.deciding import Click, apply
from jobconsole.notebook.feed import Feed, News
from jobconsole.notebook.record import Record
from jobconsole.notebook.terms import terms

log = logging.getLogger(__name__)


class _AbstractWidget(ABCMeta, traitlets.MetaHasTraits):
    """A widget's class of which only complete subclasses can be made."""


class Live(anywidget.AnyWidget, metaclass=_AbstractWidget):
    """What all widgets share. A subclass says what: `_whole`, `_changes`, `_still`, and `_read` for what is awaited."""

    _esm = assets.script()
    _css = assets.style()
    _kind: ClassVar[str]
    _record: Record | None = None  # the operation whose details are shown

    kind = traitlets.Unicode().tag(sync=True)
    view_id = traitlets.Unicode().tag(sync=True)
    terms = traitlets.Unicode().tag(sync=True)
    theme = traitlets.Unicode().tag(sync=True)
    snapshot = traitlets.Unicode().tag(sync=True)
    pulse = traitlets.Unicode().tag(sync=True)

    def __init__(self, feed: Feed, palettes: Mapping[str, Any], by: str) -> None:
        self._feed, self._by = feed, by
        self._sequence = 0
        self._building = threading.RLock()  # a browser may connect in one thread while the loop tells news in another
        self._order = asyncio.Lock()
        super().__init__(
            kind=self._kind,
            view_id=f"jobconsole-{uuid.uuid4().hex}",
            terms=text_of({**terms(), "me": by.removeprefix("person:")}),
            theme=text_of(palettes),
            pulse=text_of(self._pulse()),
        )
        self.on_msg(self._receive)
        self._unlisten = feed.listen(self)

    # ---- what it shows --------------------------------------------------------------------------------------------------
    async def _read(self, news: News) -> None:
        """Bring up to date what has to be read from the store."""

    @abstractmethod
    def _whole(self, now: datetime) -> dict[str, Any]:
        """Everything, bounded."""

    @abstractmethod
    def _changes(self, news: News, now: datetime) -> dict[str, Any]:
        """What is different; empty where nothing is."""

    # ---- connecting -----------------------------------------------------------------------------------------------------
    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """The traits. A browser that connects asks for all of them, and gets the state of this moment, not of the first."""
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        if key is None:
            state["snapshot"] = text_of(self._full())
            state["pulse"] = text_of(self._pulse())
        return state

    def _full(self) -> dict[str, Any]:
        with self._building:
            now = self._feed.now()
            return {"type": "snapshot", "sequence": self._sequence, **_moment(now), **self._whole(now)}

    def _pulse(self) -> dict[str, Any]:
        health = self._feed.health()
        return {**_moment(self._feed.now()), "worker": bool(health.workers), "why_not": health.why_not}

    # ---- telling: in the console's loop ---------------------------------------------------------------------------------
    async def hear(self, news: News) -> None:
        """Send what changed, if anything did."""
        async with self._order:
            await self._read(news)
            with self._building:
                now = self._feed.now()
                self._tell(self._changes(news, now), now)

    def _tell(self, changes: dict[str, Any], now: datetime) -> None:
        """Send what is different, or everything where the changes say `whole`; inside of `_building` only."""
        if not changes:
            return
        self._sequence += 1
        if changes.get("whole"):
            self.send(self._full())
        else:
            self.send({"type": "rows_patch", "sequence": self._sequence, **_moment(now), **changes})

    def beat(self) -> None:
        """A sign of life, and the kernel's clock."""
        self.pulse = text_of(self._pulse())

    def part(self) -> None:
        """The console was closed."""
        self.send({"type": "closed"})

    # ---- hearing: in whatever thread the kernel handles messages ---------------------------------------------------------
    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        self.send({"type": "got", "decision_id": content.get("decision_id")})
        self._start(self._answer(content))

    def _start(self, work: Any) -> Future[Any]:
        return self._feed.start(_logged(work))

    async def _answer(self, content: dict[str, Any]) -> None:
        if content.get("type") == "hello":
            self.send(self._full())
        elif content.get("type") == "why":
            self._say_why(content)
        elif content.get("type") in ("decide", "attend"):
            self.send(await self._clicked(content))

    async def _clicked(self, content: dict[str, Any]) -> dict[str, Any]:
        """Do what a click asks for; what it came to, or what is wrong with its message."""
        desk, by = self._feed.desk, self._by
        try:
            if content["type"] == "decide":
                return await apply(Click.of(content), desk, by)
            return await attend(Care.of(content), desk, by)
        except JobconsoleError as error:
            return {"type": "answer", "decision_id": content.get("decision_id"), "ok": False, "text": str(error)}

    def _say_why(self, content: dict[str, Any]) -> None:
        """Why the operation that is shown was checked, or not, in the second that was pointed at (U7)."""
        record, at = self._record, content.get("at")
        if record is None or record.operation_id != content.get("id") or type(at) is not int or not 0 <= at < 10**14:
            return
        op = self._feed.picture.operations.get(record.operation_id)
        if op is not None:
            moment = datetime.fromtimestamp(at / 1000, UTC)
            self.send({"type": "why", "text": record.why(op, self._feed.picture, moment, self._feed.now())})

    # ---- where no browser is --------------------------------------------------------------------------------------------
    @abstractmethod
    def _still(self) -> still.Still:
        """The same as it stands, for places that run no script."""

    def __repr__(self) -> str:
        return self._still().text

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it what a place without widgets shows: a table that says of when it is."""
        shown = self._still()
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {
            "text/plain": shown.text,
            "text/html": shown.html,
            "application/vnd.jupyter.widget-view+json": view,
        }

    def _ipython_display_(self, **kwargs: Any) -> None:
        """First the still picture, then the live widget, which hides the picture while it is connected.

        In two outputs, because a host that knows the kind but not the model (a kernel was restarted) shows an error in the
        place of the widget, and would not fall back to the picture in the same output.
        """
        from IPython.display import display

        shown = self._still()
        picture = {"text/html": still.marked(shown.html, self.view_id), "text/plain": shown.text}
        display(picture, raw=True)  # type: ignore[no-untyped-call]
        if self.comm is None:
            return  # it was closed: the picture is all that is left
        bundle, widget = self._repr_mimebundle_(), "application/vnd.jupyter.widget-view+json"
        display({widget: bundle[widget], "text/plain": still.LIVE_BELOW}, raw=True)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Follow no more, and take the widget from the page."""
        self._unlisten()
        super().close()


def text_of(value: Mapping[str, Any]) -> str:
    """JSON without `<`, so that it may stand in a page's script element as it is."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _moment(now: datetime) -> dict[str, int]:
    return {"now": int(now.timestamp() * 1000)}


async def _logged(work: Any) -> None:
    try:
        await work
    except Exception:
        log.exception("a widget's message could not be answered")
