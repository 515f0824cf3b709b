"""What the paths of the play provider mean: submitting, looking, cancelling, listing, counting."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobconsole.play.book import Book, Call
from jobconsole.play.job import FaultKind, Reply
from jobconsole.play.script import parse

AT = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)


class Client:
    """Calls a book at times of the test's choosing."""

    def __init__(self, **options: Any) -> None:
        self.book, self.at_s = Book(**options), 0.0

    def call(self, method: str, target: str, body: bytes = b"", *, is_reused: bool = False, key: str = "") -> Reply:
        """One request now, with an idempotency key where one is given."""
        headers = {"idempotency-key": key} if key else {}
        at = AT + timedelta(seconds=self.at_s)
        return self.book.answer(Call(method, target, headers, body, self.at_s, at, is_reused))

    def submit(self, scenario: str = "slow", key: str = "", **settings: Any) -> Reply:
        """POST a job."""
        body = json.dumps({"scenario": scenario, **settings}).encode()
        return self.call("POST", "/v1/jobs", body, key=key)

    def start(self, scenario: str = "slow", **settings: Any) -> str:
        """The id of a new job."""
        return str(self.submit(scenario, **settings).body["id"])

    def state(self, job_id: str) -> Any:
        """The state that a status request shows."""
        return self.call("GET", f"/v1/jobs/{job_id}").body["state"]


def test_a_submission_answers_202_with_id_state_and_place() -> None:
    reply = Client().submit()
    assert (reply.status, reply.body["state"]) == (202, "queued")
    assert reply.headers == (("Location", f"/v1/jobs/{reply.body['id']}"),)


def test_ids_are_the_same_for_the_same_seed_and_differ_for_another() -> None:
    first, again, other = Client(seed=1), Client(seed=1), Client(seed=2)
    ids = [[client.start() for _ in range(2)] for client in (first, again, other)]
    assert ids[0] == ids[1]
    assert len({*ids[0], *ids[2]}) == 4


@pytest.mark.rule("B17", "C10")
def test_the_same_idempotency_key_is_the_same_job_and_with_another_body_a_mistake() -> None:
    client = Client()
    first, again = client.submit(key="k1", seed=1), client.submit(key="k1", seed=1)
    assert again.body == first.body
    assert ("Idempotency-Replayed", "true") in again.headers
    assert client.submit(key="k1", seed=2).status == 422
    assert client.submit(key="k2", seed=1).body["id"] != first.body["id"]
    assert client.submit(seed=1).body["id"] != first.body["id"]


@pytest.mark.rule("B17")
def test_a_lost_submit_answer_leaves_a_job_that_the_same_key_finds() -> None:
    client = Client()
    lost = client.submit("lost-submit-answer", key="k1")
    assert lost.fault is not None
    assert lost.fault.kind is FaultKind.RESET_BEFORE_RESPONSE
    found = client.submit("lost-submit-answer", key="k1")
    assert (found.fault, found.status) == (None, 202)
    assert len(client.call("GET", "/v1/jobs").body["items"]) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"scenario": "no-such"}', 422),
        (b'{"scenario": 7}', 422),
        (b'{"scenario": "refused"}', 422),
        (b"", 202),
        (b'{"duration_s": "soon", "seed": null}', 202),
    ],
)
def test_a_submission_that_makes_no_sense_is_refused_and_odd_settings_count_as_not_given(body: bytes, status: int) -> None:
    assert Client().call("POST", "/v1/jobs", body).status == status


def test_a_job_lives_on_the_providers_clock() -> None:
    client = Client()
    job_id = client.start(duration_s=10)
    states = []
    for client.at_s in (0.5, 5.0, 10.0):
        states.append(client.state(job_id))
    assert states == ["queued", "running", "succeeded"]
    assert client.call("GET", f"/v1/jobs/{job_id}/result").body["scenario"] == "slow"


# ---- cancel ---------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("A7")
@pytest.mark.parametrize(
    ("scenario", "status", "then"),
    [
        ("slow", 202, ["cancelled", "cancelled"]),
        ("never-ends", 202, ["cancelled", "cancelled"]),
        ("slow-cancel", 202, ["cancelling", "cancelled"]),  # for 3 s
        ("cancel-ignored", 202, ["running", "succeeded"]),
        ("cancel-too-late", 409, ["succeeded", "succeeded"]),
    ],
)
def test_an_accepted_cancel_is_followed_as_its_scenario_says(scenario: str, status: int, then: list[str]) -> None:
    client = Client()
    job_id = client.start(scenario, duration_s=10)
    client.at_s = 5.0
    assert client.call("POST", f"/v1/jobs/{job_id}/cancel").status == status
    states = []
    for client.at_s in (6.0, 12.0):
        states.append(client.state(job_id))
    assert states == then


@pytest.mark.parametrize(
    ("scenario", "cancelled_at", "progress"),
    [("slow", 5.0, 50), ("never-ends", 30.0, 80), ("slow-cancel", 5.0, 50)],
)
def test_a_cancelled_job_keeps_the_progress_that_it_had(scenario: str, cancelled_at: float, progress: int) -> None:
    """10 s long; looked at right after the cancel, and when the 3 s of a slow one are over."""
    client = Client()
    job_id = client.start(scenario, duration_s=10)
    client.at_s = cancelled_at
    client.call("POST", f"/v1/jobs/{job_id}/cancel")
    shown = []
    for client.at_s in (cancelled_at + 2, cancelled_at + 20):
        shown.append(client.call("GET", f"/v1/jobs/{job_id}").body)
    assert [body["progress"] for body in shown] == [progress, progress]
    assert shown[-1]["updated_at"] == shown[-1]["finished_at"]


