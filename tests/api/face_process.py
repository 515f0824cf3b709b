"""Another program that uses the Python face: `python -m tests.api.face_process HOME`, told what to do line by line.

Each line of stdin is a JSON list, a verb and its arguments; each answer is a line of JSON. `see` watches as any program may: it
asks its own console again and again, and answers with the wall clock's time at which the change was there.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import jobconsole
from jobconsole.api import Console

PATIENCE_S = 60.0
GLANCE_S = 0.02


def see(console: Console, operation_id: str, field: str, value: Any) -> float:
    """When the field had this value, as seen from here."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        found = [op for op in console.operations(include_ended=True) if op.operation_id == operation_id]
        if found and getattr(found[0], field) == value:
            return time.time()
        time.sleep(GLANCE_S)
    raise TimeoutError(f"{operation_id} never had {field} {value!r}")


def act(console: Console, verb: str, *args: Any) -> Any:
    """Do one thing."""
    match verb, args:
        case "submit", (port, operation_id, scenario, budget):
            console.submit(
                "play",
                json={"scenario": scenario},
                id=operation_id,
                params={"port": str(port)},
                budget=jobconsole.Budget(status_requests=budget, deadline="1h"),
            )
        case "decide", (operation_id, option, asked):
            console.decide(operation_id, option, by="ana", **asked)
        case "start", ():
            console.start()
        case "stop", ():
            console.stop()
        case "see", (operation_id, field, value):
            return see(console, operation_id, field, value)
        case "inbox", ():
            return [item.operation_id for item in console.inbox()]
        case _:
            raise ValueError(f"unknown: {verb} {args}")
    return time.time()


def main(home: str) -> None:
    """Serve one line after the other."""
    with jobconsole.open(home) as console:
        print(json.dumps("ready"), flush=True)
        for line in sys.stdin:
            print(json.dumps(act(console, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
