"""The keys that work here, as they are bound now; on top, never cut off, how to leave and how to close it (UX 1a, `?` help).

Only this file decides what stands above Textual's own list.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import HelpPanel, Static

from jobconsole.tui.on_dashboard import OnDashboard

_FIRST = ("app.leave", "app.help", "app.palette")


class KeysHelp(OnDashboard, HelpPanel):
    """The panel behind `?`."""

    DEFAULT_CSS = """
    KeysHelp {
        & > #help-first { height: auto; background: $panel; padding: 0 1; }
    }
    """

    def compose(self) -> ComposeResult:
        """What a lost person looks for, then all of them."""
        yield Static(self._first(), id="help-first", markup=False)
        yield from super().compose()

    def _first(self) -> Content:
        bound = {each.binding.id: each.binding for each in reversed(self.screen.active_bindings.values())}
        found = [bound[binding_id] for binding_id in _FIRST if binding_id in bound]
        shown = [((f"{self.app.get_key_display(each)} ", "bold $primary"), f"{each.description}\n") for each in found]
        return Content.assemble(*(part for pair in shown for part in pair)).rstrip()
