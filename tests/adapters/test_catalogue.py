"""Where contracts come from: what wins, what is read when, and what a wrong name or file is told."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.core.contracts.contract import Contract
from jobconsole.errors import ContractInvalid, UnknownProvider

BUILT_IN = 27  # 26 real APIs and the play provider

OWN = """
extends = "openai-batch"
[provider]
name = "openai-batch"
account = "{account}"
[budget]
deadline = "2h"
status_requests = 9
transport_failures = 2
"""


def test_the_built_in_catalogue_is_there() -> None:
    catalogue = Catalogue()
    assert len(catalogue.names()) == BUILT_IN
    assert catalogue.get("openai-batch").source == "built-in openai-batch.toml"
    assert all(isinstance(contract, Contract) for contract in catalogue.all())


def test_a_file_wins_over_the_store_s_folder_and_that_over_the_catalogue(tmp_path: Path) -> None:
    home, file = tmp_path / "providers", tmp_path / "mine.toml"
    home.mkdir()
    (home / "openai.toml").write_text(OWN.format(account="of the store"), encoding="utf-8")
    assert Catalogue(home).get("openai-batch").account == "of the store"
    file.write_text(OWN.format(account="of the file"), encoding="utf-8")
    catalogue = Catalogue(home, [file])
    found = catalogue.get("openai-batch")
    assert (found.account, found.source) == ("of the file", str(file))
    assert found.states == Catalogue().get("openai-batch").states  # extends the one before it, through the store's
    assert len(catalogue.names()) == BUILT_IN


def test_a_package_offers_contracts_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, info = tmp_path / "acme_contracts", tmp_path / "acme-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "acme-batch.toml").write_text(
        OWN.format(account="acme").replace('name = "openai-batch"', 'name = "acme-batch"'), encoding="utf-8"
    )
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[jobconsole.providers]\nacme = acme_contracts\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert metadata.entry_points(group="jobconsole.providers")
        assert Catalogue().get("acme-batch").source == "acme_contracts acme-batch.toml"
    finally:
        sys.modules.pop("acme_contracts", None)


@pytest.mark.parametrize(
    ("name", "mend"), [("openai-bach", "did you mean openai-batch"), ("zzz", "`jobconsole providers` lists them all")]
)
def test_an_unknown_provider_is_told_the_nearest_names(name: str, mend: str) -> None:
    with pytest.raises(UnknownProvider, match=mend):
        Catalogue().get(name)


def test_a_broken_file_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("contract = ", encoding="utf-8")
    (tmp_path / "latin.toml").write_bytes(b"contract = 1 # caf\xe9")
    (tmp_path / "typo.toml").write_text('contract = 1\n[provider]\nname = "typo"\ntitel = "x"\n', encoding="utf-8")
    (tmp_path / "digits.toml").write_text("a = " + "1" * 5_000, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.toml")
    missing = tmp_path / "missing.toml"
    catalogue = Catalogue(tmp_path, [missing])
    problems = {error.source: error.problem for error in catalogue.all() if isinstance(error, ContractInvalid)}
    names = ("broken.toml", "digits.toml", "latin.toml", "missing.toml", "pipe.toml", "typo.toml")
    assert set(problems) == {str(tmp_path / name) for name in names}
    assert problems[str(tmp_path / "pipe.toml")] == "is no regular file"
    assert problems[str(missing)] == "cannot be read: No such file or directory"
    assert len(catalogue.names()) == BUILT_IN + len(names)
    assert catalogue.get("openai-batch").account == "default"
    with pytest.raises(ContractInvalid, match=r"latin\.toml: is no UTF-8 text; save it as UTF-8"):
        catalogue.get("latin")


def test_contracts_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    for name, base in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.toml").write_text(f'extends = "{base}"\n[provider]\nname = "{name}"\n', encoding="utf-8")
    with pytest.raises(ContractInvalid, match="goes round in a circle; let the base stand alone"):
        Catalogue(tmp_path).get("one")
