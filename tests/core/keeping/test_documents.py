"""Documents and their indexes: the same whether they grew change by change, in layers, or were loaded at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.command import Moment
from jobconsole.core.keeping import due
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.looks import settle
from jobconsole.core.operation import document
from tests.store.made import ACCOUNT, START, lease, made

NOW = Moment(START, 1_000_000, "boot-1")
PERMITS = ("cancel", "use_credential")
SECOND = "acme-2@api.acme.example"

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "phase": st.sampled_from(["waiting", "escalated", "succeeded"]),
    "due_at": st.sampled_from([None, "2026-11-29T09:00:00Z", "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z"]),
    "deadline_at": st.sampled_from(["2026-11-29T09:30:00Z", "2026-11-29T12:00:00Z"]),
    "business_deadline_at": st.sampled_from([None, "2026-11-29T09:10:00Z"]),
    "is_business_deadline_waived": st.booleans(),
    "permit": st.sampled_from([None, *({"purpose": name, "until_at": "2026-11-29T09:20:00Z"} for name in PERMITS)]),
    "credential": st.sampled_from([None, "env:OTHER"]),
    "open_actions": st.sampled_from([None, {"cancel": {"action_id": "a", "due_at": "2026-11-29T09:00:00Z"}}]),
    "lease": st.sampled_from([None, document(lease(NOW.up + 1)), document(lease(NOW.up - 1))]),
    "provider_job_id": st.sampled_from([None, "job-1", "job-2"]),
    "request_fingerprint": st.sampled_from(["f-1", "f-2"]),
    "account_key": st.sampled_from([ACCOUNT, SECOND]),
    "status_requests_used": st.integers(0, 3),
}
NEW = {name: value for name, value in document(settle(made())).items() if name != "operation_id"}
CHANGES = st.lists(
    st.tuples(st.integers(1, 4), st.none() | st.fixed_dictionaries({}, optional=FIELDS)), max_size=30
)  # (operation, what changes; None removes it)


def seen(documents: Documents) -> dict[str, Any]:
    """Everything that a store asks its documents."""

    def ids(docs: Any) -> list[str]:
        return [str(doc["operation_id"]) for doc in docs]

    asked: dict[str, Any] = {"in flight": ids(documents.in_flight()), "owners": documents.owners()}
    for account_key in (ACCOUNT, SECOND):
        asked[f"open {account_key}"] = ids(documents.open_of(account_key))
        asked[f"live {account_key}"] = documents.live_leases(account_key, NOW, lambda owner: False)
    for job_id in ("job-1", "job-2", "job of op-1"):
        asked[job_id] = ids(documents.of_job("acme", "acme", job_id))
    for fingerprint in ("f-1", "f-2"):
        asked[fingerprint] = ids(documents.with_fingerprint(fingerprint))
    for hours in (-1, 0, 1, 3):
        later = Moment(START + timedelta(hours=hours), NOW.up + hours * 3_600_000, NOW.boot)
        asked[f"due {hours}"] = list(documents.due(later, later.wall, 100, lambda owner: False))
    return asked


def wire(number: int, changed: dict[str, Any] | None, documents: Documents) -> dict[str, Any]:
    """One `set`: a change of what is there, the whole document where nothing is."""
    if changed is not None and documents.get("operations", f"op-{number}") is None:
        changed = {**NEW, "operation_id": f"op-{number}", **changed}
    return {f"_default/{number}": changed}


@pytest.mark.rule("S4")
@given(CHANGES)
def test_indexes_that_grew_equal_those_that_were_loaded(changes: list[tuple[int, dict[str, Any] | None]]) -> None:
    """Whatever changed, in whatever order: a restart finds the same."""
    grown = Documents()
    for number, changed in changes:
        grown.merge(wire(number, changed, grown))
        seen(grown)
    loaded = Documents()
    loaded.load(grown.snapshot())
    assert seen(grown) == seen(loaded)


@given(CHANGES, CHANGES)
def test_a_layer_shows_what_the_documents_will_be_and_leaves_them_alone(
    below: list[tuple[int, dict[str, Any] | None]], above: list[tuple[int, dict[str, Any] | None]]
) -> None:
    """What a batch sees before it is durable is what everybody sees after."""
    documents = Documents()
    for number, changed in below:
        documents.merge(wire(number, changed, documents))
    before = documents.snapshot()
    layer, sets = Documents(below=documents), []
    for number, changed in above:
        sets.append(wire(number, changed, layer))
        layer.merge(sets[-1])
    asked = {
        account: [doc["operation_id"] for doc in layer.open_of(account)]
        + [layer.live_leases(account, NOW, lambda owner: False)]
        for account in (ACCOUNT, SECOND)
    }
    found = [[dict(doc) for doc in layer.of_job("acme", "acme", job_id)] for job_id in ("job-1", "job-2")]
    same = [[dict(doc) for doc in layer.with_fingerprint(name)] for name in ("f-1", "f-2")]
    assert documents.snapshot() == before
    for changes in sets:
        documents.merge(changes)
    assert asked == {
        account: [doc["operation_id"] for doc in documents.open_of(account)]
        + [documents.live_leases(account, NOW, lambda owner: False)]
        for account in (ACCOUNT, SECOND)
    }
    assert found == [[dict(doc) for doc in documents.of_job("acme", "acme", job_id)] for job_id in ("job-1", "job-2")]
    assert same == [[dict(doc) for doc in documents.with_fingerprint(name)] for name in ("f-1", "f-2")]


class Recorder(dict[str, Any]):
    """A document that remembers which fields were read."""

    def __init__(self, doc: dict[str, Any]) -> None:
        super().__init__(doc)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        """Note and answer."""
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def test_the_list_of_fields_that_a_plan_depends_on_is_complete() -> None:
    """A field that `planned` reads and `PLANNED_FROM` forgets would leave a stale plan in the queue."""
    doc = Recorder({**document(settle(made())), "business_deadline_at": "2026-11-29T10:30:00Z"})
    assert due.planned(doc) is not None
    assert doc.names <= set(due.PLANNED_FROM)
    assert len(doc.names) > 5


def test_tables_of_a_newer_version_are_left_alone() -> None:
    """An unknown table is no reason to stop."""
    documents = Documents()
    assert documents.merge({"inventions/1": {"x": 1}}) == ()
    assert documents.merge({"_default/9": None}) == ()
