"""Which operations are to be looked at, and when: heaps with lazy deletion over the live documents (B9, STORE 5).

Only this file decides what `due` offers and in which order. `documents.py` tells it every change of an operation; stores ask
it. What it says is a hint: the command that follows runs on fresh state and decides.

Offered is an operation whose `due_at` has come and that is under no live lease; nearest deadline first; of one account no more
than it has slots and tokens, and nothing while the account is held. Of operations whose credential was refused only a probe is
offered: what else waits for access sleeps until the account changes. An operation with a bound that has passed is offered
always, because booking that sends nothing: deadlines, permits and claims run on while an account is denied or held (B11).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, Protocol, TypeAlias

from jobconsole.core.command import Moment
from jobconsole.core.deciding.account import TOKEN
from jobconsole.core.denial import CREDENTIAL_PERMITS
from jobconsole.core.vocabulary import ActionState, Phase

Document: TypeAlias = Mapping[str, Any]
IsDead: TypeAlias = Callable[[str], bool]

NEVER = datetime.max.replace(tzinfo=UTC)
TERMINAL = frozenset(str(phase) for phase in Phase if phase.is_terminal)


class Facts(Protocol):
    """What the queue asks the documents."""

    def get(self, table: str, key: str) -> Document | None:
        """A document by its id."""

    def leases(self, account_key: str) -> Iterator[Document]:
        """Leases and claims of the account, ended ones included."""


class Planned(NamedTuple):
    """One operation's place in the queue; places are compared as they are offered."""

    deadline_at: datetime  # the earlier of the two deadlines (B14, unless waived), or `booked_at` where that is earlier
    due_at: datetime
    operation_id: str
    account_key: str
    booked_at: datetime  # when a look concludes something although it may not send: a deadline, the end of a permit or claim
    credential: str  # "" is the contract's own
    is_probe: bool  # may try a credential that was refused

    @property
    def held_by(self) -> str | None:
        """The credential whose refusal holds this look back; None where none does."""
        return None if self.is_probe else self.credential


def instant(text: str) -> datetime:
    """A stored time."""
    return datetime.fromisoformat(text)


PLANNED_FROM = (
    *("due_at", "phase", "open_actions", "permit", "credential", "deadline_at", "business_deadline_at"),
    *("is_business_deadline_waived", "operation_id", "account_key"),
)
"""What `planned` reads: where none of these fields changed, the place is the same."""


def planned(doc: Document) -> Planned | None:
    """The operation's place, or None where no look is planned."""
    due_at, phase = doc.get("due_at"), doc["phase"]
    if due_at is None or phase in TERMINAL:
        return None
    permit, actions = doc.get("permit"), (doc.get("open_actions") or {}).values()
    if phase == Phase.ESCALATED and not permit and not any(action.get("due_at") for action in actions):
        return None
    deadline_at = instant(doc["deadline_at"])
    if (business := doc.get("business_deadline_at")) and not doc.get("is_business_deadline_waived"):
        deadline_at = min(deadline_at, instant(business))
    booked_at = _booked_at(doc, deadline_at)
    return Planned(
        min(deadline_at, booked_at),
        instant(due_at),
        doc["operation_id"],
        doc["account_key"],
        booked_at,
        doc.get("credential") or "",
        permit is not None and permit["purpose"] in CREDENTIAL_PERMITS,
    )


def _booked_at(doc: Document, deadline_at: datetime) -> datetime:
    """The first bound that a look books without sending; `NEVER` where only people go on."""
    claims = {kind: a for kind, a in (doc.get("open_actions") or {}).items() if a.get("state") == ActionState.CLAIMED}
    ends = [instant(claim["due_at"]) for claim in claims.values() if claim.get("due_at")]
    permit_ends = instant(doc["permit"]["until_at"]) if doc.get("permit") else None
    if doc["phase"] == Phase.SUBMITTING:
        ends += [] if "submit" in claims else [max(deadline_at, permit_ends or deadline_at)]  # one in flight is its owner's
    elif permit_ends is not None:
        ends.append(permit_ends)
    elif doc["phase"] == Phase.WAITING:
        ends.append(deadline_at)
    return min(ends, default=NEVER)


