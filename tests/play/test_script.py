"""The format of scripts, and what its errors say."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from jobconsole.errors import InvalidValue
from jobconsole.play.job import Fault, FaultKind, Reply
from jobconsole.play.script import load, parse


@pytest.mark.parametrize(
    ("step", "reply"),
    [
        ({"on": "poll"}, Reply()),
        ({"on": "poll", "status": 202, "headers": [["Retry-After", "3"]]}, Reply(202, headers=(("Retry-After", "3"),))),
        ({"on": "poll", "body": {"state": "running"}}, Reply(body={"state": "running"})),
        ({"on": "poll", "body": "oops"}, Reply(body=b"oops")),  # a text is sent as it stands
        ({"on": "poll", "body_b64": base64.b64encode(b"\xff\xfe").decode()}, Reply(body=b"\xff\xfe")),
        ({"on": "poll", "fault": "read_timeout"}, Reply(fault=Fault(FaultKind.READ_TIMEOUT))),
        ({"on": "poll", "fault": "truncate"}, Reply(fault=Fault(FaultKind.TRUNCATE))),
        ({"on": "poll", "fault": {"truncate": 5}}, Reply(fault=Fault(FaultKind.TRUNCATE, 5))),
        ({"on": "poll", "fault": {"drip": {"bytes": 2, "every_s": 4}}}, Reply(fault=Fault(FaultKind.DRIP, 2, 4.0))),
    ],
)
def test_a_step_is_a_reply(step: dict[str, Any], reply: Reply) -> None:
    assert parse([step]).steps[0].reply == reply


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({}, "list of steps"),
        (["poll"], "step 1: must be an object"),
        ([{"on": "poll"}, {"on": "look"}], "step 2: on must be one of"),
        ([{"on": "poll", "stauts": 200}], "unknown key stauts"),
        ([{"on": "poll", "status": 99}], "status"),
        ([{"on": "poll", "status": True}], "status"),
        ([{"on": "poll", "repeat": 0}], "repeat"),
        ([{"on": "poll", "headers": {"A": "b"}}], "headers"),
        ([{"on": "poll", "headers": [["A"]]}], "headers"),
        ([{"on": "poll", "headers": [["A", "b\r\nC: d"]]}], "control character"),
        ([{"on": "poll", "headers": [["A B", "c"]]}], "name"),
        ([{"on": "poll", "body_b64": "%"}], "base64"),
        ([{"on": "poll", "fault": "explode"}], "fault must be one of"),
        ([{"on": "poll", "fault": {"read_timeout": 3}}], "no such detail"),
        ([{"on": "poll", "fault": {"drip": {"bytes": 0}}}], "drip"),
    ],
)
def test_a_step_that_is_wrong_is_named_with_its_mend(steps: Any, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        parse(steps)


def test_a_file_is_named_in_its_errors(tmp_path: Path) -> None:
    place = tmp_path / "script.json"
    with pytest.raises(InvalidValue, match=r"script\.json: cannot be read"):
        load(place)
    place.write_text("[,]")
    with pytest.raises(InvalidValue, match=r"script\.json: is not JSON"):
        load(place)
    place.write_text(json.dumps([{"on": "nothing"}]))
    with pytest.raises(InvalidValue, match=r"script\.json: step 1"):
        load(place)
    place.write_text(json.dumps([{"on": "poll", "repeat": 3}]))
    assert load(place).steps[0].repeat == 3
