"""References to credentials: what each kind reads, and what its errors say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.errors import SecretMissing

VALUE = "tok-4711-secret"


@pytest.mark.rule("C13")
def test_an_environment_variable_is_read_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ReferenceSecrets()
    for value in (VALUE, "another"):
        monkeypatch.setenv("ACME_TOKEN", value)
        assert secrets.read("env:ACME_TOKEN") == value


@pytest.mark.rule("C13")
@pytest.mark.parametrize("written", [VALUE, VALUE + "\n", VALUE + "\r\n"])
def test_a_file_is_read_without_one_newline_at_its_end(tmp_path: Path, written: str) -> None:
    place = tmp_path / "token"
    place.write_bytes(written.encode())
    place.chmod(0o600)
    assert ReferenceSecrets().read(f"file:{place}") == VALUE


def test_a_file_that_others_may_read_is_warned_about_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "token"
    place.write_text(VALUE)
    place.chmod(0o644)
    secrets = ReferenceSecrets()
    assert [secrets.read(f"file:{place}") for _ in range(2)] == [VALUE, VALUE]
    assert [record.message for record in caplog.records] == [
        f"file:{place}: other users of this machine may read it; chmod 600 mends that"
    ]


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("env:NO_SUCH_VARIABLE", "export NO_SUCH_VARIABLE"),
        ("env:EMPTY", "is empty"),
        ("env:BROKEN", "control character"),
        ("env:", "env:NAME, keyring:service/user or file:PATH"),
        ("file:/no/such/file", "No such file"),
        ("file:/", "cannot be read"),
        ("keyring:no-user", "keyring:service/user"),
        ("vault:a/b", "'vault'"),
        (VALUE, "this text: is no reference"),
    ],
)
def test_what_is_missing_is_named_with_its_mend_and_without_a_value(
    monkeypatch: pytest.MonkeyPatch, reference: str, says: str
) -> None:
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("BROKEN", f"{VALUE}\r\nX-Injected: 1")
    with pytest.raises(SecretMissing) as caught:
        ReferenceSecrets().read(reference)
    assert says in str(caught.value)
    assert VALUE not in str(caught.value)


@pytest.mark.parametrize(("content", "says"), [(b"\xff\xfe", "UTF-8"), (b"x" * 70_000, "larger"), (b"a\nb\n", "line break")])
def test_a_file_that_holds_no_credential_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    place = tmp_path / "token"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(SecretMissing, match=says):
        ReferenceSecrets().read(f"file:{place}")


# ---- keyring --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def stored() -> Iterator[dict[tuple[str, str], str]]:
    """A keyring backend that keeps its passwords in a dict."""
    keyring = pytest.importorskip("keyring")
    from keyring.backend import KeyringBackend

    held: dict[tuple[str, str], str] = {}

    class Held(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return held.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            held[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del held[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Held())  # type: ignore[no-untyped-call]  # keyring is untyped here and there
    yield held
    keyring.set_keyring(before)


@pytest.mark.rule("C13")
def test_a_keyring_is_asked_for_service_and_user(stored: dict[tuple[str, str], str]) -> None:
    stored["https://acme.example/api", "ana"] = VALUE
    assert ReferenceSecrets().read("keyring:https://acme.example/api/ana") == VALUE
    with pytest.raises(SecretMissing, match="keyring set acme bob"):
        ReferenceSecrets().read("keyring:acme/bob")


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)  # what an import of a package that is not there meets
    with pytest.raises(SecretMissing, match="pip install keyring"):
        ReferenceSecrets().read("keyring:acme/ana")
