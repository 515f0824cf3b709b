"""From a case's neutral settings to a contract: the TOML text of the provider "demo" (CONTRACT.md).

Only this file decides which setting is which key. A case may bring tables of its own (`tables`), which replace single keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jobconsole.core.contracts import toml_text
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load

HOST = "jobs.example.test"
BASE_URL = f"https://{HOST}"
INTERVAL_S = 5  # the local delay, where a case names none

Tables = Mapping[str, Any]  # name of a table → its keys, or a list of rules

OPERATION_STYLE: Tables = {
    "status": {"job_id": None, "state": "[body.done][?type(@) == 'boolean'] | [0]", "error": "body.error", "progress": None},
    "states": {"waiting": ["false"], "succeeded": ["true"], "failed": None, "cancelled": None},
    "rules": [
        {"when": "type(body.error) == 'object' && type(body.response) == 'object'", "is": "contradiction"},
        {"when": "class == 'succeeded' && type(body.error) == 'object'", "is": "failed"},
    ],
    "result": {"success_requires": ["body.response"], "inline": "body.response"},
}
"""AIP-151: `done` with `error` or `response`; a `done` that is no boolean says nothing."""

BATCH_STYLE: Tables = {
    "states": {
        "waiting": ["queued", "running"],
        "succeeded": ["ended"],
        "expired": ["expired"],
        "failed": None,
        "cancelled": None,
    },
    "result": {
        "success_requires": None,
        "inline": None,
        "id": "body.output",
        "counts": {"succeeded": "body.counts.ok", "failed": "sum([body.counts.errored, body.counts.expired])"},
    },
}
"""Items are counted, and the counts judge the word "ended"."""


def _seconds(value: Any) -> str:
    return f"{value}s"


def _as_it_is(value: Any) -> Any:
    return value


KEYS: dict[str, tuple[tuple[str, Callable[[Any], Any]], ...]] = {
    "deadline_s": (("budget.deadline", _seconds),),
    "request_budget": (("budget.status_requests", _as_it_is),),
    "transport_failure_budget": (("budget.transport_failures", _as_it_is),),
    "poll_interval_s": (("schedule.base", _seconds), ("schedule.max", _seconds)),
    "poll_floor_s": (("hints.min_interval", _seconds),),
    "body_hint_field": (("hints.poll_after_ms", lambda name: f"body.{name}"),),
    "request_wall_s": (("status.timeout", _seconds),),
    "not_found_grace_s": (("http.not_found.grace", _seconds),),
    "not_found_repeat": (("http.not_found.in_a_row", _as_it_is),),
    "result_reread": (("result.lag", lambda reads: f"{reads * INTERVAL_S}s"),),  # so many reads at the local interval
    "read_timeout_s": (),  # one limit stands around the whole request
    "unknown_state_repeat": (),  # an unknown state stops at once (B12)
}
"""Neutral setting → keys of a contract, and how its value is written there."""

_STYLES: dict[str, Tables] = {"operation": OPERATION_STYLE, "batch": BATCH_STYLE}


def demo_contract(given: Mapping[str, Any], tables: Tables | None = None, *, base_url: str = BASE_URL) -> Contract:
    """The contract of a case's input. A key with the value None is left out; every answer is judged by what remains."""
    document = _defaults(base_url)
    for layer in (_from_settings(given.get("settings", {})), _STYLES.get(given.get("style", ""), {}), tables or {}):
        for name, table in layer.items():
            document[name] = {**document.get(name, {}), **table} if isinstance(table, Mapping) else table
    text = toml_text.dump(_without_nulls(document))
    return load(text, "demo.toml")


def _defaults(base_url: str) -> dict[str, Any]:
    return {
        "contract": 1,
        "provider": {"name": "demo", "title": "Demo jobs", "base_url": base_url, "account": "team"},
        "submit": {"request": "POST /v1/jobs", "job_id": "body.id"},
        "status": {
            "request": "GET /v1/jobs/{job_id}",
            "read_only": True,
            "job_id": "body.id",
            "state": "body.state",
            "progress": "body.progress",
            "error": "body.error",
            "timeout": "5s",
        },
        "states": {
            "waiting": ["queued", "running"],
            "succeeded": ["succeeded"],
            "failed": ["failed"],
            "cancelled": ["cancelled"],
        },
        "result": {"success_requires": ["body.result"], "inline": "body.result"},
        "cancel": {"request": "POST /v1/jobs/{job_id}/cancel", "effect": "Stops the job; partial output is lost."},
        "schedule": {"base": f"{INTERVAL_S}s", "factor": 1.0, "max": f"{INTERVAL_S}s", "jitter": [1.0, 1.0]},
        "budget": {"deadline": "1h", "status_requests": 200, "transport_failures": 5},
    }


def _from_settings(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        for path, as_written in KEYS[name]:
            table, *inner, key = path.split(".")
            place = tables.setdefault(table, {})
            for part in inner:
                place = place.setdefault(part, {})
            place[key] = as_written(value)
    return tables


def _without_nulls(document: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in table.items() if value is not None} if isinstance(table, dict) else table
        for name, table in document.items()
    }
