"""Scripts: answers by request number, instead of a scenario (`jobconsole mock --script FILE`).

Only this file decides the format: a JSON list of steps `{"on": "submit|poll|cancel|result|list", "status", "headers":
[[name, value]], "body" | "body_b64", "fault", "repeat"}`. The n-th poll of a job gets the n-th poll step; `repeat` counts as
so many steps. A kind of request that the script never names is answered as usual; one whose steps are used up gets a 500
that says so. `book.py` asks; `jobconsole.testing` reads the same format.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobconsole.errors import InvalidValue
from jobconsole.play.job import Fault, FaultKind, Reply

KINDS = ("submit", "poll", "cancel", "result", "list")
_HEADER = re.compile(
    r"[A-Za-z0-9!#$%&'*+.^_`|~-]+:(?:[^\x00-\x20\x7f](?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?"
)  # RFC 9110 5.5
_KEYS = frozenset({"on", "status", "headers", "body", "body_b64", "fault", "repeat"})


@dataclass(frozen=True, slots=True)
class Step:
    """`repeat` equal answers to one kind of request."""

    on: str
    reply: Reply
    repeat: int = 1


class Script:
    """Steps, and how far each job has come in them."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self._used: dict[tuple[str, str], int] = {}

    def reply(self, on: str, job_id: str, *, is_reused: bool) -> Reply | None:
        """The next answer for this kind of request and job; None where the script says nothing about the kind.

        `closed_on_reuse` needs a reused connection: on a fresh one that step is passed over.
        """
        steps = [step for step in self.steps if step.on == on]
        if not steps:
            return None
        while True:
            used = self._used.get((on, job_id), 0)
            self._used[on, job_id] = used + 1
            reply = _nth(steps, used)
            if reply is None:
                message = f"the script has no answer for {on} {used + 1} of {job_id or 'all jobs'}"
                return Reply(500, {"error": {"code": "script_ended", "message": message}})
            if is_reused or reply.fault is None or reply.fault.kind is not FaultKind.CLOSED_ON_REUSE:
                return reply


def _nth(steps: Sequence[Step], index: int) -> Reply | None:
    for step in steps:
        if index < step.repeat:
            return step.reply
        index -= step.repeat
    return None


def load(path: Path) -> Script:
    """The script in a file. Raises `InvalidValue`, which names the file, the step and what to mend."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidValue(f"{path}: cannot be read ({error.strerror}); name a JSON file of steps") from error
    except ValueError as error:
        raise InvalidValue(f"{path}: is not JSON ({error}); write a list of steps") from error
    return parse(listed, source=str(path))


def parse(listed: Any, *, source: str = "script") -> Script:
    """The script that a list of JSON objects describes. Raises `InvalidValue`."""
    if not isinstance(listed, list):
        raise InvalidValue(f"{source}: must be a list of steps")
    return Script([step(each, f"{source}: step {number}") for number, each in enumerate(listed, 1)])


def step(given: Any, where: str) -> Step:
    """One step from its JSON object. Raises `InvalidValue`, whose text begins with `where`."""
    if not isinstance(given, Mapping):
        raise InvalidValue(f"{where}: must be an object")
    unknown = sorted(set(given) - _KEYS)
    if unknown:
        raise InvalidValue(f"{where}: unknown key {unknown[0]}; known are {', '.join(sorted(_KEYS))}")
    if given.get("on") not in KINDS:
        raise InvalidValue(f"{where}: on must be one of {', '.join(KINDS)}")
    status, repeat = given.get("status", 200), given.get("repeat", 1)
    if not _is_whole(status) or not 200 <= status <= 599:
        raise InvalidValue(f"{where}: status must be a final HTTP status from 200 to 599")
    if not _is_whole(repeat) or repeat < 1:
        raise InvalidValue(f"{where}: repeat must be a whole number from 1 up")
    reply = Reply(status, _body(given, where), _headers(given, where), _fault(given.get("fault"), where))
    return Step(given["on"], reply, repeat)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _body(given: Mapping[str, Any], where: str) -> Any:
    """`body_b64` as bytes, a text of `body` as UTF-8 bytes (it is sent as it stands), everything else as a JSON value."""
    if "body_b64" in given:
        try:
            return base64.b64decode(given["body_b64"], validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise InvalidValue(f"{where}: body_b64 is not base64 ({error})") from error
    body = given.get("body")
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body


def _headers(given: Mapping[str, Any], where: str) -> tuple[tuple[str, str], ...]:
    listed = given.get("headers", [])
    pairs = [tuple(pair) for pair in listed] if isinstance(listed, list) and all(isinstance(p, list) for p in listed) else [()]
    if not all(len(pair) == 2 and all(isinstance(text, str) for text in pair) for pair in pairs):
        raise InvalidValue(f'{where}: headers must be a list of ["Name", "value"] pairs')
    if not all(_HEADER.fullmatch(f"{name}:{value}") for name, value in pairs):
        raise InvalidValue(
            f"{where}: headers hold a name that is none, or a value with a control character or a blank at its end"
        )
    return tuple((pair[0], pair[1]) for pair in pairs)


def _fault(given: Any, where: str) -> Fault | None:
    """A name, or an object of one name: `"truncate"`, `{"truncate": 10}`, `{"drip": {"bytes": 1, "every_s": 4}}`."""
    if given is None:
        return None
    name, detail = next(iter(given.items())) if isinstance(given, Mapping) and len(given) == 1 else (given, None)
    if name not in list(FaultKind):
        raise InvalidValue(f"{where}: fault must be one of {', '.join(FaultKind)}")
    kind = FaultKind(name)
    if kind is FaultKind.DRIP:
        detail = detail if isinstance(detail, Mapping) else {}
        count, every_s = detail.get("bytes", 1), detail.get("every_s", 1.0)
        if not _is_whole(count) or count < 1 or not isinstance(every_s, int | float) or not every_s >= 0:
            raise InvalidValue(f"{where}: drip needs bytes from 1 up and every_s from 0 up")
        return Fault(kind, count, float(every_s))
    if detail is not None and not (kind is FaultKind.TRUNCATE and _is_whole(detail) and detail >= 0):
        raise InvalidValue(f"{where}: {name} takes no such detail")
    return Fault(kind, detail)
