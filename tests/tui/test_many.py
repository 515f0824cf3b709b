"""One choice for all marked operations: each by its own id and revision, or left out with the reason (UX 1a, SPEC H4, U8)."""

from __future__ import annotations

import asyncio

import pytest

from jobconsole.core.command import Command, CommandKind, R, Refusal, Scope
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.contracts import ContractBook
from jobconsole.protocols import Receipt
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.dialogs.cancel import CancelDialog
from jobconsole.tui.dialogs.choose import ChooseForManyDialog
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.dialogs.many import ManyDialog
from jobconsole.tui.feed import Feed
from jobconsole.tui.many import outcome_text, taking_part
from jobconsole.tui.screens.operations import OperationsScreen
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.marking import confirmed, marked, tracked
from tests.tui.test_operations_table import table_of


def notices(app: TestedDashboard) -> str:
    """Everything that was said."""
    return "\n".join(each.message for each in app._notifications)


@pytest.mark.rule("H2", "U8")
async def test_the_question_names_the_count_every_id_and_what_will_happen_to_each(dashboard: TestedDashboard) -> None:
    """What is typed is the reason, and nothing has to be typed for three."""
    ids = await tracked(dashboard, 3)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "e")
        shown = "\n".join(text_of(dashboard))
        assert "Extend 3 operations once?" in shown
        assert [operation_id for operation_id in ids if f"waiting  {operation_id}" not in shown] == []
        assert shown.count("deadline 10:40:00 → 10:55:00 UTC, checks 12 → 16") == 3
        assert dashboard.focused is not None
        assert dashboard.focused.id == "reason"
        assert not dashboard.screen.query("#typed")


@pytest.mark.rule("C9", "U6")
async def test_what_cannot_be_done_to_one_is_left_out_with_the_reason(dashboard: TestedDashboard) -> None:
    """One of three has failed already: two are cancelled, and the dialog says so before."""
    await tracked(dashboard, 3, failed=(2,))
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "c")
        shown = "\n".join(text_of(dashboard))
        assert "Cancel 2 operations at the provider?" in shown
        assert "1 of 3 left out" in shown
        assert "acme-02 has ended as failed: nothing to cancel" in shown
        await confirmed(pilot)
        (hold,) = dashboard.holds.waiting
        assert hold.operation_ids == ("acme-01", "acme-03")


@pytest.mark.rule("H5")
async def test_one_hold_with_one_undo_for_all_of_them(dashboard: TestedDashboard) -> None:
    """`u` within five seconds, and nothing is sent for any; the marks stay."""
    ids = await tracked(dashboard, 3)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "c")
        await confirmed(pilot)
        assert len(dashboard.holds.waiting) == 1
        assert any("in 5 s, u undoes: Cancel at provider: 3 operations" in line for line in text_of(dashboard))
        await pilot.press("u")
        await pass_time(pilot, 10)
        assert "Undone: nothing was sent. Cancel at provider: 3 operations" in notices(dashboard)
        assert table_of(dashboard).marked == set(ids)
    assert [(await dashboard.desk.get(each)).cancel_requested_at for each in ids] == [None] * 3


async def test_after_the_hold_all_are_decided_and_their_marks_go(dashboard: TestedDashboard) -> None:
    """Each has a decision of its own."""
    ids = await tracked(dashboard, 3)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "c")
        await confirmed(pilot)
        await pass_time(pilot, 5)
        await until(pilot, lambda: "3 being cancelled." in notices(dashboard))
        await until(pilot, lambda: table_of(dashboard).marked == set())
    decided = [(await dashboard.desk.get(each)).decided for each in ids]
    assert [[done.option for done in each] for each in decided] == [["cancel"]] * 3
    assert len({each[0].decision_id for each in decided}) == 3


