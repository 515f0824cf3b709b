"""Whatever the provider answers and people choose: a submission that may have begun a job is not sent a second time (C10, X10).

Histories are drawn: answers, lost answers, crashes of the sender, lost contracts, pauses, and every option offered then.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobconsole.core.commands.claims import Claimed
from jobconsole.core.commands.contract_loss import Loss, stop_without_contract
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Delivery, Phase
from tests.core.desk import LEASE, Desk
from tests.core.sample_contract import WITH_TOKEN, sample
from tests.core.sample_facts import accepted, answered, denied, limited, running, unanswered, unavailable

UNNAMED = Observation(verdict=CallError.INTEGRATION_ERROR, http_status=202)
NOTHING_BEGAN = {
    "refused connection": unanswered(is_ambiguous=False),
    "429": limited(),
    "503": unavailable(),
    "401": denied(),
}
"""Answers after which the provider has no job of this submission."""

MAY_HAVE_BEGUN = {"no answer": unanswered(), "500": answered(500, CallError.DELIVERY_FAILURE)}
"""Answers after which nobody knows."""

ANSWERS = {**NOTHING_BEGAN, **MAY_HAVE_BEGUN, "202": accepted(), "202 without a job": UNNAMED}
STEPS = st.one_of(
    st.sampled_from(sorted(ANSWERS)),
    st.sampled_from(("crash", "look", "hour", "lost contract")),
    st.integers(0, 9).map(lambda number: f"option {number}"),
)
NEWER = sample(submit=WITH_TOKEN, states='waiting = ["running"]\nsucceeded = ["done"]')
FIELDS: dict[str, Any] = {"job_id": "job-7", "reason": "tax filing"}


class History:
    """One operation, and what the provider knows of its submission."""

    def __init__(self, *, has_token: bool) -> None:
        self.desk = Desk(sample(submit=WITH_TOKEN) if has_token else sample())
        self.desk.submit()
        self.has_token = has_token
        self.may_exist = self.is_accepted = False

    @property
    def op(self) -> Operation:
        return self.desk.op()

    def take(self, step: str) -> None:
        """One step, where it can happen now."""
        if step.startswith("option"):
            self._choose(int(step.split()[1]))
        elif step == "look":
            self._look()
        elif step == "hour":
            self.desk.clock.advance(3_600)
        elif step == "lost contract":
            loss = Loss("op-1", "worker:a", "the contract is not in the store")
            self.desk.run(self.desk._scope("op-1"), stop_without_contract(loss), "record")
        elif "submit" in self.op.open_actions:
            self._send(step)

    def _send(self, step: str) -> None:
        due_at = self.op.open_actions["submit"].due_at
        if due_at is not None and due_at > self.desk.clock.wall():
            self.desk.clock.advance(due_at - self.desk.clock.wall())
        got = self.desk.claim()
        if not isinstance(got, Claimed):
            return
        assert not self.is_accepted, "an accepted submission was sent again"
        assert self.has_token or not self.may_exist, "a submission that may have begun a job was sent again without a token"
        if step == "crash":
            self.may_exist = True
            self.desk.clock.advance(LEASE)
            return
        seen = ANSWERS[step]
        self.may_exist |= seen.delivery is Delivery.AMBIGUOUS or step in MAY_HAVE_BEGUN or step not in NOTHING_BEGAN
        self.is_accepted |= step not in NOTHING_BEGAN and step not in MAY_HAVE_BEGUN
        self.desk.answer(got.token, seen)

    def _look(self) -> None:
        if self.op.phase is Phase.WAITING and self.op.provider_job_id is not None:
            self.desk.clock.advance(600)
            got = self.desk.reserve()
            if token := getattr(got, "token", None):
                self.desk.record(token, running())

    def _choose(self, number: int) -> None:
        """An option of those that are offered; another file of the contract is there, too."""
        offered = [name for name in self.desk.options(new_digest=NEWER.digest) if name not in ("inspect", "submit_again")]
        if offered:
            name = offered[number % len(offered)]
            self.desk.choose(name, new_contract=NEWER, **FIELDS)


@pytest.mark.rule("C10", "X10", "B17")
@settings(max_examples=500)
@given(has_token=st.booleans(), steps=st.lists(STEPS, max_size=14))
def test_what_may_have_begun_a_job_is_sent_again_only_with_a_token_and_never_once_accepted(
    has_token: bool, steps: list[str]
) -> None:
    """`submit_again` is another operation, and is left out here."""
    history = History(has_token=has_token)
    for step in steps:
        history.take(step)
        if history.is_accepted:
            assert history.op.phase is not Phase.SUBMITTING, "an accepted submission is to be sent again"
