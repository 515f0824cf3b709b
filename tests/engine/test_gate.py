"""The last check before the first byte: each reason to withhold, alone, on an operation that was just reserved."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from jobconsole.core.command import Plan, Scope, View
from jobconsole.core.commands.transitions import account_of, account_set
from jobconsole.core.deciding.account import Denied, held
from jobconsole.core.events import EventDraft, Kind
from jobconsole.core.operation import NotBefore
from jobconsole.engine.gate import RequestGate
from jobconsole.errors import Withheld
from tests.core.desk import ACCOUNT, Desk
from tests.core.sample_facts import at, running


def reserved() -> tuple[Desk, int]:
    """A desk whose operation was reserved at 10:00:00, and the token."""
    desk = Desk()
    desk.track()
    return desk, desk.reserved().token


def gate(desk: Desk, token: int, **fields: Any) -> RequestGate:
    """The gate of that reservation: the request may leave for 9 s, until the deadline at 10:40:00."""
    ordinary: dict[str, Any] = {
        "clock": desk.clock,
        "store": desk.store,
        "operation_id": "op-1",
        "account_key": ACCOUNT,
        "token": token,
        "until_up": desk.clock.up_ms() + 9_000,
        "boot": "boot-1",
        "until_at": at(2400),
    }
    return RequestGate(**(ordinary | fields))


def change_account(desk: Desk, **fields: Any) -> None:
    """Another operation's answer has changed the account meanwhile."""

    def command(view: View) -> Plan[None]:
        op = desk.op()
        acc = account_of(view, op, desk.contract)
        delay = fields.pop("hold", None)
        acc = held(acc, view.now, delay) if delay is not None else replace(acc, **fields)
        return Plan((EventDraft(Kind.HELD, "worker:b", set=account_set(view, acc)),), None)

    desk.told(Scope(operations=("op-1",), accounts=(ACCOUNT,)), command)


def why_not(opened: RequestGate) -> str | None:
    """Why the gate says no; None where it opens."""
    try:
        opened()
    except Withheld as no:
        return no.reason
    return None


@pytest.mark.rule("B2", "B3")
def test_a_gate_opens_once() -> None:
    desk, token = reserved()
    opened = gate(desk, token)
    assert why_not(opened) is None
    assert why_not(opened) == "already_used"


@pytest.mark.rule("S1", "B2")
@pytest.mark.parametrize(("passed", "why"), [(8.999, None), (9.0, "lease_ending"), (3600, "lease_ending")])
def test_a_request_leaves_only_while_its_lease_lasts(passed: float, why: str | None) -> None:
    desk, token = reserved()
    opened = gate(desk, token)
    desk.clock.advance(passed)
    assert why_not(opened) == why


@pytest.mark.rule("S1")
def test_another_boot_sends_nothing_of_the_one_before() -> None:
    desk, token = reserved()
    opened = gate(desk, token)
    desk.clock.reboot("boot-2", away=timedelta(0))
    assert why_not(opened) == "lease_ending"


@pytest.mark.rule("B2")
@pytest.mark.parametrize(("until", "jump", "why"), [(at(5), 4.9, None), (at(5), 5.0, "deadline"), (at(2400), 9e6, "deadline")])
def test_nothing_leaves_after_the_deadline(until: datetime, jump: float, why: str | None) -> None:
    desk, token = reserved()
    opened = gate(desk, token, until_at=until)
    desk.clock.jump_wall(jump)
    assert why_not(opened) == why


@pytest.mark.rule("B2", "B7")
@pytest.mark.parametrize(
    ("wall_s", "up_s", "why"),
    [(0, 0, None), (1, 0, "provider_wait"), (0, 1, "provider_wait"), (1, 1, "provider_wait")],
)
def test_a_providers_wait_must_be_over_by_both_clocks(wall_s: float, up_s: float, why: str | None) -> None:
    desk, token = reserved()
    wait = NotBefore(at=at(wall_s), up=desk.clock.up_ms() + int(up_s * 1000), boot="boot-1")
    assert why_not(gate(desk, token, not_before=wait)) == why


@pytest.mark.rule("S1")
def test_a_successor_closes_the_gate_of_the_stale_owner() -> None:
    desk, token = reserved()
    opened = gate(desk, token, until_up=desk.clock.up_ms() + 60_000)
    desk.clock.advance(15)
    desk.reserved(owner="worker:b")
    assert why_not(opened) == "lease_lost"


@pytest.mark.rule("S1", "H4")
def test_a_closed_operation_sends_nothing() -> None:
    desk, token = reserved()
    opened = gate(desk, token)
    desk.chosen("close", reason="enough")
    assert why_not(opened) == "lease_lost"


@pytest.mark.rule("S1")
def test_an_unknown_operation_sends_nothing() -> None:
    desk, token = reserved()
    assert why_not(gate(desk, token, operation_id="op-2")) == "lease_lost"


@pytest.mark.rule("B9", "B7")
@pytest.mark.parametrize(("passed", "why"), [(0, "account_hold"), (4.9, "account_hold"), (5.0, None)])
def test_a_hold_that_came_meanwhile_is_obeyed(passed: float, why: str | None) -> None:
    desk, token = reserved()
    opened = gate(desk, token)
    change_account(desk, hold=timedelta(seconds=5))
    desk.clock.advance(passed)
    assert why_not(opened) == why


@pytest.mark.rule("B11", "C11")
@pytest.mark.parametrize(
    ("credential", "is_probe", "why"),
    [(None, False, "account_denied"), (None, True, None), ("env:OTHER", False, None)],
)
def test_a_credential_that_was_refused_meanwhile_is_not_sent(credential: str | None, is_probe: bool, why: str | None) -> None:
    desk, token = reserved()
    opened = gate(desk, token, credential=credential, ignores_denial=is_probe)
    change_account(desk, denied=Denied(since=at(0), http_status=401, carriers={"": "op-9"}))
    assert why_not(opened) == why


@pytest.mark.rule("A3", "B17")
def test_an_action_leaves_only_under_its_own_claim() -> None:
    desk = Desk()
    desk.submit()
    claimed = desk.claim()
    token = claimed.token  # type: ignore[union-attr]
    assert why_not(gate(desk, token, action_id="act-op-1")) is None
    assert why_not(gate(desk, token + 1, action_id="act-op-1")) == "lease_lost"
    late = gate(desk, token, action_id="act-op-1")
    desk.answer(token, running(job_id="job-1"))
    assert why_not(late) == "lease_lost"
