"""How a person is named: one rule for the command line, the Python face, the dashboard and the core (X20, H6)."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.adapters.login import login_person
from jobconsole.core.actors import caller, is_person, person, person_name, person_or_nobody
from jobconsole.errors import InvalidValue


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ana", "ana"),
        ("  person: ana ", "ana"),
        ("Ana María Ø. 進", "Ana María Ø. 進"),
        ("corp:ana", "corp:ana"),
        ("x" * 80, "x" * 80),
        ("agentana", "agentana"),
        ("nobody else", "nobody else"),
    ],
)
def test_a_name_is_told_without_its_kind_and_without_outer_blanks(said: str, name: str) -> None:
    assert person_name(said) == person_or_nobody(said) == name
    assert person(said) == caller(said) == f"person:{name}"


@pytest.mark.rule("X20", "H6", "U3")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "1-80 printable"),
        ("person:", "1-80 printable"),
        (" \t", "1-80 printable"),
        ("x" * 81, "1-80 printable"),
        ("a\x1b[31mna", "1-80 printable"),
        ("a\nna", "1-80 printable"),
        ("b\u202een", "1-80 printable"),
        ("a\ud800", "1-80 printable"),
        ("agent:clever/1", "agent: names another kind of actor"),
        ("person:Agent:clever/1", "agent: names another kind of actor"),
        ("person:person:ana", "person: names another kind of actor"),
        ("worker:w1", "worker: names"),
        ("push:hmac", "push: names"),
        ("NOBODY", "it says that there is none"),
        (5, "is a text, not int"),
        (None, "is a text, not NoneType"),
        (b"ana", "is a text, not bytes"),
    ],
)
def test_what_is_no_persons_name_is_refused_with_the_reason(said: Any, why: str) -> None:
    for read in (person_name, person):
        with pytest.raises(InvalidValue, match=why):
            read(said)


@pytest.mark.rule("H7")
@pytest.mark.parametrize("said", [None, "nobody", " Nobody "])
def test_nobody_is_nobodys_name(said: str | None) -> None:
    assert person_or_nobody(said) is None


@pytest.mark.rule("X20")
@pytest.mark.parametrize(
    ("actor", "is_one"),
    [
        ("person:ana", True),
        ("ana", False),
        ("person:", False),
        ("person: ana", False),
        ("person:agent:x", False),
        ("agent:x", False),
    ],
)
def test_an_actor_is_a_person_where_it_is_written_as_one(actor: str, is_one: bool) -> None:
    assert is_person(actor) == is_one


@pytest.mark.rule("H6")
def test_a_program_may_speak_for_an_agent_and_for_no_other_kind() -> None:
    assert caller("agent:planner/s1") == "agent:planner/s1"
    for said in ("agent:", "agent:a\ud800", "agent:" + "x" * 200, "worker:w1", "push:hmac"):
        with pytest.raises(InvalidValue):
            caller(said)


@pytest.mark.parametrize("login", ["nobody", "agent:x", "a\x07", "x" * 81])
def test_a_login_that_is_no_persons_name_is_told_by_its_number(login: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, login)
    assert login_person().startswith("person:uid-")
    monkeypatch.setenv("LOGNAME", "ana")
    assert login_person() == "person:ana"
