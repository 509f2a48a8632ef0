"""Examples of each rule: a conforming response, and one that violates it, with its findings.

They are generated from the tables of the tests: see `playground.generated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from playground.conformance.rule import ConformanceReport, Verdict
from playground.conformance.rule_input import EarlierResponses, TaskEnd
from playground.conformance.runner import run_rules
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

    def report_for(self, example: Example) -> ConformanceReport:
        return run_rules(
            example.frames,
            example.request,
            self.version,
            protocol=self.protocol,
            binding=self.binding,
            operation=example.operation,
            state=example.state,
            earlier=example.earlier,
        )


def findings_of(report: ConformanceReport, rule: str) -> tuple[ExampleFinding, ...]:
    return tuple(
        ExampleFinding(finding.message, finding.seq, finding.pointer)
        for finding in report.findings
        if finding.rule == rule and finding.verdict is Verdict.FAIL
    )


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


def write_examples(examples: Mapping[str, RuleExamples]) -> dict[str, Any]:
    return {
        rule: {
            "protocol": each.protocol,
            "binding": each.binding,
            "version": each.version,
            "conforming": _write_example(each.conforming),
            "violating": _write_example(each.violating),
        }
        for rule, each in examples.items()
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


def _write_example(example: Example) -> dict[str, Any]:
    """Return an example as JSON; bytes that are not UTF-8 are lone surrogates in it."""
    earlier = {
        "progress": list(example.earlier.progress),
        "task_end": example.earlier.task_end.value if example.earlier.task_end else None,
        "session_names": sorted(example.earlier.session_names),
    }
    row = {
        "request": example.request,
        "operation": example.operation if example.operation != "ask" else None,
        "state": example.state if example.state != "completed" else None,
        "earlier": {name: value for name, value in earlier.items() if value},
        "frames": [
            [frame.kind.name.lower(), frame.data.decode("utf-8", "surrogateescape")]
            for frame in example.frames
        ],
        "findings": [
            {"message": finding.message, "seq": finding.seq, "pointer": finding.pointer}
            for finding in example.findings
        ],
        "also": list(example.also),
    }
    return {name: value for name, value in row.items() if value}
