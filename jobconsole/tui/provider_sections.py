"""Contracts, accounts and the store's health as text (SPEC 2, B9, B11, UX 1a).

Only this file decides how they read in a pane. What is shown of a contract is `core/contracts/view.py`'s, of an account
`core/telling/views.py`'s; credentials are references there, so that nothing here can be a secret (C13).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from textual.content import Content

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.view import contract_view
from jobconsole.core.deciding.account import Account
from jobconsole.core.operation import Operation
from jobconsole.core.telling.account_view import account_view
from jobconsole.core.telling.coverage import coverage
from jobconsole.core.telling.provider_health import ProviderHealth
from jobconsole.core.telling.terminal_text import inert, width
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import counted, glyph, words
from jobconsole.core.vocabulary import Phase, StateClass
from jobconsole.errors import ContractInvalid
from jobconsole.protocols import StoreHealth
from jobconsole.tui.clock_face import full_text
from jobconsole.tui.detail_sections import Pen, time_of
from jobconsole.tui.hanging import hanging
from jobconsole.tui.widgets.bars import budget_bar

_LONGEST = 400  # characters of a value
_LONGEST_NAME = 24  # columns up to which the ids behind names stand below each other
_TOLD_APART = (
    "name",
    "title",
    "source",
    "digest",
    "docs",
    "verified",
    "states",
    "budget",
    "account",
    "base_url",
    "console_url",
)


# ---- contracts ---------------------------------------------------------------------------------------------------------------
def contract_line(contract: Contract, health: ProviderHealth | None, jobs: int, columns: int, pen: Pen) -> Content:
    """A contract in one line, its name in so many columns: how the provider stands while it is in use, and its jobs."""
    ill = health.text(pen.now).partition(": ")[2] if health is not None else ""
    told = (ill, "$state-needs-you bold") if ill else (inert(contract.title, 120), "$quiet")
    return _aligned(contract.name, columns, Content.assemble(told), counted(jobs, "job") if jobs else "", pen)


def refused_line(found: ContractInvalid, pen: Pen) -> Content:
    """A contract file that was refused."""
    sign = glyph(Phase.FAILED, is_ascii=pen.is_ascii)
    return Content.assemble((f" {sign} ", "$state-failed"), inert(found.source, 120), (" refused", "$state-failed"))


def _aligned(name: str, columns: int, told: Content, right: str, pen: Pen) -> Content:
    """Name, what is told of it, and something short at the right edge, which is never cut."""
    left = Content.assemble((f" {name}", "bold"), " " * (columns - width(name) + 2), told)
    room = pen.width - len(right) - 1 if right else pen.width
    left = left.truncate(room, ellipsis=True) if left.cell_length > room else left
    return Content.assemble(left, " " * (pen.width - left.cell_length - len(right)), (right, "$primary")) if right else left


def contract_text(contract: Contract, operations: Iterable[Operation], pen: Pen) -> Content:
    """Who it is, how long its checks last, its state table, then every other key that it sets."""
    view = contract_view(contract)
    mine = [op for op in operations if op.provider == contract.name]
    watched = sum(not op.phase.is_terminal for op in mine)
    rows = [
        Content.assemble((contract.name, "bold $primary"), f"  {inert(contract.title, 120)}"),
        _row("at", contract.base_url),
        _row("from", f"{contract.source}, {contract.digest[:12]}"),
        _row("docs", contract.docs or "none named"),
        _row("verified", contract.verified or "not yet"),
        _row("account", contract.account),
        _row("jobs", f"{counted(watched, 'operation')} watched, {len(mine) - watched:,} ended"),
        Content(""),
        *_heading("how long its checks last"),
        Content(coverage(contract).sentence),
        *(Content.styled(f"warning: {each}", "$state-needs-you") for each in coverage(contract).warnings),
        Content(""),
        *_heading("states"),
        *_states(view["states"], pen),
        Content(""),
        *_heading("bounds of one wait"),
        *_tree(view["budget"], pen.width),
        Content(""),
        *_heading("the rest of the contract"),
        *_tree({key: value for key, value in view.items() if key not in _TOLD_APART}, pen.width),
    ]
    return Content("\n").join(rows)


def _states(states: Mapping[str, Any], pen: Pen) -> Iterator[Content]:
    """Each class with its documented values."""
    for each in StateClass:
        if each.value in states:
            sign = glyph(each, is_ascii=pen.is_ascii)
            values = ", ".join(inert(str(value), 80) for value in states[each.value])
            yield Content.assemble((f"{sign} {words(each):<12} ", "bold"), values)
    unlisted = f"unlisted     {words(states['unlisted'])}"
    yield Content.assemble(
        (f"  {unlisted}", "$quiet"), (f" ({states['unlisted_source']})" if states["unlisted_source"] else "", "$quiet")
    )


def _tree(values: Mapping[str, Any], columns: int, depth: int = 0) -> Iterator[Content]:
    """Keys and values, tables indented; what is left out of the contract is left out here."""
    for key, value in values.items():
        if value in (None, "", [], {}):
            continue
        label = f"{'  ' * depth}{inert(str(key), 80)}"
        if isinstance(value, Mapping):
            yield Content.styled(label, "bold")
            yield from _tree(value, columns, depth + 1)
        else:
            yield from hanging(Content.styled(f"{label}  ", "$quiet"), Content(_plain(value)), columns)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return inert(", ".join(_plain(each) for each in value), _LONGEST)
    return inert(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONGEST)


# ---- accounts ----------------------------------------------------------------------------------------------------------------
def account_line(account: Account, contract: Contract | None, columns: int, pen: Pen) -> Content:
    """An account in one line, its name in so many columns: what holds it back, if anything does, and what is spent."""
    view = account_view(account, pen.now, (), contract)
    style = "$state-failed bold" if view["denied"] else "$state-needs-you bold"
    held = (f"{view['standing']}, ", style) if view["standing"] else ""
    return _aligned(inert(account.account, 40), columns, Content.assemble(held, (view["text"], "$quiet")), "", pen)


def account_text(account: Account, contract: Contract | None, operations: Iterable[Operation], pen: Pen) -> Content:
    """What was spent by whom, what holds it back, and who carries the question about a refused credential."""
    view = account_view(account, pen.now, operations, contract)
    rows = [
        Content.assemble((inert(account.account, 80), "bold $primary"), (f"  {inert(account.account_key, 200)}", "$quiet")),
        Content(""),
    ]
    rows += _spending(view, pen)
    rows += _holds(view, pen)
    rows += [Content(""), *_heading("spent by")]
    names = [inert(each["name"] or "", 80) for each in view["spent_by"][:20]]
    columns = min(_LONGEST_NAME, max(map(width, names), default=0))
    for each, named in zip(view["spent_by"], names, strict=False):
        name = f"{named}{' ' * (columns - width(named))}  " if columns else ""
        spender = Content.assemble(name, (inert(each["operation_id"], 140), "$quiet"))
        rows += hanging(Content.styled(f"{each['status_requests_used']:>7,}  ", "$quiet"), spender, pen.width)
    if len(view["spent_by"]) > 20:
        rows.append(Content.styled(f"         and {len(view['spent_by']) - 20:,} more operations", "$quiet"))
    if not view["spent_by"]:
        rows.append(Content.styled("no live operation", "$quiet"))
    return Content("\n").join(rows)


def spending(view: View, pen: Pen) -> Content:
    """`▰▱▱▱ 312 of 5,000 this hour; at this rate empty 14:20 UTC`; no bar where no limit is known."""
    if not view["per_hour"]:
        return Content(view["text"])
    share, columns = view["spent_this_hour"] / view["per_hour"], max(6, min(24, pen.width - 32))
    full, rest = budget_bar(share, columns, is_ascii=pen.is_ascii)
    style = "$state-needs-you" if view["empty_at"] else "$primary"
    return Content.assemble((full, style), (rest, "$quiet"), f"  {view['text']}")


def _spending(view: View, pen: Pen) -> Iterator[Content]:
    unlimited = "" if view["per_hour"] else "; the contract names no limit per minute"
    yield Content.assemble(spending(view, pen), (unlimited, "$quiet"))
    if view["lasts"]:
        yield _row("empty", "not before this hour ends, at this rate")
    yield _row("in all", f"{view['spent']:,} requests")
    if view["max_concurrent"] is not None:
        yield _row("at once", f"at most {view['max_concurrent']:,}")
    if view["remote"] is not None and view["remote"]["text"]:
        yield _row("provider", str(view["remote"]["text"]))
    if view["spacing_seconds"]:
        yield _row("spacing", f"one request in {view['spacing_seconds']:g} s while the quota is nearly empty")


def _holds(view: View, pen: Pen) -> Iterator[Content]:
    denied, until = view["denied"], time_of(view["held_until"])
    if denied is not None:
        since = time_of(denied["since"])
        assert since is not None
        carries = f"; {denied['operation_id']} carries the question" if denied["operation_id"] else ""
        code = f" ({denied['http_status']})" if denied["http_status"] is not None else ""
        yield Content("")
        yield Content.styled(
            f"{glyph(Phase.FAILED, is_ascii=pen.is_ascii)} its credential was refused{code} "
            f"{full_text(since, pen.now, pen.style)}{carries}",
            "$state-failed bold",
        )
        yield Content.styled("  Mend access, then answer that question with: credential mended", "$quiet")
    elif until is not None:
        yield Content("")
        yield Content.styled(
            f"{glyph(Phase.ESCALATED, is_ascii=pen.is_ascii)} held until {full_text(until, pen.now, pen.style)}: "
            "the provider asked for it",
            "$state-needs-you bold",
        )


# ---- the store ---------------------------------------------------------------------------------------------------------------
def health_text(health: StoreHealth, operations: int, pen: Pen) -> Content:
    """Whether the store can be written, who works, and what was repaired or is missing."""
    writable = (
        (f"{glyph(Phase.SUCCEEDED, is_ascii=pen.is_ascii)} can be written", "$state-done bold")
        if health.is_writable
        else (f"{glyph(Phase.FAILED, is_ascii=pen.is_ascii)} {inert(health.why_not, _LONGEST)}", "$state-failed bold")
    )
    rows = [
        Content.styled("The store", "bold $primary"),
        Content(""),
        Content.assemble(writable),
        _row("holds", counted(operations, "operation")),
    ]
    if health.damage:
        rows.append(
            Content.styled(
                f"{glyph(Phase.FAILED, is_ascii=pen.is_ascii)} damaged: {inert(health.damage, _LONGEST)}", "$state-failed bold"
            )
        )
    rows.append(_row("a sync", f"takes {health.sync_ms:.1f} ms"))
    rows += [Content(""), *_heading("workers")]
    for worker in health.workers:
        since = full_text(worker.started_at, pen.now, pen.style)
        rows.append(Content(f"{inert(worker.label, 40)}  pid {worker.pid}, {inert(worker.worker_id, 80)}, since {since}"))
    if not health.workers:
        rows.append(Content.styled("none: nothing is checked until one is: jobconsole run", "$state-needs-you"))
    if health.notes:
        rows += [Content(""), *_heading("notes"), *(Content(inert(note, _LONGEST)) for note in health.notes)]
    return Content("\n").join(rows)


def _row(label: str, text: str) -> Content:
    return Content.assemble((f"{label:<10}", "$quiet"), inert(text, _LONGEST))


def _heading(text: str) -> Iterator[Content]:
    yield Content.styled(text.upper(), "bold $quiet")
