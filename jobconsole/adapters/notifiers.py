"""Messages to people by Apprise: Slack, mail, ntfy, the desktop and many more, each named by a URL (SPEC A6, UX 2).

Only this file knows Apprise, an extra, imported when the first message leaves. A URL of Apprise holds its credential: it is
read from its reference for each message, forgotten after it, and no text that leaves this file holds a piece of it (C13).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import re
import smtplib
import socket
import ssl
import sys
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from jobconsole.core.redaction import redact
from jobconsole.core.telling.notice import Notice
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import SecretMissing
from jobconsole.protocols import Reach, Secrets, Sent

if TYPE_CHECKING:
    import apprise

T = TypeVar("T")
PATIENCE_S = 20.0  # for one channel; all are asked at once
LOOKING_S = 10.0  # for reading the references: a keyring may ask a person
EXTRA_MISSING = "notifications by urls need Apprise: pip install 'jobconsole[notify]'"

_SCHEME = re.compile(r"[a-z][a-z0-9]{0,19}(?=://)", re.IGNORECASE)
_LONGEST = 200  # characters of what a channel says
_REFUSED = (
    ConnectionRefusedError,
    socket.gaierror,
    ssl.SSLCertVerificationError,
    smtplib.SMTPResponseException,
    smtplib.SMTPRecipientsRefused,
)
"""Faults after which nobody has the message: there was no way to the service, or it said no."""
_THREAD = "jobconsole-notify"


@dataclass(frozen=True, slots=True)
class _Channel:
    """One URL; it is shown nowhere."""

    url: str

    @property
    def name(self) -> str:
        """What it is called: the scheme, as far as the text has one."""
        found = _SCHEME.match(self.url)
        return found.group().lower() if found else "no scheme"

    def __repr__(self) -> str:
        return f"<channel {self.name}>"


class AppriseNotifier:
    """Sends by the URLs behind these references. A URL that cannot be read costs its own channel only."""

    def __init__(self, references: Sequence[str], secrets: Secrets, *, patience_s: float = PATIENCE_S) -> None:
        self._references, self._secrets, self._patience_s = tuple(references), secrets, patience_s

    async def reach(self) -> Reach:
        """Which channels can be tried now. Without Apprise, or where nothing can be read, there is none."""
        if importlib.util.find_spec("apprise") is None:
            return Reach((), (EXTRA_MISSING,))
        channels, faults = await self._read()
        return Reach(tuple(channel.name for channel in channels), faults)

    async def send(self, notice: Notice) -> Sequence[Sent]:
        """Send by all channels at once, each in a thread of its own, and wait at most `patience_s` for each."""
        channels, _ = await self._read()
        return await asyncio.gather(*(self._send(channel, notice) for channel in channels))

    async def _read(self) -> tuple[list[_Channel], tuple[str, ...]]:
        try:
            return await _aside(self._read_now, LOOKING_S)
        except TimeoutError:
            return [], (f"notify.urls: could not be read within {LOOKING_S:.0f} s; unlock the keyring",)

    def _read_now(self) -> tuple[list[_Channel], tuple[str, ...]]:
        channels, faults = [], []
        for reference in self._references:
            try:
                channels.append(_Channel(self._secrets.read(reference)))
            except SecretMissing as error:
                faults.append(f"notify.urls: {error}")
        return channels, tuple(faults)

    async def _send(self, channel: _Channel, notice: Notice) -> Sent:
        try:
            said = await _aside(lambda: _deliver(channel.url, notice, self._patience_s), self._patience_s)
        except TimeoutError:
            return Sent(channel.name, None, f"no answer within {self._patience_s:g} s")
        except Exception as error:  # whatever a channel does stays with it
            said = _Said(False if _is_refusal(error) else None, f"{type(error).__name__}: {error}")
        return Sent(channel.name, said.is_taken, _harmless(said.text, channel.url))


@dataclass(frozen=True, slots=True)
class _Said:
    """What became of a message (`Sent.is_taken`), in words that may hold pieces of the URL."""

    is_taken: bool | None
    text: str = ""


def _deliver(url: str, notice: Notice, patience_s: float) -> _Said:
    """Send by one URL. Blocks, and runs in a thread of this file only.

    Apprise says no of a message that was refused and of one whose answer was lost. The fault that it was handling when it
    warned tells them apart; of several targets behind one URL it tells of one, so that the others are unknown.
    """
    try:
        import apprise
    except ImportError:
        return _Said(False, EXTRA_MISSING)
    _here.said, _here.faults = [], []
    for name in _TALKATIVE:
        logging.getLogger(name).addFilter(_KEPT)  # a second time changes nothing
    asset = _asset(apprise)
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        return _Said(False, "Apprise does not understand the URL; see its documentation of this service")
    if "socket_read_timeout" not in vars(service):  # unless the URL says how long: then this file's patience decides
        service.socket_read_timeout = patience_s + 1
    sender = apprise.Apprise(asset=asset)
    sender.add(service)
    if sender.notify(notice.text, notice.title, body_format=apprise.NotifyFormat.TEXT):
        return _Said(True)
    text = " ".join(_here.said) or "the service did not take it"
    if len(service) > service.retry + 1:  # Apprise counts each target once for each try
        return _Said(None, f"not all of its targets took it: {text}")
    if not _here.said or not all(map(_is_refusal, _here.faults)):
        return _Said(None, f"it may have been taken: {text}")
    return _Said(False, text)


def _is_refusal(fault: BaseException | None) -> bool:
    """Whether nobody can have the message after this fault, or after what caused it."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError  # it comes with Apprise

    while fault is not None:
        if isinstance(fault, (*_REFUSED, ConnectTimeoutError, NewConnectionError)):
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def _asset(library: Any) -> apprise.AppriseAsset:
    """Nothing on disk, no picture from elsewhere, no thread pool: this file's threads end with the program."""
    made: apprise.AppriseAsset = library.AppriseAsset(
        app_id="jobconsole",
        app_desc="jobconsole",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        service_timeout=0,
        pgp_autogen=False,
        pem_autogen=False,
        storage_mode="memory",
    )
    return made


