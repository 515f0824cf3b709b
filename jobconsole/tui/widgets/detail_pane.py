"""One operation in a pane: what it is, what is asked, its budgets, why nothing is sent, its attempts, options and story.

Only this file decides which parts such a pane has and when they are read again. It stands beside the table and at the left of
the detail screen. What is drawn comes from `detail_sections.py`, what is read from `dossier.py`.
"""

from __future__ import annotations

import asyncio

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jobconsole.core.telling.account_view import account_view
from jobconsole.core.telling.story import StoryLine
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View, operation_view
from jobconsole.core.telling.wording import clock_text
from jobconsole.errors import JobconsoleError
from jobconsole.tui import detail_sections as sections
from jobconsole.tui.attention_section import care, notes, stacked
from jobconsole.tui.dossier import Dossier
from jobconsole.tui.hanging import hanging
from jobconsole.tui.messages import Changed, Ticked
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.options import card_lines, cards, missing_cards
from jobconsole.tui.texts import NOT_HERE

_LAST = 6  # requests and story lines beside a table; the detail screen has them all
_READ_AFTER = 0.12  # seconds that the cursor must rest before the audit is read
_PARTS = ("title", "question", "care", "budgets", "why", "timeline", "requests", "options", "ending", "story")
_HEADINGS = {"why": "why", "timeline": "attempts", "options": "options", "ending": "outcome", "story": "story"}
_WHY_EACH_SECOND = 500  # events up to which "why?" is told anew each second


