"""Authentication challenges: the `WWW-Authenticate` header as cause, facts and advice.

RFC 9110, section 11.6.1; the parameters of bearer tokens are those of RFC 6750 (section 3) and
RFC 9728 (section 5.1), which MCP servers use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from playground.protocols.headers import TOKEN

#: Most characters of a header that are read, and of a value that are shown.
_MAX_HEADER, _MAX_VALUE = 4_000, 200

_PARAM = re.compile(rf"\s*,?\s*({TOKEN})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_SCHEME = re.compile(rf"\s*,?\s*({TOKEN})(?=\s|,|$)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One authentication scheme that a server accepts."""

    scheme: str
    #: Names in lower case.
    params: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Return a parameter for display, "" without it."""
        return self.params.get(name, "")[:_MAX_VALUE].strip()


def read_challenges(header: str) -> list[Challenge]:
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


def describe_denial(status: int, headers: Mapping[str, str]) -> str:
    """Return the cause of a 401, 403 or 407 as a sentence: scheme, realm and missing scope."""
    name = "proxy-authenticate" if status == 407 else "www-authenticate"
    found = map(_describe, read_challenges(headers.get(name, ""))[:3])
    described = "; or ".join(found)
    if not described and status == 403:
        return "Authentication required, or access denied (HTTP 403)."
    return f"Authentication required (HTTP {status}){described and f': {described}'}."


def _describe(challenge: Challenge) -> str:
    parts = [challenge.scheme[:60]]
    is_missing = challenge.params.get("error") == "insufficient_scope"
    labels = {"realm": "realm", "scope": "missing scope" if is_missing else "scope"}
    for name, label in labels.items():
        if value := challenge.value(name):
            parts.append(f"{label} “{value}”")
    return ", ".join(parts)


def auth_advice(header: str) -> str:
    """Return what to enter in the agent's settings, as sentences, "" without a challenge."""
    sentences = [_advice_for(challenge) for challenge in read_challenges(header)[:3]]
    return " Or: ".join(filter(None, sentences))


def _advice_for(challenge: Challenge) -> str:
    advice = _ADVICE.get(challenge.scheme.lower())
    if advice is None:
        advice = f"Add an Authorization header with the scheme {challenge.scheme[:60]}."
    sentences = [advice]
    for name, sentence in _PARAMETER_SENTENCES.items():
        if value := challenge.value(name):
            sentences.append(sentence.format(value.rstrip(".")))
    return " ".join(sentences)


_ADVICE: Mapping[str, str] = {
    "bearer": "Add a bearer token to the agent’s authentication.",
    "basic": "Add a user name and password to the agent’s authentication.",
    "apikey": "Add an API key to the agent’s authentication.",
}
_PARAMETER_SENTENCES: Mapping[str, str] = {
    "error_description": "Server message: {}.",
    "scope": "The token requires the scope “{}”.",
    "resource_metadata": "Resource metadata: {}",
}
