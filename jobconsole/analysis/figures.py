"""The figures that matter, in one column (SPEC L6)."""

from __future__ import annotations

import pandas as pd

from jobconsole.analysis.guidance import guidance
from jobconsole.analysis.operations import detection_delay, outcomes, requests_per_operation


def figures(events: pd.DataFrame) -> pd.DataFrame:
    """One row a figure, with its `value` and what it says in words.

    `bounded` is the share of the operations whose wait is over that reached an outcome or an escalation: it must be 1. Delays
    are in seconds. A figure without anything to count is missing.
    """
    standing = outcomes(events)["operations"]
    requests = requests_per_operation(events)["requests"].astype("Float64")
    seen = detection_delay(events)
    delay = seen["delay"].dt.total_seconds()
    obeyed = guidance(events)["obeyed"].dropna()
    by_standing = standing.groupby(level="standing", observed=False).sum()
    over = by_standing.drop("under way").sum()
    rows = {
        "operations": (standing.sum(), "operations in the log"),
        "under_way": (by_standing["under way"], "still have time left"),
        "bounded": (1 - by_standing["overdue"] / over if over else None, "of the others reached an outcome or an escalation"),
        "requests_median": (requests.median(), "status requests of an operation"),
        "requests_most": (requests.max(), "status requests of the busiest operation"),
        "delay_median": (delay.median(), "seconds until a job's end was seen"),
        "delay_p95": (delay.quantile(0.95), "seconds, 95 % were seen sooner"),
        "guidance": (len(obeyed), "times a provider said when to come back, and a request followed"),
        "guidance_obeyed": (obeyed.mean() if len(obeyed) else None, "of these were obeyed"),
    }
    made = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "meaning"])
    made.index.name = "figure"
    return made.astype({"value": "Float64", "meaning": "str"})
