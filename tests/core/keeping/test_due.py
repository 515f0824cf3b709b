"""What `due` offers, in which order, and when something is due next (B9, B11, STORE 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.command import Moment
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.looks import settle
from jobconsole.core.operation import NotBefore, OpenAction, Permit, document
from jobconsole.core.vocabulary import ActionState, Phase
from tests.store.made import ACCOUNT, START, lease, made

NOW = Moment(START, 1_000_000, "boot-1")
MINUTE = timedelta(minutes=1)
DENIED = {"since": "2026-11-29T09:00:00Z", "carriers": {"": "op-9", "env:K3": None}}
CLAIMED = OpenAction(action_id="a", state=ActionState.CLAIMED, due_at=START + 2 * MINUTE)


class Store:
    """Documents filled by hand."""

    def __init__(self) -> None:
        self.documents = Documents()
        self.numbers: dict[tuple[str, str], int] = {}

    def put(self, table: str, own_id: str, doc: Mapping[str, Any]) -> None:
        number = self.numbers.setdefault((table, own_id), len(self.numbers) + 1)
        self.documents.merge({f"{table}/{number}": doc})

    def operation(self, operation_id: str, **fields: Any) -> None:
        doc = document(settle(made(operation_id, **fields)))
        self.put("_default", operation_id, {**dict.fromkeys(("lease", "permit", "due_at")), **doc})

    def account(self, **fields: Any) -> None:
        self.put("accounts", ACCOUNT, {"account_key": ACCOUNT, **fields})

    def due(self, at: timedelta = timedelta(0), limit: int = 100, dead: str = "") -> list[str]:
        now = Moment(START + at, NOW.up + at // timedelta(milliseconds=1), NOW.boot)
        return [p.operation_id for p in self.documents.due(now, now.wall, limit, lambda owner: owner == dead)]

    def next_due(self) -> datetime | None:
        return self.documents.next_due(NOW, lambda owner: False)


@pytest.fixture
def store() -> Store:
    """No documents yet."""
    return Store()


def test_what_is_due_comes_nearest_deadline_first(store: Store) -> None:
    """Over all accounts; what is planned for later does not come."""
    store.operation("far", deadline_at=START + 9 * MINUTE)
    store.operation("near", deadline_at=START + 5 * MINUTE, account_key="another")
    store.operation("middle", deadline_at=START + 7 * MINUTE)
    store.operation("later", deadline_at=START + 6 * MINUTE, next_poll_at=START + MINUTE)
    assert store.due() == ["near", "middle", "far"]
    assert store.due(limit=2) == ["near", "middle"]
    assert store.due(at=MINUTE) == ["near", "later", "middle", "far"]


def test_a_plan_that_was_left_wakes_nobody(store: Store) -> None:
    """The earlier plan of an operation that moved on, or ended, is not the next look."""
    store.operation("moved", next_poll_at=START + MINUTE)
    store.operation("moved", next_poll_at=START + 3 * MINUTE)
    store.operation("ended", next_poll_at=START + 2 * MINUTE)
    store.operation("ended", phase=Phase.SUCCEEDED, next_poll_at=None)
    assert store.next_due() == START + 3 * MINUTE
    store.operation("moved", phase=Phase.FAILED, next_poll_at=None)
    assert store.next_due() is None


@pytest.mark.rule("B2")
def test_a_wall_clock_that_is_set_back_makes_a_look_wait_again(store: Store) -> None:
    """It is offered when its time comes for the second time, and a worker is told when."""
    store.operation("op-1", phase=Phase.ESCALATED, next_poll_at=None, open_actions={"cancel": _asked(START + MINUTE)})
    assert store.due(at=2 * MINUTE) == ["op-1"]
    assert store.due() == []
    assert store.next_due() == START + MINUTE
    assert store.due(at=MINUTE) == ["op-1"]


def _asked(due_at: datetime) -> OpenAction:
    return OpenAction(action_id="a", due_at=due_at)


def test_asking_changes_nothing(store: Store) -> None:
    """`due` is a hint: the same question has the same answer."""
    for number in range(5):
        store.operation(f"op-{number}", deadline_at=START + (number + 1) * MINUTE)
    assert store.due(limit=3) == store.due(limit=3) == ["op-0", "op-1", "op-2"]


@pytest.mark.rule("B14")
def test_the_earlier_deadline_rules_unless_it_was_waived(store: Store) -> None:
    """`business_deadline_at` orders like `deadline_at`."""
    store.operation("plain", deadline_at=START + 5 * MINUTE)
    store.operation("business", deadline_at=START + 9 * MINUTE, business_deadline_at=START + 4 * MINUTE)
    store.operation(
        "waived", deadline_at=START + 9 * MINUTE, business_deadline_at=START + MINUTE, is_business_deadline_waived=True
    )
    assert store.due() == ["business", "plain", "waived"]


def test_a_new_plan_replaces_the_old_one(store: Store) -> None:
    """Forward, back, and away."""
    store.operation("op-1")
    assert store.due() == ["op-1"]
    store.operation("op-1", next_poll_at=START + MINUTE)
    assert store.due() == []
    store.operation("op-1")
    assert store.due() == ["op-1"]
    store.operation("op-1", phase=Phase.SUCCEEDED)
    assert store.due() == []


@pytest.mark.rule("S1")
@pytest.mark.parametrize(
    ("until_up", "boot", "dead", "is_offered"),
    [
        (NOW.up + 1, "boot-1", "", False),
        (NOW.up, "boot-1", "", True),
        (NOW.up + 999_999, "boot-0", "", True),
        (NOW.up + 999_999, "boot-1", "worker:w1", True),
        (NOW.up + 999_999, "boot-1", "worker:w2", False),
    ],
    ids=["running", "ended", "another boot", "owner dead", "another is dead"],
)
def test_an_operation_under_a_lease_is_due_when_the_lease_has_ended(
    store: Store, until_up: int, boot: str, dead: str, is_offered: bool
) -> None:
    """By the boot clock, whatever the wall clock says; a dead owner's lease need not be waited for."""
    store.operation("op-1", lease=lease(until_up, boot=boot))
    assert store.due(dead=dead) == (["op-1"] if is_offered else [])


