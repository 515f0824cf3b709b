"""The projection that all front ends show: every key of the specification, and nothing that is no one's business."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from jobconsole.core.commands.submission import Wanted
from jobconsole.core.contracts.view import contract_view
from jobconsole.core.operation import Limits, Operation, action
from jobconsole.core.telling.views import action_view, operation_view, row_view
from jobconsole.core.vocabulary import Phase
from tests.core.staged_wait import StagedWait, at, contract

SPEC_11 = (
    "operation_id name provider account provider_job_id phase last_known_state progress started_at deadline_at "
    "business_deadline_at ended_at max_status_requests status_requests_used max_transport_failures transport_failures_used "
    "max_rate_limits rate_limits_used next_poll_at delay_source last_http_status last_http_at request_fingerprint revision "
    "escalation"
)
X23 = "error message delivery provider_expires_at task owner late hold result counts errors_url"


async def view(wait: StagedWait) -> dict[str, Any]:
    """The view of the operation now, judged by its contract, with its account where there is one."""
    doc = await wait.store.document("accounts", "acme-prod@api.acme.example")
    account = await wait.account() if doc is not None else None
    return operation_view(await wait.op(), wait.clock.wall(), account, wait.contract)


async def started() -> StagedWait:
    """A wait whose submission was accepted at 10:20:00; its first check is due at 10:20:05."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    return wait


async def escalated(clock: str = "11:00:00") -> StagedWait:
    """The same at its deadline."""
    wait = await started()
    await wait.check(200, {"state": "running", "progress": 42}, draw=0.5)
    wait.go(clock)
    await wait.reserve()
    return wait


async def test_a_row_shows_a_part_of_the_record_with_the_same_values() -> None:
    """Whatever a list says of an operation, its record says too."""
    done, asking = await started(), await escalated()
    await done.check(200, {"state": "succeeded", "result": 1})
    for wait in (await started(), done, asking):
        op, now = await wait.op(), wait.clock.wall()
        assert row_view(op, now).items() <= operation_view(op, now, None, None).items()


# ---- keys and values ---------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X23")
async def test_every_key_is_there_before_anything_is_known_and_null_where_unknown() -> None:
    """A record that was only written shows all keys of SPEC 11 and X23."""
    wait = StagedWait()
    await wait.record_submission(name=None)
    shown = await view(wait)
    assert [key for key in (*SPEC_11.split(), *X23.split()) if key not in shown] == []
    unknown = (
        "name provider_job_id last_known_state progress ended_at next_poll_at last_http_status error message result counts"
    )
    assert [key for key in unknown.split() if shown[key] is not None] == []
    assert shown["delivery"] == "none"


@pytest.mark.rule("X23")
async def test_the_keys_are_the_same_in_every_phase() -> None:
    """A reader may rely on a key whatever became of the operation."""
    wait = StagedWait()
    await wait.record_submission()
    first = set(await view(wait))
    asked = await view(await escalated())
    done = await started()
    await done.check(200, {"state": "succeeded", "result": 1})
    assert first == set(asked) == set(await view(done))


async def test_values_are_json_and_times_are_utc_with_z_and_milliseconds() -> None:
    """The view survives the standard encoder, and every `_at` is a time of one form."""
    shown = await view(await escalated())
    json.dumps(shown, allow_nan=False)
    times = [value for key, value in shown.items() if key.endswith("_at") and value is not None]
    assert times
    for value in times:
        assert value.endswith("Z")
        assert value[-5] == "."
        assert datetime.fromisoformat(value).tzinfo is not None
    assert shown["started_at"] == "2026-11-29T10:20:00.000Z"


async def test_progress_is_a_number_between_0_and_1_and_elapsed_counts_whole_seconds() -> None:
    """42 of 100, and 40 minutes from the record on."""
    shown = await view(await escalated())
    assert (shown["progress"], shown["elapsed_seconds"]) == (0.42, 40 * 60)


async def test_elapsed_stands_still_after_the_end() -> None:
    """What ended at 10:20:05 took 5 seconds, whenever one looks."""
    wait = await started()
    await wait.check(200, {"state": "failed", "error": "no disk"})
    wait.go("15:00:00")
    shown = await view(wait)
    assert (shown["elapsed_seconds"], shown["done"], shown["error"]) == (5, True, {"code": None, "text": "no disk"})


async def test_no_secret_of_the_request_is_shown() -> None:
    """The idempotency token and the request's body stay in the record."""
    text = json.dumps(await view(await started()))
    assert "token-that-nobody-sees" not in text
    assert "quarter" not in text


@pytest.mark.parametrize(("state", "is_shown"), [("succeeded", True), ("partial", True), ("failed", False)])
async def test_only_a_success_or_a_partial_one_shows_a_result(state: str, is_shown: bool) -> None:
    """A failure's body may look like a result; nobody gets to report it."""
    wait = await started()
    await wait.check(200, {"state": state, "result": {"rows": 9}})
    shown = await view(wait)
    assert (shown["result"] is not None and shown["result"]["inline"] == {"rows": 9}) is is_shown


