"""The table's rows: sorted, filtered, a page at a time, and what changed in them (SPEC U2, UX 1b).

Only this file decides which rows the browser holds. Up to 1,000 operations it holds all and sorts by itself; above that, it
holds one page of 50 and this file sorts. Either way the first message is bounded and a later one is as large as what changed.
What passes a filter is found here, in the language of `core/telling/filter.py`, which asks for more than a row tells; the
browser gets ids. The orders are the same as in `static/rows.js`.
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
from jobconsole.core.telling.filter import EVERYTHING, Filter, parse_filter
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.vocabulary import Phase, known_phase
from jobconsole.errors import InvalidValue
from jobconsole.notebook.feed import News, Picture
from jobconsole.notebook.rows import SENTENCE, Row, row

ALL_ROWS: Final = 1_000  # so many the browser holds
PAGE: Final = 50
MOST_TEXT: Final = 200  # characters of a filter

_RANKS: Final = {Phase.ESCALATED: 0, Phase.SUBMITTING: 2, Phase.WAITING: 2}


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
            text=text[:MOST_TEXT] if isinstance(text, str) and _is_encodable(text) else "",
            phase=phase if isinstance(phase, str) and phase in list(Phase) else "",
            sort=sort if isinstance(sort, str) and sort in _ORDERS else "state",
            is_down=said.get("down") is True,
            page=page if type(page) is int and 0 <= page < 1_000_000 else 0,
        )

    @classmethod
    def asked(cls, text: str, phase: str) -> Query:
        """What a program asks for; what is no filter is a mistake that it should hear of. Raises `InvalidValue`."""
        if not isinstance(text, str) or len(text) > MOST_TEXT or not _is_encodable(text):
            raise InvalidValue(f"a filter is a text of at most {MOST_TEXT} characters")
        parse_filter(text)
        return cls(text, known_phase(phase) if phase else "")

    def said(self) -> dict[str, Any]:
        """The same for the browser."""
        return {"text": self.text, "phase": self.phase, "sort": self.sort, "down": self.is_down, "page": self.page}


def _is_encodable(text: str) -> bool:
    """A lone surrogate of a half-typed sign could not be sent back."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def arranged(operations: Iterable[Operation], query: Query, wanted: Filter, now: datetime) -> list[Operation]:
    """What passes the filter and has the phase, in the order asked for; equal ones the newest first."""
    found = [op for op in operations if (not query.phase or op.phase == query.phase) and wanted.matches(op, now)]
    found.sort(key=lambda op: op.started_at, reverse=True)
    found.sort(key=_ORDERS[query.sort], reverse=query.is_down)
    return found


class Pages:
    """The rows that a widget's browser side holds. `full` is the state as a whole, `patch` what changed since the last one."""

    def __init__(self) -> None:
        self.query = Query()
        self._filter, self._fault = EVERYTHING, ""
        self._is_paged = False
        self._held: list[str] = []
        self._shown: list[str] | None = None  # a page in its order, or of all rows those that pass; None where all do
        self._ages: dict[str, tuple[bool, bool]] = {}  # operation id → how it looked when its row was told

    @property
    def filtered_by(self) -> str:
        """The filter that is in force, and the phase, in words."""
        return " ".join(part for part in (self._filter.text, self.query.phase) if part)

    def ask(self, query: Query, picture: Picture, now: datetime) -> dict[str, Any]:
        """Show this from now on; what the browser has to hear. A filter that is none stays without effect, and says why."""
        self.query = query
        try:
            self._filter, self._fault = parse_filter(query.text), ""
        except InvalidValue as error:
            self._fault = inert(str(error), SENTENCE)
        if self._is_paged:
            return {"whole": True}
        told, found = self._moved(picture, frozenset(), now)
        return {**self._asked(), **told, "found": found}

    def arranged(self, picture: Picture, now: datetime) -> list[Operation]:
        """All that is to be seen, page by page."""
        return arranged(picture.operations.values(), self.query, self._filter, now)

    def full(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """All rows, or those of the page: what a browser gets when it connects."""
        self._is_paged = len(picture.operations) > ALL_ROWS
        page, self._shown, found = self._page(picture, now)
        self._held = [op.operation_id for op in page]
        whole = {"rows": self._rows(page, picture, now), "paged": self._is_paged, "ids": self._shown}
        return {**whole, **self._asked(), **_sums(picture, found)}

    def patch(self, picture: Picture, news: News, now: datetime) -> dict[str, Any]:
        """The rows that changed, keyed by id; a whole state where the browser begins or ceases to hold all."""
        if news.is_reload or self._is_paged is not (len(picture.operations) > ALL_ROWS):
            return {"whole": True}
        told, found = self._moved(picture, news.operation_ids, now)
        return told | _sums(picture, found)

    def aged(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """What is different because time has passed and nothing else; empty where nothing is.

        Rows look stalled, or not checked (H12), and a filter such as `age>2h` lets through what it did not before.
        """
        told, found = self._moved(picture, frozenset(), now) if self._filter.is_about_time else ({}, 0)
        if told:
            told |= _sums(picture, found)
        held = [picture.operations[each] for each in self._held if each in picture.operations]
        changed = [op for op in held if _age(op, now) != self._ages.get(op.operation_id)]
        if changed:
            told["rows"] = [*told.get("rows", ()), *self._rows(changed, picture, now)]
        return told

    def _moved(self, picture: Picture, changed: frozenset[str], now: datetime) -> tuple[dict[str, Any], int]:
        """What came, changed, went or is shown otherwise, and how many pass."""
        before = set(self._held)
        page, shown, found = self._page(picture, now)
        fresh = [op for op in page if op.operation_id in changed or op.operation_id not in before]
        self._held = [op.operation_id for op in page]
        told: dict[str, Any] = {"rows": self._rows(fresh, picture, now)} if fresh else {}
        if gone := sorted(before.difference(self._held)):
            told["gone"] = gone
        if shown != self._shown:
            told["ids"] = self._shown = shown
        return told, found

    def _page(self, picture: Picture, now: datetime) -> tuple[list[Operation], list[str] | None, int]:
        """What the browser holds, the ids of what it shows (None: all), and how many pass."""
        if self._is_paged:
            found = self.arranged(picture, now)
            first = min(self.query.page, max(0, len(found) - 1) // PAGE) * PAGE
            page = found[first : first + PAGE]
            return page, [op.operation_id for op in page], len(found)
        held = list(picture.operations.values())
        if not self._filter.tests:
            return held, None, len(held)
        passing = [op.operation_id for op in held if self._filter.matches(op, now)]
        return held, passing, len(passing)

    def _asked(self) -> dict[str, Any]:
        """What the rows answer, and what is wrong with it."""
        return {"query": self.query.said(), "fault": self._fault}

    def _rows(self, operations: Sequence[Operation], picture: Picture, now: datetime) -> list[Row]:
        self._ages |= {op.operation_id: _age(op, now) for op in operations}
        return [row(picture.brief_view(op, now), now) for op in operations]


def _age(op: Operation, now: datetime) -> tuple[bool, bool]:
    return stalled_since(op, now) is not None, unchecked_since(op, now) is not None


def _sums(picture: Picture, found: int) -> dict[str, Any]:
    phases = Counter(str(op.phase) for op in picture.operations.values())
    return {"phases": dict(phases), "found": found, "total": len(picture.operations)}
