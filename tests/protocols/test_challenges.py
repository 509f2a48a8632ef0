"""What a server that answers 401 wants to see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import unreadable
from playground.protocols.challenges import (
    Challenge,
    auth_advice,
    describe_denial,
    read_challenges,
)

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
        ('Bearer scope="recipes"', ["bearer token", "scope “recipes”"]),
        (f'Bearer resource_metadata="{METADATA}"', [f"Resource metadata: {METADATA}"]),
        ('Bearer error_description="It has expired."', ["Server message: It has expired."]),
        ('Basic realm="kitchen"', ["user name and password"]),
        ("ApiKey", ["API key"]),
        ("Negotiate", ["scheme Negotiate"]),
        ("Basic, Bearer", ["password", " Or: ", "token"]),
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


@pytest.mark.parametrize(
    ("status", "header", "sentence"),
    [
        (401, "", "Authentication required (HTTP 401)."),
        (403, "", "Authentication required, or access denied (HTTP 403)."),
        (401, 'Bearer realm="a", scope="b c"', "… (HTTP 401): Bearer, realm “a”, scope “b c”."),
        (403, 'Bearer error="insufficient_scope", scope="b"',
         "… (HTTP 403): Bearer, missing scope “b”."),
        (401, 'Basic realm="a", Bearer', "… (HTTP 401): Basic, realm “a”; or Bearer."),
    ],
)  # fmt: skip
def test_a_denial_names_scheme_realm_and_scope(status: int, header: str, sentence: str) -> None:
    cause = describe_denial(status, {"www-authenticate": header})
    assert cause == sentence.replace("…", "Authentication required")


def test_a_proxy_has_a_header_of_its_own() -> None:
    headers = {"www-authenticate": "Bearer", "proxy-authenticate": "Basic"}
    assert describe_denial(407, headers) == "Authentication required (HTTP 407): Basic."


@given(st.text(max_size=200))
def test_no_header_raises(header: str) -> None:
    assert len(auth_advice(header)) < 3000
