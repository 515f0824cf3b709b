"""The inbox: what needs a decision, apart from what somebody should see, the oldest of each first (SPEC H7, H13, UX 3.3).

Only this file decides how the list and the card work together. An item that somebody else answered keeps its row, struck out,
until the cursor leaves it: what is under the cursor never becomes another operation (SPEC U8).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from jobconsole.core.operation import Operation
from jobconsole.core.terminal_text import fit, inert, width
from jobconsole.core.vocabulary import Phase
from jobconsole.core.wording import glyph, reason_text
from jobconsole.tui.action import Subject
from jobconsole.tui.clock_face import TimeStyle, clock, since_text, zone_name
from jobconsole.tui.detail_sections import hue_style
from jobconsole.tui.messages import Changed, Ticked
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.widgets.inbox_card import InboxCard, watched_text
from jobconsole.tui.widgets.line_list import Entry, LineList

_OLD, _VERY_OLD = timedelta(minutes=15), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _Row:
    """One item of the list. `kind` sorts decisions before looks."""

    kind: str
    since: datetime
    operation_id: str
    reason: str
    is_gone: bool = False

    @property
    def order(self) -> tuple[str, datetime, str]:
        """Decisions first, the oldest first."""
        return self.kind, self.since, self.operation_id


class InboxScreen(Frame):
    """The list of items; the card of the one under the cursor."""

    mode: ClassVar[str] = "inbox"
    AUTO_FOCUS: ClassVar[str | None] = "#inbox-list"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "into_card", "To the card", show=False, id="inbox.into-card"),
        Binding("left", "to_list", "To the list", show=False, id="inbox.to-list"),
    ]
    DEFAULT_CSS = """
    InboxScreen {
        & #inbox { height: 1fr; layout: vertical; }
        & #inbox-list { height: 35%; min-height: 4; }
        & InboxCard { height: 1fr; }
        &.-wide {
            & #inbox { layout: horizontal; }
            & #inbox-list { width: 42%; height: 1fr; }
            & InboxCard { width: 1fr; height: 1fr; }
        }
        &.-narrow.-in-card #inbox-list { display: none; }
        &.-narrow InboxCard > Static { margin-bottom: 0; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, _Row] = {}
        self._filter = ""

    def compose_body(self) -> Iterable[Widget]:
        """The list and the card."""
        with Container(id="inbox"):
            yield LineList(id="inbox-list", classes="-list")
            yield InboxCard(id="inbox-card")

    @property
    def list(self) -> LineList:
        """The list."""
        return self.query_one("#inbox-list", LineList)

    @property
    def card(self) -> InboxCard:
        """The card."""
        return self.query_one(InboxCard)

    # ---- what the shell asks --------------------------------------------------------------------------------------------
    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """The item of the card, with the revision that it shows."""
        if self.card.operation_id is None:
            return ()
        op = self.feed.operations.get(self.card.operation_id)
        revision = self.card.revision or (op.revision if op is not None else 0)
        return (Subject(self.card.operation_id, revision),)

    def filter_text(self) -> str | None:
        """The words that an item must contain."""
        return self._filter

    def filter_by(self, text: str) -> None:
        """Show items whose name, id, provider, owner, task or reason contain the text; `!` in front turns it round."""
        self._filter = text
        self._renew()

    def go_back(self) -> bool:
        """From the card to the list, then without a filter."""
        if self.card.has_focus_within:
            self.action_to_list()
            return True
        if self._filter:
            self.clear_filter()
            return True
        return False

    # ---- what happens ---------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Hear the feed."""
        self.feed.subscribe(self)
        self.watch(self.dashboard, "time_style", self._renew, init=False)

    def on_screen_resume(self) -> None:
        """What changed meanwhile is read now."""
        self._renew()

    @on(LineList.Resized, "#inbox-list")
    def _widened(self, message: LineList.Resized) -> None:
        """Ages stand at the right edge."""
        message.stop()
        self._renew()

    def on_changed(self, message: Changed) -> None:
        """Items came or went."""
        if self.is_current:
            self._renew()

    def on_ticked(self, message: Ticked) -> None:
        """Ages grow; and what changed while another screen was in front is here a second later at most."""
        if self.is_current:
            self._renew()

    @on(LineList.Moved, "#inbox-list")
    def _moved(self, message: LineList.Moved) -> None:
        """The card follows; an item that is gone leaves once the cursor does."""
        message.stop()
        if self.card.operation_id != message.key:
            self.card.show(message.key)
            if any(row.is_gone for row in self._rows.values()):
                self._renew()

    @on(LineList.Chosen, "#inbox-list")
    def _opened(self, message: LineList.Chosen) -> None:
        message.stop()
        self.action_into_card()

    @on(InboxCard.Picked)
    def _picked(self, message: InboxCard.Picked) -> None:
        message.stop()
        self.dashboard.answering.answer(message.operation_id, message.revision, message.option, looks_first=message.looks_first)

    def on_descendant_focus(self) -> None:
        """On a narrow screen the card takes all of it while it has the focus."""
        self.set_class(self.card.has_focus_within, "-in-card")

    def action_into_card(self) -> None:
        """Now digits act on the card."""
        self.card.take_focus()

    def action_to_list(self) -> None:
        """Back to the list."""
        self.remove_class("-in-card")
        self.list.focus()

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def _renew(self) -> None:
        """Collect the items anew, keep what is under the cursor, and draw."""
        feed = self.feed
        found = [feed.operations[key] for key in feed.asking if key in feed.operations]
        rows = {op.operation_id: _row(op) for op in found if self._matches(op)}
        kept = self._rows.get(self.list.cursor or "")
        if kept is not None and kept.operation_id not in rows and kept.operation_id in feed.operations:
            rows[kept.operation_id] = _Row(kept.kind, kept.since, kept.operation_id, kept.reason, is_gone=True)
        self._rows = {row.operation_id: row for row in sorted(rows.values(), key=lambda row: row.order)}
        self._draw()
        if self.card.operation_id != self.list.cursor:
            self.card.show(self.list.cursor)

    def _matches(self, op: Operation) -> bool:
        wanted = self._filter.strip().lower()
        is_inverse = wanted.startswith("!")
        wanted = wanted.removeprefix("!").strip()
        told = (op.operation_id, op.name, op.provider, op.owner, op.task, _reason(op))
        return not wanted or any(wanted in (text or "").lower() for text in told) is not is_inverse

    def _draw(self) -> None:
        entries: list[Entry] = []
        for kind, title in (("decision", "NEEDS A DECISION"), ("look", "TO SEE")):
            rows = [row for row in self._rows.values() if row.kind == kind]
            if rows:
                open_items = sum(not row.is_gone for row in rows)
                entries.append(Entry(f"heading-{kind}", (Content(f" {title}  {open_items:,}"),), is_heading=True))
                entries += [Entry(row.operation_id, self._lines(row)) for row in rows]
        self.list.show(entries, empty=self._empty())

    def _lines(self, row: _Row) -> tuple[Content, ...]:
        """Sign, name and age; below, the provider and the reason in words."""
        op = self.feed.operations.get(row.operation_id)
        now, columns = self.feed.now(), max(20, self.list.columns - 1)
        age = since_text(row.since, now, self.dashboard.time_style)
        name = fit(inert(op.name or row.operation_id, 120) if op is not None else row.operation_id, columns - len(age) - 5)
        gap = " " * (columns - 4 - width(name) - len(age))
        waited = now - row.since
        style = "$state-failed bold" if waited > _VERY_OLD else "$state-needs-you" if waited > _OLD else "$quiet"
        phase = op.phase if op is not None else Phase.ESCALATED
        is_ascii = self.dashboard.theme_file.is_ascii
        sign = glyph(phase, is_ascii=is_ascii)
        if row.is_gone:
            return (
                Content.assemble((f" {glyph(Phase.SUCCEEDED, is_ascii=is_ascii)} ", "$quiet"), (name, "$quiet strike")),
                Content.styled("   answered", "$quiet"),
            )
        provider = inert(op.provider, 40) if op is not None else ""
        return (
            Content.assemble((f" {sign} ", hue_style(phase)), (name, "bold"), gap, (age, style)),
            Content.styled(f"   {provider}: {row.reason}", "$quiet"),
        )

    def _empty(self) -> str:
        if self._filter.strip():
            return f'No item matches "{inert(self._filter, 60)}". esc clears the filter.'
        if not self.feed.is_loaded:
            return "Reading the store…"
        operations = self.feed.operations.values()
        watched = sum(not op.phase.is_terminal for op in operations)
        last = max((op.decided[-1] for op in operations if op.decided), key=lambda done: done.at, default=None)
        if last is None:
            return watched_text(watched, None)
        now, style = self.feed.now(), self.dashboard.time_style
        shown = style if style is not TimeStyle.AGE else TimeStyle.UTC
        return watched_text(watched, (f"{clock(last.at, now, shown)} {zone_name(last.at, shown)}", inert(last.by, 60)))


def _row(op: Operation) -> _Row:
    if op.escalation is not None:
        return _Row("decision", op.escalation.since, op.operation_id, _reason(op))
    assert op.look is not None  # the feed has looked
    return _Row("look", op.look.since, op.operation_id, _reason(op))


def _reason(op: Operation) -> str:
    asked = op.escalation or op.look
    return "" if asked is None else reason_text(asked.reason)
