"""Case: a response that complies with a rule, and responses that violate it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.conformance.scripts import ScriptedResponse

#: A frame and a JSON pointer into it.
ExpectedLocation = tuple[int | None, str]


@dataclass(frozen=True)
class Case:
    rule: str
    #: Keeps the rule, in every version that knows it (or in `versions`).
    good: ScriptedResponse
    #: Break the rule, each at these places.
    bad: tuple[tuple[ScriptedResponse, tuple[ExpectedLocation, ...]], ...]
    versions: tuple[str, ...] = ("0.54", "0.55")


def case(
    rule: str,
    good: ScriptedResponse,
    *bad: tuple[ScriptedResponse, tuple[ExpectedLocation, ...]],
    versions: tuple[str, ...] = ("0.54", "0.55"),
) -> Case:
    return Case(rule, good, bad, versions)


def at(*pointers: str, seq: int | None = 3) -> tuple[ExpectedLocation, ...]:
    """Places in the JSON of one frame: of a whole reply unless another is named."""
    return tuple((seq, pointer) for pointer in pointers)
