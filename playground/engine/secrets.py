"""Secrets on their way: what only the wire sees of a request, and where it may go."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from playground.library.credentials import clean_headers
from playground.protocols.addresses import same_origin
from playground.protocols.calls import origin_of
from playground.transport.redaction import SHORTEST
from playground.variables import Substitution, Value

Headers = Sequence[tuple[str, str]]


class WithheldError(ValueError):
    """A secret does not go along: a sentence that names it and says why."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of an environment that goes along with a request."""

    name: str
    value: str = field(repr=False)
    #: Where it may go, as "https://example.com".
    origins: tuple[str, ...] = ()

    def may_go(self, url: str) -> bool:
        """Whether it may be sent to this address."""
        return any(same_origin(url, origin) for origin in self.origins)

    def against(self, url: str) -> str:
        """Why it does not go to `url`, as a sentence; "" where it does.

        The address may hold other secrets, so its origin alone is named.
        """
        if len(self.value) < SHORTEST:
            return (
                f"The secret “{self.name}” has fewer than {SHORTEST} characters, which is too few"
                " to find it and blot it out in what comes back."
            )
        if self.may_go(url):
            return ""
        allowed = ", ".join(self.origins) or "nowhere yet"
        there = origin_of(url) or "an address that cannot be read"
        return f"The secret “{self.name}” may go to {allowed}, and this request goes to {there}."

    @property
    def forms(self) -> tuple[str, ...]:
        """What must not be shown: the value, and how headers disguise it."""
        return (self.value, self.value.strip(), encoded(self.value))


@dataclass(frozen=True, slots=True)
class WireValues:
    """What only the wire sees of a request. Never shown, never stored."""

    #: The stored document that `document` is sent for: see `PreparedRequest`.
    request: Mapping[str, Any] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    #: The request's own headers, those that authenticate among them.
    headers: Headers = field(repr=False)
    url: str = field(repr=False)
    secrets: tuple[Secret, ...] = ()
    #: What else must not be shown: pairs of user and password as Basic writes them.
    disguised: tuple[str, ...] = field(default=(), repr=False)

    @property
    def redact(self) -> list[str]:
        """What must not appear in any frame."""
        return [*self.disguised, *(form for secret in self.secrets for form in secret.forms)]

    def revised(self, request: dict[str, Any], change: Callable[[Any], Any]) -> WireValues:
        """The same for the document `request`, to which `change` has led."""
        return replace(self, request=request, document=change(self.document))

    def carrying(self, request: dict[str, Any]) -> WireValues:
        """The same with another document, in which the same secrets take their places."""
        return replace(self, request=request, document=filled(self.secrets).json(request).sent)

    def at(self, url: str) -> WireValues:
        """The same at another address, in which the same secrets take their places."""
        return replace(self, url=filled(self.secrets).url(url).sent)

    def refusals(self) -> list[str]:
        """Why it must not be sent, a sentence for each secret that may not go there."""
        return list(filter(None, (secret.against(self.url) for secret in self.secrets)))


def filled(secrets: Iterable[Secret]) -> Substitution:
    """What puts these secrets, and no other name, into what was kept without them."""
    known = {secret.name: Value(secret.value, secret=True) for secret in secrets}
    return Substitution(known.get, moment=datetime.now(UTC))


def encoded(text: str) -> str:
    """Base64, as Basic authentication writes it (RFC 7617, section 2)."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def authorising(
    auth: Mapping[str, Any],
    value: Callable[[str], str],
    encode: Callable[[str], str] = encoded,
) -> tuple[list[tuple[str, str]], str]:
    """The headers of a request's own authentication, and what else must not be shown of them.

    `auth` is that of a saved request, `value` gives a secret by its name, and `encode` writes a
    pair of user and password.
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


def keepable(headers: Headers) -> list[list[str]]:
    """Headers as they may be stored: "" for every credential that is no placeholder."""
    return clean_headers([list(pair) for pair in headers])
