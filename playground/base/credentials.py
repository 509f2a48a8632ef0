"""Removal of literal credentials from stored or written data: only `{{name}}` may stand for one."""

from __future__ import annotations

import re
from typing import Any

from playground.protocols.headers import is_credential
from playground.variables.names import PLACEHOLDER, is_name

#: One placeholder, after the scheme that a header may have.
_PLACEHOLDER = re.compile(
    rf"\s*((basic|bearer|digest|token|apikey|api-key|key)\s+)?{PLACEHOLDER.pattern}\s*",
    re.IGNORECASE,
)

#: Up to the last “@”: a password may contain one.
_LOGIN = re.compile(r"(?:^|(?<=://))[^/?#\s]*@")
_PARAMETER = re.compile(r"(?<=[?&])([^=&#]*)=([^&#]*)")

#: Members of the settings of each authentication type.
AUTH_FIELDS = {
    "none": (),
    "bearer": ("secret",),
    "api_key": ("header", "secret"),
    "basic": ("user", "secret"),
}


def is_placeholder(value: str) -> bool:
    """Return whether a credential is `{{name}}`, after a word like `Bearer` or alone, or empty."""
    return not value.strip() or _PLACEHOLDER.fullmatch(value) is not None


def clean_headers(headers: Any) -> list[list[str]]:
    """Return headers with "" for literal credentials, without rows that are not pairs of text."""
    rows = headers if isinstance(headers, list) else []
    return [
        [name, "" if is_credential(name) and not is_placeholder(value) else value]
        for name, value in filter(is_pair, rows)
    ]


def without_credentials(headers: Any) -> tuple[list[list[str]], list[str]]:
    """Return headers without literal credentials, and the names of those left out."""
    rows = [row for row in headers if is_pair(row)] if isinstance(headers, list) else []
    kept = [
        [name, value]
        for name, value in rows
        if not is_credential(name) or (value.strip() and is_placeholder(value))
    ]
    return kept, [name for name, value in rows if [name, value] not in kept]


def clean_url_template(address: str) -> str:
    """Return an address template without literal credentials.

    User and password are removed; a parameter that is a credential stays, with the value "".
    """
    address = _LOGIN.sub(_clean_login, address)
    return _PARAMETER.sub(_clean_parameter, address)


def clean_auth(auth: Any) -> dict[str, str]:
    """Return the settings of authentication without unknown members.

    A secret that is not a name may be its value, typed in the wrong place: it becomes "".
    """
    kind = auth.get("type") if isinstance(auth, dict) else None
    if not isinstance(kind, str) or kind not in AUTH_FIELDS:
        return {}
    values = {name: auth.get(name) for name in AUTH_FIELDS[kind]}
    texts = {name: text if isinstance(text, str) else "" for name, text in values.items()}
    if "secret" in texts and not is_name(texts["secret"]):
        texts["secret"] = ""
    return {"type": kind} | texts


def is_pair(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)


def _clean_login(found: re.Match[str]) -> str:
    user, colon, password = found[0].removesuffix("@").partition(":")
    return found[0] if is_placeholder(password if colon else user) else ""


def _clean_parameter(found: re.Match[str]) -> str:
    literal = is_credential(found[1]) and not is_placeholder(found[2])
    return f"{found[1]}=" if literal else found[0]
