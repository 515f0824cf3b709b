"""Providers: contracts, accounts with what they spent, and the store's own health (UX 1a).

Only this file decides what the list has. Contracts are read from their files when the screen is shown, and by `R`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.core.contract import Contract
from jobconsole.core.terminal_text import inert
from jobconsole.core.vocabulary import Phase
from jobconsole.core.wording import glyph
from jobconsole.errors import ContractInvalid
from jobconsole.tui.action import Subject
from jobconsole.tui.messages import Changed, HealthChanged, Ticked
from jobconsole.tui.provider_sections import account_line, account_text, contract_text, health_text
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.widgets.line_list import Entry, LineList

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
        &.-wide {
            & #providers { layout: horizontal; }
            & #providers-list { width: 44%; height: 1fr; }
            & #providers-detail { width: 1fr; height: 1fr; border-top: none; border-left: vkey $rule; padding: 0 2; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[Contract | ContractInvalid] = ()
        self._filter = ""

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
        """The text that an entry must contain."""
        return self._filter

    def filter_by(self, text: str) -> None:
        """Show providers and accounts whose name or title contains the text."""
        self._filter = text
        self._draw()

    def go_back(self) -> bool:
        """Without a filter."""
        if not self._filter:
            return False
        self.clear_filter()
        return True

    # ---- what happens ---------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Hear the feed."""
        self.feed.subscribe(self)

    def on_screen_resume(self) -> None:
        """Files may have changed."""
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

    @on(LineList.Moved, "#providers-list")
    def _moved(self, message: LineList.Moved) -> None:
        message.stop()
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
        pen = self.pen(max(20, self.list.columns - 1))
        accounts = [
            Entry(f"account:{key}", (Content(" ") + account_line(account, self._contract_of(account.account), pen),))
            for key, account in sorted(self.feed.accounts.items())
            if self._matches(key)
        ]
        contracts = [entry for each in self._found if (entry := self._contract_entry(each)) is not None]
        entries = [
            Entry("heading-store", (Content(" STORE"),), is_heading=True),
            Entry(_STORE, (Content(" Health and workers"),)),
        ]
        if accounts:
            entries += [Entry("heading-accounts", (Content(f" ACCOUNTS  {len(accounts):,}"),), is_heading=True), *accounts]
        entries += [Entry("heading-contracts", (Content(f" CONTRACTS  {len(contracts):,}"),), is_heading=True), *contracts]
        self.list.show(entries)
        self._draw_text()

    def _contract_entry(self, found: Contract | ContractInvalid) -> Entry | None:
        if isinstance(found, ContractInvalid):
            if not self._matches(found.source):
                return None
            return Entry(
                f"refused:{found.source}",
                (
                    Content.assemble(
                        (f" {glyph(Phase.FAILED, is_ascii=self.dashboard.theme_file.is_ascii)} ", "$state-failed"),
                        inert(found.source, 120),
                        (" refused", "$state-failed"),
                    ),
                ),
            )
        if not self._matches(found.name, found.title):
            return None
        count = sum(op.provider == found.name for op in self.feed.operations.values())
        jobs = f"  {count:,}" if count else ""
        return Entry(
            f"contract:{found.name}",
            (Content.assemble((f" {found.name}", "bold"), (f"  {inert(found.title, 120)}", "$quiet"), (jobs, "$primary")),),
        )

    def _matches(self, *texts: str) -> bool:
        wanted = self._filter.strip().lower()
        return not wanted or any(wanted in text.lower() for text in texts)

    def _contract_of(self, account: str) -> Contract | None:
        """A contract of this account, for its limit."""
        return next((each for each in self._found if isinstance(each, Contract) and each.account == account), None)

    def _draw_text(self) -> None:
        self.query_one("#providers-text", Static).update(self._text())

    def _text(self) -> Content:
        kind, _, name = (self.list.cursor or "").partition(":")
        pen = self.pen(max(20, self.query_one("#providers-detail").size.width - 4))
        operations = self.feed.operations
        if kind == _STORE:
            return health_text(self.feed.health, len(operations), pen)
        if kind == "account" and (account := self.feed.accounts.get(name)) is not None:
            return account_text(account, self._contract_of(account.account), operations.values(), pen)
        for each in self._found:
            if kind == "contract" and isinstance(each, Contract) and each.name == name:
                return contract_text(each, operations.values(), pen)
            if kind == "refused" and isinstance(each, ContractInvalid) and each.source == name:
                return Content.styled(inert(str(each), 2_000), "$state-failed")
        return Content("")
