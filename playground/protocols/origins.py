"""Origin of a URL: scheme, host and port, in the one form in which two can be compared.

Credentials follow the origin: what authenticates at one must never reach another. Two URLs have
the same origin only if the HTTP client would connect to the same host and port in the same way
and name the same host to it. Where there is doubt a URL has no origin, and then it is equal to
none, itself included:

- Scheme and host are compared in lower case, the zone of an IPv6 address (RFC 6874) is not:
  systems tell `%eth0` from `%ETH0`.
- The default port of HTTP is left out. Port 0, a port beyond 65535 and one that is not written in
  ASCII digits make no origin.
- A user name and password are no part of it: they could pass for another host.
- A control character, white space or a backslash before the path make no origin, because parsers
  differ over where the host ends. The same holds for a host that Unicode normalization would
  change, and for a URL that `urllib.parse` refuses to split.
- Nothing is resolved or converted: `bücher.example` is not `xn--bcher-kva.example`, `a.` is not
  `a`, `127.1` is not `127.0.0.1`. They are other hosts to a certificate or to a server that is
  told them in `Host`.

The `Origin` header of a websocket is checked in `playground.origins`, by exact comparison.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

#: Ports that a URL of the scheme need not name (RFC 9110, section 4.2).
DEFAULT_PORTS = {"http": 80, "https": 443}

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
    scheme, host = found["scheme"].lower(), _lower(found["host"])
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


def with_port(origin: str) -> str:
    """Return an origin with its port written out, also where it is the default of the scheme."""
    scheme, _, host = origin.partition("://")
    port = DEFAULT_PORTS.get(scheme)
    _, colon, end = host.rpartition(":")
    is_written = bool(colon) and end.isdecimal()
    return origin if port is None or is_written else f"{origin}:{port}"


def _is_splittable(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def _lower(host: str) -> str:
    name, percent, zone = host.partition("%")
    return name.lower() + percent + zone if host.startswith("[") else host.lower()
