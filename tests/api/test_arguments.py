"""Wrong types are refused in words that say what is wanted, and an operation is named by its whole id (SPEC 12, U8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import jobconsole
from jobconsole.api import Console
from jobconsole.errors import InvalidValue, UnknownOperation

PORT = {"port": "9"}
DEADLINE = jobconsole.Budget(deadline=40)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console that watches three jobs; nothing is sent, for no worker runs."""
    with jobconsole.open(tmp_path_factory.mktemp("api") / "store") as opened:
        for number, name in enumerate(("Q3 report", "trailer", "trailer")):
            opened.track("play", job_id=f"job-{number}", id=f"op_01ABC{number}8F3K", name=name, params=PORT)
        yield opened


def known(console: Console) -> str:
    return console.operations()[0].operation_id


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c: c.operation(None), "an operation is named by its record or by its whole id, a text, not None"),
        (lambda c: c.operation(5), "not int"),
        (lambda c: c.wait(c.operations(), 1), "not list"),
        (lambda c: c.audit(5), "an operation is named by"),
        (lambda c: c.options(5), "an operation is named by"),
        (lambda c: c.assign(None, "ana"), "an operation is named by"),
        (lambda c: c.timeline(None), "an operation is named by"),
        (lambda c: c.track("play", job_id=5, params=PORT), "job_id is a text, not int; write job_id='5' if that is meant"),
        (lambda c: c.track("play", status_url=5), "status_url is a text, not int"),
        (lambda c: c.track("play"), "track takes one of the two: job_id=... or status_url=..."),
        (lambda c: c.track("play", job_id="a", status_url="b"), "track takes one of the two"),
        (lambda c: c.submit(5), r"a provider is named by a text, not int; console.providers\(\) lists the names"),
        (lambda c: c.submit("play", params={"port": 9}), r"a parameter is a text, not int; write params=\{'port': '9'\}"),
        (lambda c: c.submit("play", params=["port"]), "params are texts by their names, such as .*, not list"),
        (lambda c: c.submit("play", params={9: "9"}), "a parameter is named by a text, not int"),
        (lambda c: c.submit("play", budget={"deadline": "4m"}), r"a budget is written jobconsole.Budget\(.*, not dict"),
        (lambda c: c.submit("play", params=PORT, budget=DEADLINE), 'a deadline is a duration such as "40m", not int'),
        (lambda c: c.wait(known(c), [1]), 'a timeout is a duration such as "10m", a number of seconds, or None, not list'),
        (lambda c: c.wait(known(c), float("nan")), "or None, not nan"),
        (lambda c: c.wait(known(c), 10**400), "a timeout of so many seconds is too long; None waits"),
        (lambda c: c.wait(known(c), True), "or None, not bool"),
        (lambda c: c.wait(known(c), timedelta(minutes=1)), "or None, not timedelta"),
        (lambda c: c.progress(known(c), [1]), "or None, not list"),
        (lambda c: c.decide(known(c), 5), "option is a text, not int"),
        (lambda c: c.decide(known(c), "extend", revision="1"), "a revision is a whole number, not str; .*op.revision"),
        (lambda c: c.decide(known(c), "extend", minutes="5"), "minutes is a whole number, not str"),
        (lambda c: c.table(theme=5), "no theme '5' for notebooks; known are"),
    ],
)
def test_a_wrong_type_is_told_with_what_is_wanted(console: Console, call: Callable[[Console], Any], said: str) -> None:
    before = console.operations()
    with pytest.raises(InvalidValue, match=said):
        call(console)
    assert console.operations() == before


@pytest.mark.parametrize("asked", [{"foo": 1}, {"decision_id": 5}, {"actor": "person:x"}])
def test_a_keyword_that_there_is_not_is_pythons_own_error(console: Console, asked: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=rf"decide\(\) got an unexpected keyword argument '{next(iter(asked))}'"):
        console.decide(known(console), "extend", **asked)


@pytest.mark.parametrize("provider_files", ["mine.toml", Path("mine.toml")])
def test_one_contract_file_where_several_are_meant_is_refused(tmp_path: Path, provider_files: Any) -> None:
    """Of a text each letter would be a file."""
    with pytest.raises(InvalidValue, match=r"write providers=\['mine.toml'\]"):
        jobconsole.open(tmp_path, providers=provider_files)


# ---- names -------------------------------------------------------------------------------------------------------------------
CALLS: tuple[Callable[[Console, str], Any], ...] = (
    lambda c, op: c.operation(op),
    lambda c, op: c.wait(op, 1),
    lambda c, op: c.decide(op, "close", reason="x", by="ana"),
    lambda c, op: c.assign(op, "ana"),
    lambda c, op: c.snooze(op, "1h"),
    lambda c, op: c.note(op, "x"),
    lambda c, op: c.why(op),
    lambda c, op: c.audit(op),
    lambda c, op: c.options(op),
    lambda c, op: c.progress(op),
)


@pytest.mark.rule("U8")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Q3 report",
            r"no operation has the id 'Q3 report'; did you mean 'op_01ABC08F3K'\? .*console.meant\('Q3 report'\) finds",
        ),
        ("C08F3K", "did you mean 'op_01ABC08F3K'"),
        (
            "trailer",
            "'trailer' fits 2 operations: op_01ABC18F3K by its name, op_01ABC28F3K by its name; give the whole id of one",
        ),
        ("nothing", r"no operation has the id 'nothing'; console.operations\(include_ended=True\) has all"),
    ],
)
def test_a_call_takes_a_whole_id_and_names_what_may_have_been_meant(
    console: Console, call: Callable[[Console, str], Any], text: str, said: str
) -> None:
    """A program that acts on what fits today would act on something else tomorrow."""
    before = console.operations()
    with pytest.raises(UnknownOperation, match=said):
        call(console, text)
    assert console.operations() == before


@pytest.mark.rule("U8")
def test_meant_finds_what_the_command_line_finds(console: Console) -> None:
    for text in ("op_01ABC08F3K", "c08f3k", "q3 REPORT", "…08F3K"):
        assert console.meant(text).operation_id == "op_01ABC08F3K"
    with pytest.raises(InvalidValue, match="'8F3K' fits 3 operations"):
        console.meant("8F3K")
    with pytest.raises(UnknownOperation):
        console.meant("nothing")
    with pytest.raises(InvalidValue, match="not int"):
        console.meant(5)  # type: ignore[arg-type]
