"""How the providers in use stand: which of them answer, which are silent, held or refuse (UX 1a: provider health).

Only this file decides when a provider counts as well. A provider is in use while one of its operations has not ended. What it
said last is the newest fact that any operation of it holds, ended ones too; an account that is held or refused comes first. The
dashboard keeps a `ProviderTally` beside its operations and asks it at every change: nothing here walks through all operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from jobconsole.core.deciding.account import Account
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import clock_text
from jobconsole.core.vocabulary import Delivery

PATIENCE = timedelta(seconds=30)
"""How long a provider that has answered is not called silent: one failed look among many says nothing."""


class ProviderStanding(StrEnum):
    """What a provider does for those who wait."""

    ANSWERS = "answers"
    NOT_ASKED = "not_asked"  # nothing was sent yet: nothing speaks against it
    SILENT = "silent"
    HELD = "held"
    REFUSED = "refused"

    @property
    def is_well(self) -> bool:
        """Whether the next check may bring an answer, as far as is known."""
        return self in (ProviderStanding.ANSWERS, ProviderStanding.NOT_ASKED)


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """One provider in use. `at` is since when it is silent or refuses, or until when it is held."""

    provider: str
    standing: ProviderStanding
    at: datetime | None = None

    def text(self, now: datetime) -> str:
        """What is wrong with it: `acme: no answer since 13:47:00 UTC`; empty where nothing is. The name is as stored."""
        if self.standing.is_well or self.at is None:
            return ""
        return f"{self.provider}: {_WORDS[self.standing]} {clock_text(self.at, now)} UTC"


_WORDS = {
    ProviderStanding.SILENT: "no answer since",
    ProviderStanding.HELD: "held until",
    ProviderStanding.REFUSED: "credential refused since",
}


@dataclass(frozen=True, slots=True)
class _Heard:
    """When its last answer came, and when a request last got none."""

    answered_at: datetime | None = None
    failed_at: datetime | None = None

    @property
    def silent_since(self) -> datetime | None:
        """The last answer, or where there never was one, the failure; None where it answers."""
        if self.failed_at is None or (self.answered_at is not None and self.answered_at >= self.failed_at):
            return None
        return self.answered_at or self.failed_at

    def answered_lately(self, now: datetime) -> bool:
        """Whether a failure since may be a hiccup."""
        return self.answered_at is not None and now - self.answered_at < PATIENCE


class ProviderTally:
    """What is known of the providers, kept up with each change of an operation."""

    def __init__(self) -> None:
        self._in_use: Counter[tuple[str, str]] = Counter()  # (provider, account key) -> operations that have not ended
        self._heard: dict[str, _Heard] = {}

    def take(self, before: Operation | None, after: Operation | None) -> None:
        """An operation came (`before` is None), changed, or went (`after` is None)."""
        for op, step in ((before, -1), (after, 1)):
            if op is not None and not op.phase.is_terminal:
                self._in_use[(op.provider, op.account_key)] += step
        if after is not None and after.last_http_at is not None:
            self._heard[after.provider] = _newer(self._heard.get(after.provider, _Heard()), after.last_http_at, after.delivery)

    def healths(self, accounts: Mapping[str, Account], now: datetime) -> tuple[ProviderHealth, ...]:
        """The providers in use, by name."""
        keys: dict[str, list[str]] = {}
        for (provider, account_key), count in self._in_use.items():
            if count > 0:
                keys.setdefault(provider, []).append(account_key)
        return tuple(
            _health(provider, [accounts[key] for key in keys[provider] if key in accounts], self._heard.get(provider), now)
            for provider in sorted(keys)
        )


def _newer(heard: _Heard, at: datetime, delivery: Delivery) -> _Heard:
    if delivery is Delivery.ANSWERED:
        return replace(heard, answered_at=max(at, heard.answered_at or at))
    return replace(heard, failed_at=max(at, heard.failed_at or at))


def _health(provider: str, accounts: list[Account], heard: _Heard | None, now: datetime) -> ProviderHealth:
    refused = [each.denied.since for each in accounts if each.denied is not None]
    if refused:
        return ProviderHealth(provider, ProviderStanding.REFUSED, min(refused))
    held = [each.hold_until_at for each in accounts if each.hold_until_at is not None and each.hold_until_at > now]
    if held:
        return ProviderHealth(provider, ProviderStanding.HELD, max(held))
    if heard is None:
        return ProviderHealth(provider, ProviderStanding.NOT_ASKED)
    if heard.silent_since is not None and not heard.answered_lately(now):
        return ProviderHealth(provider, ProviderStanding.SILENT, heard.silent_since)
    return ProviderHealth(provider, ProviderStanding.ANSWERS, heard.answered_at)
