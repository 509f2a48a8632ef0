"""Findings of rules, and the conformance report that holds them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


class Level(enum.StrEnum):
    """Requirement levels, the strictest first."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Verdict(enum.StrEnum):
    """The result of a rule."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    #: Inconclusive: the rule applies, but the response is not enough to decide it.
    INCOMPLETE = "incomplete"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a rule, or the verdict of a rule without violations."""

    #: The rule's id.
    rule: str
    level: Level
    #: Section of the specification in the report's version; 0.54 has its HTTP examples in a
    #: document of their own.
    section: str
    verdict: Verdict
    #: JSON pointer into the JSON of frame `seq`, "" for all of it. For a missing member it is the
    #: location where the member belongs. Into JSON within a string (an NLWeb response in a result
    #: of MCP): the pointer to the string, `#`, and the pointer inside of it, such as
    #: `/result/content/0/text#/results/0/name`.
    pointer: str
    #: The error and its fix; the rule's title without an error.
    message: str
    #: Number of the frame, as in the events read from it; None if it concerns no frame.
    seq: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "level": self.level.value,
            "section": self.section,
            "pointer": self.pointer,
            "message": self.message,
            "verdict": self.verdict.value,
            "seq": self.seq,
        }


#: The verdicts that are problems.
_PROBLEMS = frozenset({Verdict.FAIL, Verdict.INCOMPLETE})


@dataclass(frozen=True)
class ConformanceReport:
    """The verdict of every rule on one response, by one version of the protocol.

    Findings are in the order of the specification's sections. A rule that failed has a finding
    for each violation, up to a limit; every other rule has exactly one.
    """

    version: str
    findings: tuple[Finding, ...]
    protocol: str = "nlweb"
    binding: str = "http"

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        return {finding.rule: finding.verdict for finding in self.findings}

    @cached_property
    def problems(self) -> tuple[Finding, ...]:
        """Return the findings that are problems: failed or inconclusive."""
        return tuple(finding for finding in self.findings if finding.verdict in _PROBLEMS)

    @cached_property
    def counts(self) -> Mapping[Level, int]:
        """Return the number of rules that failed by level."""
        return {level: len(self.failing(level)) for level in Level}

    def failed(self, level: Level | str) -> bool:
        """Return whether a rule of this level or of a stricter one failed."""
        levels = list(Level)
        return any(self.counts[one] for one in levels[: levels.index(Level(level)) + 1])

    def failing(self, level: Level) -> tuple[str, ...]:
        """Return the ids of the rules of this level that failed, in order."""
        found = (f.rule for f in self.findings if f.verdict is Verdict.FAIL and f.level is level)
        return tuple(dict.fromkeys(found))

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object, all rules included."""
        return {
            "protocol": self.protocol,
            "binding": self.binding,
            "version": self.version,
            "counts": {level.value: count for level, count in self.counts.items()},
            "findings": [finding.to_json() for finding in self.findings],
        }
