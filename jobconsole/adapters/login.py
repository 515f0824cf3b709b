"""Who sits here where nobody said who acts: the login name of this process's user.

Only this file asks the system for it. `core/actors.py` says what a name is; the command line, the Python face and the dashboard
take theirs from here, through the console.
"""

from __future__ import annotations

import contextlib
import getpass
import os

from jobconsole.core import actors
from jobconsole.errors import InvalidValue


def login_person() -> str:
    """The actor `person:LOGIN`; `person:uid-1000` where there is no login name, as in a container, or it can be no person's."""
    with contextlib.suppress(OSError, KeyError, ImportError, InvalidValue):
        return actors.person(getpass.getuser())
    return actors.person(f"uid-{os.getuid()}" if hasattr(os, "getuid") else "unknown")
