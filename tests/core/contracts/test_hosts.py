"""Which URL may be asked, and that its parts are the ones that everybody else sees (C6)."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobconsole.core.contracts import hosts
from jobconsole.errors import HostRefused

PIECES = ["/", "//", "?", "#", ":", "@", "[", "]", "%2f", ".", "..", "a", "B", "1", "443", "=", "&", ";", "é", "\\", " ", "\t"]


@pytest.mark.rule("C6")
@given(
    st.sampled_from(["https://", "HTTPS://", "http://", "ftp://", "//", "https:/", "https:", ""]),
    st.sampled_from(
        ["api.example.com", "API.example.com:443", "127.0.0.1:8080", "[::1]:80", "a@b.example", "[::1", "", "x:0", "x:y"]
    ),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
)
@example("https://", "api.example.com", "?a=/b?c#d/e?f")
@example("https://", "api.example.com", "#@evil.example.test/")
def test_the_parts_of_a_url_are_those_of_the_standard_library_or_it_is_refused(scheme: str, place: str, rest: str) -> None:
    url = scheme + place + rest
    try:
        parts = hosts.split(url)
    except HostRefused:
        return
    assert parts == urlsplit(url)._replace(fragment="")
    assert hosts.check(url, hosts.host_port(url), ()).startswith(f"{parts.scheme}://{parts.netloc}")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://api.example.com/v1/jobs/1", "api.example.com"),
        ("https://API.Example.com:443?x=/y", "api.example.com"),
        ("https://api.example.com:8443#/x", "api.example.com:8443"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[::1]:8080/x", "[::1]:8080"),
    ],
)
def test_host_and_port_are_lower_case_and_without_the_schemes_own_port(url: str, place: str) -> None:
    assert hosts.host_port(url) == place


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("HTTPS://api.example.com/a?b=c#d", "https://api.example.com/a?b=c"),
        ("https://api.example.com?", "https://api.example.com"),
        ("https://api.example.com//a/../b", "https://api.example.com//a/../b"),
    ],
)
def test_what_is_asked_is_the_url_without_its_fragment(url: str, asked: str) -> None:
    assert hosts.check(url, "api.example.com", ()) == asked
