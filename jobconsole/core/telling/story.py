"""The audit as a story, one line an event (SPEC L2, X22).

Only this file decides which events make one line and in which order the lines stand; `story_line.py` words them. The command
line (`audit`), the dashboard and `why.py` read it. A reservation folds into its answer, a submission into the answer that
accepted it, and what belongs to an answer (its end, its escalation) into that answer's line. The order is the chain's, never
the clock's; memory is bounded by what is under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

from jobconsole.core.events import Kind
from jobconsole.core.telling.event_group import Event, Group, moment
from jobconsole.core.telling.story_line import notes_of, sentence
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import clock_text

_FOLLOWERS = frozenset(
    {
        Kind.STATE_CHANGED,
        Kind.HINT_REJECTED,
        Kind.HELD,
        Kind.RELEASED,
        Kind.ESCALATED,
        Kind.CLOSED,
        Kind.EXTENDED,
        Kind.CHECK_PLANNED,
        Kind.ACTION_REQUESTED,
        Kind.ACTION_ENDED,
    }
)
"""Kinds that stand behind another event in the same transaction and are told with it."""

_OPENERS = frozenset({Kind.CHECK_RESERVED, Kind.ACTION_STARTED})
"""Kinds that are the last of their transaction: a request may leave now, and what comes next is its answer."""

_Slot: TypeAlias = tuple[str, str]  # operation id, and what is under way: "check", "submission", or an action's id


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One line of the story and its moment, for a front end in which people point at lines; the time is not in `text`."""

    at: datetime
    operation_id: str | None
    text: str


@dataclass(slots=True)
class _Line:
    """A line to be told. An open one may still fold into what comes: then its text becomes None."""

    at: datetime
    operation_id: str | None
    text: str | None
    is_open: bool = False


def story(events: Iterable[Mapping[str, Any]], *, with_operation: bool = False) -> Iterator[str]:
    """The lines of the story, as far as they are settled; `events` are parsed stored lines in chain order.

    `with_operation` names the operation in each line, for a story over the whole store. A date stands where it changes, and
    with times of another day. Foreign text is inert (U3).
    """
    teller = _Teller()
    day: date | None = None
    for line in teller.tell(events):
        shown, day = _shown(line, day, with_operation), line.at.date()
        yield shown


def story_lines(events: Iterable[Mapping[str, Any]]) -> Iterator[StoryLine]:
    """The same lines as `story`, each beside its moment and its operation."""
    for line in _Teller().tell(events):
        yield StoryLine(line.at, line.operation_id, line.text or "")


def _shown(line: _Line, day: date | None, with_operation: bool) -> str:
    dated = f"{line.at.date().isoformat()} " if day is not None and line.at.date() != day else ""
    whose = f"{inert(line.operation_id)} " if with_operation and line.operation_id else ""
    return f"{dated}{clock_text(line.at)} {whose}{line.text}"


def _groups(events: Iterable[Event]) -> Iterator[Group]:
    """Events that are told together: what one command wrote about one operation at one moment."""
    group: list[Event] = []
    for event in events:
        if group and event.get("kind") in _FOLLOWERS and _belongs(event, group[0]):
            group.append(event)
            continue
        if group:
            yield Group(group)
        group = [event]
    if group:
        yield Group(group)


def _belongs(event: Event, first: Event) -> bool:
    return first.get("kind") not in _OPENERS and all(
        event.get(name) == first.get(name) for name in ("operation_id", "at", "actor")
    )


class _Teller:
    """Turns groups into lines and holds them back while something before them may still fold."""

    def __init__(self) -> None:
        self._lines: deque[_Line] = deque()
        self._under_way: dict[_Slot, list[_Line]] = {}

    def tell(self, events: Iterable[Event]) -> Iterator[_Line]:
        for group in _groups(events):
            self._add(group)
            yield from self._settled()
        for line in self._lines:
            line.is_open = False
        yield from self._settled()

    def _settled(self) -> Iterator[_Line]:
        while self._lines and not self._lines[0].is_open:
            line = self._lines.popleft()
            if line.text is not None:
                yield line

    def _add(self, group: Group) -> None:
        requests = self._fold(group)
        text = sentence(group, requests)
        line = _Line(moment(group.lead["at"]), group.operation_id, text)
        slot = _opens(group)
        if slot is not None:
            line.is_open = True
            self._under_way.setdefault(slot, []).append(line)
        self._lines.append(line)
        for note in notes_of(group):
            self._lines.append(_Line(line.at, line.operation_id, note))

    def _fold(self, group: Group) -> int:
        """Let what is under way fold into this group, or stand alone where it cannot any more; returns how many folded."""
        owner, kind = group.operation_id or "", group.lead.get("kind")
        folded = 0
        if kind in (Kind.CHECK_ANSWERED, Kind.CHECK_WITHHELD):
            folded = self._end((owner, "check"), is_told=True)
        elif not group.has_lease:
            self._end((owner, "check"))
        if kind == Kind.SUBMIT_ANSWERED:
            self._end((owner, "submission"), is_told=True)
        if ended := group.of(Kind.ACTION_ENDED):
            self._end((owner, str(ended.get("action_id"))), is_told=True)
        if kind not in (Kind.SUBMITTED, Kind.ACTION_STARTED):
            self._end((owner, "submission"))
        if group.of(Kind.CLOSED) or group.of(Kind.ESCALATED):
            for slot in [slot for slot in self._under_way if slot[0] == owner]:
                self._end(slot)
        return folded

    def _end(self, slot: _Slot, *, is_told: bool = False) -> int:
        lines = self._under_way.pop(slot, [])
        for line in lines:
            line.is_open = False
            if is_told:
                line.text = None
        return len(lines)


def _opens(group: Group) -> _Slot | None:
    """What this group leaves under way."""
    owner, kind = group.operation_id or "", group.lead.get("kind")
    if kind == Kind.CHECK_RESERVED:
        return owner, "check"
    if kind == Kind.SUBMITTED and not group.lead.get("is_tracked"):
        return owner, "submission"
    if kind == Kind.ACTION_STARTED:
        return owner, str(group.lead.get("action_id"))
    return None
