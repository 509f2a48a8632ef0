"""Examples of each rule: a conforming response, and one that violates it, with its findings.

They are generated from the tables of the tests: see `playground.generated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from playground.conformance.rule_input import EarlierResponses, TaskEnd
from playground.generated import RULE_EXAMPLES, read
from playground.protocols.frames import Frame, FrameKind


@dataclass(frozen=True, slots=True)
class ExampleFinding:
    """A finding of the rule in its example."""

    message: str
    seq: int | None
    pointer: str


@dataclass(frozen=True)
class Example:
    """A response, and what belongs to it."""

    frames: tuple[Frame, ...]
    #: The request document of a binding whose frames do not have it; {} for none.
    request: Any
    operation: str
    state: str
    earlier: EarlierResponses
    #: The findings of the rule.
    findings: tuple[ExampleFinding, ...]
    #: Ids of the other rules that the response violates.
    also: tuple[str, ...]


@dataclass(frozen=True)
class RuleExamples:
    """The two examples of a rule, in the latest version that has the rule."""

    protocol: str
    binding: str
    version: str
    conforming: Example
    violating: Example


def examples_of(rule: str) -> RuleExamples | None:
    """Return the examples of a rule by its id; None before they are generated."""
    return _examples().get(rule)


def read_examples(document: Mapping[str, Any]) -> dict[str, RuleExamples]:
    """Return the examples in a document by the ids of their rules."""
    return {
        rule: RuleExamples(
            row["protocol"],
            row["binding"],
            row["version"],
            _read_example(row["conforming"]),
            _read_example(row["violating"]),
        )
        for rule, row in document.items()
    }


@lru_cache(maxsize=1)
def _examples() -> dict[str, RuleExamples]:
    return read_examples(read(RULE_EXAMPLES))


def _read_example(row: Mapping[str, Any]) -> Example:
    earlier = row.get("earlier", {})
    task_end = earlier.get("task_end")
    frames = tuple(
        Frame(seq, seq * 1000, FrameKind[kind.upper()], data.encode("utf-8", "surrogateescape"))
        for seq, (kind, data) in enumerate(row["frames"], 1)
    )
    return Example(
        frames,
        row.get("request", {}),
        row.get("operation", "ask"),
        row.get("state", "completed"),
        EarlierResponses(
            tuple(earlier.get("progress", ())),
            TaskEnd(task_end) if task_end else None,
            frozenset(earlier.get("session_names", ())),
        ),
        tuple(ExampleFinding(**finding) for finding in row.get("findings", ())),
        tuple(row.get("also", ())),
    )