@pytest.mark.rule("B9")
def test_an_account_offers_no_more_than_its_free_slots(store: Store) -> None:
    """Three slots, one lease and one claim: one more; another account is untouched."""
    store.account(max_concurrent=3)
    store.operation("leased", lease=lease(NOW.up + 5_000))
    store.put("actions", "a", {"action_id": "a", "operation_id": "leased", "account_key": ACCOUNT, "state": "claimed",
                               "owner": "worker:w1", "boot": "boot-1", "until_up": NOW.up + 5_000})  # fmt: skip
    for number in (1, 2, 3):
        store.operation(f"op-{number}", deadline_at=START + number * MINUTE)
    store.operation("elsewhere", account_key="another")
    assert store.due() == ["op-1", "elsewhere"]


@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("hold", "is_held"),
    [
        ({"hold_until_at": "2026-11-29T10:01:00Z"}, True),
        ({"hold_until_at": "2026-11-29T10:00:00Z"}, False),
        ({"hold_until_at": "2026-11-29T09:00:00Z", "hold_until_up": NOW.up + 1, "hold_boot": "boot-1"}, True),
        ({"hold_until_at": "2026-11-29T11:00:00Z", "hold_until_up": NOW.up, "hold_boot": "boot-1"}, True),
        ({"hold_until_at": "2026-11-29T11:00:00Z", "hold_until_up": NOW.up, "hold_boot": "boot-0"}, True),
    ],
    ids=["wall, to come", "wall, over", "boot clock, to come", "wall, though the boot clock is over", "another boot: wall"],
)
def test_a_held_account_offers_nothing(store: Store, hold: Mapping[str, Any], is_held: bool) -> None:
    """The later of both clocks: a wall clock that jumped does not shorten a provider's wait (B2)."""
    store.account(**hold)
    store.operation("op-1")
    store.operation("permitted", permit=_permit(), deadline_at=START + 9 * MINUTE)
    assert store.due() == ([] if is_held else ["permitted", "op-1"])


def _permit(purpose: str = "credential_mended") -> Permit:
    return Permit(decision_id="d", purpose=purpose, checks=1, until_at=START + MINUTE)


@pytest.mark.rule("B11")
def test_of_a_refused_credential_only_the_probe_is_offered(store: Store) -> None:
    """A person who mended access gets the one probe; the others stay held, whatever a person let go on."""
    store.account(denied=DENIED)
    action = OpenAction(action_id="a", due_at=START)
    store.operation("plain", deadline_at=START + MINUTE / 2)
    store.operation("acts", open_actions={"cancel": action}, deadline_at=START + 2 * MINUTE)
    store.operation("escalated", phase=Phase.ESCALATED, next_poll_at=START, deadline_at=START + 3 * MINUTE)
    store.operation("probes", phase=Phase.ESCALATED, permit=_permit(), deadline_at=START + 4 * MINUTE)
    store.operation("checks", phase=Phase.ESCALATED, permit=_permit("check_once"), deadline_at=START + 5 * MINUTE)
    store.operation("switched", credential="env:K2", deadline_at=START + 6 * MINUTE)
    store.operation("refused too", credential="env:K3", deadline_at=START + 7 * MINUTE)
    assert store.due() == ["probes", "switched"]
    store.account(denied=None)
    assert store.due() == ["plain", "checks", "probes", "acts", "switched", "refused too"]


