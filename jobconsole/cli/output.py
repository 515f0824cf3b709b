"""Everything that the command line prints: data on stdout, all the rest on stderr (SPEC U3, U4, U5).

Only this file decides how a line, a table, a JSON value or an error looks, and what happens where nobody reads it. All text is
made inert here, so that no command can forget it; colours are added after that, and only to a terminal that wants them. What a
person is told to type works as it is typed: where this call names its store by an option, so do the commands in its sentences.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import select
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TextIO, TypeAlias

import click

from jobconsole.cli.exits import Exit
from jobconsole.core.telling.terminal_text import fit, inert, width

_GAP = "  "
_WIDEST = 40  # columns to which a table that nobody sees as it is written is padded
_NARROWEST = 8  # columns that a table's column keeps on a terminal that is too narrow for all


class Tone(StrEnum):
    """What a piece of text means to the reader. Colour only repeats what the words say (U4)."""

    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    BAD = "bad"
    ATTENTION = "attention"


_STYLES: dict[Tone, dict[str, Any]] = {
    Tone.STRONG: {"bold": True},
    Tone.QUIET: {"dim": True},
    Tone.GOOD: {"fg": "green"},
    Tone.BAD: {"fg": "red", "bold": True},
    Tone.ATTENTION: {"fg": "yellow", "bold": True},
}


@dataclass(frozen=True, slots=True)
class Toned:
    """A piece of text with a tone."""

    text: str
    tone: Tone


Piece: TypeAlias = str | Toned


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers stand to the right. A whole one is never cut: an id that lost its end names nothing (U8)."""

    title: str
    is_right: bool = False
    is_whole: bool = False


