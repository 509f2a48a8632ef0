from __future__ import annotations

import pytest

from playground.protocols.mcp.versions import (
    OFFERED_VERSION,
    STATEFUL_VERSIONS,
    STATELESS_VERSION,
    VERSIONS,
    has_version_header,
    is_stateless,
)


def test_the_table_is_ordered_and_holds_both_generations() -> None:
    assert list(VERSIONS) == sorted(VERSIONS) == [*STATEFUL_VERSIONS, STATELESS_VERSION]
    assert OFFERED_VERSION == "2025-11-25"


@pytest.mark.parametrize(
    ("version", "stateless", "header"),
    [
        ("2024-11-05", False, False),
        ("2025-03-26", False, False),
        ("2025-06-18", False, True),
        ("2025-11-25", False, True),
        ("2026-07-28", True, True),
        # Versions that are not in the table belong to the generation of their date.
        ("", False, False),
        ("2025-06-01", False, False),
        ("2026-01-01", False, True),
        ("2027-01-01", True, True),
    ],
)
def test_generation_and_header_of_a_version(version: str, stateless: bool, header: bool) -> None:
    assert is_stateless(version) is stateless
    assert has_version_header(version) is header
