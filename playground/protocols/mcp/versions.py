"""Versions of MCP as one table, and the two generations that they belong to.

Both generations travel over streamable HTTP. A *stateful* version (up to 2025-11-25) begins with
`initialize`, keeps a session and sends elicitation requests in mid-call. A *stateless* version
(from 2026-07-28 on) begins with `server/discover` or nothing; each of its requests carries
version, client and capabilities in `params._meta` and routing headers, and a result says
`input_required`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class McpVersion:
    """One row: a version of the specification."""

    name: str
    #: Whether it is of the generation without sessions.
    is_stateless: bool = False
    #: Whether each HTTP request after the first names the version in `MCP-Protocol-Version`.
    has_version_header: bool = True


_ROWS = (
    McpVersion("2024-11-05", has_version_header=False),
    McpVersion("2025-03-26", has_version_header=False),
    McpVersion("2025-06-18"),
    McpVersion("2025-11-25"),
    McpVersion("2026-07-28", is_stateless=True),
)

#: Every supported version, oldest first.
VERSIONS: Mapping[str, McpVersion] = MappingProxyType({row.name: row for row in _ROWS})

STATEFUL_VERSIONS = tuple(row.name for row in _ROWS if not row.is_stateless)
STATELESS_VERSION = next(row.name for row in _ROWS if row.is_stateless)
#: The version that `initialize` offers.
OFFERED_VERSION = STATEFUL_VERSIONS[-1]

#: Versions as choices, (name, label), newest first.
CHOICES = tuple(
    (row.name, f"{'Stateless' if row.is_stateless else 'Session'} ({row.name})")
    for row in reversed(_ROWS)
)

_FIRST_WITH_HEADER = next(row.name for row in _ROWS if row.has_version_header)


def is_stateless(version: str) -> bool:
    """Return whether a version, listed or not, is of the generation without sessions."""
    row = VERSIONS.get(version)
    return row.is_stateless if row else version >= STATELESS_VERSION


def has_version_header(version: str) -> bool:
    """Return whether requests of a version, listed or not, name it in a header."""
    row = VERSIONS.get(version)
    return row.has_version_header if row else version >= _FIRST_WITH_HEADER
