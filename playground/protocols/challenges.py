"""Authentication challenges: the `WWW-Authenticate` header of a 401 response, as advice.

RFC 9110, section 11.6.1; the parameters of bearer tokens are those of RFC 6750 (section 3) and
RFC 9728 (section 5.1), which MCP servers use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Most characters of a header that are read, and of a value that are shown.
_MAX_HEADER, _MAX_VALUE = 4_000, 200

_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAM = re.compile(rf"\s*,?\s*({_NAME})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_SCHEME = re.compile(rf"\s*,?\s*({_NAME})(?=\s|,|$)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One authentication scheme that a server accepts."""

    scheme: str
    #: Names in lower case.
    params: Mapping[str, str] = field(default_factory=dict)


def read_challenges(header: str) -> list[Challenge]:
    """Return the challenges of a header, [] if it has none."""
    text, at = header[:_MAX_HEADER], 0
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
    """Return what to enter in the agent's settings, as sentences, "" without a challenge."""
    sentences = [_advice_for(challenge) for challenge in read_challenges(header)[:3]]
    return " Or: ".join(filter(None, sentences))


def _advice_for(challenge: Challenge) -> str:
    advice = _ADVICE.get(challenge.scheme.lower())
    if advice is None:
        name = challenge.scheme[:60]
        return f"The server wants the scheme {name}: set an Authorization header at the agent."
    sentences = [advice]
    for name, sentence in _PARAMETER_SENTENCES.items():
        if value := challenge.params.get(name, "")[:_MAX_VALUE].strip():
            sentences.append(sentence.format(value.rstrip(".")))
    return " ".join(sentences)


_ADVICE: Mapping[str, str] = {
    "bearer": "The server wants a token (Bearer): enter it at the agent under authentication.",
    "basic": "The server wants a user name and a password (Basic): enter them at the agent.",
    "apikey": "The server wants an API key: enter it at the agent under authentication.",
}
_PARAMETER_SENTENCES: Mapping[str, str] = {
    "error_description": "It says: {}.",
    "scope": "The token needs the scope {}.",
    "realm": "It calls what is protected {}.",
    "resource_metadata": "Who gives out tokens is said at {}.",
}
