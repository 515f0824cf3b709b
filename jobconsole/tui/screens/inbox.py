"""The inbox: what needs a decision, apart from what somebody should see and from what rests (SPEC H7, H13, UX 3.3).

Only this file decides how the list and the card work together. An item that somebody else answered keeps its row, struck out,
until the cursor leaves it: what is under the cursor never becomes another operation (SPEC U8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from jobconsole.core.telling.filter import EVERYTHING, Test, parse_filter
from jobconsole.core.telling.inbox import is_snoozed
from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.attending_actions import ATTENDING_BINDINGS
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.inbox_rows import GROUPS, Row, heading, nothing_text, row_lines, row_of
from jobconsole.tui.messages import Changed, Ticked
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.inbox_card import InboxCard
from jobconsole.tui.widgets.line_list import Entry, LineList


class InboxScreen(Frame):
    """The list of items; the card of the one under the cursor."""

    mode: ClassVar[str] = "inbox"
    filter_hint: ClassVar[str] = 'text  "two words"  !text  mine  with:ana  snoozed  provider:x  age>2h'
    AUTO_FOCUS: ClassVar[str | None] = "#inbox-list"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "into_card", "To the card", show=False, id="inbox.into-card"),
        Binding("left", "to_list", "To the list", show=False, id="inbox.to-list"),
        *ATTENDING_BINDINGS,
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
        self._rows: dict[str, Row] = {}
        self._filter = EVERYTHING
        self._kept: str | None = None  # what stands in the list only because the cursor is on it

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
        """The filter as typed."""
        return self._filter.text

    def filter_by(self, text: str) -> None:
        """Show the items that match: the language of all lists, and `mine` and `snoozed`. Raises `InvalidValue`."""
        self._filter = parse_filter(text, self._own_words())
        self._show(keeps=False)

    def _own_words(self) -> Mapping[str, Test]:
        me = self.dashboard.person.removeprefix("person:")
        return {"mine": lambda op, now: op.attention.assigned_to == me, "snoozed": is_snoozed}

    def go_back(self) -> bool:
        """From the card to the list, then without a filter."""
        if self.card.has_focus_within:
            self.action_to_list()
            return True
        if self._filter.text:
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
            self.subject_may_differ()
            if self._kept is not None:
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
        """Show what came of the items; what is under the cursor stays there."""
        self._show(keeps=True)

    def _show(self, *, keeps: bool) -> None:
        """Collect the items anew and draw. `keeps`: what is under the cursor stays even where it is no item or no match now."""
        feed, now = self.feed, self.feed.now()
        found = [feed.operations[key] for key in feed.asking if key in feed.operations]
        rows = {op.operation_id: row_of(op, now) for op in found if self._filter.matches(op, now)}
        before = self._rows.get(self.list.cursor or "") if keeps else None
        self._kept = None
        if before is not None and before.operation_id not in rows and before.operation_id in feed.operations:
            self._kept = before.operation_id
            is_item = self._kept in feed.asking
            rows[self._kept] = row_of(feed.operations[self._kept], now) if is_item else replace(before, is_gone=True)
        self._rows = {row.operation_id: row for row in sorted(rows.values(), key=lambda row: row.order)}
        self._draw()
        if self.card.operation_id != self.list.cursor:
            self.card.show(self.list.cursor)
        self.subject_may_differ()

    def _draw(self) -> None:
        pen = self.pen(max(24, self.list.columns - 1))
        entries: list[Entry] = []
        rows = list(self._rows.values())
        if rows and all(row.group == "snoozed" for row in rows) and not self._filter.text:
            said = Content(self._nothing()).wrap(pen.width - 1)
            entries.append(Entry("nothing", tuple(Content.assemble(" ", line) for line in said), is_heading=True))
        for group in GROUPS:
            members = [row for row in rows if row.group == group]
            if members:
                entries.append(Entry(f"heading-{group}", (Content(heading(group, members)),), is_heading=True))
                entries += [self._entry(row, pen) for row in members]
        self.list.show(entries, empty=self._empty())

    def _entry(self, row: Row, pen: Pen) -> Entry:
        return Entry(row.operation_id, row_lines(row, self.feed.operations[row.operation_id], pen))

    def _empty(self) -> str:
        if self._filter.text:
            return (
                f'No item matches "{inert(self._filter.text, 60)}". esc clears the filter ({len(self.feed.asking):,} hidden).'
            )
        return self._nothing() if self.feed.is_loaded else "Reading the store…"

    def _nothing(self) -> str:
        return nothing_text(self.feed.operations.values(), self._rows.values(), self.pen(0))