@pytest.mark.rule("B11", "X11")
@pytest.mark.parametrize(
    ("fields", "booked_after"),
    [
        ({"phase": Phase.ESCALATED, "open_actions": {"cancel": OpenAction(action_id="a", due_at=START)}}, None),
        ({"open_actions": {"cancel": OpenAction(action_id="a", due_at=START)}}, 5),  # its deadline
        ({"phase": Phase.ESCALATED, "open_actions": {"cancel": CLAIMED}}, 2),  # the end of the claim
        ({"phase": Phase.SUBMITTING, "open_actions": {"submit": CLAIMED}}, 2),
        ({"phase": Phase.ESCALATED, "permit": "check_once"}, 1),  # the end of the permit
        ({"permit": "cancel"}, 1),
    ],
    ids=["asked for a cancel", "the same, waiting", "cancel in flight", "submission in flight", "one check", "follow-up"],
)
def test_what_waits_for_access_sleeps_until_a_bound_of_its_own(
    store: Store, fields: dict[str, Any], booked_after: int | None
) -> None:
    """Nothing is looked at again and again while a person has not mended the credential."""
    store.account(denied=DENIED)
    permit = {"permit": _permit(fields["permit"])} if "permit" in fields else {}
    store.operation("op-1", deadline_at=START + 5 * MINUTE, **(fields | permit))
    assert store.due() == []
    assert store.next_due() == (None if booked_after is None else START + booked_after * MINUTE)
    assert store.due(at=60 * MINUTE) == ([] if booked_after is None else ["op-1"])


@pytest.mark.rule("B11", "B14")
@pytest.mark.parametrize("account", [{"denied": DENIED}, {"hold_until_at": "2026-11-29T12:00:00Z"},
                                     {"max_concurrent": 0}])  # fmt: skip
def test_a_deadline_that_passed_is_offered_although_nothing_may_be_sent(store: Store, account: Mapping[str, Any]) -> None:
    """Escalating sends nothing: deadlines run on while an account is denied, held or full."""
    store.account(**account)
    store.operation("op-1", deadline_at=START + 5 * MINUTE)
    store.operation("op-2", deadline_at=START + 6 * MINUTE)
    assert store.due() == []
    assert store.next_due() == START + 5 * MINUTE
    assert store.due(at=5 * MINUTE) == ["op-1"]


@pytest.mark.parametrize(
    ("prepare", "next_at"),
    [
        (lambda s: None, None),
        (lambda s: s.operation("op-1", next_poll_at=START + MINUTE), START + MINUTE),
        (lambda s: s.operation("op-1"), START),
        (lambda s: (s.account(hold_until_at="2026-11-29T10:02:00Z"), s.operation("op-1")), START + 2 * MINUTE),
        (lambda s: (s.account(denied={}), s.operation("op-1")), START),
        (lambda s: (s.account(denied=DENIED), s.operation("op-1")), START + 60 * MINUTE),
        (lambda s: s.operation("op-1", lease=lease(NOW.up + 15_000)), START + timedelta(seconds=15)),
        (lambda s: (s.account(max_concurrent=1), s.operation("op-1", lease=lease(NOW.up + 15_000)), s.operation("op-2")),
         START + timedelta(seconds=15)),
        (lambda s: s.operation("op-1", phase=Phase.ESCALATED), None),
    ],
    ids=["nothing", "planned", "now", "held", "not denied", "denied: its deadline", "leased", "full", "escalated"],
)  # fmt: skip
def test_a_worker_can_sleep_until_the_next_look(
    store: Store, prepare: Callable[[Store], object], next_at: datetime | None
) -> None:
    """Never in the past where nothing can be offered: a worker must not spin."""
    prepare(store)
    assert store.next_due() == next_at


@given(
    plans=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(1, 30), st.booleans()), max_size=60),
    asked=st.lists(st.integers(0, 25), max_size=5),
)
def test_the_heaps_agree_with_looking_at_everything(plans: list[tuple[int, int, int, bool]], asked: list[int]) -> None:
    """Any sequence of plans, and questions in any order, also back in time."""
    store = Store()
    last: dict[str, tuple[int, int, bool]] = {}
    for number, due, deadline, is_ended in plans:
        operation_id = f"op-{number}"
        last[operation_id] = (min(due, deadline), deadline, is_ended)
        store.operation(
            operation_id,
            next_poll_at=START + due * MINUTE,
            deadline_at=START + deadline * MINUTE,
            phase=Phase.FAILED if is_ended else Phase.WAITING,
        )
        for minute in asked:
            expected = {key for key, (at, _, ended) in last.items() if at <= minute and not ended}
            told = store.due(at=minute * MINUTE)
            assert set(told) == expected
            assert len(told) == len(expected)
            assert [last[key][1] for key in told] == sorted(last[key][1] for key in told)


def test_not_before_is_no_business_of_the_queue(store: Store) -> None:
    """A provider's minimum is part of the plan: `due_at` has it already."""
    store.operation("op-1", not_before=NotBefore(at=START + MINUTE, up=NOW.up + 60_000, boot="boot-1"))
    assert store.due() == ["op-1"]
