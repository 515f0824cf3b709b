"""Where a copied text goes, and what may be said about it: copied only where that was confirmed (UX 1a, honest copy toast).

Only this file decides which way is taken. In this order: the desktop's own clipboard (`copykitten`, the extra `clipboard`),
where this machine is the one that the person sits at; the buffer of tmux, which passes it on to its terminal; the terminal
itself (OSC 52), which never answers; and where that is known to be ignored, the text is shown, to be selected.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import shutil
import threading
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

PATIENCE_S = 1.0  # for a clipboard that does not answer
LONGEST_SENT = 74_994  # characters of base64 that terminals are known to take in one OSC 52


class Way(StrEnum):
    """What became of a copied text."""

    DESKTOP = "desktop"  # read back, and the same
    TMUX = "tmux"  # in tmux's own buffer, for certain; passed on to the terminal, which nobody confirms
    TERMINAL = "terminal"  # sent, and nobody knows
    NONE = "none"


class DesktopClipboard(Protocol):
    """What is used of `copykitten`."""

    def copy(self, content: str) -> None:
        """Put a text there."""

    def paste(self) -> str:
        """What is there."""


class Copier:
    """Copies for one dashboard. `send` writes OSC 52; `environ` says where the person sits, and what the terminal is.

    `is_in_browser`: the person sits elsewhere, and what `environ` says is about the machine that serves.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        send: Callable[[str], None],
        desktop: Callable[[], DesktopClipboard | None],
        *,
        is_in_browser: Callable[[], bool] = lambda: False,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._environ, self._send, self._desktop, self._is_in_browser = environ, send, desktop, is_in_browser
        self._patience_s = patience_s
        self.last = ""  # what was copied last, for whoever did not get it

    async def copy(self, text: str) -> Way:
        """Copy by the first way that works."""
        self.last = text
        if self._is_in_browser():
            self._send(text)
            return Way.TERMINAL
        if not self._is_elsewhere and await _in_time(lambda: self._on_desktop(text), self._patience_s):
            return Way.DESKTOP
        if "TMUX" in self._environ and await self._by_tmux(text):
            return Way.TMUX
        if self._is_deaf or len(base64.b64encode(text.encode())) > LONGEST_SENT:
            return Way.NONE
        self._send(text)
        return Way.TERMINAL

    @property
    def _is_elsewhere(self) -> bool:
        """Over ssh the desktop here is not the one that the person looks at."""
        return bool(self._environ.get("SSH_CONNECTION") or self._environ.get("SSH_TTY"))

    @property
    def _is_deaf(self) -> bool:
        """Terminals that are known to ignore OSC 52."""
        return self._environ.get("TERM") == "linux" or self._environ.get("TERM_PROGRAM") == "Apple_Terminal"

    def _on_desktop(self, text: str) -> bool:
        clipboard = self._desktop()
        if clipboard is None:
            return False
        clipboard.copy(text)
        return clipboard.paste() == text

    async def _by_tmux(self, text: str) -> bool:
        program = shutil.which("tmux", path=self._environ.get("PATH"))
        if program is None:
            return False
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            program,
            "load-buffer",
            "-w",
            "-",
            stdin=asyncio.subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            env=dict(self._environ),
        )
        try:
            await asyncio.wait_for(process.communicate(text.encode()), self._patience_s)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it ended in this moment
                process.kill()
            await process.wait()
        return process.returncode == 0


def desktop_clipboard() -> DesktopClipboard | None:
    """The desktop's clipboard, where `copykitten` is installed."""
    try:
        found: DesktopClipboard = importlib.import_module("copykitten")
    except ImportError:
        return None
    return found


async def _in_time(work: Callable[[], bool], patience_s: float) -> bool:
    """Whether it works out in time, in a thread of its own that nothing waits for; a fault of any kind is a no."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()

    def settle(is_done: bool) -> None:
        if not answer.done():
            answer.set_result(is_done)

    def run() -> None:
        try:
            is_done = work()
        except Exception:  # each platform's clipboard has faults of its own, and all of them mean "not copied"
            is_done = False
        with contextlib.suppress(RuntimeError):  # the dashboard was left meanwhile
            loop.call_soon_threadsafe(settle, is_done)

    threading.Thread(target=run, daemon=True).start()
    try:
        return await asyncio.wait_for(answer, patience_s)
    except TimeoutError:
        return False
