"""An operation whose kept contract is gone, on a real folder: who asks, who answers, and what the commands say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.sample_contract import TABLES, sample

from .conftest import Shell

MEND = "restore contracts/, or the provider's file as it was"


@pytest.fixture
def lost(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell whose store holds `op-1`, tracked with a file that later calls do not name; the kept copy was deleted."""
    monkeypatch.setenv("ACME_KEY", "a secret of this test")
    file = tmp_path / "acme.toml"
    file.write_text(sample().text)
    assert shell("--provider-file", str(file), "track", "acme", "--job-id", "job-1", "--id", "op-1").code == 0
    for kept in (shell.home / "contracts").iterdir():
        kept.unlink()
    return shell


@pytest.mark.rule("X13", "U1", "U7")
def test_a_worker_asks_a_person_and_every_command_says_why(lost: Shell) -> None:
    assert f"the contract that it was started with is lost; {MEND}" in lost("why", "op-1").out
    assert lost("run", "--until-idle").code == 0
    told = f"acme: the contract that op-1 was started with is not in the store; {MEND}"
    assert lost.phase("op-1") == "escalated"
    assert f"why: the job cannot be followed by its contract: {told}" in lost("inbox").out
    assert told in lost("why", "op-1").out
    assert "integration error, escalated" in lost("audit", "op-1").out
    assert lost("wait", "op-1").code == 13
    refused = lost("cancel", "op-1", "--yes")
    assert (refused.code, f"its contract is lost, and cancel needs it; {MEND}; open now: close" in refused.err) == (4, True)
    assert lost("decide", "op-1", "close", "--reason", "nobody needs it").code == 0
    assert lost.phase("op-1") == "abandoned"


@pytest.mark.rule("X13")
def test_a_person_stops_watching_before_any_worker_has_met_it(lost: Shell) -> None:
    assert lost("decide", "op-1", "close", "--reason", "nobody needs it").code == 0
    assert lost.phase("op-1") == "abandoned"


@pytest.mark.rule("X13")
def test_a_person_adopts_the_file_that_is_there_now(lost: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its check cannot leave without the secret, and that is the next question."""
    newer = sample(status=TABLES["status"] + 'timeout = "7s"')
    (tmp_path / "acme.toml").write_text(newer.text)
    lost("run", "--until-idle")
    named = ("--provider-file", str(tmp_path / "acme.toml"))
    assert "option adopt_contract" in lost(*named, "inbox").out
    monkeypatch.delenv("ACME_KEY")
    adopted = lost(*named, "decide", "op-1", "adopt_contract")
    assert adopted.code == 0, adopted.err
    assert lost("show", "op-1", "--json").json["contract"] == newer.digest
    assert (lost.home / "contracts" / f"{newer.digest}.toml").exists()
