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

from jobconsole.core.chain import Verification
from jobconsole.core.terminal_text import fit, inert, width
from jobconsole.core.vocabulary import Phase
from jobconsole.core.wording import actor_text, clock_text, glyph, words
from jobconsole.errors import JobconsoleError
from jobconsole.tui.action import Subject
from jobconsole.tui.audit_pages import AuditEvent, matcher, page_after, page_before
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.dialogs.jump import JumpDialog
from jobconsole.tui.messages import Changed
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.widgets.line_list import Entry, LineList
from jobconsole.tui.widgets.status_bar import StatusBar

_KIND, _ACTOR, _OPERATION = 16, 12, 10  # columns
_LONGEST = 4_000  # characters of a line of the record
_FIRST = ("at", "actor", "operation_id", "kind", "reason_text", "effect", "http_status", "detail")
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
    AUTO_FOCUS: ClassVar[str | None] = "#audit-list"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "turn(1)", "Newer", id="audit.newer"),
        Binding("N", "turn(-1)", "Older", id="audit.older"),
        Binding("F", "newest", "Newest", id="audit.newest"),
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
            & #audit-record { width: 46; height: 1fr; border-top: none; border-left: vkey $rule; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._page: list[AuditEvent] = []
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
        """The words that an event must contain."""
        return self._search

    def filter_by(self, text: str) -> None:
        """Search: each word must occur in the stored line, `!word` must not."""
        self._search = text
        self.action_newest()

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
        self.query_one("#audit-proof", Static).update("V verifies the chain · J jumps · / searches · n and N turn pages")
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
        if is_turning or not self._page:
            return
        last = self._page[-1].seq
        if last >= self._last_seq and self.list.cursor == str(last):
            self.action_newest()

    def action_newest(self) -> None:
        """The last page."""
        self._turn_to(None, cursor="last")

    def action_oldest(self) -> None:
        """The first page."""
        self._turn_to(0, cursor="first")

    def action_turn(self, by: int) -> None:
        """The page after or before this one."""
        if not self._page:
            return
        if by > 0:
            self._turn_to(self._page[-1].seq, cursor="first")
        else:
            self._turn_to(self._page[0].seq, cursor="last", is_before=True)

    @on(LineList.EndReached, "#audit-list")
    def _end_reached(self, message: LineList.EndReached) -> None:
        message.stop()
        self.action_turn(message.direction)

    def _turn_to(self, seq: int | None, *, cursor: str, is_before: bool = False) -> None:
        """The page behind `seq`, or the one before it; the last one for None."""
        self._turn(seq, cursor, is_before=is_before)

    @work(exclusive=True, group="audit")
    async def _turn(self, seq: int | None, cursor: str, *, is_before: bool) -> None:
        await self._read(seq, cursor, is_before=is_before)

    async def _read(self, seq: int | None, cursor: str, *, is_before: bool) -> None:
        matches = matcher(self._search)
        try:
            self._last_seq = await self.desk.last_seq()
            if seq is None:
                page = await page_before(self.desk, self._last_seq + 1, matches)
            elif is_before:
                page = await page_before(self.desk, seq, matches)
            else:
                page = await page_after(self.desk, seq, matches)
        except JobconsoleError as error:
            self.list.show([], empty=inert(str(error), 400))
            return
        if not page and seq is not None and self._page:
            self.dashboard.say("There is nothing older." if is_before else "There is nothing newer.")
            return
        self._page = page
        self._draw(cursor)

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
            found = await page_after(self.desk, middle, most=1)
            if found and found[0].at < at:
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
        return next((event for event in self._page if str(event.seq) == key), None)

    def _draw(self, cursor: str) -> None:
        self.list.show([Entry(str(event.seq), (self._line(event),)) for event in self._page], empty=self._empty())
        if self._page:
            self.list.cursor = str(self._page[-1 if cursor == "last" else 0].seq)
        status = self.query_one(StatusBar)
        first, last = (self._page[0].seq, self._page[-1].seq) if self._page else (0, 0)
        status.note = f"events {first:,}–{last:,} of {self._last_seq:,}" if self._page else ""
        status.renew()
        self._draw_record()

    def _line(self, event: AuditEvent) -> Content:
        """Number, time, kind, actor, operation, and what it says."""
        is_wide = self.size.width >= 100
        operation = fit(_end_of(inert(event.operation_id or "", 140)), _OPERATION)
        actor = fit(inert(actor_text(event.actor), 80), _ACTOR)
        parts: list[tuple[str, str]] = [
            (f"{event.seq:>7,} ", "$quiet"),
            (f"{clock_text(event.at, self.feed.now())} ", "$quiet"),
            (f"{fit(words(inert(event.kind, 40)), _KIND):<{_KIND}} ", _HUES.get(event.kind, "")),
        ]
        if is_wide:
            parts.append(
                (f"{actor}{' ' * (_ACTOR - width(actor))} ", "$primary" if event.actor.startswith("person:") else "$quiet")
            )
        parts += [(f"{operation}{' ' * (_OPERATION - width(operation))} ", "$quiet"), (event.text, "")]
        return Content.assemble(*parts)

    @on(LineList.Moved, "#audit-list")
    def _moved(self, message: LineList.Moved) -> None:
        message.stop()
        self._draw_record()

    def _draw_record(self) -> None:
        """The event in full: what it says, then every stored field, those of the chain last."""
        event = self._event()
        if event is None:
            self.query_one("#audit-fields", Static).update("")
            return
        fields = event.fields
        ordered = sorted(fields, key=lambda key: (key in _OF_THE_CHAIN, key not in _FIRST))
        rows = [Content.assemble((f"{inert(key, 80)}  ", "$quiet"), _value(fields[key])) for key in ordered]
        self.query_one("#audit-fields", Static).update(Content("\n").join([Content.styled(event.text, "bold"), *rows]))
        self.query_one("#audit-record").scroll_home(animate=False)

    def _empty(self) -> str:
        if self._search.strip():
            return f'No event contains "{inert(self._search, 60)}". esc clears the search.'
        return "Nothing has happened in this store yet. Try: jobconsole submit PROVIDER"

    @on(LineList.Chosen, "#audit-list")
    def _chosen(self, message: LineList.Chosen) -> None:
        """Open the operation of the event."""
        message.stop()
        for subject in self.subjects(for_many=False):
            self.dashboard.open_operation(subject.operation_id)


def proof(found: Verification, pen: Pen) -> Content:
    """What the log proves: the first broken place first."""
    style = "$state-done bold" if found.is_valid else "$state-failed bold"
    sign = glyph(Phase.SUCCEEDED if found.is_valid else Phase.FAILED, is_ascii=pen.is_ascii)
    first, *rest = found.story if not found.is_valid else (f"The chain is {found.story[0]}", *found.story[1:])
    return Content.assemble(
        (f"{sign} {inert(first, 400)}", style), *((f"\n  {inert(line, 400)}", "$quiet") for line in rest[:4])
    )


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return inert(text, _LONGEST)


def _end_of(operation_id: str) -> str:
    """Made-up ids differ at their end."""
    return f"…{operation_id[-_OPERATION + 1 :]}" if len(operation_id) > _OPERATION else operation_id