class Output:
    """The two streams of one call of the program."""

    def __init__(self, stdout: TextIO, stderr: TextIO, environ: Mapping[str, str] = os.environ) -> None:
        self._stdout, self._stderr = stdout, stderr
        self._is_dumb = environ.get("TERM") == "dumb"
        self._wants_colour = not environ.get("NO_COLOR")
        self._has_told_error = False
        self._commands: re.Pattern[str] | None = None  # finds them in a sentence
        self._options = ""  # what they need to reach the store of this call
        for stream in (stdout, stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal's encoding may lack a character: show it escaped
                stream.reconfigure(errors="backslashreplace")

    @classmethod
    def of_process(cls) -> Output:
        """The streams of this process; one that was closed before the start swallows what it gets."""
        return cls(sys.stdout or io.StringIO(), sys.stderr or io.StringIO())

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees stdout as it is written: a terminal, and not a dumb one."""
        return self._stdout.isatty() and not self._is_dumb

    def carry(self, options: str, commands: Iterable[str]) -> None:
        """From now on a command that a person is told to type has these options, written as a shell reads them."""
        self._commands = re.compile(rf"\bjobconsole (?=(?:{'|'.join(map(re.escape, commands))})\b)")
        self._options = inert(options)

    # ---- data -----------------------------------------------------------------------------------------------------------
    def line(self, *pieces: Piece) -> None:
        """Write one line of data; a line break inside a piece is shown, not made."""
        typeable = (self._typeable(inert(piece)) if isinstance(piece, str) else piece for piece in pieces)
        self._stdout.write("".join(map(self._shown, typeable)) + "\n")

    def stored_text(self, text: str) -> None:
        """Write one line of what is stored: a command that occurs in it is told by nobody here, and stays as it is."""
        self._stdout.write(f"{inert(text)}\n")

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Piece]]) -> None:
        """Write a heading and one line for each row, aligned by display width.

        A terminal gets lines that fit it, at the cost of the widest columns. Elsewhere nothing is cut; but for the sake of one
        long cell no other row becomes long: that cell runs over into the next column.
        """
        heading: list[Piece] = [Toned(column.title, Tone.QUIET) for column in columns]
        cells = [[_inert_piece(piece) for piece in row] for row in (heading, *rows)]
        widths = [max(width(_text(row[i])) for row in cells) for i in range(len(columns))]
        if self.is_terminal:
            widths = _narrowed(columns, widths, shutil.get_terminal_size().columns)
        else:
            widths = [most if column.is_whole else min(most, _WIDEST) for column, most in zip(columns, widths, strict=True)]
        for row in cells:
            shown = [self._cell(*cell, is_last=cell[0] is columns[-1]) for cell in zip(columns, row, widths, strict=True)]
            self._stdout.write(_GAP.join(shown) + "\n")

    def json(self, value: object) -> None:
        """Write one JSON value. It is pure ASCII, so that it is inert in a terminal and readable in every encoding."""
        text = json.dumps(value, indent=2 if self.is_terminal else None, allow_nan=False)
        self._stdout.write(text.replace("\x7f", "\\u007f") + "\n")

    def stored_line(self, data: bytes) -> None:
        """Write one stored line of the audit byte by byte; a terminal gets the same JSON with everything escaped."""
        if self._stdout.isatty() or not hasattr(self._stdout, "buffer"):
            self._stdout.write("".join(map(_json_inert, data.decode("utf-8", "backslashreplace"))))
            return
        self._stdout.flush()
        self._stdout.buffer.write(data)

    def flush(self) -> None:
        """Let a reader see now what was written. Raises `BrokenPipeError` where nobody reads any more."""
        self._stdout.flush()

    # ---- everything else ------------------------------------------------------------------------------------------------
    def note(self, *pieces: str) -> None:
        """Tell the person something that is not data: one line on stderr."""
        self._tell(self._typeable("".join(inert(piece) for piece in pieces)))

    def error(self, code: str, message: str, *, as_json: bool) -> None:
        """Say in one line on stderr what is wrong and what to do, or as `{"error": {"code", "message"}}`."""
        self._has_told_error = True
        message = self._typeable(message)
        if as_json:
            self._tell(json.dumps({"error": {"code": code, "message": message}}))
        else:
            self._tell(f"jobconsole: {inert(message)}")

    def ask(self, question: str) -> bool:
        """Ask a person on the terminal, yes or no; the default is no."""
        return click.confirm(inert(question), default=False, err=True)

    # ---- the end --------------------------------------------------------------------------------------------------------
    def has_reader(self) -> bool:
        """Whether somebody can still read stdout: false where it is a pipe whose other end is closed."""
        poll = select.poll()
        poll.register(self._stdout.fileno(), 0)  # asked for nothing, it still tells of an error or a hang-up
        return not poll.poll(0)

    def finish(self, code: int, *, as_json: bool) -> int:
        """Write out what is buffered and return the exit code.

        A closed pipe is no error; any other loss of data is one (a full disk), also where all had gone well so far. The
        interpreter finds nothing left to write when it shuts down, and so has nothing to complain about.
        """
        try:
            self._stdout.flush()
        except OSError as error:
            _write_to_nowhere(self._stdout)
            if error.errno != errno.EPIPE:
                if not self._has_told_error:
                    self.error("output_lost", f"stdout: {error.strerror}: the output is incomplete", as_json=as_json)
                code = Exit.FAILURE
        try:
            self._stderr.flush()
        except OSError:
            _write_to_nowhere(self._stderr)
        return code

    # ---- inside ---------------------------------------------------------------------------------------------------------
    def _tell(self, line: str) -> None:
        """Write to stderr. Where that is impossible there is nobody left to be told."""
        with contextlib.suppress(OSError):
            self._stderr.write(line + "\n")
            self._stderr.flush()

    def _typeable(self, text: str) -> str:
        """The text with the options that are carried in each of its commands."""
        return self._commands.sub(lambda found: f"{found.group()}{self._options} ", text) if self._commands else text

    def _shown(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return inert(piece)
        text = inert(piece.text)
        return click.style(text, **_STYLES[piece.tone]) if self._wants_colour and self.is_terminal else text

    def _cell(self, column: Column, piece: Piece, columns: int, *, is_last: bool) -> str:
        text = fit(_text(piece), columns) if self.is_terminal else _text(piece)
        blanks = " " * (columns - width(text))
        shown = self._shown(text if isinstance(piece, str) else Toned(text, piece.tone))
        if column.is_right:
            return blanks + shown
        return shown if is_last else shown + blanks


def _text(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece.text


def _inert_piece(piece: Piece) -> Piece:
    return inert(piece) if isinstance(piece, str) else Toned(inert(piece.text), piece.tone)


def _json_inert(character: str) -> str:
    """A character of a JSON text as ASCII: outside of texts JSON has no other."""
    return character if " " <= character <= "~" or character == "\n" else json.dumps(character)[1:-1].replace("\x7f", "\\u007f")


def _narrowed(columns: Sequence[Column], widths: Sequence[int], available: int) -> list[int]:
    """Widths that fit `available` columns together: the widest gives way first, none below the narrowest, no whole one."""
    narrowed = list(widths)
    excess = sum(narrowed) + len(_GAP) * (len(narrowed) - 1) - available
    flexible = [place for place, column in enumerate(columns) if not column.is_whole]
    while excess > 0 and (wide := [place for place in flexible if narrowed[place] > _NARROWEST]):
        narrowed[max(wide, key=narrowed.__getitem__)] -= 1
        excess -= 1
    return narrowed


def _write_to_nowhere(stream: TextIO) -> None:
    """Let the stream's file descriptor lead nowhere, so that what is still buffered can be written at shutdown."""
    with contextlib.suppress(io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
