"""Where the result of a job is, and what a success lacks (C3; step 11).

Only this file decides whether what `success_requires` names is there, and whether a result URL is usable. The host of the URL
is checked when it is fetched. `observation.py` calls it; `decide.py` applies the lag.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobconsole.core.contracts import hosts
from jobconsole.core.contracts.contract import ResultSpec
from jobconsole.core.judging.answer import ResultFacts
from jobconsole.errors import HostRefused

LARGEST_INLINE = 64 * 1024  # bytes of an inline result that the record keeps ("Details decided")
_LONGEST_ID = 2_000


def read_result(
    spec: ResultSpec, envelope: Mapping[str, Any], url: str, *, is_success: bool
) -> tuple[ResultFacts | None, tuple[str, ...]]:
    """The facts of a result, None where the answer tells none, and notes. `url` is the request's, for relative ones.

    `missing` is filled for a success only: an empty text and an empty list are there, null and false are not.
    """
    notes: list[str] = []
    missing = [need.source for need in spec.success_requires if is_success and not _is_there(need.search(envelope))]
    found, wrong = _url(None if spec.url is None else spec.url.search(envelope), url)
    if wrong and is_success:
        missing.append(f"a usable result URL ({wrong})")
    elif wrong:
        notes.append(f"the result URL is not usable: {wrong}")
    inline = None if spec.inline is None else spec.inline.search(envelope)
    if inline is not None and not _is_small(inline):
        inline = None
        notes.append(f"the inline result has more than {LARGEST_INLINE // 1024} KiB and is not kept")
    facts = ResultFacts(
        url=found,
        result_id=_id(None if spec.id is None else spec.id.search(envelope)),
        inline=inline,
        has_inline=inline is not None,
        missing=tuple(missing),
    )
    return (None if facts == ResultFacts() else facts), tuple(notes)


def usable_url(value: Any, against: str) -> str | None:
    """`value` as an absolute URL, resolved against a request's, or None where it is none."""
    return _url(value, against)[0]


def _is_there(value: Any) -> bool:
    return value is not None and value is not False


def _url(value: Any, against: str) -> tuple[str | None, str]:
    if value is None:
        return None, ""
    if not isinstance(value, str) or not ("://" in value or value.startswith("/")):
        return None, "it is no URL"
    try:
        return hosts.resolve(value, against), ""
    except HostRefused as error:
        return None, str(error).removesuffix("; nothing was sent")


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return text if 0 < len(text) <= _LONGEST_ID else None


def _is_small(value: Any) -> bool:
    try:
        return len(json.dumps(value, ensure_ascii=False).encode()) <= LARGEST_INLINE
    except (TypeError, ValueError, RecursionError):
        return False
