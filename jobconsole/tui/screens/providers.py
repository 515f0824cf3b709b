"""Providers: contracts, accounts with what they spent, and the store's own health (UX 1a).

Only this file decides what the list has. Contracts are read from their files when the screen is shown, and by `R`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account
from jobconsole.core.telling.terminal_text import inert, width
from jobconsole.errors import ContractInvalid
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.messages import Changed, HealthChanged, Ticked
from jobconsole.tui.provider_sections import (
    account_line,
    account_text,
    contract_line,
    contract_text,
    health_text,
    refused_line,
)
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.line_list import Entry, LineList
from jobconsole.tui.word_filter import WordFilter

_STORE = "store"


class ProvidersScreen(Frame):
    """The list, and the text of the entry under the cursor."""

    mode: ClassVar[str] = "providers"
    AUTO_FOCUS: ClassVar[str | None] = "#providers-list"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - declared by Textual as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [Binding("R", "read_again", "Read again", id="providers.read-again")]
    DEFAULT_CSS = """
    ProvidersScreen {
        & #providers { height: 1fr; layout: vertical; }
        & #providers-list { height: 40%; }
        & #providers-detail { height: 1fr; padding: 0 1; border-top: solid $rule; scrollbar-size-vertical: 1; }
        & #providers-text { height: auto; }
        & #providers-detail:focus { border-top: solid $primary; }
        &.-wide {
            & #providers { layout: horizontal; }
            & #providers-list { width: 44%; height: 1fr; }
            & #providers-detail { width: 1fr; height: 1fr; border-top: none; border-left: vkey $rule; padding: 0 2; }
            & #providers-detail:focus { border-left: outer $primary; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[Contract | ContractInvalid] = ()
        self._filter = WordFilter()

    def compose_body(self) -> Iterable[Widget]:
        """The list and the text."""
        with Container(id="providers"):
            yield LineList(id="providers-list", classes="-list", empty="Reading the contracts…")
            with VerticalScroll(id="providers-detail"):
                yield Static("", id="providers-text", markup=False)

    @property
    def list(self) -> LineList:
        """The list."""
        return self.query_one("#providers-list", LineList)

    # ---- what the shell asks --------------------------------------------------------------------------------------------
    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """The operation that carries the question about the account's refused credential."""
        account = self.feed.accounts.get((self.list.cursor or "").removeprefix("account:"))
        carriers = account.denied.carriers.values() if account is not None and account.denied is not None else ()
        op = self.feed.operations.get(next(filter(None, carriers), None) or "")
        return (Subject(op.operation_id, op.revision),) if op is not None else ()

    def filter_text(self) -> str | None:
        """The words that an entry must contain."""
        return self._filter.text

    def filter_by(self, text: str) -> None:
        """Show providers and accounts with these words in name or title."""
        self._filter = WordFilter(text)
        self._draw()

    def go_back(self) -> bool:
        """From the text to the list, then without a filter."""
        if self.list.has_focus and not self._filter:
            return False
        if self.list.has_focus:
            self.clear_filter()
        self.list.focus()
        return True

    # ---- what happens ---------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Hear the feed."""
        self.feed.subscribe(self)

    def on_screen_resume(self) -> None:
        """Files may have changed; and whoever comes back moves in the list, not in the text that was read last."""
        self.list.focus()
        self.action_read_again()

    def action_read_again(self) -> None:
        """Read the contract files."""
        self._read()

    @work(exclusive=True, group="contracts")
    async def _read(self) -> None:
        self._found = await asyncio.to_thread(self.desk.contracts.all)
        self._draw()

    def on_changed(self, message: Changed) -> None:
        """An account may have spent something."""
        if self.is_current:
            self._draw()

    def on_ticked(self, message: Ticked) -> None:
        """Holds count down."""
        if self.is_current and (self.list.cursor or "").startswith("account:"):
            self._draw_text()

    def on_health_changed(self, message: HealthChanged) -> None:
        """A worker came or went."""
        if self.is_current and self.list.cursor == _STORE:
            self._draw_text()

    @on(LineList.Resized, "#providers-list")
    def _widened(self, message: LineList.Resized) -> None:
        """Titles have another width."""
        message.stop()
        self._draw()

    @on(LineList.Moved, "#providers-list")
    def _moved(self, message: LineList.Moved) -> None:
        message.stop()
        self.subject_may_differ()
        self.query_one("#providers-detail").scroll_home(animate=False)
        self._draw_text()

    @on(LineList.Chosen, "#providers-list")
    def _chosen(self, message: LineList.Chosen) -> None:
        """To the question of a refused account; else into the text, to scroll it."""
        message.stop()
        subjects = self.subjects(for_many=False)
        if subjects:
            self.dashboard.open_operation(subjects[0].operation_id)
        else:
            self.query_one("#providers-detail").focus()

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def _draw(self) -> None:
        if not self.feed.is_loaded:
            return  # nobody knows yet what it holds
        pen = self.pen(max(20, self.list.columns - 2))
        jobs = Counter(op.provider for op in self.feed.operations.values())
        shown = [each for each in self._found if self._filter.matches(*_names(each))]
        in_use = [each for each in shown if isinstance(each, Contract) and jobs[each.name]]
        sections = {
            "STORE": [Entry(_STORE, (Content(" health and workers"),))],
            "ACCOUNTS": self._account_entries(pen),
            "PROVIDERS IN USE": self._contract_entries(in_use, jobs, pen),
            "OTHER CONTRACTS": self._contract_entries([each for each in shown if each not in in_use], jobs, pen),
        }
        self.list.show(list(_headed(sections)))
        self._draw_text()

    def _account_entries(self, pen: Pen) -> Sequence[Entry]:
        accounts = [each for key, each in sorted(self.feed.accounts.items()) if self._filter.matches(key)]
        columns = max((width(inert(each.account, 40)) for each in accounts), default=0)
        return [
            Entry(f"account:{each.account_key}", (account_line(each, self._contract_of(each), columns, pen),))
            for each in accounts
        ]

    def _contract_entries(self, found: Sequence[Contract | ContractInvalid], jobs: Counter[str], pen: Pen) -> Sequence[Entry]:
        columns = max((len(each.name) for each in found if isinstance(each, Contract)), default=0)
        healths = {each.provider: each for each in self.feed.provider_healths()}
        entries = []
        for each in found:
            if isinstance(each, Contract):
                row = contract_line(each, healths.get(each.name), jobs[each.name], columns, pen)
                entries.append(Entry(f"contract:{each.name}", (row,)))
            else:
                entries.append(Entry(f"refused:{each.source}", (refused_line(each, pen),)))
        return entries

    def _contract_of(self, account: Account) -> Contract | None:
        """The contract of an operation that uses this account, for its limit."""
        users = (op.provider for op in self.feed.operations.values() if op.account_key == account.account_key)
        provider = next(users, None)
        return next((each for each in self._found if isinstance(each, Contract) and each.name == provider), None)

    def _draw_text(self) -> None:
        self.query_one("#providers-text", Static).update(self._text())

    def _text(self) -> Content:
        kind, _, name = (self.list.cursor or "").partition(":")
        pen = self.pen(max(20, self.query_one("#providers-detail").scrollable_content_region.width - 1))
        operations = self.feed.operations
        if kind == _STORE:
            return health_text(self.feed.health, len(operations), pen)
        if kind == "account" and (account := self.feed.accounts.get(name)) is not None:
            return account_text(account, self._contract_of(account), operations.values(), pen)
        for each in self._found:
            if kind == "contract" and isinstance(each, Contract) and each.name == name:
                return contract_text(each, operations.values(), pen)
            if kind == "refused" and isinstance(each, ContractInvalid) and each.source == name:
                return Content.styled(inert(str(each), 2_000), "$state-failed")
        return Content("")


def _names(found: Contract | ContractInvalid) -> tuple[str, ...]:
    return (found.name, found.title) if isinstance(found, Contract) else (found.source,)


def _headed(sections: Mapping[str, Sequence[Entry]]) -> Iterator[Entry]:
    """Each section that has entries, below its heading with their number; a blank line between two."""
    blank: tuple[Content, ...] = ()
    for title, entries in sections.items():
        if entries:
            count = f"  {len(entries):,}" if title != "STORE" else ""
            yield Entry(f"heading-{title}", (*blank, Content(f" {title}{count}")), is_heading=True)
            yield from entries
            blank = (Content(""),)
