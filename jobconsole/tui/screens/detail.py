"""One operation with all that is known of it: the pane, and beside it story, requests, options, actions and result (UX 3.2).

Only this file decides how these are laid out. What they say comes from `detail_sections.py` and `options.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import TabbedContent, TabPane

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui import detail_sections as sections
from jobconsole.tui.attending_actions import ATTENDING_BINDINGS
from jobconsole.tui.dossier import Dossier
from jobconsole.tui.options import card_entries, cards, missing_cards
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.detail_pane import DetailPane, story_row
from jobconsole.tui.widgets.line_list import Entry, LineList

_TABS = {"story": "Story", "requests": "Requests", "options": "Options", "actions": "Actions", "result": "Result"}
_LONGEST = 4_000  # characters of a line


class DetailScreen(Frame):
    """Opened over the operations or the inbox; `esc` goes back there."""

    mode: ClassVar[str] = "operations"
    AUTO_FOCUS: ClassVar[str | None] = "#list-story"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket", "turn(1)", "Next tab", key_display="]", id="detail.next-tab"),
        Binding("left_square_bracket", "turn(-1)", "Previous tab", show=False, id="detail.previous-tab"),
        *ATTENDING_BINDINGS,
    ]
    DEFAULT_CSS = """
    DetailScreen {
        & #detail { height: 1fr; layout: vertical; }
        & DetailPane { height: 55%; border-bottom: solid $rule; }
        &.-narrow DetailPane > .detail-part { margin-bottom: 0; }
        & TabbedContent { height: 1fr; }
        & TabPane { padding: 0 1; height: 1fr; }
        &.-wide {
            & #detail { layout: horizontal; }
            & DetailPane {
                width: 46%; height: 1fr; border-bottom: none; border-right: vkey $rule;
                & > #heading-options, & > #detail-options { display: block; }
                & > .is-empty { display: none; }
            }
            & TabbedContent { width: 1fr; }
        }
    }
    """

    def __init__(self, operation_id: str) -> None:
        super().__init__()
        self.operation_id = operation_id
        self._dossier: Dossier | None = None

    def compose_body(self) -> Iterable[Widget]:
        """The pane and the tabs."""
        with Container(id="detail"):
            yield DetailPane(id="detail-pane", classes="-screen")
            with TabbedContent(id="detail-tabs"):
                for name, title in _TABS.items():
                    with TabPane(title, id=f"tab-{name}"):
                        yield LineList(id=f"list-{name}", classes="-list", empty="Reading the audit…")

    def on_mount(self) -> None:
        """Show the operation."""
        self.query_one(DetailPane).show(self.operation_id, rests=True)

    # ---- what the shell asks --------------------------------------------------------------------------------------------
    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """The operation, with the revision that is shown."""
        op = self._dossier.op if self._dossier is not None else self.feed.operations.get(self.operation_id)
        return (Subject(self.operation_id, op.revision),) if op is not None else ()

    def moment(self) -> datetime | None:
        """The second of the line under the cursor, for "why?"."""
        found = self._dossier
        lines = self.focused
        if found is None or not isinstance(lines, LineList) or lines.cursor is None:
            return None
        if lines.id == "list-story":
            return found.story[int(lines.cursor)].at
        return found.attempts[int(lines.cursor)].at if lines.id == "list-requests" else None

    def action_turn(self, by: int) -> None:
        """To the next tab, and into its list."""
        names = list(_TABS)
        name = names[(names.index(self._tab) + by) % len(names)]
        self.query_one(TabbedContent).active = f"tab-{name}"
        self.query_one(f"#list-{name}").focus()

    # ---- what happens ---------------------------------------------------------------------------------------------------
    @on(DetailPane.Read)
    def _read(self, message: DetailPane.Read) -> None:
        """The lists follow the pane."""
        message.stop()
        self.subject_may_differ()
        self._dossier = message.dossier
        self._show_all(message.dossier)

    @on(LineList.Resized)
    def _widened(self, message: LineList.Resized) -> None:
        """Long lines break elsewhere."""
        message.stop()
        if self._dossier is not None:
            self._show_all(self._dossier)

    def _show_all(self, found: Dossier) -> None:
        pen = self.pen(self.query_one(f"#list-{self._tab}", LineList).columns or self.size.width // 2)
        story = [story_row(line, found, pen.width) for line in found.story]
        self._show("story", story, "The audit has no line of it: V on the audit tells what is broken.", follows=True)
        requests = [sections.request_row(each, pen) for each in found.attempts]
        self._show("requests", requests, "No request was sent yet.", follows=True)
        actions = [sections.action_row(each, pen) for each in found.actions]
        self._show("actions", actions, "Nothing was asked of the provider but looks.")
        result = [(line,) for line in _result_lines(found)]
        self._show("result", result, "There is no result yet; jobconsole fetch reads a large one.")
        self._show_options(found)

    @property
    def _tab(self) -> str:
        """The name of the tab in front."""
        return self.query_one(TabbedContent).active.removeprefix("tab-")

    def _show(self, name: str, rows: Sequence[tuple[Content, ...]], empty: str, *, follows: bool = False) -> None:
        """Show a list; one whose cursor is on the last line stays on the last line."""
        lines = self.query_one(f"#list-{name}", LineList)
        is_at_end = not lines.entries or lines.cursor == lines.entries[-1].key
        lines.show([Entry(str(number), row) for number, row in enumerate(rows)], empty=empty)
        if follows and is_at_end:
            lines.action_last()

    def _show_options(self, found: Dossier) -> None:
        assert found.view is not None
        assert found.op is not None
        shown = [*cards(found.view), *missing_cards(found.view, found.op, found.contract)]
        lines = self.query_one("#list-options", LineList)
        pen = self.pen((self.query_one(f"#list-{self._tab}", LineList).columns or self.size.width // 2) - 1)
        lines.show(card_entries(shown, pen, has_digit=False), empty="Nothing can be done to it any more.")

    @on(LineList.Chosen, "#list-story")
    @on(LineList.Chosen, "#list-requests")
    def _asked_why(self, message: LineList.Chosen) -> None:
        message.stop()
        self.dashboard.action_act("operation.why")

    @on(LineList.Chosen, "#list-options")
    def _chose(self, message: LineList.Chosen) -> None:
        message.stop()
        for subject in self.subjects(for_many=False):
            self.dashboard.answering.answer(subject.operation_id, subject.revision, message.key, looks_first=True)


def _result_lines(found: Dossier) -> list[Content]:
    result = found.view["result"] if found.view is not None else None
    if result is None:
        return []
    if result["is_inline"]:
        text = json.dumps(result["inline"], indent=2, ensure_ascii=False)
        return [Content(f" {inert(line, _LONGEST)}") for line in text.split("\n")]
    return [Content(f" {key}  {inert(str(value), _LONGEST)}") for key, value in result.items() if value not in (None, False)]
