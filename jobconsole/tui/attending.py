"""Looking after inbox items from the dashboard: claim, give, let rest, wake, note (SPEC H7).

Only this file calls `Desk.assign`, `Desk.snooze` and `Desk.note` for the dashboard. Each act names an operation id; who had the
item is what the screen showed, so that of two who claim it at once the core tells the second who was faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from datetime import datetime
from typing import Any

from jobconsole.core.actors import NOBODY
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import is_snoozed
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import JobconsoleError
from jobconsole.tui import texts
from jobconsole.tui.clock_face import zoned_clock
from jobconsole.tui.dialogs.assign import AssignDialog, person_named
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.note import NoteDialog
from jobconsole.tui.dialogs.snooze import SnoozeDialog, asked_until
from jobconsole.tui.dialogs.typed import TypedDialog
from jobconsole.tui.stage import Stage

_LONGEST = 300  # characters of a refusal in a toast


class Attending:
    """What a person does about one operation beside answering it, as the screen showed it when they began."""

    def __init__(self, app: Stage, op: Operation) -> None:
        self._app, self._op = app, op
        self._me = app.person.removeprefix("person:")

    def claim(self) -> None:
        """Take care of it; give it back where one has it already. What another person has is not taken from them."""
        has = self._op.attention.assigned_to
        if has is not None and has != self._me:
            since = self._op.attention.assigned_at
            at = f" since {self._clock(since)}" if since is not None else ""
            self._refuse(f"{inert(has, 60)} has it{at}. :assign {inert(self._me, 40)} takes it over.")
            return
        self._assign(None if has == self._me else self._me)

    def give(self, typed: str) -> None:
        """Give it to the person that was typed, or ask to whom."""
        if not typed:
            people = known_people(self._app.feed.operations.values(), self._me)
            self._ask(AssignDialog(self._op, people), lambda asked: self._assign(asked["to"]))
            return
        name = person_named(typed)
        if name is None:
            self._refuse("That is no name: :assign ben, or :assign nobody")
        else:
            self._assign(None if name == NOBODY else name)

    def rest(self, typed: str) -> None:
        """Let it rest until the time that was typed; without one wake it where it rests, else ask until when."""
        if typed:
            asked = asked_until(typed, self._app.feed.now())
            if isinstance(asked, str):
                self._refuse(asked)
            else:
                self._snooze(asked["until"])
        elif is_snoozed(self._op, self._app.feed.now()):
            self._snooze(None)
        else:
            self._ask(SnoozeDialog(self._op), lambda asked: self._snooze(asked["until"]))

    def note(self, typed: str) -> None:
        """Write down what was typed, or ask for it."""
        if typed:
            self._note(typed)
        else:
            self._ask(NoteDialog(self._op), lambda asked: self._note(asked["text"]))

    # ---- what is done ---------------------------------------------------------------------------------------------------
    def _assign(self, to: str | None) -> None:
        has = self._op.attention.assigned_to
        change = self._app.desk.assign(self._op.operation_id, to, by=self._app.person, shown=has)
        self._begin(self._tell(change, f"with {inert(to, 60)} now" if to else "with nobody now"))

    def _snooze(self, until: datetime | None) -> None:
        change = self._app.desk.snooze(self._op.operation_id, until, by=self._app.person)
        self._begin(self._tell(change, f"snoozed until {self._clock(until)}" if until else "awake again"))

    def _note(self, text: str) -> None:
        self._begin(self._tell(self._app.desk.note(self._op.operation_id, text, by=self._app.person), "noted"))

    def _ask(self, dialog: TypedDialog, then: Callable[[Asked], None]) -> None:
        self._app.begin_question(self._asked(dialog, then))

    async def _asked(self, dialog: TypedDialog, then: Callable[[Asked], None]) -> None:
        asked = await self._app.push_screen_wait(dialog)
        if asked is not None:
            then(asked)

    async def _tell(self, change: Awaitable[Operation], said: str) -> None:
        try:
            await change
        except JobconsoleError as error:
            self._refuse(str(error))
        else:
            self._app.say(f"{texts.name_of(self._op)}: {said}")

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._app.run_worker(work, group="attending", exclusive=False)

    def _refuse(self, text: str) -> None:
        self._app.say(inert(text, _LONGEST), is_bad=True)

    def _clock(self, at: datetime) -> str:
        return zoned_clock(at, self._app.feed.now(), self._app.time_style)


def attending(app: Stage, operation_id: str, *, is_item: bool = True) -> Attending | None:
    """What may be done about this operation; None, and a sentence, where nothing may. `is_item`: only in the inbox."""
    op = app.feed.operations.get(operation_id)
    if op is None:
        app.say(texts.NOT_HERE)
    elif is_item and operation_id not in app.feed.asking:
        app.say(f"{operation_id} is not in the inbox: it needs nobody now.", is_bad=True)
    else:
        return Attending(app, op)
    return None


def known_people(operations: Iterable[Operation], me: str) -> list[str]:
    """The names of people that these operations tell of: the one who sits here first, then those who occur most."""
    found: Counter[str] = Counter()
    for op in operations:
        found.update(actor.removeprefix("person:") for actor in (op.owner, op.submitted_by) if _is_person(actor))
        found.update(done.by for done in op.decided)
        found.update(note.by for note in op.attention.notes)
        if op.attention.assigned_to is not None:
            found[op.attention.assigned_to] += 1
    found.pop(me, None)
    return [me, *sorted(found, key=lambda name: (-found[name], name))]


def _is_person(actor: str) -> bool:
    """An owner may be a bare name; agents and workers have their kind in front."""
    return actor.startswith("person:") or (actor not in ("", NOBODY) and ":" not in actor)