@pytest.mark.rule("H4", "U1")
async def test_who_is_faster_while_the_question_is_asked_is_seen_in_it(dashboard: TestedDashboard) -> None:
    """Ben extends one and the provider ends another while Ana reads: one of three is left, and is all that is decided."""
    await tracked(dashboard, 3)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "e")
        await dashboard.desk.decide("acme-02", "extend", by="person:ben")
        await pass_time(pilot, 60)  # until a check is due
        await dashboard.check("acme-03", {"state": "failed"})
        await until(pilot, lambda: len(taking_part(dialog.shares)) == 1)
        await pilot.pause()
        shown = "\n".join(text_of(dashboard))
        for said in (
            "Extend 1 operation once?",
            "1 operation, 2 of 3 left out",
            "Extend 1 (ctrl+s)",
            "failed  acme-03",
            "already answered by ben",
        ):
            assert said in shown
        await confirmed(pilot)
        await until(pilot, lambda: "1 extended." in notices(dashboard))
    assert [(await dashboard.desk.get(f"acme-0{n}")).granted.times for n in (1, 2, 3)] == [1, 1, 0]


@pytest.mark.rule("U8")
async def test_a_question_that_changed_wants_a_second_look(dashboard: TestedDashboard) -> None:
    """The key that comes right after the change, and the old count, are not meant for what stands there now."""
    await tracked(dashboard, 12)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "e")
        await dashboard.desk.decide("acme-02", "extend", by="person:ben")
        await until(pilot, lambda: len(taking_part(dialog.shares)) == 11)
        await pilot.press("ctrl+s")
        assert dashboard.screen is dialog
        await confirmed(pilot, typed="12")
        assert any("That is not how many there are." in line for line in text_of(dashboard))
        await confirmed(pilot, typed="11")
        await until(pilot, lambda: "11 extended." in notices(dashboard))


@pytest.mark.rule("U8")
async def test_a_question_in_which_nothing_new_is_told_wants_no_second_look(dashboard: TestedDashboard) -> None:
    """What is left out already may change as often as it likes."""
    await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "e")
        await dashboard.desk.decide("acme-02", "extend", by="person:ben")
        await until(pilot, lambda: len(taking_part(dialog.shares)) == 1)
        await pass_time(pilot, 1)
        await dashboard.desk.note("acme-02", "ticket 7", by="person:ben")
        await until(pilot, lambda: bool(dashboard.feed.operations["acme-02"].attention.notes))
        await until(pilot, lambda: not dialog._changed)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "1 extended." in notices(dashboard))


async def test_where_none_is_left_to_decide_about_the_question_says_so(dashboard: TestedDashboard) -> None:
    """It stays, and nothing is decided."""
    await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "c")
        await pass_time(pilot, 60)  # until a check is due
        await dashboard.check("acme-01", {"state": "done"})
        await dashboard.check("acme-02", {"state": "done"})
        await until(pilot, lambda: not taking_part(dialog.shares))
        await confirmed(pilot)
        assert dashboard.screen is dialog
        assert any("cancel is open for none of them any more: Esc goes back." in line for line in text_of(dashboard))
        assert dashboard.holds.waiting == []


@pytest.mark.rule("H4")
async def test_who_was_faster_on_one_of_them_is_told_and_the_others_are_done(dashboard: TestedDashboard) -> None:
    """Ben extends one while the choice is held: two of three are cancelled, the third is refused, and its mark stays."""
    await tracked(dashboard, 3)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "c")
        await confirmed(pilot)
        await dashboard.desk.decide("acme-02", "extend", by="person:ben")
        await pass_time(pilot, 5)
        await until(pilot, lambda: "2 being cancelled, 1 refused: acme-02: already answered by ben" in notices(dashboard))
        await until(pilot, lambda: table_of(dashboard).marked == {"acme-02"})
        assert any("acme-02" in line.text for line in dashboard.log_ring.lines)


