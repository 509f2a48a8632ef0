"""Locations of rules: the names of the protocols that the findings of each rule are about.

They are derived from the tests: each response that violates a rule there is checked, and the
pointers of its findings are resolved to a schema; findings in the head of a response lead to the
headers that they name. The data are generated: see `playground.generated`. A rule without any
location judges the response as a whole: its HTTP response, the order of its events, or its JSON
text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from playground.generated import RULE_LOCATIONS, read


class RuleLocation(NamedTuple):
    """A location that a rule reports, in documents of a schema."""

    protocol: str
    version: str
    schema: str
    #: JSON Pointer, with `0` for any element of an array; "" for the document as a whole.
    pointer: str


def locations_of(rule: str) -> tuple[RuleLocation, ...]:
    """Return the locations of a rule by its id; () for one that judges a response as a whole."""
    return _locations().get(rule, ())


def read_locations(document: Mapping[str, Sequence[str]]) -> dict[str, tuple[RuleLocation, ...]]:
    """Return the locations in a document by the ids of their rules."""
    found = {}
    for rule, rows in document.items():
        locations = []
        for row in rows:
            schema, _, pointer = row.partition("#")
            protocol, version, name = schema.split("/")
            locations.append(RuleLocation(protocol, version, name, pointer))
        found[rule] = tuple(locations)
    return found


@lru_cache(maxsize=1)
def _locations() -> dict[str, tuple[RuleLocation, ...]]:
    return read_locations(read(RULE_LOCATIONS))
