"""The message about what needs a person: which items, when, in which words, and that it carries nothing it must not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Operation, Permit
from jobconsole.core.telling.inbox import inbox_items
from jobconsole.core.telling.notice import SHOWN, Notice, notice_at, notice_of, plain, short_notice, trial_notice
from tests.core.staged_wait import StagedWait, at


async def asking(operation_id: str = "op_1", state: str = "odd", name: str | None = "Q3 report") -> StagedWait:
    """An operation that escalated at 10:21:00 because of a state that nobody knows; a provider's word is in the record."""
    wait = StagedWait(operation_id=operation_id)
    await wait.submit()
    wait.go("10:21:00")
    await wait.check(200, {"state": state, "message": "PROVIDER-SECRET-WORD", "error": {"message": "PROVIDER-DUMP"}})
    return wait


def named(op: Operation, name: str | None = "Q3 report") -> Operation:
    return replace(op, name=name)


async def message(*names: str | None, later: timedelta = timedelta(0)) -> Notice:
    """The message about operations with these names."""
    waits = [await asking(f"op_{number}") for number in range(1, len(names) + 1)]
    operations = [named(await wait.op(), name) for wait, name in zip(waits, names, strict=True)]
    now = waits[0].clock.wall() + later
    return notice_of(inbox_items(operations, now, {waits[0].contract.digest: waits[0].contract}), now)


@pytest.mark.rule("H2", "A6")
async def test_a_message_about_one_item_says_what_happened_what_may_be_chosen_and_how() -> None:
    told = await message("Q3 report", later=timedelta(minutes=3))
    assert told.title == "jobconsole: Q3 report needs a decision"
    what, around, options, *how = told.lines
    assert what == "Q3 report (op_1) at acme-exports: the provider named a state that its contract does not know"
    assert around.startswith("open for 3m, deadline 1")
    assert around.endswith(" requests used")
    assert options.startswith("options: pause")
    assert "close" in options
    assert how[0].startswith("answer: jobconsole decide op_1 OPTION --revision ")
    assert how[1] == "or in the dashboard: jobconsole tui"


async def test_a_message_about_several_names_them_line_by_line() -> None:
    told = await message("Q3 report", None)
    assert told.title == "jobconsole: 2 operations need a decision"
    assert told.lines == (
        "Q3 report (op_1) at acme-exports: the provider named a state that its contract does not know",
        "op_2 at acme-exports: the provider named a state that its contract does not know",
        "answer: jobconsole inbox, or in the dashboard: jobconsole tui",
    )


async def test_a_message_about_very_many_stays_short() -> None:
    told = await message(*["x" * 5_000] * (SHOWN + 5))
    assert told.lines[SHOWN] == "and 5 more"
    assert len(told.lines) == SHOWN + 2
    assert max(len(line) for line in told.lines) < 200


@pytest.mark.rule("H2")
async def test_what_the_provider_said_stays_out_of_the_message() -> None:
    for told in (await message("a"), await message("a", "b")):
        assert "PROVIDER" not in told.title + told.text
        assert "odd" not in told.title + told.text


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b)0;owned\\x07"),
        ("a\nb", "a\\nb"),
        ("\u202egpj", "\\u202egpj"),
        ("@everyone", "\uff20everyone"),
        ("<!channel> <b>", "\u2039!channel\u203a \u2039b\u203a"),
        ("[pay](https://evil.example)", "(pay)(https: //evil.example)"),
        ("`x`", "'x'"),
    ],
)
async def test_a_name_calls_nobody_links_nowhere_and_moves_no_terminal(name: str, shown: str) -> None:
    assert plain(name) == shown
    told = await message(name)
    assert told.title == f"jobconsole: {shown} needs a decision"


@pytest.mark.rule("H7")
async def test_a_message_is_due_when_the_item_begins_and_once() -> None:
    wait = await asking()
    op = await wait.op()
    since = item_since(op)
    assert since is not None
    assert notice_at(op, with_looks=False) == since
    told = replace(op, attention=replace(op.attention, notified_at=since))
    assert notice_at(told, with_looks=True) is None


@pytest.mark.rule("H7")
async def test_what_is_snoozed_is_told_of_when_it_stands_up_again() -> None:
    op = await (await asking()).op()
    until = at("11:00:00")
    assert notice_at(replace(op, attention=replace(op.attention, snoozed_until=until)), with_looks=False) == until


async def test_what_a_person_has_answered_already_is_not_told_of() -> None:
    op = await (await asking()).op()
    permit = Permit(decision_id="dec_1", purpose="check_once", checks=1, until_at=at("11:00:00"))
    assert notice_at(replace(op, permit=permit), with_looks=True) is None


@pytest.mark.rule("H13")
async def test_looks_are_told_of_where_they_are_asked_for() -> None:
    wait = StagedWait(operation_id="op_l")
    await wait.submit()
    wait.go("10:20:30")
    await wait.check(200, {"state": "failed"})
    op = await wait.op()
    assert notice_at(op, with_looks=False) is None
    assert notice_at(op, with_looks=True) == at("10:20:30")
    told = notice_of(inbox_items([named(op)], wait.clock.wall()), wait.clock.wall())
    assert told.title == "jobconsole: Q3 report needs a look"
    assert told.lines[0] == "Q3 report (op_l) at acme-exports: the provider says that the job failed"


async def test_what_only_waits_is_not_told_of() -> None:
    wait = StagedWait(operation_id="op_w")
    await wait.submit()
    assert notice_at(await wait.op(), with_looks=True) is None


async def test_one_line_about_an_operation() -> None:
    op = named(await (await asking()).op())
    assert short_notice(op) == "Q3 report needs you: the provider named a state that its contract does not know"


def test_a_test_message_says_that_it_is_one() -> None:
    told = trial_notice(at("10:58:00"))
    assert (told.title, told.lines[-1]) == ("jobconsole: a test message", "sent at 10:58:00 UTC")
