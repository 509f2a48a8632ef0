"""Grammar of URIs (RFC 3986), with the characters that IRIs add (RFC 3987)."""

from __future__ import annotations

import re

#: Also characters outside of ASCII, except controls, white space and those without a meaning.
_OTHER = r"\u00a1-\u1fff\u200c-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ud7ff"
_OTHER += r"\uf900-\ufdcf\ufdf0-\ufeff\uff00-\uffef\U00010000-\U0001fffd\U00020000-\U000efffd"
_CHARACTERS = rf"A-Za-z0-9\-._~!$&'()*+,;=:@{_OTHER}"
#: Runs of characters in one step: a step for each takes three times as long.
_PART = rf"[%s{_CHARACTERS}]++|%%[0-9A-Fa-f]{{2}}"
_REFERENCE = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?"
    rf"(?://(?P<authority>(?:{_PART % ''}|\[[0-9A-Fa-f:.]++\])*+))?"
    rf"(?:{_PART % '/'})*+(?:\?(?:{_PART % '/?'})*+)?(?:\#(?:{_PART % '/?'})*+)?"
)


def is_uri_reference(text: str) -> bool:
    """Return whether a text is a URI or a relative reference: `https://a/b`, `/b`, `b?c#d`."""
    return bool(text) and _match(text) is not None


def is_uri(text: str) -> bool:
    """Return whether a text is a URI, which begins with a scheme: `https://a/b`, `ui://a`."""
    match = _match(text)
    return match is not None and match["scheme"] is not None


def _match(text: str) -> re.Match[str] | None:
    match = _REFERENCE.fullmatch(text)
    if match and (match["scheme"] or "").lower() in ("http", "https") and not match["authority"]:
        return None  # RFC 9110, section 4.2: they have a host.
    return match
