from __future__ import annotations

import pytest

from playground.protocols.headers import RESERVED, header_error, is_credential, is_token


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