def is_live(lease: Document, now: Moment, is_dead: IsDead) -> bool:
    """Whether a lease or claim still holds: same boot, not ended by the boot clock, owner not known to be gone (STORE 4)."""
    if lease.get("boot") != now.boot:
        return False
    until_up = lease.get("until_up")
    if until_up is not None and until_up <= now.up:
        return False
    return not is_dead(lease.get("owner") or "")


def held_until(account: Document | None, now: Moment) -> datetime | None:
    """When the account's hold ends, on today's wall clock and by the later of both, as `account.py` says it (B2).

    None where it is not held.
    """
    if account is None or not account.get("hold_until_at"):
        return None
    ends = [instant(account["hold_until_at"])]
    if account.get("hold_boot") == now.boot:
        ends.append(now.wall + timedelta(milliseconds=int(account.get("hold_until_up") or 0) - now.up))
    until_at = max(ends)
    return until_at if until_at > now.wall else None


def tokens_of(account: Document, now: Moment) -> int | None:
    """Whole tokens in the account's bucket, as `account.py` counts them; None where it has no bucket."""
    rate = account.get("rate")
    if rate is None:
        return None
    is_of_this_boot = account.get("level_boot") == now.boot
    since_up, level = (int(account.get(name) or 0) if is_of_this_boot else 0 for name in ("level_up", "level"))
    level += max(0, now.up - since_up) * int(rate)
    return min(int(account.get("burst") or 0), level) // TOKEN


