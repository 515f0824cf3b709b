"""The exit codes as a table (SPEC X26)."""

from __future__ import annotations

import pytest

from jobconsole.cli.exits import OF_WORD, of_error, of_words
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import (
    AuditBroken,
    CertificateFault,
    ContractInvalid,
    InvalidValue,
    JobconsoleError,
    Refused,
    SecretMissing,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreNewer,
    StoreReadOnly,
    StoreUncertain,
    UnknownOperation,
    UnknownProvider,
)


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownOperation("x"), 1),
        (SecretMissing("x"), 1),
        (ContractInvalid("acme.toml", "states", "x", "y"), 1),
        (CertificateFault("x"), 1),
        (AuditBroken("x"), 1),
        (UnknownProvider("x"), 2),
        (InvalidValue("x"), 2),
        (StoreBusy("x"), 3),
        (StoreFull("x"), 3),
        (StoreDamaged("x"), 3),
        (StoreUncertain("x"), 3),
        (StoreNewer("x"), 3),
        (StoreReadOnly("x"), 4),
        (Refused("stale_revision", "x"), 4),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, JobconsoleError) else str(value),
)
def test_each_error_has_its_code(error: JobconsoleError, code: int) -> None:
    assert of_error(error) == code


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["succeeded"], 0),
        (["failed"], 10),
        (["completed_with_errors"], 11),
        (["timed_out"], 12),
        (["needs_decision"], 13),
        (["cancelled"], 14),
        (["expired"], 14),
        (["no_outcome"], 14),
        (["abandoned"], 14),
        (["succeeded", "cancelled"], 14),
        (["cancelled", "completed_with_errors"], 11),
        (["completed_with_errors", "failed"], 10),
        (["failed", "timed_out"], 12),
        (["timed_out", "needs_decision", "succeeded"], 13),
    ],
)
def test_of_several_operations_the_most_urgent_outcome_counts(words: list[str], code: int) -> None:
    assert of_words(words) == code


def test_every_terminal_phase_has_a_code() -> None:
    assert {str(phase) for phase in Phase if phase.is_terminal} <= OF_WORD.keys()
