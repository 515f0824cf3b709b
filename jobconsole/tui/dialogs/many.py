"""One question about many operations: the exact count, every id, what will happen to each or why it is left out (UX 1a, U8).

Only this file decides what stands in that question; `many.py` says what the choice means for each operation. The question
follows the store while it is asked: what changed is left out before a person's eyes, not refused afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar, TypeAlias

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, marked
from jobconsole.errors import JobconsoleError
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.dialogs.dialog import Asked, Question
from jobconsole.tui.dialogs.reason import ReasonField
from jobconsole.tui.many import WORDINGS, Share, taking_part
from jobconsole.tui.messages import Changed
from jobconsole.tui.options import arrows
from jobconsole.tui.widgets.line_list import Entry, LineList

DESTROYING = frozenset({"cancel", "close"})
"""What cannot be undone once it left: production asks for more than a key."""

Reading: TypeAlias = Callable[[Sequence[Share]], Awaitable[Sequence[Share]]]
"""Reads anew what the choice means for the operations of these shares, for the revisions that were seen."""

AROUND_TALL, AROUND_SHORT = 21, 16  # lines of the dialog beside the list, on a tall and on a short terminal


class ManyDialog(Question):
    """Asks whether one option is meant for all of these; arrows and pages scroll the list while the reason is typed."""

    DEFAULT_CSS = """
    ManyDialog {
        & > #dialog { width: 96; }
        & #shares { height: auto; min-height: 3; background: $surface; margin-bottom: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "look(-1)", show=False, id="dialog.up"),
        Binding("down,j", "look(1)", show=False, id="dialog.down"),
        Binding("pageup,ctrl+u", "page(-1)", show=False, id="dialog.page-up"),
        Binding("pagedown,ctrl+d", "page(1)", show=False, id="dialog.page-down"),
    ]
    typed_label = "Type how many operations this is about"
    typed_fault = "That is not how many there are."

    def __init__(self, option: str, shares: Sequence[Share], read: Reading, *, has_typed: bool) -> None:
        self.option, self.shares = option, tuple(shares)
        self._read, self._has_typed = read, has_typed
        self._changed: set[str] = set()  # ids of what must be read anew
        super().__init__(act_label=self._act(), typed=self._count())
        self.heading = self._question()
        self.safe_label, self.is_destroying = WORDINGS[option].safe, option in DESTROYING

    def _act(self) -> str:
        return f"{WORDINGS[self.option].act} {len(taking_part(self.shares)):,}"

    def _count(self) -> str:
        return str(len(taking_part(self.shares))) if self._has_typed else ""

    def _question(self) -> str:
        return WORDINGS[self.option].question.format(counted(len(taking_part(self.shares)), "operation"))

    def subject(self) -> Content:
        """How many take part, and how many of the marked ones do not."""
        part = len(taking_part(self.shares))
        left_out = len(self.shares) - part
        more = f", {left_out:,} of {len(self.shares):,} left out" if left_out else ""
        return Content.assemble((f"{counted(part, 'operation')}{more}", "bold"))

    def parts(self) -> ComposeResult:
        """The operations, and a line for one reason for all of them."""
        yield LineList(id="shares")
        reason = ReasonField(self.option)
        yield Static(reason.label, markup=False)
        yield reason

    def first_focus(self) -> str:
        """Typing begins at once; nothing that is typed can act."""
        return "#reason"

    def on_mount(self) -> None:
        """Show them, and hear of changes."""
        super().on_mount()
        self._show()
        self.feed.subscribe(self)

    def _show(self) -> None:
        pen = self.pen(min(96, self.app.size.width * 96 // 100) - 10)
        self.query_one("#shares", LineList).show(list(entries(self.shares, pen)))
        self.on_resize()

    def on_changed(self, message: Changed) -> None:
        """Somebody was faster, or a job has ended: look at those again whose state is not the one shown."""
        for share in self.shares:
            op = self.feed.operations.get(share.operation_id)
            is_other = op is None or op.revision != share.revision or op.phase != share.phase
            if is_other and (message.is_reload or share.operation_id in message.operation_ids):
                self._changed.add(share.operation_id)
        if self._changed:
            self._look_again()

    @work(exclusive=True, group="shares")
    async def _look_again(self) -> None:
        changed = [share for share in self.shares if share.operation_id in self._changed]
        try:
            found = {share.operation_id: share for share in await self._read(changed)}
        except JobconsoleError as error:
            self._say_fault(inert(str(error), 200))
            return
        self._changed -= found.keys()
        before, self.shares = self.shares, tuple(found.get(share.operation_id, share) for share in self.shares)
        if self.shares == before:
            return  # what is left out goes on changing, and nothing new is told
        self.heading = self._question()
        self.ask_anew(act_label=self._act(), typed=self._count())
        self._show()

    def on_resize(self) -> None:
        """The list takes the lines that the rest leaves to it."""
        shown, height = self.query_one("#shares", LineList), self.app.size.height
        rest = AROUND_TALL if height >= 30 else AROUND_SHORT
        rows = sum(len(entry.rows) for entry in shown.entries)
        shown.styles.height = max(3, min(rows, height * 96 // 100 - rest))

    def asked(self) -> Asked | str:
        """The reason, as long as there is an operation to choose it for."""
        if not taking_part(self.shares):
            return f"{self.option} is open for none of them any more: Esc goes back."
        reason = self.query_one(ReasonField)
        return reason.fault or dict(reason.asked)

    def action_look(self, by: int) -> None:
        """Up or down in the list."""
        self.query_one("#shares", LineList).action_move(by)

    def action_page(self, pages: int) -> None:
        """Up or down in the list by its height."""
        self.query_one("#shares", LineList).action_page(pages)


def entries(shares: Iterable[Share], pen: Pen) -> Iterable[Entry]:
    """Those that take part, then those that are left out, under a heading."""
    found = list(shares)
    for share in taking_part(found):
        yield Entry(share.operation_id, (_head(share, pen), *_told(arrows(share.told, pen), pen)))
    left_out = [share for share in found if not share.is_open]
    if left_out:
        yield Entry("left-out", (Content(" LEFT OUT"),), is_heading=True)
    for share in left_out:
        yield Entry(share.operation_id, (_head(share, pen), *_told(share.why_not, pen)))


def _head(share: Share, pen: Pen) -> Content:
    sign = f"{marked(share.phase, is_ascii=pen.is_ascii)}  " if share.phase is not None else ""
    name = f"  {inert(share.name, 40)}" if share.name and share.name != share.operation_id else ""
    return Content.assemble(" ", sign, (share.operation_id, "bold"), (name, "$quiet"))


def _told(text: str, pen: Pen) -> Iterable[Content]:
    lines = Content.styled(text, "$foreground 80%").wrap(max(20, pen.width - 4))
    return [Content.assemble("    ", line) for line in lines]
