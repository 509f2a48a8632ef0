"""`make examples`: the locations of the rules, from all responses in the tables of their tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from playground.conformance import RULESETS
from playground.conformance.locations import RuleLocation, locations_in, write_locations
from playground.protocols.frames import Frame
from tests.conformance.scripts import VERSION, ScriptedResponse
from tests.conformance.tables import CASES

#: Rules that read JSON text, whatever its names.
_ON_TEXT = {
    rule.id
    for ruleset in RULESETS.values()
    for group in ruleset.groups
    if group.slug == "json"
    for rule in group.rules
}


def locations() -> dict[str, set[RuleLocation]]:
    """The locations of every rule that has one, in the order of the rule sets."""
    rules = dict.fromkeys(rule.id for ruleset in RULESETS.values() for rule in ruleset.rules)
    found: dict[str, set[RuleLocation]] = {rule: set() for rule in rules}
    for case in CASES:
        for version in case.levels:
            for response, _ in case.bad:
                for rule, location in _of(response, version):
                    found[rule].add(location)
    return {rule: each for rule, each in found.items() if each and rule not in _ON_TEXT}


def _of(response: ScriptedResponse, version: str) -> Iterator[tuple[str, RuleLocation]]:
    yield from locations_in(response.report_for(version), list(_frames(response, version)))


def _frames(response: ScriptedResponse, version: str) -> Iterator[Frame]:
    for frame in response.frames:
        yield replace(frame, data=frame.data.replace(VERSION.encode(), version.encode()))


def generated() -> dict[str, list[str]]:
    """What `read_locations` reads."""
    return write_locations(locations())
