"""`inbox test-notice`: a message to see whether messages arrive, by every channel of `[notify]` (SPEC A6).

Only this file prints what became of it: each channel by its scheme, never by its URL. It changes nothing in the store.
"""

from __future__ import annotations

import asyncio

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.output import Tone, Toned
from jobconsole.console import load_notify, send_trial_notice
from jobconsole.errors import InvalidValue, Refused

NO_URLS = 'config.toml: notify.urls names no channel; write urls = ["env:JOBCONSOLE_NOTIFY_URL"] under [notify]'

_WORDS = {
    True: Toned("went out", Tone.GOOD),
    False: Toned("did not go out", Tone.BAD),
    None: Toned("may have gone out", Tone.BAD),
}


@click.command("test-notice")
@pass_invocation
def trial(invocation: Invocation) -> Exit:
    """Send a test message by the configured urls, quiet hours or not."""
    if invocation.is_read_only:
        raise Refused("read_only", "read-only: no message is sent")
    settings = load_notify(invocation.home)
    if not settings.urls:
        raise InvalidValue("; ".join(settings.faults) or NO_URLS)
    sent, faults = asyncio.run(send_trial_notice(invocation.home))
    for fault in faults:
        invocation.output.note(fault)
    if invocation.as_json:
        rows = [{"channel": each.channel, "ok": each.is_taken, "detail": each.detail} for each in sent]
        invocation.output.json(rows)
    else:
        for each in sent:
            invocation.output.line(f"{each.channel}://…  ", _WORDS[each.is_taken], f": {each.detail}" if each.detail else "")
    return Exit.OK if sent and all(each.is_taken for each in sent) and not faults else Exit.FAILURE
