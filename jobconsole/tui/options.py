"""The options of an operation as numbered cards: what one costs, what stands before and after, and why one is missing (H2, U6).

Only this file decides their order of numbers, which ones are held back for five seconds, and what has to be asked first.
Their words and bounds are the core's (`core/telling/views.py`, `core/telling/wording.py`, `core/commands/decisions.py`);
nothing here adds to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content

from jobconsole.core.commands.decisions import why_not_open
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import words
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.widgets.line_list import Entry

HELD = frozenset({"cancel", "close", "submit_again", "replay_submit", "adopt"})
"""Options that reach the provider's job, end the watch or start another job: held for a moment in which `u` undoes them."""

_ALWAYS_TOLD = ("extend", "cancel")  # where they are missing, the reason is worth a line
_LONGEST = 300  # characters of a contract's or provider's words


class Ask(StrEnum):
    """What a person is asked before an option is chosen."""

    NOTHING = "nothing"
    SURE = "sure"  # the documented effect, with the safe button in focus
    REASON = "reason"  # words for the audit (H5)
    TIME = "time"
    JOB_ID = "job_id"
    CREDENTIAL = "credential"
    LINK = "link"  # nothing is decided: a place to look at


_ASKS = {
    "cancel": Ask.SURE,
    "replay_submit": Ask.SURE,
    "close": Ask.REASON,
    "submit_again": Ask.REASON,
    "accept_result": Ask.REASON,
    "adopt": Ask.JOB_ID,
    "use_credential": Ask.CREDENTIAL,
    "inspect": Ask.LINK,
}


@dataclass(frozen=True, slots=True)
class Card:
    """One option. `number` is its digit, 0 where it has none; `why_not` is set where it is missing and only says why."""

    name: str
    title: str
    number: int = 0
    cost: str = ""
    change: str = ""
    effect: str = ""
    text: str = ""
    url: str | None = None
    credentials: tuple[str, ...] = ()
    why_not: str = ""
    no_purpose: str = ""  # why it would serve nothing any more; it may be chosen all the same (H8)

    @property
    def asks(self) -> Ask:
        """What has to be asked first."""
        return _ASKS.get(self.name, Ask.NOTHING)

    @property
    def told_cost(self) -> str:
        """The cost where there is one worth a word."""
        return "" if self.cost == "no request" else self.cost

    @property
    def is_held(self) -> bool:
        """Whether it can be undone for a moment."""
        return self.name in HELD

    @property
    def is_open(self) -> bool:
        """Whether it may be chosen."""
        return not self.why_not


def cards(view: View) -> list[Card]:
    """The open options of an operation's view, numbered from 1 in the core's order."""
    return [_card(option, number) for number, option in enumerate(view["options"], start=1)]


def missing_cards(view: View, op: Operation, contract: Contract | None) -> list[Card]:
    """What a person might look for and does not find, with the reason (SPEC C9, X6)."""
    if op.phase.is_terminal or op.phase is Phase.SUBMITTING:
        return []
    offered = {option["name"] for option in view["options"]}
    return [
        Card(name, words(name), why_not=inert(why_not_open(name, op, contract), _LONGEST))
        for name in _ALWAYS_TOLD
        if name not in offered
    ]


def find_card(found: Sequence[Card], name: str) -> Card | None:
    """The card of this option."""
    return next((card for card in found if card.name == name), None)


def _card(option: View, number: int) -> Card:
    return Card(
        name=option["name"],
        title=option["title"],
        number=number if number <= 9 else 0,
        cost=option["cost"],
        change=inert(option["change"], _LONGEST),
        effect=inert(option["effect"], _LONGEST),
        text=inert(option["text"], _LONGEST),
        url=option["url"],
        credentials=tuple(option["credentials"]),
        no_purpose=inert(option["no_purpose"] or "", _LONGEST),
    )


def arrows(text: str, pen: Pen) -> str:
    """The core's plain `->` as an arrow, where signs beyond ASCII are drawn."""
    return text if pen.is_ascii else text.replace(" -> ", " → ")


def card_lines(card: Card, pen: Pen, *, has_digit: bool = True) -> tuple[Content, ...]:
    """A card in rows as wide as the pen: digit, title and cost, then what changes or what it does.

    Without digits it is only for reading.
    """
    indent = "    " if has_digit else "  "
    if not card.is_open:
        return (Content.assemble(indent, (_sentence(card.title), "$quiet strike"), (f"  {card.why_not}", "$quiet")),)
    digit = [(f" {card.number or ' '} ", "bold $primary"), " "] if has_digit else [("- " if pen.is_ascii else "· ", "$quiet")]
    head, cost = Content.assemble(*digit, (_sentence(card.title), "$quiet" if card.no_purpose else "bold")), card.told_cost
    has_room = head.cell_length + 3 + len(cost) <= pen.width
    told = [(card.change or card.effect, "$quiet" if card.no_purpose else "$foreground 80%")]
    if cost and has_room:
        head = Content.assemble(head, (f"   {cost}", "$quiet"))
    elif cost:
        told.insert(0, (cost, "$quiet"))
    if card.change and card.effect and card.name not in ("extend", "pause"):
        told.append((card.effect, "$quiet"))
    if card.no_purpose:
        told.insert(0, (f"serves no purpose any more: {card.no_purpose}", "$state-needs-you"))
    if card.url:
        told.append((inert(card.url, _LONGEST), "underline"))
    rows = [head]
    for text, style in told:
        rows += [
            Content.assemble(indent, line)
            for line in Content.styled(arrows(text, pen), style).wrap(max(20, pen.width - len(indent)))
        ]
    return tuple(rows)


def card_entries(shown: Sequence[Card], pen: Pen, *, has_digit: bool = True) -> list[Entry]:
    """Cards for a list, with room between them; what is missing has no cursor."""
    entries: list[Entry] = []
    for card in shown:
        if entries:
            entries.append(Entry(f"before-{card.name}", (Content(""),), is_heading=True))
        entries.append(Entry(card.name, card_lines(card, pen, has_digit=has_digit), is_heading=not card.is_open))
    return entries


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]