class DetailPane(OnDashboard, VerticalScroll, can_focus=True):
    """Shows the operation that `show` names, and keeps up with it. Facts stand at once, the audit's part follows."""

    DEFAULT_CSS = """
    DetailPane {
        padding: 0 0 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > Static { height: auto; padding-right: 1; }
        & > .detail-part { margin-bottom: 1; }
        & > .detail-heading { color: $quiet; text-style: bold; }
        & > .is-empty { display: none; }
        &.-screen > .-elsewhere { display: none; }
    }
    """

    class Read(Message):
        """The dossier is up to date: lists that stand beside the pane may be drawn."""

        def __init__(self, dossier: Dossier) -> None:
            self.dossier = dossier
            super().__init__()

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.dossier: Dossier | None = None
        self._drawn: dict[str, Content] = {}
        self._is_stale = False
        self._is_read = False  # what is shown was read, and changes are heard of

    def compose(self) -> ComposeResult:
        """The parts, all of them empty at first."""
        for part in _PARTS:
            elsewhere = " -elsewhere" if part in ("requests", "story", "options") else ""
            if part in _HEADINGS:
                yield Static(_HEADINGS[part].upper(), id=f"heading-{part}", classes=f"detail-heading is-empty{elsewhere}")
            yield Static("", id=f"detail-{part}", classes=f"detail-part is-empty{elsewhere}", markup=False)

    def on_mount(self) -> None:
        """Hear of changes and of the time."""
        self.feed.subscribe(self)
        self._draw_nothing(NOT_HERE)

    # ---- what is shown --------------------------------------------------------------------------------------------------
    def show(self, operation_id: str | None, *, rests: bool = False) -> None:
        """Show this operation, or nothing; what is shown already is not read again, it hears of its changes.

        `rests`: the cursor does not come by on its way to another one.
        """
        if operation_id is None:
            self.dossier = None
            self._draw_nothing(NOT_HERE)
            return
        if self.dossier is None or self.dossier.operation_id != operation_id:
            self.dossier = Dossier(operation_id)
            self.scroll_home(animate=False)
            self._draw_facts()
        elif self._is_read or self._is_reading:
            return
        self._is_read = False
        self._read_soon(self.dossier, 0 if rests else _READ_AFTER)

    @property
    def _is_reading(self) -> bool:
        return any(each.node is self and each.group == "read" and not each.is_finished for each in self.workers)

    @work(exclusive=True, group="read")
    async def _read_soon(self, dossier: Dossier, delay: float) -> None:
        """Wait until the cursor rests, then read; once more where something changed meanwhile."""
        await asyncio.sleep(delay)
        self._is_stale = True
        while self._is_stale:
            self._is_stale = False
            await self._read(dossier)

    async def _read(self, dossier: Dossier) -> None:
        try:
            await dossier.read(self.desk)
            why = await dossier.why(self.desk, None, self.feed.now())
        except JobconsoleError as error:
            self._is_read = False
            self._draw_nothing(inert(str(error), 400))
            return
        if dossier is self.dossier:
            self._is_read = True
            self._draw_all(dossier, why)
            self.post_message(self.Read(dossier))

    def on_changed(self, message: Changed) -> None:
        """Read again where it is about this operation; a reading that is under way is not cut short, or it might never end."""
        if self.dossier is None or not (message.is_reload or self.dossier.operation_id in message.operation_ids):
            return
        self._is_stale = True
        if not self._is_reading:
            self._read_soon(self.dossier, 0)

    def on_ticked(self, message: Ticked) -> None:
        """Elapsed times and countdowns move by themselves; "why?" is told for the present second."""
        message.stop()
        if self.dossier is None or not self.is_on_screen:
            return
        self._draw_facts()
        if (
            self.dossier.op is not None
            and not self.dossier.op.phase.is_terminal
            and len(self.dossier.events) < _WHY_EACH_SECOND
        ):
            self._draw_why(self.dossier)

    @work(exclusive=True, group="why")
    async def _draw_why(self, dossier: Dossier) -> None:
        self._draw("why", Content(await dossier.why(self.desk, None, self.feed.now())))

    def on_resize(self) -> None:
        """Bars and lines are as wide as the pane; once it stands, because a layout under way hears of no other heights."""
        self.call_after_refresh(self._draw_anew)

    def _draw_anew(self) -> None:
        self._draw_facts()
        if self.dossier is not None and self._is_read:
            self._draw_told(self.dossier)

    def _pen_here(self) -> sections.Pen:
        """A column is left free beside the scrollbar."""
        return self.pen(max(20, self.scrollable_content_region.width - 1))

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def _view(self) -> View | None:
        """The view as last read; before that, what the record alone says."""
        if self.dossier is None:
            return None
        if self.dossier.view is not None:
            return self.dossier.view
        op = self.feed.operations.get(self.dossier.operation_id)
        return None if op is None else operation_view(op, self.feed.now(), self.feed.accounts.get(op.account_key), None)

    def _draw_facts(self) -> None:
        view = self._view()
        if view is None or not self.size.width:
            return
        pen = self._pen_here()
        self._draw("title", sections.title(view, pen))
        self._draw("question", sections.question(view, pen))
        self._draw("care", stacked(care(view, pen), notes(view, pen)))
        self._draw("budgets", self._budgets(view, pen))
        self._draw("ending", sections.ending(view))
        if self.dossier is not None and self.dossier.view is None:
            for part in ("why", "timeline", "requests", "options", "story"):
                self._draw(part, None)

    def _budgets(self, view: View, pen: sections.Pen) -> Content:
        """The operation's own, and its account's."""
        rows = [sections.budgets(view, pen)]
        found = self.dossier
        account = self.feed.accounts.get(found.op.account_key) if found is not None and found.op is not None else None
        if found is not None and account is not None and not view["done"]:
            rows.append(sections.account_row(account_view(account, pen.now, (), found.contract), pen))
        return Content("\n").join(rows)

    def _draw_all(self, dossier: Dossier, why: str) -> None:
        self._draw_facts()
        self._draw("why", Content(why))
        self._draw_told(dossier)

    def _draw_told(self, dossier: Dossier) -> None:
        """What the audit tells."""
        pen = self._pen_here()
        latency = sections.latency_line(dossier.attempts, pen)
        timeline = sections.timeline(dossier.attempts, pen)
        self._draw("timeline", timeline if latency is None else Content("\n").join((timeline, latency)))
        self._draw(
            "requests",
            _lines([row for each in dossier.attempts[-_LAST:] for row in sections.request_row(each, pen, has_next=False)]),
        )
        self._draw("options", self._options(dossier, pen))
        self._draw("story", _lines([row for line in dossier.story[-_LAST:] for row in story_row(line, dossier, pen.width)]))

    def _options(self, dossier: Dossier, pen: sections.Pen) -> Content | None:
        assert dossier.view is not None
        assert dossier.op is not None
        found = [*cards(dossier.view), *missing_cards(dossier.view, dossier.op, dossier.contract)]
        return _lines([row for card in found for row in card_lines(card, pen, has_digit=False)])

    def _draw_nothing(self, text: str) -> None:
        for part in _PARTS:
            self._draw(part, None)
        self._draw("title", Content.styled(text, "$quiet"))

    def _draw(self, part: str, content: Content | None) -> None:
        """Draw a part only where it differs: an unchanged pane costs nothing."""
        before = self._drawn.get(part)
        after = content or Content("")
        if before is not None and before.is_same(after):
            return
        self._drawn[part] = after
        widget = self.query_one(f"#detail-{part}", Static)
        widget.update(after)
        widget.set_class(not after.plain, "is-empty")
        if part in _HEADINGS:
            self.query_one(f"#heading-{part}").set_class(not after.plain, "is-empty")


def story_row(line: StoryLine, dossier: Dossier, columns: int) -> tuple[Content, ...]:
    """One line of the story in rows; the date stands with it where it is not the first day's."""
    began = dossier.op.started_at if dossier.op is not None else None
    return hanging(Content.styled(f"{clock_text(line.at, began)}  ", "$quiet"), Content(line.text), columns)


def _lines(rows: list[Content]) -> Content | None:
    return Content("\n").join(rows) if rows else None
