"""What a server that answers 401 wants to see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import unreadable
from playground.protocols.challenges import Challenge, auth_advice, read_challenges

METADATA = "https://a.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("header", "challenges"),
    [
        ("", []),
        ("Bearer", [Challenge("Bearer")]),
        ('Bearer realm="a, b"', [Challenge("Bearer", {"realm": "a, b"})]),
        (
            f'Bearer error="invalid_token", resource_metadata="{METADATA}"',
            [Challenge("Bearer", {"error": "invalid_token", "resource_metadata": METADATA})],
        ),
        (
            'Basic realm="x", Bearer scope=read',
            [Challenge("Basic", {"realm": "x"}), Challenge("Bearer", {"scope": "read"})],
        ),
        (r'Digest realm="a \"b\""', [Challenge("Digest", {"realm": 'a "b"'})]),
        ('"', []),
    ],
)
def test_a_header_is_read(header: str, challenges: list[Challenge]) -> None:
    assert read_challenges(header) == challenges


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ('Bearer scope="recipes"', ["token (Bearer)", "scope recipes"]),
        (f'Bearer resource_metadata="{METADATA}"', [METADATA]),
        ('Bearer error_description="It has expired."', ["It says: It has expired."]),
        ('Basic realm="kitchen"', ["user name and a password", "kitchen"]),
        ("ApiKey", ["API key"]),
        ("Negotiate", ["scheme Negotiate"]),
        ("Basic, Bearer", ["(Basic)", " Or: ", "(Bearer)"]),
    ],
)
def test_it_is_said_what_to_enter(header: str, words: list[str]) -> None:
    fix = unreadable.fix_for_status(401, {"www-authenticate": header})
    assert fix == auth_advice(header)
    assert all(word in fix for word in words)


def test_without_a_header_there_is_the_usual_advice() -> None:
    assert unreadable.fix_for_status(401, {}) == unreadable.fix_for_status(
        401, {"www-authenticate": '"'}
    )


@given(st.text(max_size=200))
def test_no_header_raises(header: str) -> None:
    assert len(auth_advice(header)) < 3000
