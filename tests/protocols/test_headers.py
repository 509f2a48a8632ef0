"""Headers: which can be set, and what `WWW-Authenticate` and `traceparent` contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import unreadable
from playground.protocols.headers import (
    RESERVED,
    has_traceparent,
    header_error,
    is_credential,
    is_token,
    trace_id_of,
)
from playground.protocols.unreadable import (
    Challenge,
    auth_advice,
    describe_denial,
    read_challenges,
)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_what_the_playground_sets_is_refused_however_it_is_written(name: str) -> None:
    written = name.title()
    assert (
        header_error(written, "x") == f"{written} is set by the playground and can’t be overridden."
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("", "x", "“” is not a valid header name."),
        ("X Y", "x", "“X Y” is not a valid header name."),
        ("X\r\nHost", "x", "is not a valid header name."),
        ("é", "x", "“é” is not a valid header name."),
        ("n:" * 500, "x", "…” is not a valid header name."),
        ("X", "a\r\nHost: b", "The value of X contains a control character."),
        ("X", "a\0", "The value of X contains a control character."),
        ("X", "é", "The value of X contains non-ASCII characters."),
    ],
)
def test_what_cannot_be_sent_is_refused(name: str, value: str, words: str) -> None:
    found = header_error(name, value)
    assert found is not None
    assert found.endswith(words)
    assert len(found) < 120


@pytest.mark.parametrize(("name", "value"), [("X-Trace", "a b\tc"), ("Accept", "")])
def test_other_headers_are_not(name: str, value: str) -> None:
    assert header_error(name, value) is None
    assert is_token(name)


def test_credentials_are_told_by_the_words_of_the_name() -> None:
    assert is_credential("Authorization")
    assert is_credential("X-API_key")
    assert not is_credential("Mcp-Session-Id")
    assert not is_credential("X-Author")


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
def test_a_challenge_is_read(header: str, challenges: list[Challenge]) -> None:
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


def test_without_a_challenge_there_is_the_usual_advice() -> None:
    assert unreadable.fix_for_status(401, {}) == unreadable.fix_for_status(
        401, {"www-authenticate": '"'}
    )


@pytest.mark.parametrize(
    ("status", "headers", "sentence"),
    [
        (401, {}, "… (HTTP 401)."),
        (403, {}, "…, or access denied (HTTP 403)."),
        (401, {"www-authenticate": 'Bearer realm="a", scope="b c"'},
         "… (HTTP 401): Bearer, realm “a”, scope “b c”."),
        (403, {"www-authenticate": 'Bearer error="insufficient_scope", scope="b"'},
         "… (HTTP 403): Bearer, missing scope “b”."),
        (401, {"www-authenticate": 'Basic realm="a", Bearer'},
         "… (HTTP 401): Basic, realm “a”; or Bearer."),
        (407, {"www-authenticate": "Bearer", "proxy-authenticate": "Basic"},
         "… (HTTP 407): Basic."),
    ],
)  # fmt: skip
def test_a_denial_names_scheme_realm_and_scope(
    status: int, headers: dict[str, str], sentence: str
) -> None:
    assert describe_denial(status, headers) == sentence.replace("…", "Authentication required")


@given(st.text(max_size=200))
def test_no_challenge_raises(header: str) -> None:
    assert len(auth_advice(header)) < 3000


TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"


VALID_VALUES = [
    VALID,
    # 3.2.2.5: flags make no difference.
    f"00-{TRACE}-{PARENT}-00",
    f"00-{TRACE}-{PARENT}-fe",
    f" \t{VALID} ",
    # 4.3: a later version may have more members.
    f"01-{TRACE}-{PARENT}-01",
    f"cc-{TRACE}-{PARENT}-01-what-the-future-will-be-like",
    f"cc-{TRACE}-{PARENT}-01-",
]
INVALID_VALUES = [
    "",
    "00",
    f"00-{TRACE}-{PARENT}",
    # 3.2.2: version 00 has four members.
    f"{VALID}-01",
    f"{VALID}.",
    # 3.2.2.1: version ff is not valid; a version has two digits.
    f"ff-{TRACE}-{PARENT}-01",
    f"0-{TRACE}-{PARENT}-01",
    f"0x-{TRACE}-{PARENT}-01",
    # 4.3: what follows the flags of a later version begins with a dash.
    f"cc-{TRACE}-{PARENT}-01.what",
    # 3.2.2.3, 3.2.2.4: neither id is all zeros.
    f"00-{'0' * 32}-{PARENT}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    # 3.2.2: digits are in lower case.
    VALID.upper(),
    f"00-{TRACE[:-1]}-{PARENT}-01",
    f"00-{TRACE}0-{PARENT}-01",
    f"00-{TRACE}-{PARENT[:-1]}-01",
    f"00-{TRACE}-{PARENT}-1",
    f"00-{TRACE}-{PARENT}-0x",
    f"00-{TRACE[:-1]}٣-{PARENT}-01",
    f"{VALID},{VALID}",
    f"{VALID}\n",
]


@pytest.mark.parametrize("value", VALID_VALUES + INVALID_VALUES)
def test_the_trace_id_in_a_value(value: str) -> None:
    assert trace_id_of(value) == (TRACE if value in VALID_VALUES else "")


@given(st.text())
def test_any_text_has_no_trace_id(value: str) -> None:
    assert trace_id_of(value) == ""


@pytest.mark.parametrize("name", ["traceparent", "Traceparent", "TRACEPARENT"])
def test_traceparent_in_any_case(name: str) -> None:
    assert has_traceparent([("Accept", "*/*"), (name, "x")])
    assert not has_traceparent([("Accept", name)])
