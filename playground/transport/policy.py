"""Outbound policy: permitted addresses and valid URLs.

Pure. `playground.transport.backend` checks every address that a name resolved to, at connect
time. The networks are listed one by one in `networks`, because `ipaddress.is_private` leaves out
shared, translated and metadata addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import Self

from playground.protocols.origins import origin_of
from playground.transport.http_library import URL, InvalidURL
from playground.transport.networks import Address, Network, NetworkRule, embedded, rule_for

_FORBIDDEN_CHARACTER = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")


@dataclass(frozen=True, slots=True)
class PolicyDenial:
    """A denial by the policy. It names the rule, never the address that a name resolved to."""

    #: Id of the rule, such as `link-local`.
    rule: str
    #: The subject of the rule, as a sentence for the user.
    message: str
    #: Whether the rule holds in both modes, so that no allow-list overrides it.
    always: bool


@dataclass(frozen=True, slots=True)
class OutboundPolicy:
    """Decides whether the playground may connect to an address."""

    #: Whether special-purpose addresses are denied, except those of the allow-list.
    hosted: bool = False
    #: Names, in lower case, whose special-purpose addresses are permitted all the same.
    hosts: frozenset[str] = frozenset()
    #: Special-purpose networks that are permitted all the same.
    networks: tuple[Network, ...] = ()

    @classmethod
    def from_settings(cls, hosted: bool, allow: Iterable[str] = ()) -> Self:
        """Return the policy of a mode; `allow` holds host names and networks in CIDR notation.

        Raise `ValueError` for an entry that looks like a network and is invalid.
        """
        hosts: set[str] = set()
        networks: list[Network] = []
        for entry in allow:
            try:
                networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                if "/" in entry:
                    raise ValueError(f"{entry!r} is neither a host name nor a network") from None
                hosts.add(_plain(entry))
        return cls(hosted, frozenset(hosts), tuple(networks))

    def verdict(self, address: Address, host: str = "") -> PolicyDenial | None:
        """Return why `address` is denied, None if it is permitted.

        An IPv6 address with embedded IPv4 addresses (mapped, 6to4, NAT64, Teredo) is decided by
        them. `host` is the name that resolved to the address, for the allow-list.
        """
        for candidate in embedded(address) or (address,):
            rule = rule_for(candidate)
            if rule and (rule.always or (self.hosted and not self._allowed(candidate, host))):
                return _refusal(rule)
        return None

    def after(self, address: Address) -> Self:
        """Return the policy for a redirect from a server at `address`.

        A server with a public address does not lead to special-purpose addresses, which only the
        playground's machine may be able to reach.
        """
        strict = replace(self, hosted=True)
        return strict if strict.verdict(address) is None else self

    def _allowed(self, address: Address, host: str) -> bool:
        if _plain(host) in self.hosts:
            return True
        return any(net.version == address.version and address in net for net in self.networks)


def check_url(url: str) -> str | None:
    """Return the error in the URL of an agent, as a sentence; None if it is valid.

    The URL is parsed by the same parser that sends the request, so that the two cannot differ.
    """
    if _FORBIDDEN_CHARACTER.search(url):
        return "The URL contains a space, a backslash or a control character."
    try:
        parsed = URL(url)
        host = parsed.host  # The property decodes lazily: punycode may be malformed.
    except (InvalidURL, UnicodeError) as error:
        return f"The URL can’t be parsed: {error}."
    if parsed.scheme not in {"http", "https"}:
        return "The URL must start with http:// or https://."
    if not host:
        return "The URL has no host name."
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii"):
        return "The URL must not contain a user name or password; set them under Auth."
    if parsed.port is not None and not 0 < parsed.port < 65536:
        return "The port of the URL must be between 1 and 65535."
    if not origin_of(url):
        # The parser accepts any Unicode decimal digits, with which no origin can be compared.
        return "The URL can’t be parsed: the port must be written in ASCII digits."
    return None


def _plain(host: str) -> str:
    return host.strip().lower().rstrip(".")


def _refusal(rule: NetworkRule) -> PolicyDenial:
    return PolicyDenial(rule.name, rule.message, rule.always)
