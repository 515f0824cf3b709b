"""The audit browser: who did what and when, in pages, with search, jumps, and the proof that nothing was changed (SPEC 9).

Only this file decides how pages are turned. Enter opens the event's operation; `V` verifies and goes to the first broken place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.core.keeping.chain import Verification
from jobconsole.core.telling.terminal_text import fit, inert, width
from jobconsole.core.telling.wording import actor_text, clock_text, glyph, words
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import JobconsoleError
from jobconsole.tui.audit_pages import AuditEvent, Page, newest_page, page_after, page_before
from jobconsole.tui.audit_search import DECISIONS, HINT, parse_search
from jobconsole.tui.clock_face import zoned_clock
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.dialogs.jump import JumpDialog
from jobconsole.tui.hanging import hanging
from jobconsole.tui.messages import Changed
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.line_list import Entry, LineList
from jobconsole.tui.widgets.status_bar import StatusBar

_KIND, _ACTOR, _ID, _NAME = 16, 10, 7, 14  # columns
_WIDE = 96  # columns of the list from which on kind and actor have their own
_KEY = 22  # columns of a record's keys, at most
_LONGEST = 4_000  # characters of a line of the record
_ADVICE = "D shows who approved what · / searches · V proves that nothing was changed"
_FIRST = (
    *("at", "actor", "operation_id", "kind", "option", "reason_text", "effect", "action", "approved_by"),
    *("http_status", "detail", "decision"),
)
_OF_THE_CHAIN = frozenset(("v", "chain", "seq", "op_seq", "tx", "batch", "up", "boot", "set", "prev_hash", "hash"))
_HUES = {
    "escalated": "$state-needs-you",
    "decided": "$primary bold",
    "extended": "$primary",
    "decision_refused": "$state-failed",
    "closed": "bold",
    "lease_lost": "$state-failed",
    "late_answer": "$state-lost",
    "held": "$state-needs-you",
}


class AuditScreen(Frame):
    """One page of events, and the record of the one under the cursor."""

    mode: ClassVar[str] = "audit"
    filter_hint: ClassVar[str] = HINT
    AUTO_FOCUS: ClassVar[str | None] = "#audit-list"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "turn(1)", "Newer", id="audit.newer"),
        Binding("N", "turn(-1)", "Older", id="audit.older"),
        Binding("F", "newest", "Newest", id="audit.newest"),
        Binding("D", "decisions", "Decisions", id="audit.decisions"),
        Binding("J", "jump", "Jump", id="audit.jump"),
        Binding("V", "verify", "Verify", id="audit.verify"),
    ]
    DEFAULT_CSS = """
    AuditScreen {
        & #audit-proof { height: auto; padding: 0 1; color: $quiet; }
        & #audit { height: 1fr; layout: vertical; }
        & #audit-list { height: 1fr; }
        & #audit-record { height: 9; padding: 0 1; border-top: solid $rule; scrollbar-size-vertical: 1; }
        & #audit-fields { height: auto; }
        &.-wide {
            & #audit { layout: horizontal; }
            & #audit-list { width: 1fr; }
            & #audit-record { width: 34%; max-width: 64; height: 1fr; border-top: none; border-left: vkey $rule; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._page = Page()
        self._last_seq = 0
        self._search = ""
        self._proof = ""

    def compose_body(self) -> Iterable[Widget]:
        """What is proved, the page, the record."""
        yield Static("", id="audit-proof", markup=False)
        with Container(id="audit"):
            yield LineList(id="audit-list", classes="-list", empty="Reading the audit…")
            with VerticalScroll(id="audit-record", can_focus=False):
                yield Static("", id="audit-fields", markup=False)

    @property
    def list(self) -> LineList:
        """The page."""
        return self.query_one("#audit-list", LineList)

    # ---- what the shell asks --------------------------------------------------------------------------------------------
    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """The operation of the event under the cursor, as it is now."""
        event = self._event()
        op = self.feed.operations.get(event.operation_id or "") if event is not None else None
        return (Subject(op.operation_id, op.revision),) if op is not None else ()

    def moment(self) -> datetime | None:
        """The second of the event under the cursor."""
        event = self._event()
        return event.at if event is not None else None

    def filter_text(self) -> str | None:
        """The search as typed."""
        return self._search

    def filter_by(self, text: str) -> None:
        """Show the last events that match; `audit_search.py` says what may be asked."""
        self._search = text.strip()
        self.action_newest()

    def action_decisions(self) -> None:
        """Who approved what: decisions alone, or everything again."""
        if self._search == DECISIONS:
            self.clear_filter()
        else:
            self.dashboard.begin_filter(DECISIONS)

    def go_back(self) -> bool:
        """Without a search."""
        if not self._search:
            return False
        self.clear_filter()
        return True

    # ---- pages ----------------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Begin at the newest; hear of news."""
        self.feed.subscribe(self)
        self.query_one("#audit-proof", Static).update(_ADVICE)
        self.action_newest()

    def on_screen_resume(self) -> None:
        """What came meanwhile is read, where the newest page is shown."""
        self._follow()

    def on_changed(self, message: Changed) -> None:
        """The newest page goes on by itself while the cursor is on its last line."""
        if self.is_current:
            self._follow()

    def _follow(self) -> None:
        """Not while a page is being turned: where a person wants to go comes first."""
        is_turning = any(each.group == "audit" and not each.is_finished for each in self.workers)
        if is_turning or self._page.has_newer:
            return
        if not self._page.events or self.list.cursor == str(self._page.events[-1].seq):
            self._read_news()

    @work(exclusive=True, group="audit")
    async def _read_news(self) -> None:
        """What came behind all that was looked at; nothing is searched twice."""
        seen, self._last_seq = self._last_seq, await self.desk.last_seq()
        news = await page_after(self.desk, seen, parse_search(self._search, self.feed.operations))
        if news.events:
            self._show(self._page.grown(news), cursor="last")
        else:
            self._tell()

    def action_newest(self) -> None:
        """The last page."""
        self._turn_to(None, cursor="last")

    def action_oldest(self) -> None:
        """The first page."""
        self._turn_to(0, cursor="first")

    def action_turn(self, by: int) -> None:
        """The page after or before this one."""
        events = self._page.events
        if events and by > 0:
            self._turn_to(events[-1].seq, cursor="first")
        elif events:
            self._turn_to(events[0].seq, cursor="last", is_before=True)

    @on(LineList.EndReached, "#audit-list")
    def _end_reached(self, message: LineList.EndReached) -> None:
        message.stop()
        self.action_turn(message.direction)

    @work(exclusive=True, group="audit")
    async def _turn_to(self, seq: int | None, *, cursor: str, is_before: bool = False) -> None:
        """The page behind `seq`, or the one before it; the last one for None."""
        await self._read(seq, cursor, is_before=is_before)

    async def _read(self, seq: int | None, cursor: str, *, is_before: bool) -> None:
        matches = parse_search(self._search, self.feed.operations)
        try:
            self._last_seq = await self.desk.last_seq()
            if seq is None:
                page = await newest_page(self.desk, self._last_seq, matches)
            elif is_before:
                page = await page_before(self.desk, seq, matches)
            else:
                page = await page_after(self.desk, seq, matches)
        except JobconsoleError as error:
            self.list.show([], empty=inert(str(error), 400))
            return
        if not page.events and seq is not None and self._page.events:
            self.dashboard.say("There is nothing older." if is_before else "There is nothing newer.")
            return
        self._show(page, cursor)

    # ---- jumps and proof ------------------------------------------------------------------------------------------------
    def action_jump(self) -> None:
        """Ask where to, and go there."""
        self.dashboard.push_screen(JumpDialog(), self.jump_to)

    def jump_to(self, place: int | datetime | None) -> None:
        """Go to an event by its number, or to the first one at or after a time."""
        if isinstance(place, int):
            self._turn_to(max(0, place - 1), cursor="first")
        elif place is not None:
            self._jump_to_time(place)

    @work(exclusive=True, group="audit")
    async def _jump_to_time(self, at: datetime) -> None:
        """Halve the numbers until the first event at or after `at` is found: times grow with numbers, clock jumps aside."""
        low, high = 0, await self.desk.last_seq()
        while low < high:
            middle = (low + high) // 2
            found = (await page_after(self.desk, middle, most=1)).events
            if found and found[0].at is not None and found[0].at < at:
                low = middle + 1
            else:
                high = middle
        await self._read(low, "first", is_before=False)

    def action_verify(self) -> None:
        """Verify the chain; the screen stays usable."""
        self.query_one("#audit-proof", Static).update("Verifying…")
        self._verify()

    @work(exclusive=True, group="verify")
    async def _verify(self) -> None:
        try:
            found = await self.desk.verify()
        except JobconsoleError as error:
            self.query_one("#audit-proof", Static).update(Content(inert(str(error), 400)))
            return
        self.query_one("#audit-proof", Static).update(proof(found, self.pen(0)))
        if found.broken is not None:
            self.jump_to(found.broken.seq)

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def _event(self) -> AuditEvent | None:
        key = self.list.cursor
        return next((event for event in self._page.events if str(event.seq) == key), None)

    def _show(self, page: Page, cursor: str) -> None:
        """Show a page, with the cursor on its first or last event."""
        self._page = page
        self._draw()
        if page.events:
            self.list.cursor = str(page.events[-1 if cursor == "last" else 0].seq)
        self._tell()
        self._draw_record()

    @on(LineList.Resized, "#audit-list")
    def _widened(self, message: LineList.Resized) -> None:
        """Other columns have room."""
        message.stop()
        self._draw()
        self._draw_record()

    def _draw(self) -> None:
        self.list.show([Entry(str(event.seq), (self._line(event),)) for event in self._page.events], empty=self._empty())

    def _tell(self) -> None:
        status = self.query_one(StatusBar)
        status.note = self._page.told(self._last_seq, is_search=bool(self._search))
        status.renew()

    def _line(self, event: AuditEvent) -> Content:
        """Number, time, where there is room kind and actor, whose operation it is, and what it says."""
        is_wide, hue = self.list.columns >= _WIDE, _HUES.get(event.kind, "")
        clock = clock_text(event.at, self.feed.now()) if event.at is not None else "--:--:--"
        parts = [(f"{event.seq:>6,} ", "$quiet"), (f"{clock} ", "$quiet")]
        if is_wide:
            actor = "worker" if event.actor.startswith("worker:") else inert(actor_text(event.actor), 80)
            parts.append((_padded(words(inert(event.kind, 40)), _KIND), hue))
            parts.append((_padded(actor, _ACTOR), "$primary" if event.actor.startswith("person:") else "$quiet"))
        op = self.feed.operations.get(event.operation_id or "")
        name = inert(op.name, 80) if op is not None and op.name else ""
        parts += [(_padded(_end_of(inert(event.operation_id or "", 140)), _ID), "$quiet"), (_padded(name, _NAME), "")]
        hue = "$state-failed" if event.at is None else "" if is_wide else hue
        return Content.assemble(*parts, (event.text, hue))

    @on(LineList.Moved, "#audit-list")
    def _moved(self, message: LineList.Moved) -> None:
        message.stop()
        self.subject_may_differ()
        self._draw_record()

    def _draw_record(self) -> None:
        """The event in full: what it says, then every stored field, those of the chain last."""
        event, fields_shown = self._event(), self.query_one("#audit-fields", Static)
        if event is None:
            fields_shown.update("")
            return
        fields = event.fields
        ordered = sorted(fields, key=_place_of)
        columns = min(_KEY, max(len(key) for key in ordered)) + 2
        room = max(2 * columns, self.query_one("#audit-record").scrollable_content_region.width)
        rows = [Content.styled(event.text, "bold")]
        for key in ordered:
            rows += hanging(Content.styled(_padded(inert(key, 80), columns - 1), "$quiet"), Content(_value(fields[key])), room)
        fields_shown.update(Content("\n").join(rows))
        self.query_one("#audit-record").scroll_home(animate=False)

    def _empty(self) -> str:
        if self._search == DECISIONS:
            return f"Nobody has decided anything yet. D shows everything ({self._last_seq:,} events)."
        if self._search:
            return f'No event matches "{inert(self._search, 60)}". esc clears the search ({self._last_seq:,} events).'
        return "Nothing has happened in this store yet. Try: jobconsole submit PROVIDER"

    @on(LineList.Chosen, "#audit-list")
    def _chosen(self, message: LineList.Chosen) -> None:
        """Open the operation of the event."""
        message.stop()
        for subject in self.subjects(for_many=False):
            self.dashboard.open_operation(subject.operation_id)


def proof(found: Verification, pen: Pen) -> Content:
    """What the log proves, and when that was read: the first broken place first. Events may come behind it."""
    style = "$state-done bold" if found.is_valid else "$state-failed bold"
    sign = glyph(Phase.SUCCEEDED if found.is_valid else Phase.FAILED, is_ascii=pen.is_ascii)
    first, *rest = found.story if not found.is_valid else (f"The chain is {found.story[0]}", *found.story[1:])
    return Content.assemble(
        (f"{sign} {inert(first, 400)}", style),
        (f" · verified {zoned_clock(pen.now, pen.now, pen.style)}", "$quiet"),
        *((f"\n  {inert(line, 400)}", "$quiet") for line in rest[:4]),
    )


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return inert(text, _LONGEST)


def _place_of(key: str) -> tuple[bool, int]:
    """What people look for first, what belongs to the chain last."""
    return key in _OF_THE_CHAIN, _FIRST.index(key) if key in _FIRST else len(_FIRST)


def _padded(text: str, columns: int) -> str:
    """Cut or filled to so many columns, and a blank."""
    shown = fit(text, columns)
    return f"{shown}{' ' * (columns - width(shown) + 1)}"


def _end_of(operation_id: str) -> str:
    """Made-up ids differ at their end: the same six characters as in the table."""
    return f"…{operation_id[-_ID + 1 :]}" if len(operation_id) > _ID else operation_id