@pytest.mark.rule("B14")
async def test_the_earlier_deadline_is_named() -> None:
    """The business deadline stops requests where it comes first."""
    wait = StagedWait()
    await wait.record_submission(budget=wanted(wait, business=at("10:50:00")))
    shown = await view(wait)
    assert (shown["stops_at"], shown["stops_by"]) == ("2026-11-29T10:50:00.000Z", "business_deadline")


def wanted(wait: StagedWait, business: datetime) -> Wanted:
    """The contract's own budget, with a business deadline."""
    own = wait.contract.budget
    return Wanted(own.deadline, own.status_requests, own.transport_failures, own.rate_limits, business)


@pytest.mark.parametrize(("minutes", "is_stalled"), [(9, False), (11, True)])
async def test_a_job_that_has_not_moved_for_longer_than_the_contract_allows_is_flagged(minutes: int, is_stalled: bool) -> None:
    """`stalled_after` is 10 minutes; no limit is touched."""
    wait = await started()
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.clock.advance(timedelta(minutes=minutes))
    await wait.check(200, {"state": "running"}, draw=0.5)
    shown = await view(wait)
    assert shown["stalled"] is is_stalled
    assert shown["phase"] == "waiting"


# ---- budget and options ------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H9")
async def test_original_granted_and_used_are_shown_apart_and_so_is_a_persons_time() -> None:
    """Asked at 11:00:00, extended at 11:03:00: 180 seconds were a person's."""
    wait = await escalated()
    wait.go("11:03:00")
    await wait.decide("extend", minutes=10, checks=2, failures=0, rate_limits=1)
    shown = await view(wait)
    assert shown["budget"] == {
        "original": {
            "deadline_at": "2026-11-29T11:00:00.000Z",
            "status_requests": 12,
            "transport_failures": 3,
            "rate_limits": 3,
        },
        "granted": {"times": 1, "minutes": 10, "status_requests": 2, "transport_failures": 0, "rate_limits": 1},
        "used": {"elapsed_seconds": 43 * 60, "status_requests": 1, "transport_failures": 0, "rate_limits": 0},
    }
    assert (shown["max_status_requests"], shown["deadline_at"]) == (14, "2026-11-29T11:13:00.000Z")
    assert shown["waited_for_person_seconds"] == 180


@pytest.mark.rule("H9")
async def test_a_persons_time_is_counted_while_it_passes_and_after_a_granted_check_as_well() -> None:
    """Two questions: 60 s for the first, then a granted check that raises a second one, and 30 s of that."""
    wait = await started()
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.go("10:20:15")
    await wait.check(401)
    wait.go("10:21:15")
    assert (await view(wait))["waited_for_person_seconds"] == 60
    await wait.decide("credential_mended")
    await wait.check(200, {"state": "weird"})
    wait.go("10:21:45")
    assert (await view(wait))["waited_for_person_seconds"] == 90
    await wait.decide("close", reason="given up")
    assert (await view(wait))["waited_for_person_seconds"] == 90


@pytest.mark.rule("H2")
async def test_an_option_states_its_cost_and_what_stands_before_and_after() -> None:
    """Numbers as the contract bounds them: 15 minutes, 4 checks, 1 failure, 1 rate-limit answer, twice in all."""
    wait = await escalated()
    asked = (await view(wait))["escalation"]
    texts = {option["name"]: option["text"] for option in asked["options"]}
    assert texts["extend"] == (
        "extend once: 15 minutes and 4 more checks; deadline 11:00:00 -> 11:15:00 UTC, checks 12 -> 16, "
        "transport failures 3 -> 4, rate-limit answers 3 -> 4, extensions 0 -> 1 of 2"
    )
    assert texts["cancel"] == (
        "cancel at provider: Stops billing; partial output is lost; costs up to 4 checks in 10 minutes to learn how it ended"
    )
    assert texts["close"] == "close: stops watching without knowing the outcome; the job itself is not touched"
    assert (asked["reason"], asked["since"]) == ("deadline_exceeded", "2026-11-29T11:00:00.000Z")
    assert not any("continue" in text for text in texts.values())


@pytest.mark.rule("H5")
async def test_an_option_says_whether_it_needs_a_reason_in_words() -> None:
    """`close` does, `extend` does not."""
    options = {option["name"]: option for option in (await view(await escalated()))["options"]}
    assert (options["close"]["needs_reason"], options["extend"]["needs_reason"]) == (True, False)


async def test_the_console_of_the_provider_is_named_for_this_job() -> None:
    """`inspect` carries the link."""
    options = {option["name"]: option for option in (await view(await escalated()))["options"]}
    assert options["inspect"]["url"] == "https://console.acme.example/exports/exp_71c"


