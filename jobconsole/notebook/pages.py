"""The table's rows: sorted, filtered, a page at a time, and what changed in them (SPEC U2, UX 1b).

Only this file decides which rows the browser holds. Up to 1,000 operations it holds all and sorts by itself; above that, it
holds one page of 50 and this file sorts. Either way the first message is bounded and a later one is as large as what changed.
The filter's grammar and the orders are the same as in `static/rows.js`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jobconsole.core.deciding.escalation import look_options
from jobconsole.core.deciding.stall import stalled_since, unchecked_since
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.vocabulary import Phase, known_phase
from jobconsole.errors import InvalidValue
from jobconsole.notebook.feed import News, Picture
from jobconsole.notebook.rows import Row, row

ALL_ROWS: Final = 1_000  # so many the browser holds
PAGE: Final = 50
MOST_TEXT: Final = 200  # characters of a filter

_RANKS: Final = {Phase.ESCALATED: 0, Phase.SUBMITTING: 2, Phase.WAITING: 2}
_FIELDS: Final[dict[str, Callable[[Operation], str | None]]] = {
    "state": lambda op: f"{op.phase} {op.last_known_state or ''}",
    "provider": lambda op: op.provider,
    "owner": lambda op: op.owner,
    "task": lambda op: op.task,
    "id": lambda op: op.operation_id,
}


def rank(op: Operation) -> int:
    """What needs a person first, then what should be seen, what moves, what ended."""
    return 1 if op.phase.is_terminal and look_options(op) else _RANKS.get(op.phase, 3)


def _used(op: Operation) -> float:
    return op.status_requests_used / op.max_status_requests if op.max_status_requests else 1.0


_ORDERS: Final[dict[str, Callable[[Operation], Any]]] = {
    "state": rank,
    "name": lambda op: (op.name or op.operation_id).casefold(),
    "began": lambda op: op.started_at,
    "stops": lambda op: (op.phase.is_terminal, deadline(op)),
    "used": _used,
    "progress": lambda op: -1.0 if op.progress_share is None else op.progress_share,
    "tried": lambda op: op.last_http_at.timestamp() if op.last_http_at else 0.0,
}


@dataclass(frozen=True, slots=True)
class Query:
    """How a person wants the table: a filter, one phase or all, an order, a page from 0."""

    text: str = ""
    phase: str = ""
    sort: str = "state"
    is_down: bool = False
    page: int = 0

    @classmethod
    def of(cls, said: Any) -> Query:
        """What the browser asked for; whatever is of the wrong shape is as if it had not been said."""
        said = said if isinstance(said, dict) else {}
        text, phase, sort, page = said.get("text"), said.get("phase"), said.get("sort"), said.get("page")
        return cls(
            text=text[:MOST_TEXT] if isinstance(text, str) else "",
            phase=phase if isinstance(phase, str) and phase in list(Phase) else "",
            sort=sort if isinstance(sort, str) and sort in _ORDERS else "state",
            is_down=said.get("down") is True,
            page=page if type(page) is int and 0 <= page < 1_000_000 else 0,
        )

    @classmethod
    def asked(cls, text: str, phase: str) -> Query:
        """What a program asks for; another shape is a mistake that it should hear of. Raises `InvalidValue`."""
        if not isinstance(text, str) or len(text) > MOST_TEXT:
            raise InvalidValue(f"a filter is a text of at most {MOST_TEXT} characters")
        return cls(text, known_phase(phase) if phase else "")

    def said(self) -> dict[str, Any]:
        """The same for the browser."""
        return {"text": self.text, "phase": self.phase, "sort": self.sort, "down": self.is_down, "page": self.page}


def matches(op: Operation, text: str) -> bool:
    """Whether an operation passes a filter: all words have to be found, `!` inverts one, `state:` and others name a field."""
    for term in text.casefold().split():
        is_inverted, wanted = term.startswith("!"), term.removeprefix("!")
        name, colon, value = wanted.partition(":")
        if colon and name in _FIELDS:
            is_found = value in (_FIELDS[name](op) or "").casefold()
        else:
            everything = (op.operation_id, op.name, op.provider, op.provider_job_id, op.phase, op.last_known_state, op.task)
            is_found = any(wanted in each.casefold() for each in everything if each)
        if is_found == is_inverted:
            return False
    return True


def arranged(operations: Iterable[Operation], query: Query) -> list[Operation]:
    """What passes the filter, in the order asked for; equal ones the newest first."""
    found = [op for op in operations if (not query.phase or op.phase == query.phase) and matches(op, query.text)]
    found.sort(key=lambda op: op.started_at, reverse=True)
    found.sort(key=_ORDERS[query.sort], reverse=query.is_down)
    return found


class Pages:
    """The rows that a widget's browser side holds. `full` is the state as a whole, `patch` what changed since the last one."""

    def __init__(self) -> None:
        self.query = Query()
        self._is_paged = False
        self._ids: list[str] = []
        self._ages: dict[str, tuple[bool, bool]] = {}  # operation id → how it looked when its row was told

    def full(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """All rows, or those of the page: what a browser gets when it connects."""
        self._is_paged = len(picture.operations) > ALL_ROWS
        page, found = self._page(picture)
        self._ids = [op.operation_id for op in page]
        whole = {"rows": self._rows(page, picture, now), "paged": self._is_paged, "query": self.query.said()}
        return {**whole, **self._order(), **_sums(picture, found)}

    def patch(self, picture: Picture, news: News, now: datetime) -> dict[str, Any]:
        """The rows that changed, keyed by id; a whole state where the browser begins or ceases to hold all."""
        if news.is_reload or self._is_paged is not (len(picture.operations) > ALL_ROWS):
            return {"whole": True, **self.full(picture, now)}
        before = set(self._ids)
        page, found = self._page(picture)
        changed = [op for op in page if op.operation_id in news.operation_ids or op.operation_id not in before]
        ids = [op.operation_id for op in page]
        gone = sorted(before.difference(ids))
        has_moved, self._ids = ids != self._ids, ids
        told: dict[str, Any] = {"rows": self._rows(changed, picture, now)} if changed else {}
        if gone:
            told["gone"] = gone
        if has_moved:
            told |= self._order()
        return told | _sums(picture, found)

    def aged(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """The rows that look stalled, or not checked, because time has passed and nothing else (H12); empty where none does."""
        held = [picture.operations[each] for each in self._ids if each in picture.operations]
        changed = [op for op in held if _age(op, now) != self._ages.get(op.operation_id)]
        return {"rows": self._rows(changed, picture, now)} if changed else {}

    def _page(self, picture: Picture) -> tuple[list[Operation], int]:
        if not self._is_paged:
            return list(picture.operations.values()), len(picture.operations)
        found = arranged(picture.operations.values(), self.query)
        first = min(self.query.page, max(0, len(found) - 1) // PAGE) * PAGE
        return found[first : first + PAGE], len(found)

    def _order(self) -> dict[str, Any]:
        """Only a page has an order of its own; of all rows the browser decides."""
        return {"ids": list(self._ids)} if self._is_paged else {}

    def _rows(self, operations: Sequence[Operation], picture: Picture, now: datetime) -> list[Row]:
        self._ages |= {op.operation_id: _age(op, now) for op in operations}
        return [row(picture.brief_view(op, now), now) for op in operations]


def _age(op: Operation, now: datetime) -> tuple[bool, bool]:
    return stalled_since(op, now) is not None, unchecked_since(op, now) is not None


def _sums(picture: Picture, found: int) -> dict[str, Any]:
    phases = Counter(str(op.phase) for op in picture.operations.values())
    return {"phases": dict(phases), "found": found, "total": len(picture.operations)}
