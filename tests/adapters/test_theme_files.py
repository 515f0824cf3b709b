"""Theme files from folders: what loaded and what did not, and whose word counts."""

from __future__ import annotations

import os
from pathlib import Path

from jobconsole.adapters.theme_files import built_in_folders, load_theme_files
from jobconsole.console import load_themes


def test_a_users_theme_joins_the_others_and_wins_over_one_of_the_same_name(tmp_path: Path) -> None:
    """From the store's folder `themes/`; a file that is wrong, too long, no text or no file is told and harms no other."""
    folder = tmp_path / "themes"
    folder.mkdir()
    dark = (built_in_folders()[0] / "dark.toml").read_text()
    (folder / "own.toml").write_text(dark.replace("jobconsole-dark", "own"))
    (folder / "again.toml").write_text(dark.replace('primary = "', 'primary = "#ffffff" # "'))
    (folder / "broken.toml").write_text("name = ")
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (folder / "long.toml").write_text("#" * 70_000)
    (folder / "folder.toml").mkdir()
    os.mkfifo(folder / "pipe.toml")
    (folder / "deep.toml").write_text("a = " + "[" * 3_000)
    (folder / "digits.toml").write_text("a = " + "1" * 5_000)
    (folder / "notes.txt").write_text("not a theme")
    loaded = load_themes(tmp_path)
    assert "own" in loaded.themes
    assert loaded.themes["jobconsole-dark"].palette["primary"] == "#ffffff"
    assert {failure.partition(":")[0] for failure in loaded.failures} == {
        "broken.toml",
        "binary.toml",
        "long.toml",
        "folder.toml",
        "pipe.toml",
        "deep.toml",
        "digits.toml",
    }


def test_a_folder_that_is_not_there_holds_no_themes(tmp_path: Path) -> None:
    """And is no fault."""
    assert load_theme_files([tmp_path / "none"]).failures == ()
