"""One choice for many operations: what it will do to each, or why it cannot, and what is said when it is done (UX 1a, bulk).

Only this file decides that. Each operation keeps its own id and the revision that the person saw; what has changed since, waits
already or is not open is left out, with the core's reason (SPEC H4, U8). `answering.py` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from jobconsole.console import Desk
from jobconsole.core.commands.decisions import what_happened, why_not_open
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, words
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import UnknownOperation
from jobconsole.tui import texts
from jobconsole.tui.options import Card, cards, find_card
from jobconsole.tui.subject import Subject

TYPED_ABOVE = 10
"""With more operations than this, their number must be typed."""

_LONGEST = 300  # characters of a reason
_TOLD_REFUSALS = 3  # in a toast; the log has all of them


@dataclass(frozen=True, slots=True)
class Wording:
    """How a choice for many is asked and told; `{}` is `12 operations`."""

    question: str
    act: str
    safe: str
    done: str
    doing: str


WORDINGS: Mapping[str, Wording] = MappingProxyType(
    {
        "extend": Wording("Extend {} once?", "Extend", "Back", "extended", "Extend"),
        "cancel": Wording("Cancel {} at the provider?", "Cancel", "Keep running", "being cancelled", "Cancel at provider"),
        "close": Wording("Stop watching {}?", "Close", "Leave them as they are", "closed", "Close"),
        "acknowledge": Wording("Acknowledge {}?", "Acknowledge", "Back", "acknowledged", "Acknowledge"),
    }
)
"""The choices that can be made for many operations at once: those that ask for nothing that differs from one to the next."""


@dataclass(frozen=True, slots=True)
class Share:
    """What the choice means for one operation: `told` is what will happen, `why_not` is set where it is left out."""

    operation_id: str
    revision: int
    option: str
    name: str
    phase: Phase | None = None
    told: str = ""
    why_not: str = ""
    is_held: bool = False

    @property
    def subject(self) -> Subject:
        """The operation, and the revision that the person saw."""
        return Subject(self.operation_id, self.revision)

    @property
    def is_open(self) -> bool:
        """Whether it takes part."""
        return not self.why_not


@dataclass(frozen=True, slots=True)
class _Seen:
    """A marked operation as it is now: `op` is None where it is gone, `contract` where it cannot be read."""

    subject: Subject
    op: Operation | None = None
    contract: Contract | None = None
    cards: tuple[Card, ...] = ()


async def shares(
    desk: Desk, subjects: Sequence[Subject], options: Sequence[str], waits: Callable[[str, str], bool] = lambda *_: False
) -> dict[str, list[Share]]:
    """By option a share for each subject, in their order; each operation is read once.

    `waits` says of an operation and an option whether that is held already.
    """
    seen = await _seen(desk, subjects)
    return {option: [_share(each, option, waits) for each in seen] for option in options}


async def _seen(desk: Desk, subjects: Sequence[Subject]) -> list[_Seen]:
    known = [await _known(desk, subject) for subject in subjects]
    views = iter(await desk.views([op for op in known if op is not None]))
    return [
        _Seen(subject) if op is None else _Seen(subject, op, await desk.contract_of(op), tuple(cards(next(views))))
        for subject, op in zip(subjects, known, strict=True)
    ]


async def _known(desk: Desk, subject: Subject) -> Operation | None:
    try:
        return await desk.get(subject.operation_id)
    except UnknownOperation:
        return None


def _share(seen: _Seen, option: str, waits: Callable[[str, str], bool]) -> Share:
    subject, op, card = seen.subject, seen.op, find_card(seen.cards, option)
    if op is None:
        return Share(subject.operation_id, subject.revision, option, "", why_not="it is not in this store any more")
    why_not = "it waits for that already: u undoes" if waits(op.operation_id, option) else _why_not(seen, op, option)
    told = "" if card is None else _told(card)
    is_held = card is not None and card.is_held
    return Share(op.operation_id, subject.revision, option, op.name or "", op.phase, told, inert(why_not, _LONGEST), is_held)


def _told(card: Card) -> str:
    """What choosing it costs and does."""
    told = ": ".join(part for part in (card.told_cost, card.change or card.effect) if part)
    return f"{told}; serves no purpose any more: {card.no_purpose}" if card.no_purpose else told


def _why_not(seen: _Seen, op: Operation, option: str) -> str:
    """Why the option is not open for the revision that was seen; empty where it is."""
    if op.revision != seen.subject.revision:
        return what_happened(op, seen.subject.revision)
    if find_card(seen.cards, option) is not None:
        return ""
    if op.phase.is_terminal:
        return ended_text(texts.name_of(op), op.phase, option)
    return why_not_open(option, op, seen.contract)


def taking_part(found: Sequence[Share]) -> list[Share]:
    """Those for which something will happen."""
    return [share for share in found if share.is_open]


def card_for_many(option: str, number: int, found: Sequence[Share]) -> Card:
    """The choice as a card: for how many it is open; for none of them, why not for the first."""
    part = len(taking_part(found))
    title = WORDINGS[option].doing.lower()
    if not part:
        return Card(option, title, why_not=f"{found[0].operation_id}: {found[0].why_not}")
    return Card(option, title, number, effect=f"{part:,} of {counted(len(found), 'operation')}; asks before it acts")


def ended_text(name: str, phase: Phase, option: str) -> str:
    """`week review has ended as succeeded: nothing to cancel`."""
    return f"{name} has ended as {words(phase)}: nothing to {words(option)}"


def nothing_text(found: Sequence[Share], option: str) -> str:
    """None of them takes part."""
    return f"{option} is open for none of {counted(len(found), 'operation')}: {found[0].operation_id}: {found[0].why_not}"


def doing_text(option: str, number: int) -> str:
    """What waits, or was undone: `Cancel at provider: 12 operations`."""
    return f"{WORDINGS[option].doing}: {counted(number, 'operation')}"


def outcome_text(option: str, done: int, refused: Mapping[str, str]) -> str:
    """`12 extended, 1 refused: op-7: already answered by ana …`; `refused` has a reason by operation id."""
    text = f"{done:,} {WORDINGS[option].done}"
    if not refused:
        return f"{text}."
    told = [_refusal(operation_id, why) for operation_id, why in list(refused.items())[:_TOLD_REFUSALS]]
    more = f"; {len(refused) - len(told):,} more: see the log" if len(refused) > len(told) else ""
    return f"{text}, {len(refused):,} refused: {'; '.join(told)}{more}"


def _refusal(operation_id: str, why: str) -> str:
    """The core's sentence, with the id in front where it does not begin with that itself."""
    text = inert(why, _LONGEST)
    return text if text.startswith(operation_id) else f"{operation_id}: {text}"
