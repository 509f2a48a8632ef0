"""Origins of URLs, and the URL of one agent over its two bindings.

Credentials follow the origin: what authenticates at one must never reach another. Two URLs have
the same origin only if the HTTP client would connect to the same host and port in the same way
and name the same host to it. Where there is doubt a URL has no origin, and then it is equal to
none, itself included:

- Scheme and host are compared in lower case, the zone of an IPv6 address (RFC 6874) is not:
  systems tell `%eth0` from `%ETH0`.
- The default port of HTTP is omitted. Port 0, a port beyond 65535 and one that is not written in
  ASCII digits make no origin.
- A user name and password are no part of it: they could pass for another host.
- A control character, white space or a backslash before the path make no origin, because parsers
  differ over where the host ends. The same holds for a host that Unicode normalization would
  change, and for a URL that `urllib.parse` refuses to split.
- Nothing is resolved or converted: `bücher.example` is not `xn--bcher-kva.example`, `a.` is not
  `a`, `127.1` is not `127.0.0.1`. They are other hosts to a certificate or to a server that
  reads them in `Host`.

The URL of an agent belongs to its own binding. No specification says where the other one is, so
there is a rule: another agent of the same user at the same origin, or else the URL that most
servers use. The result always has the origin of the URL that it was derived from, so credentials
for one host cannot reach another.

The `Origin` header of a websocket is checked in `playground.asgi`, by exact comparison.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import takewhile
from urllib.parse import urlsplit, urlunsplit

from playground.protocols.text import shorten_middle

#: Ports that a URL of the scheme need not name (RFC 9110, section 4.2).
DEFAULT_PORTS = {"http": 80, "https": 443}

#: Characters of a URL that can be stored and called: most servers refuse longer ones.
MAX_URL = 2_000

#: Ends of a path that name an operation or a binding and not the agent.
_OPERATION_PATHS = ("/ask", "/await", "/mcp")

#: Scheme and authority (RFC 3986, section 3), the latter without what parsers differ over.
_AUTHORITY = re.compile(
    r"""
    (?P<scheme> [A-Za-z][A-Za-z0-9+.-]* ) ://
    (?: [^/?#\\\s\x00-\x20\x7f-\xa0\ud800-\udfff]* @ )?
    (?P<host>
        \[ [0-9A-Fa-f:.]+ (?: % [A-Za-z0-9%._~-]+ )? \]
        | [^/?#\\\s\x00-\x20\x7f-\xa0\ud800-\udfff@:\[\]]+
    )
    (?: : (?P<port> [0-9]* ) )?
    (?= [/?#] | \Z )
    """,
    re.VERBOSE,
)


def origin_of(url: str) -> str:
    """Return the origin of a URL as `https://host` or `https://host:port`, "" if it has none.

    The result is the same for every spelling of one origin (RFC 6454, section 6.2, but for hosts
    beyond ASCII, which stay as they are).
    """
    found = _AUTHORITY.match(url)
    if found is None:
        return ""
    scheme, host = found["scheme"].lower(), _lowercase_host(found["host"])
    if unicodedata.normalize("NFKC", host) != host or not _is_splittable(url):
        return ""
    if not found["port"]:
        return f"{scheme}://{host}"
    port = found["port"].lstrip("0")
    if not port or len(port) > 5 or int(port) > 65535:
        return ""
    is_default = int(port) == DEFAULT_PORTS.get(scheme)
    return f"{scheme}://{host}" if is_default else f"{scheme}://{host}:{port}"


def same_origin(left: str, right: str) -> bool:
    """Return whether two URLs have the same origin; False if either has none."""
    origin = origin_of(left)
    return bool(origin) and origin == origin_of(right)


def is_allowed_origin(url: str, allowed: Iterable[str]) -> bool:
    """Return whether a URL has one of the allowed origins of a secret."""
    return any(same_origin(url, origin) for origin in allowed)


def with_port(origin: str) -> str:
    """Return an origin with its port written out, also where it is the default of the scheme."""
    scheme, _, host = origin.partition("://")
    port = DEFAULT_PORTS.get(scheme)
    _, colon, end = host.rpartition(":")
    is_written = bool(colon) and end.isdecimal()
    return origin if port is None or is_written else f"{origin}:{port}"


def normalize_url(url: str) -> str:
    """Return the normal form of a URL (RFC 3986, section 6.2), unchanged if it has no origin.

    Scheme and host in lower case, no default port, no fragment.
    """
    origin = origin_of(url)
    if not origin:
        return url
    parts = urlsplit(url)
    scheme, _, host = origin.partition("://")
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return urlunsplit((scheme, login + host, parts.path or "/", parts.query, ""))


def url_label(url: str, limit: int) -> str:
    """Return host, port, path and query of an agent's URL in at most `limit` characters.

    It tells agents of one host apart. A long one loses its middle, because the ends differ.
    """
    _, _, host = origin_of(url).partition("://")
    if not host:
        return shorten_middle(url, limit)
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return shorten_middle(host + parts.path.rstrip("/") + query, limit)


def url_over_binding(
    binding: str, url: str, own: str, others: Iterable[tuple[str, str]] = ()
) -> str:
    """Return the URL over `binding` of the agent whose URL over its `own` binding is `url`.

    `others` are the (binding, URL) of the user's other agents. Of those with the same origin and
    the requested binding, the one whose path has most in common is taken; if there is none, MCP
    is assumed to be at the base URL with `/mcp` after it, and HTTP at the base URL. The result
    always has the origin of `url`; a URL that cannot be parsed is returned unchanged.
    """
    if binding == own:
        return url
    found = [each for name, each in others if name == binding and same_origin(url, each)]
    if found:
        return max(found, key=lambda each: _common_segments(url, each))
    return _derived_url(binding, url)


def base_path(path: str) -> str:
    """Return a path without its end where that names an operation or a binding."""
    path = path.rstrip("/")
    end = next((end for end in _OPERATION_PATHS if path.endswith(end)), "")
    return path.removesuffix(end)


def _derived_url(binding: str, url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = base_path(parts.path)
    return urlunsplit(parts._replace(path=f"{path}/mcp" if binding == "mcp" else path, fragment=""))


def _common_segments(left: str, right: str) -> int:
    """Return the number of leading path segments that two URLs have in common."""
    here, there = (base_path(urlsplit(each).path).split("/") for each in (left, right))
    pairs = zip(here, there, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_splittable(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def _lowercase_host(host: str) -> str:
    name, percent, zone = host.partition("%")
    return name.lower() + percent + zone if host.startswith("[") else host.lower()
