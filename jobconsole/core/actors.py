"""Who acts: how a person is named, and how an actor is written (SPEC X20, H6).

Only this file decides which text is a person's name. Command line, Python face and dashboard read what was typed by it, and the
core's commands ask it again: a name that passes here can be shown, stored and told from an agent's.
"""

from __future__ import annotations

from typing import Any, Final

from jobconsole.errors import InvalidValue

PERSON: Final = "person:"
NOBODY: Final = "nobody"
"""In place of a name: whoever has the item gives it back. It is no person's name, in whatever case."""

LONGEST_NAME: Final = 80  # characters of a person's name
_AGENT = "agent:"
_LONGEST_ACTOR = 200  # characters
_KINDS = (PERSON, _AGENT, "worker:", "push:")


def person_name(said: Any) -> str:
    """The name in a text, with or without `person:` before it and blanks around it.

    Raises `InvalidValue` for what is no text, empty, longer than 80 characters or not printable (control characters, lone
    surrogates, marks that turn the direction), for what names another kind of actor (`agent:x`), and for `nobody`.
    """
    if not isinstance(said, str):
        raise InvalidValue(f"a person's name is a text, not {type(said).__name__}")
    name = said.strip().removeprefix(PERSON).strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidValue(f"a person's name is 1-{LONGEST_NAME} printable characters")
    if name.lower().startswith(_KINDS):
        raise InvalidValue(f"{name!r} is no person's name: {name.partition(':')[0].lower()}: names another kind of actor")
    if name.lower() == NOBODY:
        raise InvalidValue(f"{NOBODY!r} is no person's name: it says that there is none")
    return name


def person_or_nobody(said: Any) -> str | None:
    """The name of whom an item goes to; None for None and for `nobody`. Raises as `person_name`."""
    is_nobody = said is None or (isinstance(said, str) and said.strip().lower() == NOBODY)
    return None if is_nobody else person_name(said)


def person(said: Any) -> str:
    """The actor `person:NAME`. Raises as `person_name`."""
    return f"{PERSON}{person_name(said)}"


def caller(said: Any) -> str:
    """The actor of a program's call: an agent where the text begins with `agent:`, else a person. Raises `InvalidValue`.

    A program may speak for an agent: it gives something away by that, and gains nothing (H6).
    """
    if not isinstance(said, str) or not said.startswith(_AGENT):
        return person(said)
    if not len(_AGENT) < len(said) <= _LONGEST_ACTOR or not said.isprintable():
        raise InvalidValue(f"an agent is written agent:NAME/SESSION, {_LONGEST_ACTOR} printable characters at most")
    return said


def is_person(actor: str) -> bool:
    """Whether an actor is a person, and is written as one."""
    try:
        return actor == person(actor)
    except InvalidValue:
        return False
