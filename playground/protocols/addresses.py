"""Where an agent is to be found over another binding than its own.

An agent's address belongs to its own binding. No specification says where the other one is,
so there is a rule: another agent of the user's at the same origin, or else the address that
most servers use. Whatever comes of it has the origin of the address that it was made of, so
that what authenticates at one cannot reach another host.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from urllib.parse import urlsplit, urlunsplit

from playground.protocols.origins import origin_of, same_origin
from playground.protocols.text import shorten_middle

#: Ends of an address that name what is asked for and not where the agent is.
_ENDS = ("/ask", "/await", "/mcp")


def normal(url: str) -> str:
    """The same address as everybody else may write it (RFC 3986, section 6.2): scheme and host in
    lower case, no port that goes without saying, no fragment. Nonsense comes back as it is.
    """
    origin = origin_of(url)
    if not origin:
        return url
    parts = urlsplit(url)
    scheme, _, host = origin.partition("://")
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return urlunsplit((scheme, login + host, parts.path or "/", parts.query, ""))


def name_of(url: str, most: int) -> str:
    """What an agent at `url` is called: its host, port, path and query, in `most` characters.

    Agents of one host are told apart by it. What is too long loses its middle, because the ends
    are what differs.
    """
    _, _, host = origin_of(url).partition("://")
    if not host:
        return shorten_middle(url, most)
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return shorten_middle(host + parts.path.rstrip("/") + query, most)


def address_over(binding: str, url: str, own: str, others: Iterable[tuple[str, str]] = ()) -> str:
    """The address over `binding` of the agent whose address over its `own` binding is `url`.

    `others` are the (binding, address) of the user's other agents. Of those that share the
    origin and have the wanted binding, the one whose path has most in common is taken; where
    there is none, MCP is taken to be at the base address with `/mcp` after it, and HTTP at the
    address without that. The result always has the origin of `url`; an address that cannot be
    read comes back as it is.
    """
    if binding == own:
        return url
    found = [each for name, each in others if name == binding and same_origin(url, each)]
    if found:
        return max(found, key=lambda each: _shared(url, each))
    return _derived(binding, url)


def _derived(binding: str, url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = base_path(parts.path)
    return urlunsplit(parts._replace(path=f"{path}/mcp" if binding == "mcp" else path, fragment=""))


def base_path(path: str) -> str:
    """A path without what it ends in where that names an operation or a binding."""
    path = path.rstrip("/")
    end = next((end for end in _ENDS if path.endswith(end)), "")
    return path.removesuffix(end)


def _shared(left: str, right: str) -> int:
    """How many segments two addresses have in common from the beginning of their paths."""
    here, there = (base_path(urlsplit(each).path).split("/") for each in (left, right))
    pairs = zip(here, there, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
