"""What is masked in a text, and what is left so that the text still helps."""

from __future__ import annotations

import pytest

from jobconsole.core.redaction import redact


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://ana:pw@api.example/v1", "GET https://***@api.example/v1"),
        ("https://token@api.example/v1?a=b@c", "https://***@api.example/v1?a=b@c"),
        ("https://x/y?id=7&api_key=K3Y&page=2", "https://x/y?id=7&api_key=***&page=2"),
        ("https://x/y?key=K3Y", "https://x/y?key=***"),
        ("https://x/y?sig=aGk%3D#frag", "https://x/y?sig=***#frag"),
        ("?X-Amz-Signature=ab12&X-Amz-Date=20261129", "?X-Amz-Signature=***&X-Amz-Date=20261129"),
        ("?X-Amz-Credential=AKID/2026&X-Amz-Security-Token=t", "?X-Amz-Credential=***&X-Amz-Security-Token=***"),
        ("access_token=a.b.c, state=running", "access_token=***, state=running"),
        ('{"token": "a b c", "state": "running"}', '{"token": "***", "state": "running"}'),
        ("{'password': 'a b', 'n': 1}", "{'password': '***', 'n': 1}"),
        ("Authorization: Bearer T0K3N\nAccept: */*", "Authorization: ***\nAccept: */*"),
        ("('Authorization', 'Bearer T0K3N')", "('Authorization***"),
        ("proxy-authorization: Basic eDp5", "proxy-authorization: ***"),
        ("Set-Cookie: s=1; Path=/", "Set-Cookie: ***"),
        ("X-Api-Key: K3Y", "X-Api-Key: ***"),
        ("sent Bearer T0K3N to api.example", "sent Bearer *** to api.example"),
        ("token abcdefghijklmnop refused", "token *** refused"),
    ],
)
def test_a_credential_is_masked_by_its_place(text: str, shown: str) -> None:
    masked = redact(text)
    assert masked.replace("', ***", "***") == shown
    assert redact(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "GET https://api.example/v1/jobs/7: no whole answer within 10 s",
        "the token expired",
        "state=running monkey=7 author=ana design=x",
        "10:20:31 received 503, Retry-After 120",
        "user@example.com wrote",
    ],
)
def test_a_text_without_a_credential_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.rule("C13")
def test_known_values_are_masked_wherever_they_stand_the_longest_first() -> None:
    assert redact("got tok-47 and tok-4711 back", ["tok-47", "tok-4711"]) == "got *** and *** back"


def test_a_known_value_too_short_to_be_a_secret_masks_no_words() -> None:
    assert redact("an answer", ["an", ""]) == "an answer"
