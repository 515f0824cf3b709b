"""Where contracts come from: the built-in catalogue, packages, the store's folder, files that a caller names; later wins.

Only this file knows these places. The console opens one catalogue; contracts are parsed when somebody asks for them. A package
offers contracts by an entry point of the group `jobconsole.providers` that names a package with `*.toml` files in it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.errors import ContractInvalid, UnknownProvider

GROUP = "jobconsole.providers"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One contract file: the provider's name, the file's name for messages, and how to read its text."""

    name: str
    source: str
    read: Callable[[], str]


class Catalogue:
    """Contracts by provider name.

    `home_providers` is the store's `providers/` folder, `files` are the `--provider-file` arguments. Contracts are read once
    and kept; a catalogue that should see changed files is made anew.
    """

    def __init__(self, home_providers: Path | None = None, files: Sequence[Path] = ()) -> None:
        self._home, self._files = home_providers, tuple(files)
        self._found: tuple[_Entry, ...] | None = None
        self._loaded: dict[str, Contract] = {}

    def get(self, name: str) -> Contract:
        """The contract of a provider. Raises `UnknownProvider` with the nearest names, or `ContractInvalid`."""
        if name not in self._loaded:
            entry = self._latest().get(name)
            if entry is None:
                near = difflib.get_close_matches(name, self._latest(), n=3, cutoff=0.4)
                mend = f"did you mean {' or '.join(near)}?" if near else "`jobconsole providers` lists them all"
                raise UnknownProvider(f"there is no provider {name[:60]!r}; {mend}")
            self._loaded[name] = _load(self._entries(), entry)
        return self._loaded[name]

    def names(self) -> list[str]:
        """All provider names, sorted."""
        return sorted(self._latest())

    def all(self) -> list[Contract | ContractInvalid]:
        """Every contract, or what is wrong with it, sorted by name."""
        found: list[Contract | ContractInvalid] = []
        for name in self.names():
            try:
                found.append(self.get(name))
            except ContractInvalid as error:
                found.append(error)
        return found

    def _latest(self) -> dict[str, _Entry]:
        return {entry.name: entry for entry in self._entries()}

    def _entries(self) -> tuple[_Entry, ...]:
        if self._found is None:
            self._found = (*_built_in(), *_from_packages(), *_from_folder(self._home), *map(_from_file, self._files))
        return self._found


def _load(entries: Sequence[_Entry], entry: _Entry, above: tuple[_Entry, ...] = ()) -> Contract:
    """The contract of `entry`; `above` are those that extend it, in a row."""
    if entry in above:
        raise ContractInvalid(above[-1].source, "extends", "goes round in a circle", "let the base stand alone")
    return load(entry.read(), entry.source, _Bases(entries, entry, (*above, entry)))


class _Bases(Mapping[str, str]):
    """The texts that one contract may extend: all others, of its own name the one before it.

    A base comes merged with its own base, so that a file of the store may extend the built-in contract of its own name.
    """

    def __init__(self, entries: Sequence[_Entry], of: _Entry, above: tuple[_Entry, ...]) -> None:
        others = [other for other in entries if other.name != of.name]
        before = [other for other in entries[: entries.index(of)] if other.name == of.name]
        self._all, self._above = entries, above
        self._found = {entry.name: entry for entry in (*others, *before)}

    def __getitem__(self, name: str) -> str:
        return _load(self._all, self._found[name], self._above).text

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _built_in() -> Iterator[_Entry]:
    """The catalogue, and the contract of the play provider, which lies beside what it describes."""
    for folder in ("providers", "play"):
        yield from _in_folder(resources.files("jobconsole") / folder, "built-in ")


def _from_packages() -> Iterator[_Entry]:
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        package = point.load()
        if isinstance(package, ModuleType):
            yield from _in_folder(resources.files(package), f"{point.value} ")


def _in_folder(folder: Traversable, label: str) -> Iterator[_Entry]:
    """Contracts that come with code: each file is named after its provider, so that none is read to learn its name."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else ():
        if file.name.endswith(".toml"):
            yield _Entry(file.name.removesuffix(".toml"), f"{label}{file.name}", _reader(file, f"{label}{file.name}"))


def _from_folder(folder: Path | None) -> Iterator[_Entry]:
    return map(_from_file, sorted(folder.glob("*.toml")) if folder is not None else ())


def _from_file(file: Path) -> _Entry:
    """A contract that a person wrote: the name is what it says inside, or that of the one it extends; a broken file is known by
    its own name.
    """
    read = _reader(file, str(file))
    try:
        document = tomllib.loads(read())
        name = document["provider"]["name"] if "provider" in document else document["extends"]
    except (ContractInvalid, ValueError, LookupError, TypeError, RecursionError):  # what is wrong is said when it is loaded
        name = None
    return _Entry(name if isinstance(name, str) else file.stem, str(file), read)


def _reader(file: Traversable, source: str) -> Callable[[], str]:
    def read() -> str:
        if isinstance(file, Path) and file.exists() and not file.is_file():  # a pipe would be waited for
            raise ContractInvalid(source, "", "is no regular file", "put a text file there")
        try:
            return file.read_text(encoding="utf-8")
        except OSError as error:
            raise ContractInvalid(source, "", f"cannot be read: {error.strerror}", "name a file that can be read") from None
        except UnicodeDecodeError:
            raise ContractInvalid(source, "", "is no UTF-8 text", "save it as UTF-8") from None

    return read
