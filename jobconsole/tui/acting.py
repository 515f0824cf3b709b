"""How the actions of the table are reached: keys, palette, `:` commands and mouse all end in `action_act`.

Only this file decides what an action is told and when its key is let through. `Dashboard` derives from `ActingApp` and adds
what actions ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from textual.app import SystemCommand
from textual.screen import Screen
from textual.widgets import Input

from jobconsole.core.telling.naming import meant
from jobconsole.errors import InvalidValue
from jobconsole.tui import texts
from jobconsole.tui.action import Action, Call, Takes
from jobconsole.tui.actions import ACTIONS, COMMANDS, nearest_commands
from jobconsole.tui.screens.frame import Frame, main_screen
from jobconsole.tui.stage import Chosen, Stage
from jobconsole.tui.subject import Subject


class ActingApp(Stage):
    """An app that does the actions of the table."""

    _is_asking = False  # from the key that asks until the answer, so also while the question is still being read
    _is_haste_told = False

    @property
    def main_screen(self) -> Frame:
        """The main screen: the one in front, or the one under a dialog."""
        return main_screen(self)

    def begin_question(self, question: Coroutine[Any, Any, Chosen | None]) -> None:
        """Ask, then do what came of it. One at a time: a key that comes before the question is seen begins no second one."""
        if self._is_asking:
            question.close()
            self._tell_haste()
            return
        self._is_asking, self._is_haste_told = True, False
        self.run_worker(self._ask(question), group="asking", exclusive=False)

    async def _ask(self, question: Coroutine[Any, Any, Chosen | None]) -> None:
        try:
            chosen = await question
        finally:
            self._is_asking = False
        if chosen is not None:
            await chosen()

    def _tell_haste(self) -> None:
        """Once for each question, however long the burst."""
        if not self._is_haste_told:
            self._is_haste_told = True
            self.say(texts.TOO_FAST, is_bad=True)

    def action_act(self, action_id: str, argument: str = "") -> None:
        """Do one action of the table, on the operation that was typed, else on what the main screen names."""
        action = ACTIONS[action_id]
        if self._is_asking and not action.is_everywhere:
            self._tell_haste()
            return
        if argument and action.takes is not Takes.TEXT:
            self._act_on(action, argument)
            return
        subjects: tuple[Subject, ...] = ()
        if action.needs_selection:
            subjects = self.main_screen.subjects(for_many=action.for_many)
            if not subjects:
                self.say(texts.NOT_HERE)
                return
        action.act(Call(self, subjects, argument))

    def _act_on(self, action: Action, typed: str) -> None:
        """Act on the one operation that was typed, never on another one (SPEC U8)."""
        if action.takes is Takes.NOTHING:
            self.say(texts.takes_nothing(action.command, typed, on_cursor=action.needs_selection), is_bad=True)
            return
        try:
            op = meant(typed, self.feed.operations.values())
        except InvalidValue as error:
            self.say(str(error), is_bad=True)
            return
        if op is None:
            self.say(texts.no_operation(action.command, typed), is_bad=True)
        else:
            action.act(Call(self, (Subject(op.operation_id, op.revision),)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key may act now: False lets it through to who types or to a dialog, None dims it in the footer."""
        if action != "act":
            return super().check_action(action, parameters)
        wanted = ACTIONS[str(parameters[0])]
        if wanted.is_priority and not wanted.is_everywhere and (self.screen.is_modal or isinstance(self.focused, Input)):
            return False
        subjects = self.main_screen.subjects(for_many=wanted.for_many) if wanted.needs_selection else ()
        if wanted.needs_item and not any(each.operation_id in self.feed.asking for each in subjects):
            return False
        return True if subjects or not wanted.needs_selection else None

    def run_command(self, typed: str) -> None:
        """Do what was typed behind `:`; an unknown word is told the nearest three."""
        word, _, argument = typed.strip().partition(" ")
        action = COMMANDS.get(word)
        if action is not None:
            self.action_act(action.action_id, argument.strip())
        elif word:
            self.say(texts.nobody_knows(word, nearest_commands(word)), is_bad=True)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every action of the table."""
        for action in ACTIONS.values():
            yield SystemCommand(action.title, action.hint, self._doing(action.action_id))

    def _doing(self, action_id: str) -> Callable[[], None]:
        return lambda: self.action_act(action_id)