class DueQueue:
    """Future looks by time; looks whose time has come by account and deadline."""

    def __init__(self) -> None:
        self._current: dict[str, Planned] = {}
        self._future: list[tuple[datetime, str]] = []
        self._ready: dict[str, dict[str | None, list[Planned]]] = {}  # by account, then by what holds them back

    def note(self, operation_id: str, doc: Document | None) -> None:
        """The operation has become `doc`, or is gone."""
        place = planned(doc) if doc is not None else None
        if place is None:
            self._current.pop(operation_id, None)
        elif self._current.get(operation_id) != place:
            self._current[operation_id] = place
            heappush(self._future, (place.due_at, operation_id))
            if len(self._future) > 2 * len(self._current) + 64:
                self._rebuild()

    def offers(
        self, facts: Facts, now: Moment, until: datetime, limit: int, is_dead: IsDead, skip: Collection[str] = ()
    ) -> list[Planned]:
        """Operations to look at by `until`, nearest deadline first, at most `limit`.

        Of the accounts in `skip` only what has passed its deadline.
        """
        self._ripen(until)
        found: list[Planned] = []
        for account_key in list(self._ready):
            found.extend(self._offers_of(account_key, facts, now, until, limit, is_dead, is_skipped=account_key in skip))
        found.sort()
        return found[:limit]

    def next_at(self, facts: Facts, now: Moment, is_dead: IsDead, skip: Collection[str] = ()) -> datetime | None:
        """When something is to be looked at next: in the past where something is due now; None where nothing is planned."""
        offered = self.offers(facts, now, now.wall, 1, is_dead, skip)
        if offered:
            return offered[0].due_at
        while self._future and not self._is_planned(*self._future[0]):
            heappop(self._future)  # a plan that was left: it must wake nobody
        times = [self._future[0][0]] if self._future else []
        for account_key, heaps in self._ready.items():
            if until_at := held_until(facts.get("accounts", account_key), now):
                times.append(until_at)
            for lease in facts.leases(account_key):
                if is_live(lease, now, is_dead) and lease.get("until_up") is not None:
                    times.append(now.wall + timedelta(milliseconds=lease["until_up"] - now.up))
            times.extend(at for heap in heaps.values() if (at := self._next_bound(heap, now)) is not None)
        return min(times, default=None)

    def _is_planned(self, due_at: datetime, operation_id: str) -> bool:
        place = self._current.get(operation_id)
        return place is not None and place.due_at == due_at

    def _next_bound(self, heap: list[Planned], now: Moment) -> datetime | None:
        """The nearest bound to come; those that passed are under a lease, or they would have been offered."""
        kept: list[Planned] = []
        nearest = NEVER
        while heap and heap[0].deadline_at < nearest:
            place = heappop(heap)
            if self._current.get(place.operation_id) == place:
                kept.append(place)
                if place.booked_at > now.wall:
                    nearest = min(nearest, place.booked_at)
        for place in kept:
            heappush(heap, place)
        return nearest if nearest < NEVER else None

    def _offers_of(
        self, account_key: str, facts: Facts, now: Moment, until: datetime, limit: int, is_dead: IsDead, *, is_skipped: bool
    ) -> list[Planned]:
        account = facts.get("accounts", account_key) or {}
        later = now.wall if until <= now.wall else until
        held = held_until(account, now)
        is_held = is_skipped or (held is not None and held > later)
        most = account.get("max_concurrent")
        free = limit
        if most is not None:
            free = max(0, most - sum(is_live(lease, now, is_dead) for lease in facts.leases(account_key)))
        if (tokens := tokens_of(account, now)) is not None:
            free = min(free, max(tokens, 1))  # one may always ask: it learns when the next token comes
        overdue: list[Planned] = []
        others: list[Planned] = []
        refused = (account.get("denied") or {}).get("carriers") or {}
        for held_by, heap in self._ready[account_key].items():
            usable = 0 if is_held or held_by in refused else min(free, limit)
            late, ripe = self._take(heap, facts, now, until, limit, usable, is_dead)
            overdue.extend(late)
            others.extend(ripe)
        if not any(self._ready[account_key].values()):
            del self._ready[account_key]
        others.sort()
        return overdue + others[:free]

    def _take(
        self, heap: list[Planned], facts: Facts, now: Moment, until: datetime, limit: int, usable: int, is_dead: IsDead
    ) -> tuple[list[Planned], list[Planned]]:
        """Up to `limit` places past their bound and `usable` others; the heap keeps everything that is still current."""
        late: list[Planned] = []
        ripe: list[Planned] = []
        kept: list[Planned] = []
        while heap and len(late) < limit and len(ripe) < limit:
            place = heap[0]
            if self._current.get(place.operation_id) != place or place in kept[-1:]:
                heappop(heap)  # stale, or a plan that was left and came back
                continue
            is_late = place.booked_at <= until
            if place.deadline_at > until and len(ripe) >= usable:
                break
            heappop(heap)
            if place.due_at > until:  # the wall clock was set back
                heappush(self._future, (place.due_at, place.operation_id))
                continue
            kept.append(place)
            if self._is_leased(place, facts, now, is_dead):
                continue
            if not is_late and len(ripe) >= usable:
                continue  # a person let it go on after its deadline: few
            (late if is_late else ripe).append(place)
        for place in kept:
            heappush(heap, place)
        return late, ripe

    def _is_leased(self, place: Planned, facts: Facts, now: Moment, is_dead: IsDead) -> bool:
        lease = (facts.get("operations", place.operation_id) or {}).get("lease")
        return lease is not None and is_live(lease, now, is_dead)

    def _ripen(self, until: datetime) -> None:
        while self._future and self._future[0][0] <= until:
            due_at, operation_id = heappop(self._future)
            place = self._current.get(operation_id)
            if place is not None and place.due_at == due_at:
                heap = self._ready.setdefault(place.account_key, {}).setdefault(place.held_by, [])
                heappush(heap, place)
                if len(heap) > 2 * len(self._current) + 64:
                    self._rebuild()

    def _rebuild(self) -> None:
        """Drop everything stale: no heap grows beyond twice what is planned."""
        self._future = [(place.due_at, operation_id) for operation_id, place in self._current.items()]
        heapify(self._future)
        self._ready.clear()
