"""Which keys stand in which table of a contract file.

Only this file decides what is a known key (CONTRACT.md, "All keys"). `contract_table.py` refuses all others, with the nearest
known one or the table where the key belongs.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from jobconsole.core.vocabulary import StateClass

_REQUEST = ("request", "headers", "body", "encoding", "accepted")
_TABLES = (
    *("provider", "limits", "auth", "params", "submit", "status", "states", "rules", "http", "confirm", "hints", "result"),
    *("cancel", "list", "schedule", "budget", "webhook", "stream"),
)

KEYS: Mapping[str, frozenset[str]] = {
    path: frozenset(keys)
    for path, keys in {
        "": ("contract", "extends", *_TABLES),
        "provider": (*("name", "title", "base_url", "allowed_hosts", "docs", "console_url", "verified", "account", "headers"),),
        "limits": ("max_concurrent", "per_minute"),
        "auth": (*("secret", "scheme", "header", "value", "service", "region", "rotates", "approval", "actions", "others"),),
        "params.*": ("pattern", "default"),
        "submit": (
            *_REQUEST,
            *("job_id", "status_url", "result_url", "already", "estimated_seconds", "idempotency"),
        ),
        "status": (
            *_REQUEST,
            *("read_only", "state", "job_id", "next_url", "progress", "progress_max", "updated_at", "started_at"),
            *("ended_at", "expires_at", "error", "message", "request_id", "timeout", "max_bytes", "timezone"),
        ),
        "states": (*(str(word) for word in StateClass), "unlisted", "unlisted_source"),
        "rules": ("when", "is"),
        "http": ("codes", "not_found"),
        "http.not_found": ("grace", "in_a_row", "expired_after"),
        "confirm": (*_REQUEST, "codes", "state", "rules"),
        "confirm.rules": ("when", "is"),
        "hints": ("poll_after_seconds", "poll_after_ms", "next_check_at", "min_interval", "max_interval"),
        "result": (
            *_REQUEST,
            *("success_requires", "lag", "url", "id", "inline", "url_lifetime", "retention", "counts", "errors_url", "schema"),
        ),
        "result.counts": ("total", "processed", "succeeded", "failed"),
        "cancel": (*_REQUEST, "effect"),
        "list": (*_REQUEST, "items", "max_items"),
        "schedule": ("kind", "base", "factor", "max", "jitter", "spread", "stalled_after"),
        "budget": (
            *("deadline", "status_requests", "transport_failures", "transport_failures_in_a_row", "rate_limits", "extension"),
        ),
        "budget.extension": ("minutes", "checks", "failures", "rate_limits", "times"),
        "webhook": ("scheme", "secret", "body", "trust", "tolerance"),
        "stream": _REQUEST,
    }.items()
}


def mend_of(path: str, key: str) -> str:
    """What to write instead of the unknown `key` in table `path`: the nearest known key, or the table where it belongs."""
    near = difflib.get_close_matches(key.lower(), KEYS[path], n=1, cutoff=0.6)
    if near and difflib.SequenceMatcher(None, key.lower(), near[0]).ratio() >= 0.75:
        return f"did you mean {near[0]}?"
    homes = [f"[{home}]" if home else "the top of the file" for home, keys in KEYS.items() if key in keys and home != path]
    if homes:
        return f"{key} belongs in {' or '.join(homes)}"
    if near:
        return f"did you mean {near[0]}?"
    return f"known here: {', '.join(sorted(KEYS[path]))}"
