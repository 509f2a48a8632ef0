"""Request headers: which can be sent, which carry credentials, and the trace context."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.protocols.text import shorten

#: Most bytes of one header that is sent, with its name, and of all headers of a request.
MAX_HEADER, MAX_HEADERS = 16 * 1024, 64 * 1024

#: Headers that the transport sets, or that would carry the identity of the browser.
RESERVED = frozenset(
    "host content-length transfer-encoding connection keep-alive te trailer upgrade "
    "proxy-connection proxy-authenticate cookie expect".split()
)

#: The grammar of a token: a name of a header, a method, a parameter (RFC 9110, section 5.6.2).
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - no secret
_TOKEN = re.compile(TOKEN)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

#: Words that make a header a credential.
_CREDENTIAL_WORDS = frozenset(
    "accesskey accesstoken apikey auth authorization authtoken cookie cookie2 credential "
    "credentials jwt key keys passphrase passwd password secret secretkey secrets session "
    "sessionid signature token tokens".split()
)
#: Headers with such words that are no credentials and are needed to follow an exchange.
_NOT_CREDENTIALS = frozenset({"mcp-session-id"})


def header_error(name: str, value: str) -> str | None:
    """Return why a header cannot be sent, as a sentence; None if it can."""
    if not is_token(name):
        return f"“{shorten(name, 61)}” is not a valid header name."
    if name.lower() in RESERVED:
        return f"{name} is set by the playground and can’t be overridden."
    if has_control(value):
        return f"The value of {name} contains a control character."
    if not value.isascii():
        return f"The value of {name} contains non-ASCII characters."
    return size_error([(name, value)])


def size_error(headers: Sequence[tuple[str, str]]) -> str | None:
    """Return why headers are too large to be sent, as a sentence with the largest; None if not."""
    sizes = [(len(f"{name}: {value}\r\n"), shorten(name, 60)) for name, value in headers]
    largest, name = max(sizes, default=(0, ""))
    total = sum(size for size, _ in sizes)
    if largest > MAX_HEADER:
        return f"{name} has {largest:,} bytes. A header may have {MAX_HEADER:,}."
    if total > MAX_HEADERS:
        limit = f"The headers of a request may have {MAX_HEADERS:,}."
        return f"The headers have {total:,} bytes, {largest:,} of them in {name}. {limit}"
    return None


def is_token(text: str) -> bool:
    """Return whether `text` can be the name of a header or a method (RFC 9110, section 5.6.2)."""
    return _TOKEN.fullmatch(text) is not None


def has_control(value: str) -> bool:
    """Return whether the value of a header has a control character other than a tab."""
    return _CONTROL.search(value) is not None


def is_credential(header: str) -> bool:
    """Return whether a request header carries a credential, judging by the words of its name."""
    name = header.lower()
    return name not in _NOT_CREDENTIALS and not _CREDENTIAL_WORDS.isdisjoint(re.split("[-_]", name))


# Trace context (W3C Trace Context)

#: Name of the header (3.2.1).
TRACEPARENT = "traceparent"

#: Version, trace id, parent id, flags, and the rest of a later version (3.2.2).
_TRACEPARENT = re.compile(
    r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.ASCII
)
#: A version that is not valid (3.2.2.1), and ids that are not (3.2.2.3, 3.2.2.4).
_INVALID_VERSION, _NO_TRACE, _NO_PARENT = "ff", "0" * 32, "0" * 16


def trace_id_of(value: str) -> str:
    """Return the trace id in the value of the header; "" if the value is not valid.

    Of a later version the members of version 00 are read (4.3).
    """
    match = _TRACEPARENT.fullmatch(value.strip(" \t"))
    if match is None:
        return ""
    version, trace_id, parent_id, rest = match.groups()
    if version == _INVALID_VERSION or (version == "00" and rest):
        return ""
    return "" if trace_id == _NO_TRACE or parent_id == _NO_PARENT else trace_id


def has_traceparent(headers: Sequence[tuple[str, str]]) -> bool:
    return any(name.lower() == TRACEPARENT for name, _ in headers)
