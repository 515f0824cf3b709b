"""What a status code says about the call by itself (step 3 of the order of evaluation).

Only this file decides that. `observation.py` asks for codes that are no answer of the API; actions (submit, cancel, fetch) ask
for every code that they do not accept.
"""

from __future__ import annotations

from jobconsole.core.judging.answer import CallError

_DENIED = frozenset({401, 403, 407})
_NOT_FOUND = frozenset({404, 410})
_NOT_DELIVERED = frozenset({408, 421, 425})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TIMEOUTS = frozenset({408, 504})


def call_error_of(status: int) -> CallError | None:
    """The call error that `status` stands for, None for 2xx. A redirect that was not followed is "could not see"."""
    if 200 <= status <= 299:
        return None
    if status in _DENIED:
        return CallError.AUTHORIZATION_DENIED
    if status in _NOT_FOUND:
        return CallError.NOT_FOUND
    if status == 429:
        return CallError.RATE_LIMITED
    if status >= 500 or status in _NOT_DELIVERED or status in REDIRECTS:
        return CallError.DELIVERY_FAILURE
    return CallError.INTEGRATION_ERROR


def is_said_by_code(status: int) -> bool:
    """Whether the code alone decides, whatever page came with it: credentials refused, rate limit, server failing.

    The rules B8, B10 and B11 name these codes and no body.
    """
    return call_error_of(status) in (
        CallError.AUTHORIZATION_DENIED,
        CallError.RATE_LIMITED,
        CallError.DELIVERY_FAILURE,
    )


def is_ambiguous(status: int) -> bool:
    """Whether a timeout somewhere on the way answered for the provider: the request may have arrived."""
    return status in _TIMEOUTS
