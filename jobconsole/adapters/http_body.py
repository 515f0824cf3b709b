"""An answer's body, decoded from its content coding inside a bound.

Only this file decides how much of an answer is read. A client's own decoding hands out chunks of any size: 194 kB of gzip
become 67 MB at once. So `http.py` feeds raw bytes, and both the raw and the decoded size are bounded while they come.
"""

from __future__ import annotations

import zlib
from typing import Protocol

from jobconsole.errors import TransportFault

_GZIP = 16 + zlib.MAX_WBITS
_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class _Inflater(Protocol):
    """The part of zlib's decompression object that is used here."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


class BodyReader:
    """Takes raw bytes of one body; `finish` gives the decoded whole.

    `limit` is in bytes, for raw and decoded size alike. Raises `TransportFault` of kind `too_large`, `bad_encoding` or
    `truncated`; all three are ambiguous, because the provider has answered.
    """

    def __init__(self, content_encoding: str, content_length: str, limit: int, http_status: int) -> None:
        self._limit, self._status = limit, http_status
        self._raw_size, self._body = 0, bytearray()
        self._coding = self._one_coding(content_encoding)
        self._inflater: _Inflater | None = None
        self._start = b""  # of a deflate body, until its two bytes of header are here
        if content_length.isascii() and content_length.isdigit() and len(content_length) <= 18:
            self._check(int(content_length))

    def feed(self, data: bytes) -> None:
        """Take the next raw bytes."""
        self._raw_size += len(data)
        self._check(self._raw_size)
        if not self._coding:
            self._body += data
        elif data:
            self._inflate(data)

    def finish(self) -> bytes:
        """The whole body. A compressed one that stops before its own end is `truncated`."""
        if self._coding and self._raw_size and (self._inflater is None or not self._inflater.eof):
            raise self._fault("truncated", f"the {self._coding} body ends too early")
        return bytes(self._body)

    def _inflate(self, data: bytes) -> None:
        try:
            while data:
                if self._inflater is None or self._inflater.eof:
                    data = self._begin(data)
                    if self._inflater is None:
                        return
                self._body += self._inflater.decompress(data, self._limit - len(self._body) + 1)
                self._check(len(self._body))
                data = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
        except zlib.error:
            raise self._fault("bad_encoding", f"the body is not what {self._coding} makes") from None

    def _begin(self, data: bytes) -> bytes:
        """A new member of a gzip body, or the one stream of a deflate body (RFC 1950, or RFC 1951 bare as some send it)."""
        if self._coding != "deflate":
            self._inflater = zlib.decompressobj(_GZIP)
            return data
        if self._inflater is not None:
            raise self._fault("bad_encoding", "bytes follow the end of the deflate body")
        self._start += data
        if len(self._start) < 2:
            return b""
        has_header = self._start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(self._start[:2], "big") % 31 == 0
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        return self._start

    def _one_coding(self, content_encoding: str) -> str:
        named = (part.strip().lower() for part in content_encoding.split(","))
        codings = [coding for coding in named if coding not in ("", "identity")]
        if not codings:
            return ""
        if len(codings) > 1 or codings[0] not in _CODINGS:
            raise self._fault("bad_encoding", f"Content-Encoding {content_encoding[:40]!r} was not asked for")
        return codings[0]

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise self._fault("too_large", f"the answer is larger than {self._limit:,} bytes (max_bytes)")

    def _fault(self, kind: str, text: str) -> TransportFault:
        return TransportFault(kind, text, is_ambiguous=True, http_status=self._status)
