"""The version table of the Agent API: there is one version, without a name of its own."""

from __future__ import annotations

from types import MappingProxyType

from playground.protocols.exchange import Version

VERSIONS: tuple[Version, ...] = (Version("1", "Agent API", MappingProxyType({})),)

_BY_NAME = {version.name: version for version in VERSIONS}


def get_version(name: str) -> Version:
    """Raises `ValueError` for a version that is not in the table."""
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(_BY_NAME)
        raise ValueError(f"Unknown Agent API version {name!r}. Supported: {known}.") from None