@pytest.mark.rule("H4", "U8")
async def test_what_changed_since_it_was_seen_is_left_out(dashboard: TestedDashboard) -> None:
    """The screen is paused, so that it shows the old revision: the choice is not bound to what nobody saw."""
    await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        await settled(pilot)
        dashboard.feed.toggle_pause()
        await dashboard.desk.decide("acme-01", "extend", by="person:ben")
        table_of(dashboard).marked = {"acme-01", "acme-02"}
        await pilot.press("e")
        await until(pilot, lambda: isinstance(dashboard.screen, ManyDialog))
        await pilot.pause()
        shown = "\n".join(text_of(dashboard))
        assert "Extend 1 operation once?" in shown
        assert "already answered by ben" in shown


@pytest.mark.parametrize(
    ("count", "typed", "is_taken"),
    [(10, None, True), (11, "11", True), (11, "10", False), (11, "", False)],
)
async def test_above_ten_the_count_must_be_typed(
    dashboard: TestedDashboard, count: int, typed: str | None, is_taken: bool
) -> None:
    """Ten need no more than the key; eleven need `11`."""
    await tracked(dashboard, count)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "e")
        assert bool(dialog.query("#typed")) is (typed is not None)
        await confirmed(pilot, **({} if typed is None else {"typed": typed}))
        if is_taken:
            await until(pilot, lambda: f"{count} extended." in notices(dashboard))
        else:
            assert dashboard.screen is dialog
            assert any("That is not how many there are." in line for line in text_of(dashboard))


@pytest.mark.rule("H5")
async def test_closing_many_needs_one_reason_which_all_of_them_keep(dashboard: TestedDashboard) -> None:
    """Without one the dialog stays."""
    ids = await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "X")
        await confirmed(pilot)
        assert dashboard.screen is dialog
        await confirmed(pilot, reason="window is over")
        await pass_time(pilot, 5)
        await until(pilot, lambda: all(dashboard.feed.operations[each].phase is Phase.ABANDONED for each in ids))
    for each in ids:
        assert any([b'"reason_text":"window is over"' in line async for line in dashboard.desk.events(each)])


@pytest.mark.rule("H13")
async def test_looks_are_acknowledged_together(dashboard: TestedDashboard) -> None:
    """Two failures are seen; the third operation still waits and is left out."""
    ids = await tracked(dashboard, 3, failed=(1, 2))
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "K")
        await confirmed(pilot)
        await until(pilot, lambda: "2 acknowledged." in notices(dashboard))
    looks = [(await dashboard.desk.get(each)).look for each in ids]
    assert [look and look.answer for look in looks] == ["acknowledge", "acknowledge", None]


@pytest.mark.parametrize("keys", [["enter"], ["escape"], ["c", "c"], ["tab", "tab", "enter"], ["C"]], ids=" ".join)
async def test_no_ordinary_key_destroys_many(dashboard: TestedDashboard, keys: list[str]) -> None:
    """Neither Enter, nor the opening key, nor the key of the dialog for one."""
    await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "c")
        await pilot.press(*keys)
        await pass_time(pilot, 10)
        assert dashboard.holds.waiting == []


@pytest.mark.rule("H5")
async def test_what_is_typed_about_many_is_the_reason(dashboard: TestedDashboard) -> None:
    """At once, with the letters that move a cursor elsewhere, too."""
    ids = await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        dialog = await marked(pilot, "e")
        await pilot.press(*"late job", "down", "enter")
        assert dashboard.screen is dialog
        assert any("Enter decides nothing here: ctrl+s does it" in line for line in text_of(dashboard))
        await confirmed(pilot)
        await until(pilot, lambda: "2 extended." in notices(dashboard))
    for each in ids:
        assert any([b'"reason_text":"late job"' in line async for line in dashboard.desk.events(each)])


async def test_where_nothing_can_be_done_that_is_said_at_once(dashboard: TestedDashboard) -> None:
    """No dialog with nothing in it."""
    await tracked(dashboard, 2, failed=(1, 2))
    async with running(dashboard) as pilot:
        await settled(pilot)
        table_of(dashboard).marked = set(dashboard.feed.operations)
        await pilot.press("c")
        await until(pilot, lambda: "cancel is open for none of 2 operations" in notices(dashboard))
        assert isinstance(dashboard.screen, OperationsScreen)


