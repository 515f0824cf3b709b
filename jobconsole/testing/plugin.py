"""The pytest plugin: `pytest_plugins = ["jobconsole.testing.plugin"]` in a `conftest.py` gives the fixture `slow_job_server`.

Only this file knows pytest. A test tunes its server with a mark:
`@pytest.mark.slow_job_server(factor=20, seed=3, script=[...])`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jobconsole.play.script import parse
from jobconsole.testing.server import SlowJobServer


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known to `--strict-markers`."""
    config.addinivalue_line("markers", "slow_job_server(factor, seed, script): tunes the fixture `slow_job_server`")


@pytest.fixture
def slow_job_server(request: pytest.FixtureRequest) -> Iterator[SlowJobServer]:
    """A running provider of slow jobs on a free port of this machine; it ends with the test.

    `script` is a list of steps as in `jobconsole mock --script`.
    """
    mark = request.node.get_closest_marker("slow_job_server")
    options = dict(mark.kwargs) if mark is not None else {}
    script = options.pop("script", None)
    with SlowJobServer(**options, script=parse(script) if script is not None else None) as server:
        yield server
