"""A process that starts the processes of the kill test: everything is imported once, so that a start costs milliseconds.

    python tests/kill/nursery.py HOME

Reads one line `WHAT NAME [ARGUMENT...]` per child on stdin, forks, and answers the child's pid on stdout; ends when stdin does.
`run` is the command line's worker, exactly as `jobconsole --home HOME run`; `feed` is `feeder.py`. NAME becomes the value of
the credential, by which the provider knows its caller. What children print goes to HOME.log; none of them outlives the nursery.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from jobconsole.cli.main import COMMANDS, main
from tests.kill import feeder

CREDENTIAL = "JOBCONSOLE_KILL_NAME"
NEEDED = (COMMANDS["run"].target.partition(":")[0], "jobconsole.adapters.http", "jobconsole.adapters.secrets")


def child(home: Path, what: str, name: str, arguments: Sequence[str]) -> int:
    """Be one of the processes, to its end."""
    os.environ[CREDENTIAL] = name
    os.environ["JOBCONSOLE_HOME"] = str(home)
    log = os.open(home.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, number in ((log, 1), (log, 2), (os.open(os.devnull, os.O_RDONLY), 0)):
        os.dup2(stream, number)
    return main(["run"]) if what == "run" else feeder.main(home, arguments)


def serve(home: Path) -> None:
    """Fork what is asked for until nobody asks any more."""
    for module in NEEDED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for children here: they are watched from outside
    children: list[int] = []  # pidfds
    for line in sys.stdin:
        what, name, *arguments = line.split()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            code = 70
            try:
                code = child(home, what, name, arguments)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        children.append(os.pidfd_open(pid))
        print(pid, flush=True)
    for child_fd in children:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child_fd, signal.SIGKILL)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
