"""How much of an answer is read: limits while it streams, and decoding inside a bound."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.http_body import BodyReader
from jobconsole.errors import TransportFault
from jobconsole.protocols import HttpRequest
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, RawServer

BODY = b'{"state": "running", "progress": 10}'


def bare_deflate(data: bytes) -> bytes:
    """RFC 1951 without the header of RFC 1950, as some servers send it."""
    made = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return made.compress(data) + made.flush()


def read(data: bytes, coding: str, *, limit: int = 1000, length: str = "", step: int = 7) -> bytes:
    """The body, fed in small steps."""
    reader = BodyReader(coding, length, limit, 200)
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
    return reader.finish()


@pytest.mark.parametrize(
    ("data", "coding"),
    [
        pytest.param(BODY, "", id="plain"),
        pytest.param(BODY, "identity", id="identity"),
        pytest.param(gzip.compress(BODY), "gzip", id="gzip"),
        pytest.param(gzip.compress(BODY), "X-GZip", id="the old name of gzip"),
        pytest.param(gzip.compress(BODY[:9]) + gzip.compress(BODY[9:]), "identity, gzip", id="two members of gzip (RFC 1952)"),
        pytest.param(zlib.compress(BODY), "deflate", id="deflate (RFC 1950)"),
        pytest.param(bare_deflate(BODY), "deflate", id="deflate without a header (RFC 1951)"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_every_coding_that_may_come_is_decoded_however_it_is_cut(data: bytes, coding: str, step: int) -> None:
    assert read(data, coding, step=step) == BODY


@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
def test_a_body_without_bytes_is_empty_in_every_coding(coding: str) -> None:
    assert read(b"", coding) == b""


@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    ("data", "coding", "length", "kind"),
    [
        pytest.param(b"x" * 1001, "", "", "too_large", id="1001 bytes of 1000"),
        pytest.param(b"", "", "1001", "too_large", id="1001 bytes announced"),
        pytest.param(gzip.compress(b"x" * 1001), "gzip", "", "too_large", id="1001 bytes in gzip"),
        pytest.param(zlib.compress(b"x" * 1001), "deflate", "", "too_large", id="1001 bytes in deflate"),
        pytest.param(gzip.compress(b"x" * 600) * 2, "gzip", "", "too_large", id="600 bytes in each of two members"),
        pytest.param(gzip.compress(b"") * 60, "gzip", "", "too_large", id="60 empty members of 20 raw bytes each"),
        pytest.param(gzip.compress(BODY)[:-3], "gzip", "", "truncated", id="gzip without its end"),
        pytest.param(zlib.compress(BODY)[:-3], "deflate", "", "truncated", id="deflate without its end"),
        pytest.param(zlib.compress(BODY)[:1], "deflate", "", "truncated", id="one byte of deflate"),
        pytest.param(BODY, "gzip", "", "bad_encoding", id="no gzip"),
        pytest.param(b"\xff\xff" + BODY, "deflate", "", "bad_encoding", id="no deflate"),
        pytest.param(gzip.compress(BODY) + b"junk", "gzip", "", "bad_encoding", id="junk behind gzip"),
        pytest.param(zlib.compress(BODY) + b"junk", "deflate", "", "bad_encoding", id="junk behind deflate"),
        pytest.param(BODY, "br", "", "bad_encoding", id="brotli, which was not asked for"),
        pytest.param(gzip.compress(gzip.compress(BODY)), "gzip, gzip", "", "bad_encoding", id="gzip in gzip"),
    ],
)
def test_a_body_that_is_too_large_broken_or_otherwise_coded_is_a_fault(
    data: bytes, coding: str, length: str, kind: str
) -> None:
    with pytest.raises(TransportFault) as caught:
        read(data, coding, length=length)
    assert (caught.value.kind, caught.value.http_status, caught.value.is_ambiguous) == (kind, 200, True)


@pytest.mark.parametrize("length", ["1000", "-5", "ten", "²", "9" * 500, "1000, 1000"])
def test_a_length_within_the_limit_or_without_sense_decides_nothing(length: str) -> None:
    assert read(BODY, "", length=length) == BODY


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate"]), st.integers(1, 50))
def test_any_bytes_in_any_coding_end_in_a_bounded_body_or_a_fault(data: bytes, coding: str, step: int) -> None:
    with contextlib.suppress(TransportFault):
        assert len(read(data, coding, limit=200, step=step)) <= 200


@pytest.mark.rule("B10")
async def test_a_small_answer_that_becomes_huge_is_stopped_while_it_unfolds(
    transport: HttpTransport, gate: CountingGate
) -> None:
    """64 MB of zeros are 64 kB of gzip, far below `max_bytes`; the decoded size counts too."""
    bomb = gzip.compress(bytes(64_000_000))
    assert len(bomb) < 100_000

    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.answer(bomb, "Content-Encoding: gzip")

    async with RawServer(handler) as server:
        request = HttpRequest("GET", server.url, timeout=timedelta(seconds=30), auth_host=server.place, max_bytes=100_000)
        with pytest.raises(TransportFault) as caught:
            await transport.send(request, gate)
    assert caught.value.kind == "too_large"


async def test_an_answer_of_exactly_max_bytes_is_read(transport: HttpTransport, gate: CountingGate) -> None:
    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.answer(gzip.compress(b" " * 1000), "Content-Encoding: gzip")

    async with RawServer(handler) as server:
        request = HttpRequest("GET", server.url, auth_host=server.place, max_bytes=1000)
        assert (await transport.send(request, gate)).body == b" " * 1000
