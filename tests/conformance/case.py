"""Case: a response that complies with a rule, and responses that violate it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.conformance import Level
from tests.conformance.scripts import ScriptedResponse

#: A frame and a JSON pointer into it.
ExpectedLocation = tuple[int | None, str]


@dataclass(frozen=True)
class Case:
    """A row of a table of cases."""

    rule: str
    #: The versions that the row is about, with the level of the findings in each.
    levels: Mapping[str, Level]
    #: Keeps the rule in these versions.
    good: ScriptedResponse
    #: Break the rule, each at these places.
    bad: tuple[tuple[ScriptedResponse, tuple[ExpectedLocation, ...]], ...]


def case(
    rule_and_levels: str,
    good: ScriptedResponse,
    *bad: tuple[ScriptedResponse, tuple[ExpectedLocation, ...]],
) -> Case:
    """A row for "rule level", or "rule level-in-0.54 level-in-0.55"; "-" leaves a version out."""
    rule, *levels = rule_and_levels.split()
    others = ("agent-api.", "chat-completions.")
    versions = ("1",) if rule.startswith(others) else ("0.54", "0.55")
    if len(levels) == 1:
        levels *= len(versions)
    of_version = zip(versions, levels, strict=True)
    return Case(rule, {v: Level(level) for v, level in of_version if level != "-"}, good, bad)


def at(*pointers: str, seq: int | None = 3) -> tuple[ExpectedLocation, ...]:
    """Places in the JSON of one frame: of a whole reply unless another is named."""
    return tuple((seq, pointer) for pointer in pointers)
