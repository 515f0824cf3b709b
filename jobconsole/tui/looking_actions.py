"""The actions of the screens for looking: pages, jumps and proof of the audit, contracts read again, the log followed.

Only this file decides how they are called. Their keys belong to their screens; from elsewhere an action goes there first.
"""

from __future__ import annotations

from collections.abc import Callable

from jobconsole.tui import texts
from jobconsole.tui.action import Act, Action, Call, Takes
from jobconsole.tui.dialogs.jump import place_of
from jobconsole.tui.screens.audit import AuditScreen
from jobconsole.tui.screens.frame import main_screen
from jobconsole.tui.screens.log import LogScreen
from jobconsole.tui.screens.providers import ProvidersScreen


def _on_audit(work: Callable[[AuditScreen, str], None]) -> Act:
    def act(call: Call) -> None:
        def there() -> None:
            screen = main_screen(call.app)
            if isinstance(screen, AuditScreen):
                work(screen, call.argument)

        _go(call, "audit", there)

    return act


def _go(call: Call, mode: str, there: Callable[[], None]) -> None:
    """Go to a screen, and do the work once it stands."""
    if main_screen(call.app).mode != mode:
        call.app.go(mode)
    call.app.call_after_refresh(there)


def _jump(screen: AuditScreen, argument: str) -> None:
    if not argument:
        screen.action_jump()
    elif (place := place_of(argument, screen.feed.now())) is None:
        screen.dashboard.say(texts.no_place(argument), is_bad=True)
    else:
        screen.jump_to(place)


def _read_contracts(call: Call) -> None:
    def there() -> None:
        screen = main_screen(call.app)
        if isinstance(screen, ProvidersScreen):
            screen.action_read_again()

    _go(call, "providers", there)


def _follow_log(call: Call) -> None:
    def there() -> None:
        screen = main_screen(call.app)
        if isinstance(screen, LogScreen):
            screen.action_follow()

    _go(call, "log", there)


LOOKING_ACTIONS = (
    Action("look.verify", "Verify the audit", _on_audit(lambda screen, _: screen.action_verify()), "", "verify",
           "Proves that no event was changed, removed or inserted, or shows the first broken place"),
    Action("look.decisions", "Decisions in the audit", _on_audit(lambda screen, _: screen.action_decisions()), "", "decisions",
           "Who approved what: decisions alone, or everything again"),
    Action("look.jump", "Jump in the audit", _on_audit(_jump), "", "jump", "To an event's number, or a time: jump 1042",
           takes=Takes.TEXT),
    Action("look.newest", "Newest events", _on_audit(lambda screen, _: screen.action_newest()), "", "newest",
           "The last page of the audit"),
    Action("look.oldest", "Oldest events", _on_audit(lambda screen, _: screen.action_oldest()), "", "oldest",
           "The first page of the audit"),
    Action("look.newer", "Newer events", _on_audit(lambda screen, _: screen.action_turn(1)), "", "newer",
           "The next page of the audit"),
    Action("look.older", "Older events", _on_audit(lambda screen, _: screen.action_turn(-1)), "", "older",
           "The page of the audit before this one"),
    Action("look.contracts", "Read contracts again", _read_contracts, "", "reload", "Files of providers may have changed"),
    Action("look.follow", "Follow the log", _follow_log, "", "follow", "Go on with new lines, or stand still"),
)  # fmt: skip