def test_a_job_that_has_ended_cannot_be_cancelled_and_one_that_was_cancelled_can_be_again() -> None:
    client = Client()
    done, running = client.start(duration_s=1), client.start(duration_s=60)
    client.at_s = 2.0
    assert client.call("POST", f"/v1/jobs/{done}/cancel").status == 409
    assert [client.call("POST", f"/v1/jobs/{running}/cancel").status for _ in range(2)] == [202, 202]


# ---- other paths ----------------------------------------------------------------------------------------------------------
def test_the_list_shows_every_job_as_a_status_request_would() -> None:
    client = Client()
    ids = [client.start(duration_s=duration_s) for duration_s in (1, 60)]
    client.at_s = 10.0
    items = client.call("GET", "/v1/jobs?limit=100").body["items"]
    assert [(item["id"], item["state"]) for item in items] == [(ids[0], "succeeded"), (ids[1], "running")]
    assert [item["id"] for item in client.call("GET", "/v1/jobs?limit=1").body["items"]] == ids[1:]
    assert client.book.requests(ids[0]) == 0  # a list request is no status request


def test_errors_of_a_partial_job_come_in_pages() -> None:
    client = Client()
    job_id = client.start("partial", duration_s=1)
    client.at_s = 2.0
    url = client.call("GET", f"/v1/jobs/{job_id}").body["errors_url"]
    assert len(client.call("GET", url).body["items"]) == 3
    assert client.call("GET", f"{url}?page=2").body == {"items": [], "total": 3, "page": 2}


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/v1/jobs/job_none", 404),
        ("POST", "/v1/jobs/job_none/cancel", 404),
        ("GET", "/v1/jobs/job_none/result", 404),
        ("DELETE", "/v1/jobs", 404),
        ("GET", "/favicon.ico", 404),
    ],
)
def test_what_is_not_there_is_404(method: str, target: str, status: int) -> None:
    assert Client().call(method, target).status == status


def test_a_result_that_is_not_there_yet_is_no_result() -> None:
    client = Client()
    assert client.call("GET", f"/v1/jobs/{client.start()}/result").status == 409


# ---- the log --------------------------------------------------------------------------------------------------------------
def test_requests_are_counted_for_each_job_and_kind() -> None:
    client = Client()
    one, two = client.start(), client.start()
    for job_id in (one, two, one):
        client.state(job_id)
    client.call("POST", f"/v1/jobs/{one}/cancel")
    assert (client.book.requests(one), client.book.requests(two), client.book.requests(one, "cancel")) == (2, 1, 1)
    assert [(seen.on, seen.number) for seen in client.book.log][2:] == [("poll", 1), ("poll", 1), ("poll", 2), ("cancel", 1)]


@pytest.mark.rule("B7")
def test_a_request_before_its_retry_after_is_marked_early() -> None:
    """The answer at 1 s says Retry-After: 2, so at 2 s it is early; that answer says 2 again, so at 4 s it is not."""
    client = Client()
    job_id = client.start("rate-limited")
    for client.at_s in (0.0, 1.0, 2.0, 4.0):
        client.call("GET", f"/v1/jobs/{job_id}")
    polls = [seen for seen in client.book.log if seen.on == "poll"]
    assert [seen.status for seen in polls] == [200, 429, 429, 200]
    assert [seen.is_early for seen in polls] == [False, False, True, False]


def test_retry_after_is_told_in_whole_real_seconds_rounded_up() -> None:
    """2 provider seconds are 0.4 real ones at factor 5: the header says 1, which is 5 provider seconds."""
    client = Client(factor=5.0)
    job_id = client.start("rate-limited")
    replies = []
    for client.at_s in (0.0, 1.0):
        replies.append(client.call("GET", f"/v1/jobs/{job_id}"))
    assert ("Retry-After", "1") in replies[1].headers
    client.at_s = 5.9
    client.call("GET", f"/v1/jobs/{job_id}")
    assert client.book.log[-1].is_early


# ---- scripts --------------------------------------------------------------------------------------------------------------
def test_a_script_answers_by_request_number_for_each_job() -> None:
    script = parse(
        [
            {"on": "poll", "status": 503, "headers": [["Retry-After", "7"]], "repeat": 2},
            {"on": "poll", "body": {"id": "job-1", "state": "succeeded"}},
        ]
    )
    client = Client(script=script)
    statuses = [client.call("GET", f"/v1/jobs/{job_id}").status for job_id in ("a", "a", "b", "a", "a")]
    assert statuses == [503, 503, 503, 200, 500]
    assert client.submit().status == 202  # a kind that the script does not name is answered as usual


def test_closed_on_reuse_waits_for_a_reused_connection() -> None:
    script = parse([{"on": "poll", "fault": "closed_on_reuse"}, {"on": "poll", "status": 202}])
    client = Client(script=script)
    assert client.call("GET", "/v1/jobs/a", is_reused=False).status == 202  # passed over on a fresh one
    fault = client.call("GET", "/v1/jobs/b", is_reused=True).fault
    assert fault is not None
    assert fault.kind is FaultKind.CLOSED_ON_REUSE
