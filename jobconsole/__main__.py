"""`python -m jobconsole` is `jobconsole`."""

from __future__ import annotations

import sys

from jobconsole.cli.main import main

sys.exit(main())
