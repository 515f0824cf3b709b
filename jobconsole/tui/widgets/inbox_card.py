"""One inbox item as a card: why a person is asked, what to know before deciding, and the numbered options (SPEC H2).

Only this file decides when a digit on such a card acts: it must have the focus, and what it shows must have stood still for a
moment. It acts on the id and the revision that it shows, never on what has come since (SPEC U8).
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Decided, Operation
from jobconsole.core.telling.inbox import answer_to
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import words
from jobconsole.errors import JobconsoleError
from jobconsole.tui import detail_sections as sections
from jobconsole.tui.attention_section import asked_since, care, notes, stacked
from jobconsole.tui.clock_face import age_text
from jobconsole.tui.dossier import Dossier
from jobconsole.tui.key_guard import KeyGuard
from jobconsole.tui.messages import Changed, Ticked
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.options import Card, card_entries, cards, missing_cards
from jobconsole.tui.widgets.line_list import LineList


class InboxCard(OnDashboard, VerticalScroll, can_focus=False):
    """Shows the item that `show` names; posts `Picked` for what is chosen and decides nothing itself."""

    DEFAULT_CSS = """
    InboxCard {
        padding: 0 1;
        border: round $quiet;
        border-title-color: $quiet;
        border-subtitle-color: $quiet;
        scrollbar-size-vertical: 1;
        &:focus-within { border: round $primary; border-title-color: $primary; }
        & > Static { height: auto; margin-bottom: 1; }
        & > .is-empty { display: none; }
        & > LineList { height: auto; min-height: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(digit), f"pick({digit})", show=False, id=f"inbox.pick-{digit}") for digit in range(1, 10)),
    ]

    class Picked(Message):
        """A person chose an option of what was shown."""

        def __init__(self, operation_id: str, revision: int, option: str, *, looks_first: bool) -> None:
            self.operation_id, self.revision, self.option, self.looks_first = operation_id, revision, option, looks_first
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.operation_id: str | None = None
        self.revision = 0
        self._cards: tuple[Card, ...] = ()
        self._dossier: Dossier | None = None
        self._since: datetime | None = None  # when the item began that is shown, or was

    def compose(self) -> ComposeResult:
        """The question, the context, the options."""
        yield Static("", id="card-question", markup=False)
        yield Static("", id="card-facts", markup=False)
        yield Static("", id="card-notes", classes="is-empty", markup=False)
        yield Static("", id="card-budgets", markup=False)
        yield LineList(id="card-options")
        yield Static("", id="card-under-way", classes="is-empty", markup=False)

    def on_mount(self) -> None:
        """Hear of changes."""
        self._guard = KeyGuard(self.desk.clock)
        self.border_title = "Nothing is selected"
        self.feed.subscribe(self)

    # ---- what is shown --------------------------------------------------------------------------------------------------
    def show(self, operation_id: str | None) -> None:
        """Show this item, or nothing."""
        if operation_id != self.operation_id:
            self.operation_id, self._cards, self._dossier, self._since = operation_id, (), None, None
            self._guard.note()
            self.scroll_home(animate=False)
        if operation_id is None:
            self._draw_nothing()
            return
        self._read(operation_id)

    @work(exclusive=True, group="card")
    async def _read(self, operation_id: str) -> None:
        dossier = Dossier(operation_id)
        try:
            await dossier.read_record(self.desk)
        except JobconsoleError as error:
            self._draw_text("question", Content(inert(str(error), 400)))
            return
        if operation_id == self.operation_id:
            self._dossier = dossier
            self._draw(dossier)

    def on_changed(self, message: Changed) -> None:
        """Show it anew; the digits rest for a moment."""
        if self.operation_id is not None and (message.is_reload or self.operation_id in message.operation_ids):
            self.show(self.operation_id)

    def on_ticked(self, message: Ticked) -> None:
        """Ages and countdowns move, and so does what an option would cost by now."""
        message.stop()
        if self._dossier is not None and self.is_on_screen:
            self._draw_moving(self._dossier)
            if self._cards:
                self._read(self._dossier.operation_id)

    def on_resize(self) -> None:
        """Bars are as wide as the card; what was scrolled away may have room now."""
        if self._dossier is not None:
            self._draw(self._dossier)
            self.scroll_home(animate=False)
            self.call_after_refresh(self._bring_into_view)

    def take_focus(self) -> None:
        """Now digits act here."""
        self.query_one("#card-options", LineList).focus(scroll_visible=False)
        self.call_after_refresh(self._bring_into_view)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._bring_into_view()

    def _bring_into_view(self) -> None:
        """The options are as high as they are; it is the card that scrolls, no further than it must."""
        options = self.query_one("#card-options", LineList)
        if options.has_focus:
            region = options.cursor_region.translate(options.virtual_region.offset)
            self.scroll_to_region(region, animate=False, force=True)

    # ---- what is chosen -------------------------------------------------------------------------------------------------
    def on_key(self, event: events.Key) -> None:
        """A key that does not act is part of a burst, or a mistake; one that acts asks the guard itself."""
        if event.key != "enter" and not event.key.isdigit():
            self._guard.note()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text fires nothing."""
        self._guard.note()
        event.stop()

    def action_pick(self, digit: int) -> None:
        """Choose by number."""
        card = next((each for each in self._cards if each.number == digit), None)
        if card is None:
            self._guard.note()
            return
        self._pick(card, looks_first=False)

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        """Enter looks before it acts: nothing is decided without a dialog."""
        event.stop()
        card = next((each for each in self._cards if each.name == event.key), None)
        if card is not None:
            self._pick(card, looks_first=True)

    def _pick(self, card: Card, *, looks_first: bool) -> None:
        if self.operation_id is None:
            return
        if not self._guard.allows():
            self.dashboard.say("The card has only just changed, or keys came too fast. Look, then press again.", is_bad=True)
            return
        self.post_message(self.Picked(self.operation_id, self.revision, card.name, looks_first=looks_first))

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def _draw(self, dossier: Dossier) -> None:
        op, view = dossier.op, dossier.view
        assert op is not None
        assert view is not None
        if op.revision != self.revision:
            self.revision = op.revision
            self._guard.note()
        is_asking = op.operation_id in self.feed.asking
        self._since = item_since(op) or self._since
        self._cards = tuple(cards(view)) if is_asking else ()
        shown = [*self._cards, *missing_cards(view, op, dossier.contract)] if is_asking else []
        options = self.query_one("#card-options", LineList)
        entries = card_entries(shown, self.pen(self.size.width - 4))
        options.show(entries, empty="Nothing is asked here any more." if not is_asking else "Its answer is awaited.")
        options.styles.height = max(1, sum(len(entry.rows) for entry in entries))
        self.border_title = Content(inert(op.name or op.operation_id, 60))
        answers = "1–9 answer · Enter looks first · " if self._cards else ""
        self.border_subtitle = f"{answers}Esc back to the list"
        self._draw_moving(dossier)

    def _draw_moving(self, dossier: Dossier) -> None:
        op, view = dossier.op, dossier.view
        assert op is not None
        assert view is not None
        pen = self.pen(max(20, self.size.width - 4))
        asked = sections.question(view, pen)
        self._draw_text("question", asked if asked is not None else self._answered(op))
        self._draw_text("facts", stacked(sections.context(view, pen), asked_since(view, pen), care(view, pen)))
        self._draw_text("notes", notes(view, pen))
        self._draw_text("budgets", sections.budgets(view, pen))
        doing = [op.permit.purpose] if op.permit else list(op.open_actions)
        said = f"{doing[0].replace('_', ' ')} is under way; its answer decides." if doing else ""
        self._draw_text("under-way", Content.styled(said, "$state-needs-you") if said else Content(""))

    def _answered(self, op: Operation) -> Content:
        """The item is gone: who answered, what, when, and with what effect (H4); or that nobody needed to."""
        done = answer_to(op, self._since) if self._since is not None else None
        if done is None:
            return Content.styled(f"It needs nobody any more: {words(op.phase)}.", "$state-done bold")
        return Content.styled(answered_text(done, self.feed.now()), "$state-done bold")

    def _draw_nothing(self) -> None:
        self.border_title, self.border_subtitle = "Nothing is selected", ""
        for part in ("question", "facts", "notes", "budgets", "under-way"):
            self._draw_text(part, Content(""))
        self.query_one("#card-options", LineList).show([], empty="")

    def _draw_text(self, part: str, content: Content) -> None:
        widget = self.query_one(f"#card-{part}", Static)
        widget.update(content)
        widget.set_class(not content.plain, "is-empty")


def answered_text(done: Decided, now: datetime) -> str:
    """`Answered by ana 12s ago: extend. deadline …`; an effect that begins with the option's name says it once."""
    option, effect = words(done.option), inert(done.effect, 300)
    told = effect if effect.startswith(option) else f"{option}. {effect}"
    return f"Answered by {inert(done.by, 60)} {age_text(now - done.at)} ago: {told}"
