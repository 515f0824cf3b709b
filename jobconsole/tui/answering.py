"""From a wish to a decision: which dialog an option needs, the hold in which it can be undone, and what is said afterwards.

Only this file calls `Desk.decide` for the dashboard. Every act names an operation id and the revision that the person saw; the
core refuses what is stale, and its refusal says who was faster (SPEC H4, U8).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from uuid import uuid4

from jobconsole.core.commands.decisions import what_happened
from jobconsole.core.operation import Operation, Option
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import JobconsoleError
from jobconsole.tui import texts
from jobconsole.tui.copying import copy_text
from jobconsole.tui.dialogs.cancel import CancelDialog, SureDialog
from jobconsole.tui.dialogs.choose import ChooseDialog, ChooseForManyDialog, CredentialDialog, JobIdDialog
from jobconsole.tui.dialogs.close import CloseDialog
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.dialogs.extend import ExtendDialog
from jobconsole.tui.dialogs.many import DESTROYING, ManyDialog
from jobconsole.tui.dialogs.pause import PauseDialog
from jobconsole.tui.many import (
    TYPED_ABOVE,
    WORDINGS,
    Share,
    card_for_many,
    doing_text,
    ended_text,
    nothing_text,
    outcome_text,
    shares,
    taking_part,
)
from jobconsole.tui.options import Ask, Card, cards, find_card, missing_cards
from jobconsole.tui.stage import Chosen, Stage
from jobconsole.tui.subject import Subject

_LONGEST = 300  # characters of an effect or a refusal in a toast
_LAST = 4  # characters of an id that are typed before something is destroyed in production
_LOGGER = logging.getLogger(__name__)


class Answering:
    """Carries out what a person chose. One act at a time is asked about; any number may be held."""

    def __init__(self, app: Stage) -> None:
        self._app = app
        self._under_way: list[tuple[str, list[Share]]] = []  # choices for many, and what of them is not decided yet

    def choose(self, operation_id: str, revision: int) -> None:
        """Show all options of an operation; then go on as for the one that is picked."""
        self._app.begin_question(self._choose(operation_id, revision))

    def choose_many(self, subjects: Sequence[Subject]) -> None:
        """Show what can be chosen for all of these at once; then go on as for the one that is picked."""
        self._app.begin_question(self._choose_many(tuple(subjects)))

    def answer(self, operation_id: str, revision: int, option: str, *, looks_first: bool = False) -> None:
        """Choose an option. `looks_first` opens a dialog for options that one key would choose at once."""
        self._app.begin_question(self._answer(operation_id, revision, option, looks_first=looks_first))

    def answer_many(self, subjects: Sequence[Subject], option: str) -> None:
        """Choose one option for many operations, each for the revision that was seen."""
        self._app.begin_question(self._answer_many(tuple(subjects), option))

    def unfinished(self) -> list[str]:
        """What of choices for many may not be decided, as sentences: the dashboard is left halfway."""
        return [
            f"{doing_text(option, len(left))}, not known to be decided: {', '.join(share.operation_id for share in left)}"
            for option, left in self._under_way
            if left
        ]

    def undo(self) -> None:
        """Give up what was held last."""
        hold = self._app.holds.undo()
        self._say(f"Undone: nothing was sent. {hold.text}" if hold else "Nothing is held that could be undone.")

    # ---- what is asked --------------------------------------------------------------------------------------------------
    async def _choose(self, operation_id: str, revision: int) -> Chosen | None:
        found = await self._open_cards(operation_id, revision)
        if found is None:
            return None
        op, offered = found
        picked = await self._app.push_screen_wait(ChooseDialog(op, offered))
        return None if picked is None else await self._answer(operation_id, op.revision, picked, looks_first=False)

    async def _answer(self, operation_id: str, revision: int, option: str, *, looks_first: bool) -> Chosen | None:
        found = await self._open_cards(operation_id, revision)
        if found is None:
            return None
        op, offered = found
        card = find_card(offered, option)
        if card is None or not card.is_open:
            self._refuse(_why_not(op, card, option))
            return None
        if card.asks is Ask.LINK:
            copy_text(self._app, card.url or "", "The address of the provider's console")
            return None
        asked = await self._ask(op, card, looks_first=looks_first)
        if asked is None:
            return None
        act = partial(self._decide, operation_id, revision, option, asked, f"dec_{uuid4().hex}")
        if card.is_held:
            self._app.holds.begin((operation_id,), option, f"{card.title.capitalize()}: {texts.name_of(op)}", act)
            return None
        return act

    async def _choose_many(self, subjects: tuple[Subject, ...]) -> Chosen | None:
        try:
            found = await shares(self._app.desk, subjects, tuple(WORDINGS))
        except JobconsoleError as error:
            self._refuse(str(error))
            return None
        offered = [card_for_many(option, number, each) for number, (option, each) in enumerate(found.items(), start=1)]
        picked = await self._app.push_screen_wait(ChooseForManyDialog(len(subjects), offered))
        return None if picked is None else await self._answer_many(subjects, picked)

    async def _answer_many(self, subjects: tuple[Subject, ...], option: str) -> Chosen | None:
        async def read(of: Sequence[Subject]) -> list[Share]:
            shared = await shares(self._app.desk, of, (option,), lambda *of: self._app.holds.of(*of) is not None)
            return shared[option]

        try:
            found = await read(subjects)
        except JobconsoleError as error:
            self._refuse(str(error))
            return None
        part = taking_part(found)
        if not part:
            self._refuse(nothing_text(found, option))
            return None
        is_typed = len(part) > TYPED_ABOVE or (self._app.is_production and option in DESTROYING)
        dialog = ManyDialog(option, found, lambda of: read([share.subject for share in of]), has_typed=is_typed)
        asked = await self._app.push_screen_wait(dialog)
        if asked is None:
            return None
        part = taking_part(dialog.shares)  # as they were when the person accepted
        act = partial(self._decide_many, option, {share: f"dec_{uuid4().hex}" for share in part}, asked)
        if part[0].is_held:
            ids = tuple(share.operation_id for share in part)
            self._app.holds.begin(ids, option, doing_text(option, len(part)), act)
            return None
        return act

    async def _open_cards(self, operation_id: str, revision: int) -> tuple[Operation, list[Card]] | None:
        """The operation as it is, and its cards; where it is not what the person saw, that is said, and nothing is asked."""
        try:
            op = await self._app.desk.get(operation_id)
            (view,) = await self._app.desk.views([op])
            contract = await self._app.desk.contract_of(op)
        except JobconsoleError as error:
            self._refuse(str(error))
            return None
        if op.revision != revision:
            self._refuse(what_happened(op, revision))
            return None
        return op, [*cards(view), *missing_cards(view, op, contract)]

    async def _ask(self, op: Operation, card: Card, *, looks_first: bool) -> Asked | None:
        dialog = await self._dialog(op, card, looks_first=looks_first)
        return {} if dialog is None else await self._app.push_screen_wait(dialog)

    async def _dialog(self, op: Operation, card: Card, *, looks_first: bool) -> Dialog | None:
        typed = op.operation_id[-_LAST:] if self._app.is_production and card.name in DESTROYING else ""
        if card.name == "cancel":
            return CancelDialog(op, card, typed)
        if card.asks is Ask.REASON:
            return CloseDialog(op, card, typed)
        by_ask: dict[Ask, type[SureDialog | JobIdDialog]] = {Ask.SURE: SureDialog, Ask.JOB_ID: JobIdDialog}
        if card.asks in by_ask:
            return by_ask[card.asks](op, card)
        if card.asks is Ask.CREDENTIAL:
            return CredentialDialog(op, card) if len(card.credentials) > 1 or looks_first else None
        if not looks_first:
            return None
        if card.name in ("extend", "pause"):
            option, contract = await self._option(op, card.name), await self._app.desk.contract_of(op)
            if option is not None:
                return ExtendDialog(op, option, contract) if card.name == "extend" else PauseDialog(op, option, contract)
        return SureDialog(op, card)

    async def _option(self, op: Operation, name: str) -> Option | None:
        return next((option for option in await self._app.desk.options(op) if option.name == name), None)

    # ---- what is decided ------------------------------------------------------------------------------------------------
    async def _decide(self, operation_id: str, revision: int, option: str, asked: Asked, decision_id: str) -> None:
        """Let the core decide, and tell what it did or why not."""
        try:
            applied = await self._app.desk.decide(
                operation_id, option, by=self._app.person, revision=revision, decision_id=decision_id, **asked
            )
        except JobconsoleError as error:
            self._refuse(str(error))
            return
        self._app.feed.tell_decided({operation_id})
        self._say(f"{texts.name_of(applied.op)}: {inert(applied.effect, _LONGEST)}")

    async def _decide_many(self, option: str, decision_ids: Mapping[Share, str], asked: Asked) -> None:
        """One decision after the other, each bound to its own operation and revision; then what came of all of them."""
        left, done, refused = list(decision_ids), set[str](), dict[str, str]()
        self._under_way.append((option, left))
        for share, decision_id in decision_ids.items():
            try:
                await self._app.desk.decide(
                    share.operation_id,
                    option,
                    by=self._app.person,
                    revision=share.revision,
                    decision_id=decision_id,
                    **asked,
                )
                done.add(share.operation_id)
            except JobconsoleError as error:
                refused[share.operation_id] = str(error)
                _LOGGER.warning("%s of %s refused: %s", option, share.operation_id, error)
            left.remove(share)
        self._under_way.remove((option, left))
        self._app.feed.tell_decided(done)
        (self._refuse if refused else self._say)(outcome_text(option, len(done), refused))

    def _say(self, text: str) -> None:
        self._app.say(text)

    def _refuse(self, text: str) -> None:
        self._app.say(inert(text, _LONGEST), is_bad=True)


def _why_not(op: Operation, card: Card | None, option: str) -> str:
    """Why an option cannot be chosen."""
    if op.phase.is_terminal:
        return ended_text(texts.name_of(op), op.phase, option)
    return card.why_not if card is not None else f"{option} is not open for {texts.name_of(op)}."
