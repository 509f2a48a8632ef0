"""Outbound policy: permitted addresses, special-purpose networks as a table, and valid URLs.

Pure. `playground.transport.backend` checks every address that a name resolved to, at connect
time. The networks are listed one by one, because `ipaddress.is_private` leaves out shared,
translated and metadata addresses. Sources: the IANA special-purpose address registries for IPv4
and IPv6, RFC 4291 (IPv6 addressing), RFC 6052 and RFC 8215 (NAT64), RFC 3056 (6to4), RFC 4380
(Teredo), and the published metadata addresses of the cloud providers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Self

from playground.protocols.origins import origin_of
from playground.transport.http_library import URL, InvalidURL

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """Networks that are denied for one reason."""

    #: Its id, such as `link-local`.
    name: str
    #: The reason, as a sentence for the user: never the address that a name resolved to.
    message: str
    #: Whether it holds in both modes, so that no allow-list overrides it; else in hosted mode only.
    always: bool
    networks: tuple[Network, ...]


def _rule(name: str, what: str, networks: str, *, always: bool) -> NetworkRule:
    message = f"The address is {what}."
    return NetworkRule(name, message, always, tuple(map(ip_network, networks.split())))


#: The first rule that contains an address decides, so narrow networks come first.
RULES: tuple[NetworkRule, ...] = (
    _rule(
        "metadata",
        "a cloud provider’s metadata service",
        "169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 "
        "fd00:ec2::254 fd20:ce::254",
        always=True,
    ),
    _rule("link-local", "link-local", "169.254.0.0/16 fe80::/10", always=True),
    _rule("multicast", "a multicast address", "224.0.0.0/4 ff00::/8", always=True),
    _rule(
        "unspecified",
        "the unspecified address; use 127.0.0.1 for this machine",
        "0.0.0.0/8 ::/128",
        always=True,
    ),
    _rule("broadcast", "the broadcast address", "255.255.255.255", always=True),
    _rule("reserved", "reserved", "240.0.0.0/4", always=True),
    _rule(
        "loopback",
        "a loopback address of the playground’s machine",
        "127.0.0.0/8 ::1",
        always=False,
    ),
    _rule(
        "private",
        "in a private network",
        "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
        always=False,
    ),
    _rule("shared", "in a provider’s shared network", "100.64.0.0/10", always=False),
    _rule("site-local", "in a site-local network", "fec0::/10", always=False),
    _rule("benchmark", "reserved for benchmarks", "198.18.0.0/15 2001:2::/48", always=False),
    _rule(
        "documentation",
        "reserved for documentation",
        "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
        always=False,
    ),
    _rule(
        "special",
        "reserved for special purposes",
        "192.0.0.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24 "
        "2001::/23 2002::/16 2620:4f:8000::/48 100::/64 100:0:0:1::/64 5f00::/16",
        always=False,
    ),
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_RESERVED = next(rule for rule in RULES if rule.name == "reserved")

#: Prefixes whose last 32 bits are an IPv4 address: mapped, translated, compatible, NAT64.
_LAST_32_BITS = tuple(
    map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96"))
)
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_NOT_COMPATIBLE = (IPv6Address("::"), IPv6Address("::1"))


def rule_for(address: Address) -> NetworkRule | None:
    """Return the rule that covers `address`, None for an ordinary public address."""
    for rule in RULES:
        for network in rule.networks:
            if network.version == address.version and address in network:
                return rule
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return _RESERVED  # RFC 4291, section 2.4: only 2000::/3 is allocated
    return None


def embedded(address: Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that are embedded in an IPv6 address; empty if none are."""
    if isinstance(address, IPv4Address) or address in _NOT_COMPATIBLE:
        return ()
    bits = int(address)
    if any(address in network for network in _LAST_32_BITS):
        return (_ipv4(bits),)
    if address in _SIX_TO_FOUR:
        return (_ipv4(bits >> 80),)
    if address in _TEREDO:
        return (_ipv4(bits >> 64), _ipv4(~bits))  # the server's, and the client's, inverted
    if address in _NAT64_LOCAL:
        # The position of the IPv4 address is the operator's choice: RFC 6052, section 2.2, defines
        # one for prefixes of 48, 56, 64 and 96 bits. All of them must be permitted.
        after_48 = (bits >> 64 & 0xFFFF) << 16 | bits >> 40 & 0xFFFF
        after_56 = (bits >> 64 & 0xFF) << 24 | bits >> 32 & 0xFFFFFF
        candidates = map(_ipv4, (after_48, after_56, bits >> 24, bits))
        return tuple(found for found in candidates if found not in _THIS_NETWORK)
    return ()


def _ipv4(bits: int) -> IPv4Address:
    return IPv4Address(bits & 0xFFFFFFFF)


# --- the policy -------------------------------------------------------------------------------

_FORBIDDEN_CHARACTER = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")


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

    def verdict(self, address: Address, host: str = "") -> NetworkRule | None:
        """Return the rule that denies `address`, None if it is permitted.

        An IPv6 address with embedded IPv4 addresses (mapped, 6to4, NAT64, Teredo) is decided by
        them. `host` is the name that resolved to the address, for the allow-list.
        """
        for candidate in embedded(address) or (address,):
            rule = rule_for(candidate)
            if rule and (rule.always or (self.hosted and not self._allowed(candidate, host))):
                return rule
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