async def test_what_has_ended_is_told_by_its_name_and_how(dashboard: TestedDashboard) -> None:
    """`week review`, not `op_01M8…`."""
    await dashboard.track("acme-01", title="week review")
    await dashboard.check("acme-01", {"state": "done"})
    async with running(dashboard) as pilot:
        await settled(pilot)
        dashboard.answering.answer("acme-01", (await dashboard.desk.get("acme-01")).revision, "cancel")
        await until(pilot, lambda: "week review has ended as succeeded: nothing to cancel" in notices(dashboard))


async def test_one_mark_is_asked_about_like_any_operation(dashboard: TestedDashboard) -> None:
    """The dialog for one, of the operation that is marked, wherever the cursor stands."""
    await tracked(dashboard, 2)
    async with running(dashboard) as pilot:
        await settled(pilot)
        table_of(dashboard).go_to("acme-01")
        table_of(dashboard).marked = {"acme-02"}
        await pilot.press("c")
        await until(pilot, lambda: isinstance(dashboard.screen, CancelDialog))
        assert isinstance(dashboard.screen, Dialog)
        assert dashboard.screen.operation_id == "acme-02"


async def test_x_shows_what_can_be_chosen_for_all_that_are_marked(dashboard: TestedDashboard) -> None:
    """For how many each is open; a digit goes on to the question, and what is open for none says why."""
    await tracked(dashboard, 3, failed=(3,))
    async with running(dashboard, (120, 40)) as pilot:
        await settled(pilot)
        table_of(dashboard).marked = {"acme-01", "acme-02"}
        await pilot.press("x")
        await until(pilot, lambda: isinstance(dashboard.screen, ChooseForManyDialog))
        await pilot.pause()
        await pass_time(pilot, 1)
        shown = "\n".join(text_of(dashboard))
        assert "2 operations marked" in shown
        assert "2 of 2 operations; asks before it acts" in shown
        assert "acknowledge is not open for acme-01 (waiting)" in shown
        await pilot.press("2")
        await until(pilot, lambda: isinstance(dashboard.screen, ManyDialog))
        assert any("Cancel 2 operations at the provider?" in line for line in text_of(dashboard))


class StuckStore(MemoryStore):
    """A store that does not answer while it is stuck."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.free = asyncio.Event()
        self.free.set()

    async def transact(self, scope: Scope, command: Command[R], *, kind: CommandKind) -> Receipt[R] | Refusal:
        """Once it is free."""
        await self.free.wait()
        return await super().transact(scope, command, kind=kind)


async def test_leaving_halfway_names_what_was_not_decided(dashboard: TestedDashboard, clock: ManualClock) -> None:
    """Nobody should think that all of them were extended."""
    dashboard.desk.store = store = StuckStore(clock)
    dashboard.desk.book = ContractBook(store, dashboard.desk.contracts)
    dashboard.feed = Feed(dashboard.desk)
    await tracked(dashboard, 2)
    async with running(dashboard, (120, 40)) as pilot:
        await marked(pilot, "e")
        store.free.clear()
        await confirmed(pilot)
        assert dashboard.answering.unfinished() == ["Extend: 2 operations, not known to be decided: acme-01, acme-02"]
        store.free.set()
        await until(pilot, lambda: "2 extended." in notices(dashboard))
        assert dashboard.answering.unfinished() == []


def test_many_refusals_are_told_in_part_and_the_log_has_all() -> None:
    """A toast has room for three."""
    refused = {f"op-{number}": "already answered by ana" for number in range(4)} | {"op-1": "op-1 has changed"}
    assert outcome_text("extend", 12, {}) == "12 extended."
    assert outcome_text("extend", 7, refused) == (
        "7 extended, 4 refused: op-0: already answered by ana; op-1 has changed; op-2: already answered by ana; "
        "1 more: see the log"
    )