@pytest.mark.rule("X8")
async def test_a_check_where_the_limit_is_spent_says_that_the_limit_grows_by_one() -> None:
    """12 of 12 are used, so `credential_mended` is a grant of one request."""
    wait = await started()
    for minute in range(21, 32):
        await wait.check(200, {"state": "running"}, draw=0.1)
        wait.go(f"10:{minute}:00")
    await wait.check(401)
    options = {option["name"]: option for option in (await view(wait))["options"]}
    assert options["credential_mended"]["change"] == "checks 12 -> 13"


@pytest.mark.rule("X12", "B14")
async def test_a_pause_past_the_deadline_says_that_it_is_an_extension_and_past_which_deadline() -> None:
    """At 10:50:00 a pause of 15 minutes ends at 11:05:00, its check needs 10 s and one to spare."""
    wait = await started()
    wait.go("10:50:00")
    await wait.check(200, {"state": "weird"})
    options = {option["name"]: option for option in (await view(wait))["options"]}
    assert options["pause"]["text"] == (
        "pause: sends exactly one check at that time; one check at 11:05:00 UTC, "
        "counts as an extension: deadline 11:00:00 -> 11:05:11 UTC"
    )


async def test_without_the_contract_an_escalation_shows_the_options_that_were_offered() -> None:
    """A front end that cannot read the contract still shows what the record says."""
    wait = await escalated()
    shown = operation_view(await wait.op(), wait.clock.wall(), None, None)
    assert [option["name"] for option in shown["options"]] == ["extend", "cancel", "inspect", "close"]
    assert shown["hold"] is None


# ---- holds, accounts, actions, contracts -------------------------------------------------------------------------------------
@pytest.mark.rule("B9", "X23")
async def test_a_hold_of_the_account_is_shown_with_since_and_until() -> None:
    """503 with Retry-After at 10:20:05, another one at 10:21:05: held since the first."""
    wait = await started()
    await wait.check(503, headers={"Retry-After": "60"})
    shown = await view(wait)
    held = {"reason": "account_hold", "since": "2026-11-29T10:20:05.000Z", "until_at": "2026-11-29T10:21:05.000Z"}
    assert shown["hold"] == {**held, "escalated_operation": None}
    wait.go("10:21:05")
    assert (await view(wait))["hold"] is None


@pytest.mark.rule("B11", "X23")
async def test_a_denied_account_holds_the_others_and_names_who_asks() -> None:
    """The one that carries the question is escalated, not held."""
    wait = await started()
    await wait.check(401)
    account = await wait.account()
    other = StagedWait(operation_id="op_2")
    await other.submit()
    shown = operation_view(await other.op(), wait.clock.wall(), account, other.contract)
    assert shown["hold"] == {
        "reason": "authorization_denied",
        "since": "2026-11-29T10:20:05.000Z",
        "until_at": None,
        "escalated_operation": "op_1",
    }
    assert (await view(wait))["hold"] is None


async def test_an_action_shows_who_asked_who_approved_and_what_came_of_it() -> None:
    """The submission's own record."""
    wait = await started()
    doc = await wait.store.document("actions", "act_submit")
    assert doc is not None
    shown = action_view(action(doc))
    assert (shown["kind"], shown["state"], shown["outcome"], shown["http_status"]) == ("submit", "ended", "accepted", 202)
    assert (shown["requested_by"], shown["started_at"]) == ("person:ana", "2026-11-29T10:20:00.000Z")


@pytest.mark.rule("C13")
def test_a_contract_is_shown_with_references_in_place_of_secrets() -> None:
    """States by class, requests in one line, expressions as written, durations as people write them."""
    shown = contract_view(contract())
    json.dumps(shown, allow_nan=False)
    assert shown["auth"]["secret"] == "env:ACME_TOKEN"
    assert shown["states"]["waiting"] == ["queued", "running"]
    assert shown["status"]["request"]["request"] == "GET /v1/exports/{job_id}"
    assert shown["status"]["state"] == "body.state"
    assert (shown["budget"]["deadline"], shown["schedule"]["max"]) == ("40m", "2m")
    assert "text" not in shown


def test_the_view_reads_a_record_that_holds_next_to_nothing() -> None:
    """No field that may be missing is needed."""
    limits = Limits(deadline_at=at("11:00:00"), status_requests=1, transport_failures=1, rate_limits=1)
    op = Operation(
        operation_id="op_1", provider="p", account="a", account_key="a@h", contract="c", request_fingerprint="f",
        phase=Phase.WAITING, started_at=at("10:20:00"), deadline_at=at("11:00:00"), original=limits, max_status_requests=1,
        max_transport_failures=1, max_transport_failures_in_a_row=1, max_rate_limits=1,
    )  # fmt: skip
    shown = operation_view(op, at("10:19:00"), None, None)
    assert (shown["elapsed_seconds"], shown["options"]) == (0, [])