class _Kept(logging.Filter):
    """Keeps back what is logged while a message is sent here: it tells URLs. Warnings say what went wrong with the message."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line may go on: it may where it comes from elsewhere in the program."""
        said: list[str] | None = getattr(_here, "said", None)
        if said is None:
            return True
        if record.levelno >= logging.WARNING and record.name == "apprise":
            said.append(record.getMessage())
            if (fault := sys.exc_info()[1]) is not None:  # Apprise warns while it handles it, and forgets it then
                _here.faults.append(fault)
        return False


_here = threading.local()  # `said`, `faults`: what Apprise told of the message that this thread sends, and why
_KEPT = _Kept()
_TALKATIVE = ("apprise", "urllib3.connectionpool")


def _harmless(said: str, url: str) -> str:
    """What a channel said, without any piece of its URL."""
    return inert(redact(said, _pieces(url)), _LONGEST)


def _pieces(url: str) -> set[str]:
    """Everything in a URL that may be a secret, as written and as decoded: with some services even the host is one."""
    rest = url.partition("://")[2] or url
    words = {url, rest, *re.split(r"[/:@?&=#,;]+", rest)}
    words |= {urllib.parse.unquote_plus(word) for word in words}
    return words | {word.lower() for word in words}


async def _aside(work: Callable[[], T], seconds: float) -> T:
    """Run blocking work in a daemon thread. Raises `TimeoutError` when it takes longer: the thread is left to itself then.

    A pool's thread would be waited for when the program ends; this one is not.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = work()
        except Exception as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name=_THREAD, daemon=True).start()
    async with asyncio.timeout(seconds):
        return await done
