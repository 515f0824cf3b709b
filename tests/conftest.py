"""What every test has: the rule table, the ban on silent skips, the public fixtures, and one Hypothesis profile.

Fixtures for a part of the package live in that part's own `conftest.py`.
"""

from __future__ import annotations

import os

from hypothesis import settings

pytest_plugins = ("jobconsole.testing.plugin", "tests.patient_plugin", "tests.rules_plugin", "tests.skips_plugin")

# On a loaded machine one example may take long without anything being wrong. In CI the same examples come each time, so that
# a red run is red for the change at hand.
settings.register_profile("jobconsole", deadline=None, derandomize=os.environ.get("CI") == "true", print_blob=True)
settings.load_profile("jobconsole")
