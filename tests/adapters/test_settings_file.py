"""`config.toml` is a person's file: one key changes, comments and layout stay; where that cannot be, it is left alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.adapters.settings_file import read_settings_file, write_setting
from jobconsole.errors import InvalidValue

MINE = """# how I like it
[keys]   # vim
"operation.extend" = "E"

[ui]
theme = "high-contrast"  # for the beamer
times = 'utc'
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '[ui]\ntheme = "mine"\n'),
        ("", '[ui]\ntheme = "mine"\n'),
        (MINE, MINE.replace('"high-contrast"', '"mine"')),
        ('[ui]\ntimes = "utc"\n', '[ui]\ntimes = "utc"\ntheme = "mine"\n'),
        ("[ui]\r\ntheme = 'x'\r\n", '[ui]\r\ntheme = "mine"\r\n'),
        ("# only a comment\n", '# only a comment\n\n[ui]\ntheme = "mine"\n'),
    ],
    ids=["no file", "empty", "comments", "another key", "CRLF", "comment only"],
)
def test_one_key_changes_and_all_else_stays(tmp_path: Path, before: str | None, after: str) -> None:
    """Byte for byte."""
    path = tmp_path / "config.toml"
    if before is not None:
        path.write_bytes(before.encode())
    write_setting(tmp_path, "ui", "theme", "mine")
    assert path.read_bytes().decode() == after
    assert read_settings_file(tmp_path)["ui"]["theme"] == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[ui\n", "is not TOML"),
        ("ui = 5\n", "ui is no table; write [ui]"),
        ("\xff", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_as_it_is(tmp_path: Path, text: str, fault: str) -> None:
    """And said so."""
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidValue, match=fault.replace("[", r"\[")):
        write_setting(tmp_path, "ui", "theme", "mine")
    assert path.read_bytes() == text.encode("latin-1")


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    """Its folder would allow it; whoever took the right to write away meant it."""
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    path.chmod(0o444)
    with pytest.raises(InvalidValue, match="is read-only"):
        write_setting(tmp_path, "ui", "theme", "mine")
    assert path.read_text() == MINE


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Nothing is made for a setting."""
    with pytest.raises(InvalidValue, match="cannot be written: No such file or directory"):
        write_setting(tmp_path / "nowhere", "ui", "theme", "mine")


@pytest.mark.parametrize("rights", [0o600, 0o644])
def test_a_link_is_followed_and_rights_are_kept(tmp_path: Path, rights: int) -> None:
    """A file among somebody's dotfiles stays there, for those to read who could."""
    dotfiles, store = tmp_path / "dotfiles", tmp_path / "store"
    dotfiles.mkdir()
    store.mkdir()
    (dotfiles / "jobconsole.toml").write_text(MINE)
    (dotfiles / "jobconsole.toml").chmod(rights)
    (store / "config.toml").symlink_to(dotfiles / "jobconsole.toml")
    write_setting(store, "ui", "theme", "mine")
    assert (store / "config.toml").is_symlink()
    assert read_settings_file(store)["ui"]["theme"] == "mine"
    assert stat.S_IMODE((dotfiles / "jobconsole.toml").stat().st_mode) == rights


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (_text(f"[ui]\nrows = {'9' * 4_301}\n"), "a number in it has too many digits; no setting needs it"),
        (_text(f"[ui]\nrows = {'[' * 20_000}{']' * 20_000}\n"), "is nested too deeply; write tables and values only"),
        (_text("#" * 1_000_001), "is larger than 1,000,000 bytes; take out what is no setting"),
        (_fifo, "is no regular file; put a text file there, or none"),
        (Path.mkdir, "is no regular file; put a text file there, or none"),
        (
            _link_to_itself,
            "cannot be read: Too many levels of symbolic links; put a file there that you may read, or none",
        ),
    ],
    ids=["long number", "deep", "large", "pipe", "folder", "link to itself"],
)
@pytest.mark.timeout(120)
def test_what_is_no_settings_file_is_one_line_with_the_mend(tmp_path: Path, make: Callable[[Path], object], fault: str) -> None:
    """Neither reading nor writing waits, and nothing else is raised."""
    path = tmp_path / "config.toml"
    make(path)
    for use in (read_settings_file, lambda folder: write_setting(folder, "ui", "theme", "mine")):
        with pytest.raises(InvalidValue) as raised:
            use(tmp_path)
        assert str(raised.value) == f"{path}: {fault}"
