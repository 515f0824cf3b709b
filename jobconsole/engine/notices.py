"""Tells people of inbox items by the configured channels: once per item, never in quiet hours (SPEC A6, H7, H10).

Only this file decides when a message leaves. It follows the store's changes; what comes within a moment, or within quiet hours,
is one message. The claim is durable before the message leaves, and what became of it is written down after it. The console runs
one of these in each long-lived process that can write; all of them together send each message once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from jobconsole.core.command import Command, Scope
from jobconsole.core.commands.noticing import claim_notices, lost_at, record_lost, record_notices
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.events import Table
from jobconsole.core.operation import Operation
from jobconsole.core.telling.notice import notice_at, notice_of
from jobconsole.core.telling.notify_settings import NotifySettings
from jobconsole.core.telling.wording import counted
from jobconsole.core.vocabulary import NoticeResult
from jobconsole.engine.reading import Reader
from jobconsole.errors import JobconsoleError, StoreError
from jobconsole.protocols import Notifier, Receipt, Sent

log = logging.getLogger(__name__)
GATHERING = timedelta(seconds=2)  # what comes within it is one message
SPACING = timedelta(seconds=30)  # between two messages of one process
STUMBLE = timedelta(seconds=60)  # until the next try where there is no channel, or the store was busy
LONGEST_SLEEP = timedelta(seconds=60)  # a wall clock that jumped is noticed after so long
LAST_WORD_S = 0.5  # seconds that a stop waits for the channels, beside what the worker needs
MOST = 200  # items in one message
_MILLISECOND = timedelta(milliseconds=1)


class Notices:
    """Sends the messages of one process. `run` it as a task; `stop` it, and it returns within a second."""

    def __init__(self, reader: Reader, notifier: Notifier, settings: NotifySettings, actor: str) -> None:
        self._reader, self._notifier, self._settings, self._actor = reader, notifier, settings, actor
        self._store, self._clock = reader.store, reader.clock
        self._candidates: set[str] = set()  # operations that may be items
        self._not_before = self._clock.up_ms()  # boot clock: when the next message may leave
        self._is_gathering = False
        self._told_faults: set[str] = set()
        self._turning = asyncio.Lock()
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Tell people until stopped. A fault is logged and tried again: nothing else in the process may suffer from it."""
        watch = asyncio.create_task(self._watch())
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                try:
                    async with self._turning:
                        pause = await self._turn()
                except Exception as error:
                    is_expected = isinstance(error, JobconsoleError)
                    log.warning("people could not be told, next try in a minute: %s", error, exc_info=not is_expected)
                    pause = STUMBLE
                    self._not_before = self._clock.up_ms() + STUMBLE // _MILLISECOND
                await self._sleep(pause)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def tell_now(self) -> None:
        """Tell at once of all that is due: this process ends, and what it found may not wait for another one."""
        try:
            async with self._turning:
                self._load(await self._store.documents(Table.OPERATIONS))
                operations, now = await self._asking(), self._clock.wall()
                if self._quiet_until(now) is None:
                    await self._tell(self._due(operations, now))
        except JobconsoleError as error:
            log.warning("people could not be told: %s", error)

    # ---- who may need a person ------------------------------------------------------------------------------------------
    async def _watch(self) -> None:
        """Keep the candidates up to date: of thousands of operations only few need a person."""
        cursor = self._store.cursor()
        self._load(await self._store.documents(Table.OPERATIONS))
        async for change in self._store.changes(after=cursor):
            if change.reload:
                self._load(await self._store.documents(Table.OPERATIONS))
            for table, key in change.keys:
                doc = self._store.peek(table, key) if table == Table.OPERATIONS else None
                if doc is not None and _may_ask(doc):
                    self._candidates.add(key)
                    self._wake.set()

    def _load(self, documents: Sequence[Mapping[str, object]]) -> None:
        self._candidates |= {str(doc["operation_id"]) for doc in documents if _may_ask(doc)}
        self._wake.set()

    # ---- one look -------------------------------------------------------------------------------------------------------
    async def _turn(self) -> timedelta:
        """Do what is due; how long until the next look, unless something changes."""
        now = self._clock.wall()
        operations = await self._asking()
        for op in operations:
            if (at := lost_at(op)) is not None and at <= now:
                await self._write(record_lost(op, self._actor), (op.operation_id,))
        quiet_until = self._quiet_until(now)
        if quiet_until is None and any(at <= now for at in self._times(operations)):
            return await self._gather(operations, now)
        self._is_gathering = False
        awaited = [at for at in map(lost_at, operations) if at is not None]
        awaited += [max(at, quiet_until) if quiet_until is not None else at for at in self._times(operations)]
        return min((at - now for at in awaited if at > now), default=LONGEST_SLEEP)

    async def _asking(self) -> list[Operation]:
        """The candidates that are inbox items still."""
        found = [await self._store.get(operation_id) for operation_id in sorted(self._candidates)]
        operations = [op for op in found if op is not None and item_since(op) is not None]
        self._candidates &= {op.operation_id for op in operations}
        return operations

    def _times(self, operations: Sequence[Operation]) -> list[datetime]:
        """From when on a message about each is due."""
        times = (notice_at(op, with_looks=self._settings.looks) for op in operations)
        return [at for at in times if at is not None]

    async def _gather(self, operations: Sequence[Operation], now: datetime) -> timedelta:
        """Wait a moment for what comes with it, then send; how long until the next look."""
        up = self._clock.up_ms()
        if not self._is_gathering:
            self._is_gathering = True
            self._not_before = max(self._not_before, up + GATHERING // _MILLISECOND)
        if up < self._not_before:
            return (self._not_before - up) * _MILLISECOND
        await self._tell(self._due(operations, now))
        self._is_gathering = False
        return timedelta(0)

    def _due(self, operations: Sequence[Operation], now: datetime) -> dict[str, datetime]:
        """Operation id → since when it is the item that a message is due about; not more than one message holds."""
        due: dict[str, datetime] = {}
        for op in operations:
            at, since = notice_at(op, with_looks=self._settings.looks), item_since(op)
            if at is not None and since is not None and at <= now and len(due) < MOST:
                due[op.operation_id] = since
        return due

    def _quiet_until(self, now: datetime) -> datetime | None:
        hours = self._settings.quiet_hours
        return hours.end_of(now) if hours is not None else None

    # ---- one message ----------------------------------------------------------------------------------------------------
    async def _tell(self, items: Mapping[str, datetime]) -> None:
        """Claim, send, record. Nothing is claimed where this process has no channel: another one may have."""
        if not items:
            return
        reach = await self._notifier.reach()
        self._say_faults(reach.faults)
        up = self._clock.up_ms()
        if not reach.channels:
            self._not_before = up + STUMBLE // _MILLISECOND
            return
        self._not_before = up + SPACING // _MILLISECOND
        channels = ", ".join(dict.fromkeys(reach.channels))
        claimed = await self._write(claim_notices(items, self._actor, channels), tuple(items))
        if claimed:
            await self._send(claimed, channels)

    async def _send(self, claimed: Sequence[Operation], channels: str) -> None:
        notice = notice_of(await self._reader.items(claimed), self._clock.wall())
        sending = asyncio.create_task(self._notifier.send(notice))
        try:
            sent = await self._ended(sending)
        finally:
            sending.cancel()
        result, named, detail = _judged(sent, channels)
        if result is NoticeResult.NOT_REACHED:
            log.warning("nobody was reached about %s: %s", counted(len(claimed), "operation"), detail)
        at = {op.operation_id: op.attention.notified_at for op in claimed if op.attention.notified_at is not None}
        await self._write(record_notices(at, self._actor, result, named, detail), tuple(at))

    async def _ended(self, sending: asyncio.Task[Sequence[Sent]]) -> Sequence[Sent] | None:
        """What became of the message; None where this process stops before that is known."""
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({sending, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                await asyncio.wait({sending}, timeout=LAST_WORD_S)
        finally:
            stopping.cancel()
        return sending.result() if sending.done() else None

    def _say_faults(self, faults: Sequence[str]) -> None:
        """Each once: a channel that stays away is no news."""
        for fault in faults:
            if fault not in self._told_faults:
                self._told_faults.add(fault)
                log.warning("%s", fault)

    async def _write(self, command: Command[tuple[Operation, ...]], operation_ids: tuple[str, ...]) -> tuple[Operation, ...]:
        """The operations that the command changed. Raises `StoreError`."""
        got = await self._store.transact(Scope(operations=operation_ids), command, kind="record")
        if not isinstance(got, Receipt):
            raise StoreError(got.text)
        return got.result

    async def _sleep(self, pause: timedelta) -> None:
        """Until then, or until something changed."""
        until = self._clock.up_ms() + -(-min(pause, LONGEST_SLEEP) // _MILLISECOND)
        timer = asyncio.create_task(self._clock.sleep_until(until))
        woken = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({timer, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (timer, woken):
                task.cancel()
            await asyncio.gather(timer, woken, return_exceptions=True)


def _may_ask(doc: Mapping[str, object]) -> bool:
    return bool(doc.get("escalation") or doc.get("look"))


def _judged(sent: Sequence[Sent] | None, channels: str) -> tuple[NoticeResult, str, str]:
    """What became of the message, by which channels, and what was wrong with the others."""
    if sent is None:
        return NoticeResult.UNKNOWN, channels, "its sender was stopped before it knew"
    taken = ", ".join(dict.fromkeys(each.channel for each in sent if each.is_taken))
    detail = "; ".join(f"{each.channel}: {each.detail}" for each in sent if not each.is_taken)
    if taken:
        return NoticeResult.REACHED, taken, detail
    if any(each.is_taken is None for each in sent):
        return NoticeResult.UNKNOWN, channels, detail
    return NoticeResult.NOT_REACHED, channels, detail or "no channel could be read any more"
