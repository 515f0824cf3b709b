"""The widgets' script in a bare page with a model of paper: what the browser does, without a kernel and without waiting.

Only this file decides how the script gets into such a page. The model records what is sent; the tests play the kernel's part.
The page's clock is the test's.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace
from playwright.sync_api import Locator, Page

from jobconsole.console import load_themes
from jobconsole.core.operation import Escalation, Operation, Option
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.notebook import assets
from jobconsole.notebook.feed import Picture
from jobconsole.notebook.items import Items
from jobconsole.notebook.live import text_of
from jobconsole.notebook.pages import Pages
from jobconsole.notebook.terms import palettes, terms
from tests.core.sample_contract import CANCEL, budget, sample
from tests.core.sample_facts import at, operation

NOW = at(600)
CONTRACT = sample(cancel=CANCEL, budget=budget(extension="{ minutes = 15, checks = 4, times = 2 }"))

MODEL = """
([script, style, state]) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  const listeners = {};
  window.sent = [];
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => window.sent.push({ type: "save", state: { ...state } }),
    on: (event, listener) => (listeners[event] ??= []).push(listener),
    off: (event, listener) => { listeners[event] = listeners[event].filter((each) => each !== listener); },
    send: (message) => window.sent.push(message),
  };
  window.hear = (message) => listeners["msg:custom"].forEach((each) => each(message));
  window.trait = (name, value) => { state[name] = value; (listeners[`change:${name}`] ?? []).forEach((each) => each()); };
  window.event = (name) => (listeners[name] ?? []).forEach((each) => each());
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return import(address).then((module) => {
    const widget = module.default();
    const el = document.body.appendChild(document.createElement("div"));
    window.stop = [widget.initialize({ model: window.model }), widget.render({ model: window.model, el })];
    window.listeners = listeners;
  });
}
"""


class Paper:
    """One widget in a bare page."""

    def __init__(
        self, page: Page, kind: str, now: datetime, *, opened_at: datetime | None = None, theme: str | None = None, **whole: Any
    ) -> None:
        self.page, self.now, self.sequence = page, now, 0
        opened = opened_at or now
        page.clock.install(time=opened - timedelta(hours=1))  # it runs until it is stopped, and stops at no time of the past
        page.goto("about:blank")
        page.clock.pause_at(opened)  # from here only `go` moves it
        snapshot = {"type": "snapshot", "sequence": 0, "now": self.millis(), **whole}
        state = {
            "kind": kind,
            "view_id": "jobconsole-test",
            "terms": text_of({**terms(), "me": "ana"}),
            "theme": text_of(palettes(load_themes(), theme)),
            "snapshot": text_of(snapshot),
            "pulse": text_of({"now": self.millis(), "worker": True, "why_not": ""}),
            "selected": [],
            "opened": "",
        }
        page.evaluate(MODEL, [assets.script(), assets.style(), state])

    def millis(self) -> int:
        """Now, for the browser."""
        return int(self.now.timestamp() * 1000)

    @property
    def root(self) -> Locator:
        """The widget."""
        return self.page.locator(".jobconsole")

    def hear(self, **message: Any) -> None:
        """The kernel sends a message."""
        self.page.evaluate("message => window.hear(message)", message)

    def patch(self, **changes: Any) -> None:
        """The kernel sends the next patch."""
        self.sequence += 1
        self.hear(type="rows_patch", sequence=self.sequence, now=self.millis(), **changes)

    def beat(self) -> None:
        """The kernel gives a sign of life."""
        now = self.page.evaluate("() => Date.now()")
        self.page.evaluate("pulse => window.trait('pulse', pulse)", json.dumps({"now": now, "worker": True, "why_not": ""}))

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """What the browser sent, of one type."""
        found: list[dict[str, Any]] = self.page.evaluate("() => window.sent")
        return [message for message in found if message["type"] == kind]

    def go(self, seconds: float) -> None:
        """Time passes."""
        self.page.clock.run_for(int(seconds * 1000))


# ---- widgets of paper, over operations as values ---------------------------------------------------------------------------
def picture(*operations: Operation) -> Picture:
    """These operations, judged by the ordinary contract with a cancel."""
    judged = [replace(op, contract=CONTRACT.digest) for op in operations]
    return Picture({op.operation_id: op for op in judged}, contracts={CONTRACT.digest: CONTRACT})


def asking(**fields: Any) -> Operation:
    """An operation that has spent its requests."""
    asked = Escalation(reason=Reason.REQUEST_BUDGET_EXHAUSTED, since=at(500), options=(Option(name="extend"),))
    return operation(phase=Phase.ESCALATED, escalation=asked, status_requests_used=12, **fields)


def table(page: Page, *operations: Operation, **more: Any) -> Paper:
    """A table widget of these operations."""
    return Paper(page, "table", NOW, **Pages().full(picture(*operations), NOW), detail=None, **more)


def inbox(page: Page, *operations: Operation) -> Paper:
    """An inbox widget of these operations."""
    return Paper(page, "inbox", NOW, **Items().full(picture(*operations), NOW), watched=3)
