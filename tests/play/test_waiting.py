"""Every scenario, waited for by the real engine over real HTTP, ends as its row of the table says."""

from __future__ import annotations

import pytest

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Budget, Wish
from jobconsole.play.scenarios import SCENARIOS
from jobconsole.play.server import PlayServer
from jobconsole.testing.memory_store import MemoryStore

PATIENCE_S = 240.0
SETTINGS = {"seed": 1, "review_s": 900, "refused_s": 900}  # what people come to mend stays until somebody has looked
TOUCH_THE_ACCOUNT = ("rate-limited", "rate-limited-silently", "auth-expires")  # they hold back whatever shares it
ALONE = [(name,) for name in TOUCH_THE_ACCOUNT]
TOGETHER = tuple(name for name in SCENARIOS if name not in TOUCH_THE_ACCOUNT)
ENDLESS = Budget(deadline="8s")  # of the jobs that only a deadline ends


async def waited_for(server: PlayServer, scenarios: tuple[str, ...]) -> dict[str, Operation]:
    """The operations, by scenario, once each has ended or needs a person."""
    clock = SystemClock()

    def transport() -> HttpTransport:
        return HttpTransport(ReferenceSecrets(), clock)

    console = Desk(MemoryStore(clock), Catalogue(), transport, clock, "test")
    try:
        begun = {}
        for name in scenarios:
            budget = ENDLESS if SCENARIOS[name].reason is Reason.DEADLINE_EXCEEDED else Budget()
            wish = Wish("person:ana", name=name, params={"port": str(server.port)}, budget=budget)
            begun[name] = (await console.submit("play", {"scenario": name, **SETTINGS}, wish=wish)).op.operation_id
        async with console.embedded_worker():
            ended = await console.wait(list(begun.values()), PATIENCE_S)
        return dict(zip(begun, ended, strict=True))
    finally:
        await console.close()


@pytest.mark.slow
@pytest.mark.rule("B3", "B7", "B10", "B12", "B17", "C3", "C4", "C7", "H13")
@pytest.mark.parametrize("scenarios", [*ALONE, TOGETHER], ids=[*TOUCH_THE_ACCOUNT, "all others together"])
async def test_every_scenario_ends_as_its_row_says(scenarios: tuple[str, ...]) -> None:
    """At two provider seconds in a real one. No request is counted less than it was seen, none came before its Retry-After."""
    async with PlayServer(factor=2) as server:
        ended = await waited_for(server, scenarios)
        met = {name: (op.phase, op.escalation.reason if op.escalation else None) for name, op in ended.items()}
        assert met == {name: (SCENARIOS[name].ends_in, SCENARIOS[name].reason) for name in scenarios}
        for op in ended.values():
            seen = server.requests(op.provider_job_id) if op.provider_job_id else 0
            assert seen <= op.status_requests_used <= op.max_status_requests
            assert op.phase is not Phase.SUCCEEDED or op.result is not None
        assert not [seen for seen in server.log if seen.is_early]
