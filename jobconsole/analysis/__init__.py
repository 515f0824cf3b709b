"""How good the waiting was: the figures that matter, computed from the log, and their plots (SPEC L6).

Every function takes an audit frame (`console.audit().to_frame()`, `jobconsole.read_audit(path)`) and returns a frame, so that
an analyst can go on with it; `plots.py` draws them. Nothing here opens a store or sends anything. `figures` sums up the rest.
"""

from __future__ import annotations

from jobconsole.analysis.figures import figures
from jobconsole.analysis.guidance import guidance
from jobconsole.analysis.operations import burn_down, detection_delay, outcomes, requests_per_operation
from jobconsole.analysis.plots import (
    plot_burn_down,
    plot_detection_delay,
    plot_outcomes,
    plot_provider_health,
    plot_requests,
    plot_waiting,
)
from jobconsole.analysis.time import provider_health, waiting_by_reason

__all__ = [
    "burn_down",
    "detection_delay",
    "figures",
    "guidance",
    "outcomes",
    "plot_burn_down",
    "plot_detection_delay",
    "plot_outcomes",
    "plot_provider_health",
    "plot_requests",
    "plot_waiting",
    "provider_health",
    "requests_per_operation",
    "waiting_by_reason",
]
