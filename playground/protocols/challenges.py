"""What a server that answers 401 wants to see: the `WWW-Authenticate` header, in words.

RFC 9110, section 11.6.1; the parameters of bearer tokens are those of RFC 6750 (section 3) and
RFC 9728 (section 5.1), which MCP servers use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Characters of a header that are read, and of a value that are shown.
_READ, _SHOWN = 4_000, 200

_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAM = re.compile(rf"\s*,?\s*({_NAME})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_SCHEME = re.compile(rf"\s*,?\s*({_NAME})(?=\s|,|$)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One scheme that a server accepts."""

    scheme: str
    #: Names in lower case.
    params: Mapping[str, str] = field(default_factory=dict)


def read_challenges(header: str) -> list[Challenge]:
    """The challenges of a header; empty for one that holds none."""
    text, at = header[:_READ], 0
    found: list[Challenge] = []
    while scheme := _SCHEME.match(text, at):
        at = scheme.end()
        params: dict[str, str] = {}
        while param := _PARAM.match(text, at):
            at = param.end()
            quoted, plain = param[2], param[3]
            value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
            params.setdefault(param[1].lower(), value)
        found.append(Challenge(scheme[1], params))
    return found


def auth_advice(header: str) -> str:
    """What to enter at the agent, as sentences; "" where the header says nothing of use."""
    sentences = [_advice_on(challenge) for challenge in read_challenges(header)[:3]]
    return " Or: ".join(filter(None, sentences))


def _advice_on(challenge: Challenge) -> str:
    what = _SETTINGS.get(challenge.scheme.lower())
    if what is None:
        name = challenge.scheme[:60]
        return f"The server wants the scheme {name}: set an Authorization header at the agent."
    said = [what]
    for name, sentence in _SAID.items():
        if value := challenge.params.get(name, "")[:_SHOWN].strip():
            said.append(sentence.format(value.rstrip(".")))
    return " ".join(said)


_SETTINGS: Mapping[str, str] = {
    "bearer": "The server wants a token (Bearer): enter it at the agent under authentication.",
    "basic": "The server wants a user name and a password (Basic): enter them at the agent.",
    "apikey": "The server wants an API key: enter it at the agent under authentication.",
}
_SAID: Mapping[str, str] = {
    "error_description": "It says: {}.",
    "scope": "The token needs the scope {}.",
    "realm": "It calls what is protected {}.",
    "resource_metadata": "Who gives out tokens is said at {}.",
}
