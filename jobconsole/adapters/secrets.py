"""Credential references become values: `env:NAME`, `keyring:service/user`, `file:PATH`.

Only this file reads a credential from where it is kept (SPEC C13). The transport calls `read` for each request and forgets
the value after it. No error of this file holds a value.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from jobconsole.errors import SecretMissing

LARGEST_FILE = 65_536  # bytes; a credential is short, and a wrong path may name anything
_log = logging.getLogger(__name__)


class ReferenceSecrets:
    """Reads references anew at each call, so that a rotated credential is seen at once (SPEC B11)."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def read(self, reference: str) -> str:
        """The value behind a reference. Raises `SecretMissing`, which names the reference and the mend, never a value."""
        kind, _, rest = reference.partition(":")
        if not rest or kind not in ("env", "keyring", "file"):
            raise SecretMissing(f"{_shown(kind)}: is no reference; write env:NAME, keyring:service/user or file:PATH")
        if kind == "env":
            value = _from_environment(rest)
        elif kind == "keyring":
            value = _from_keyring(rest)
        else:
            value = self._from_file(rest)
        if not value:
            raise SecretMissing(f"{reference}: is empty; put the credential there")
        if not value.isprintable():
            raise SecretMissing(f"{reference}: holds a line break or another control character; store the credential anew")
        return value

    def _from_file(self, path: str) -> str:
        """The file's text without one newline at its end. A file that others may read gets one warning."""
        reference = f"file:{path}"
        place = Path(path).expanduser()
        try:
            with place.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read(LARGEST_FILE + 1)
        except OSError as error:
            raise SecretMissing(f"{reference}: cannot be read ({error.strerror}); create the file, readable by you") from error
        if len(data) > LARGEST_FILE:
            raise SecretMissing(f"{reference}: is larger than a credential can be; name the right file")
        if mode & (stat.S_IRGRP | stat.S_IROTH) and path not in self._warned:
            self._warned.add(path)
            _log.warning("%s: other users of this machine may read it; chmod 600 mends that", reference)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise SecretMissing(f"{reference}: is not UTF-8 text; store the credential anew") from None
        return text.removesuffix("\n").removesuffix("\r")


def _from_environment(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise SecretMissing(f"env:{name}: is not set; export {name} and start again")
    return value


def _from_keyring(place: str) -> str:
    reference = f"keyring:{place}"
    service, _, user = place.rpartition("/")
    if not service or not user:
        raise SecretMissing(f"{reference}: names no service and user; write keyring:service/user")
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise SecretMissing(f"{reference}: needs the package keyring; install it with: pip install keyring") from None
    try:
        value = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise SecretMissing(f"{reference}: the keyring does not answer ({type(error).__name__}); unlock it") from None
    if value is None:
        raise SecretMissing(f"{reference}: is not in the keyring; store it with: keyring set {service} {user}")
    return str(value)


def _shown(kind: str) -> str:
    """What stands before the colon, unless it may itself be a pasted credential."""
    return repr(kind) if kind.isalpha() and len(kind) <= 8 else "this text"
