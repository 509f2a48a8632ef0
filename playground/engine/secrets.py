"""Secrets of an environment: why one may not be sent, and their values in a request.

`playground.protocols.origins.is_allowed_origin` decides where a secret may be sent. Values are put
into a request by `secret_substitution`, and into its authentication by `request_auth_headers`; both
are used by `playground.engine.preparation` and `playground.engine.request` only.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from playground.protocols.origins import is_allowed_origin, origin_of
from playground.transport.redaction import SHORTEST
from playground.variables import Substitution, Value


class SecretNotAllowedError(ValueError):
    """A secret may not be sent with a request; the message names it and gives the reason."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of an environment that is sent with a request."""

    name: str
    value: str = field(repr=False)
    #: The origins that it may be sent to, as "https://example.com".
    allowed_origins: tuple[str, ...] = ()

    def not_allowed_reason(self, url: str) -> str:
        """Return why the secret may not be sent to `url`, as a sentence; "" if it may.

        The URL may hold other secrets, so the sentence names its origin only.
        """
        if len(self.value) < SHORTEST:
            return (
                f"The secret “{self.name}” has fewer than {SHORTEST} characters. Shorter "
                "secrets cannot be masked reliably in responses."
            )
        if is_allowed_origin(url, self.allowed_origins):
            return ""
        allowed = ", ".join(self.allowed_origins) or "no origin yet"
        there = origin_of(url) or "an invalid URL"
        return (
            f"The secret “{self.name}” may be sent to {allowed}, but this request goes to {there}."
        )

    @property
    def encodings(self) -> tuple[str, ...]:
        """The texts to redact: the value, stripped as in a header, and encoded as Base64."""
        return (self.value, self.value.strip(), basic_credentials(self.value))


def secret_substitution(secrets: Iterable[Secret]) -> Substitution:
    """Return a substitution that replaces the names of these secrets, and no other name."""
    known = {secret.name: Value(secret.value, secret=True) for secret in secrets}
    return Substitution(known.get, moment=datetime.now(UTC))


def basic_credentials(text: str) -> str:
    """Encode a text as Base64, as Basic authentication does (RFC 7617, section 2)."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def request_auth_headers(
    auth: Mapping[str, Any],
    value: Callable[[str], str],
    encode: Callable[[str], str] = basic_credentials,
) -> tuple[list[tuple[str, str]], str]:
    """Return the headers of a request's own authentication, and the encoded pair of Basic.

    `auth` is that of a saved request, `value` returns a secret by its name, and `encode` encodes a
    pair of user and password. The second value is "" for other schemes; it has to be redacted.
    """
    name = str(auth.get("secret", ""))
    match auth.get("type"):
        case "bearer":
            return [("Authorization", f"Bearer {value(name)}")], ""
        case "api_key":
            return [(str(auth.get("header") or "X-API-Key"), value(name))], ""
        case "basic":
            pair = encode(f"{auth.get('user', '')}:{value(name)}")
            return [("Authorization", f"Basic {pair}")], pair
        case _:
            return [], ""
