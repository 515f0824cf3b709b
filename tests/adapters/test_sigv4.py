"""AWS Signature Version 4 against the published examples of the algorithm."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jobconsole.adapters.sigv4 import AwsCredential, Signable, credential, signed_headers

# The key and time of AWS's signature test suite, and of the examples in its documentation.
SUITE_KEY = AwsCredential("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
SUITE_AT = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
S3_KEY = AwsCredential("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
S3_AT = datetime(2013, 5, 24, tzinfo=UTC)
S3_HOST = "examplebucket.s3.amazonaws.com"
FORM = ("Content-Type", "application/x-www-form-urlencoded")
VANILLA = Signable("GET", "example.amazonaws.com", "/", "", (), b"")


def signature(request: Signable, key: AwsCredential, service: str, at: datetime) -> str:
    """The signature alone."""
    headers = dict(signed_headers(request, key, service=service, region="us-east-1", at=at))
    return headers["Authorization"].rpartition("Signature=")[2]


@pytest.mark.parametrize(
    ("name", "request_", "expected"),
    [
        ("get-vanilla", VANILLA, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (
            "get-vanilla-query-order-key-case",
            replace(VANILLA, query="Param2=value2&Param1=value1"),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "post-vanilla",
            replace(VANILLA, method="POST"),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
        (
            "post-x-www-form-urlencoded",
            replace(VANILLA, method="POST", headers=(FORM,), body=b"Param1=value1"),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
)
def test_the_signature_test_suite_is_met(name: str, request_: Signable, expected: str) -> None:
    assert signature(request_, SUITE_KEY, "service", SUITE_AT) == expected, name


def test_the_documented_iam_example_is_met() -> None:
    request = Signable(
        "GET",
        "iam.amazonaws.com",
        "/",
        "Action=ListUsers&Version=2010-05-08",
        (("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"),),
        b"",
    )
    expected = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    assert signature(request, SUITE_KEY, "iam", SUITE_AT) == expected


@pytest.mark.parametrize(
    ("path", "query", "headers", "expected"),
    [
        ("/test.txt", "", (("Range", "bytes=0-9"),), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("/", "lifecycle", (), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("/", "max-keys=2&prefix=J", (), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_the_documented_s3_examples_are_met(path: str, query: str, headers: tuple[tuple[str, str], ...], expected: str) -> None:
    assert signature(Signable("GET", S3_HOST, path, query, headers, b""), S3_KEY, "s3", S3_AT) == expected


def test_what_a_proxy_may_rewrite_is_not_signed() -> None:
    plain = signature(VANILLA, SUITE_KEY, "service", SUITE_AT)
    dressed = replace(VANILLA, headers=(("User-Agent", "x"), ("Accept-Encoding", "identity"), ("Cache-Control", "no-cache")))
    assert signature(dressed, SUITE_KEY, "service", SUITE_AT) == plain


def test_a_session_token_is_sent_and_signed() -> None:
    key = AwsCredential("AKIDEXAMPLE", SUITE_KEY.secret, "session-token")
    headers = dict(signed_headers(VANILLA, key, service="service", region="us-east-1", at=SUITE_AT))
    assert headers["X-Amz-Security-Token"] == "session-token"
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token," in headers["Authorization"]


@pytest.mark.parametrize("text", ["", "AKID", "AKID:", ":secret", "a:b:c:d", "a::c"])
def test_a_text_that_is_no_key_pair_is_none(text: str) -> None:
    assert credential(text) is None


def test_a_credential_shows_its_public_id_only() -> None:
    assert repr(credential("AKID:SECRET/KEY:TOKEN")) == "AwsCredential(key_id='AKID')"
