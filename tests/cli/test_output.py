"""What the command line's lines, tables and JSON look like, to a terminal and to a pipe."""

from __future__ import annotations

import io
import json

import pytest

from jobconsole.cli.output import Column, Output, Piece, Tone, Toned

COLUMNS = [Column("id"), Column("state"), Column("used", is_right=True)]
ROWS: list[list[Piece]] = [["op_1", Toned("läuft", Tone.GOOD), "3"], ["op_long", Toned("日本", Tone.ATTENTION), "12"]]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed_table(stdout: io.StringIO, environ: dict[str, str]) -> list[str]:
    Output(stdout, io.StringIO(), environ).table(COLUMNS, ROWS)
    return stdout.getvalue().splitlines()


@pytest.mark.rule("U5")
def test_a_table_is_aligned_by_display_width_and_plain_in_a_pipe() -> None:
    assert printed_table(io.StringIO(), {}) == [
        "id       state  used",
        "op_1     läuft     3",
        "op_long  日本     12",
    ]


@pytest.mark.rule("U5")
def test_only_a_sentence_gets_the_options_of_this_call_and_no_name_or_stored_text() -> None:
    """A cell stays as wide as it was measured, and what is stored as it was stored."""
    stdout, name = io.StringIO(), "jobconsole ls"
    output = Output(stdout, io.StringIO(), {})
    output.carry("--home here", ["ls"])
    output.line("see ", name)
    output.table([Column("name"), Column("used")], [[name, "3"]])
    output.stored_text(f"said: {name}\n")
    assert stdout.getvalue().splitlines() == [
        "see jobconsole --home here ls",
        "name           used",
        "jobconsole ls  3",
        r"said: jobconsole ls\n",
    ]


@pytest.mark.rule("U5")
def test_a_long_cell_is_whole_in_a_pipe_and_makes_no_other_row_long() -> None:
    """Forty columns are the most that others are padded to; a whole column is one that aligns whatever it holds."""
    stdout = io.StringIO()
    columns = [Column("id", is_whole=True), Column("name"), Column("used", is_right=True)]
    Output(stdout, io.StringIO(), {}).table(columns, [["op_1", "x" * 10_000, "3"], ["o" * 50, "y", "12"]])
    assert stdout.getvalue().splitlines() == [
        "id" + " " * 48 + "  name" + " " * 36 + "  used",
        "op_1" + " " * 46 + "  " + "x" * 10_000 + "     3",
        "o" * 50 + "  y" + " " * 39 + "    12",
    ]


@pytest.mark.rule("U4")
@pytest.mark.parametrize(("environ", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_goes_only_to_a_terminal_that_wants_it(environ: dict[str, str], is_coloured: bool) -> None:
    assert ("\x1b[" in "".join(printed_table(Terminal(), environ))) == is_coloured
    assert "\x1b" not in "".join(printed_table(io.StringIO(), environ))


def test_the_widest_column_gives_way_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    stdout = Terminal()
    output = Output(stdout, io.StringIO(), {"NO_COLOR": "1"})
    output.table([Column("id"), Column("text")], [["op_1", "x" * 40]])
    assert stdout.getvalue().splitlines() == ["id    text", "op_1  " + "x" * 17 + "…"]  # 24 - 4 - 2 = 18 columns


@pytest.mark.rule("U3")
def test_no_piece_of_a_line_can_act_on_the_terminal_or_make_a_second_line() -> None:
    stdout, stderr = Terminal(), io.StringIO()
    output = Output(stdout, stderr, {"NO_COLOR": "1"})
    output.line("state ", Toned("\x1b[2Jdone\n10:20 approved", Tone.STRONG))
    output.note("provider says \x9b31m")
    output.error("x", "bad \u202e", as_json=False)
    assert stdout.getvalue() == "state \\x1b[2Jdone\\n10:20 approved\n"
    assert stderr.getvalue() == "provider says \\x9b31m\njobconsole: bad \\u202e\n"


@pytest.mark.rule("U3", "U5")
def test_json_is_ascii_so_that_it_is_inert_and_reads_back_the_same() -> None:
    value = {"text": "\x1b\x9b\u202e\x7f\ud800 日本"}
    stdout = io.StringIO()
    Output(stdout, io.StringIO(), {}).json(value)
    line = stdout.getvalue()
    assert line.isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line) == value


def test_json_has_no_numbers_that_are_none() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Output(io.StringIO(), io.StringIO(), {}).json(float("nan"))


def test_a_whole_column_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    stdout = Terminal()
    columns = [Column("id", is_whole=True), Column("text")]
    Output(stdout, io.StringIO(), {"NO_COLOR": "1"}).table(columns, [["op_" + "1" * 20, "x" * 40]])
    assert stdout.getvalue().splitlines()[1] == "op_" + "1" * 20 + "  " + "x" * 7 + "…"  # 8 is the least for a column


@pytest.mark.rule("U3")
def test_a_stored_line_is_verbatim_in_a_file_and_the_same_json_in_ascii_on_a_terminal() -> None:
    line = '{"name":"\u009b31m\u202e\u007f 日本","at":"x"}\n'.encode()
    file = io.TextIOWrapper(io.BytesIO())
    Output(file, io.StringIO(), {}).stored_line(line)
    file.flush()
    assert file.buffer.getvalue() == line
    terminal = Terminal()
    Output(terminal, io.StringIO(), {}).stored_line(line)
    shown = terminal.getvalue()
    assert shown.rstrip("\n").isprintable()
    assert shown.isascii()
    assert json.loads(shown) == json.loads(line)
