"""Rule: a pure function from a transcript to its violations; findings, and the report of them."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from playground.protocols.frames import FrameKind
from playground.protocols.response import Response


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


class AnyTranscript(Protocol):
    """The interface of a transcript of any protocol for the runner."""

    @property
    def version(self) -> str:
        """The version whose rules are run."""
        ...

    @property
    def is_complete(self) -> bool:
        """Return whether the response is complete."""
        ...

    @property
    def overflowed(self) -> bool:
        """Return whether there is more than the rules check."""
        ...

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return a rule's pointer, resolved against the JSON of frame `seq`."""
        ...


#: A transcript of one protocol.
T = TypeVar("T", bound=AnyTranscript)


class Violation(NamedTuple):
    """Something in a response that breaks a rule."""

    #: The error and its fix, as sentences.
    message: str
    #: Number of the frame, None if it concerns no frame.
    seq: int | None
    #: JSON pointer into that frame's JSON.
    pointer: str = ""
    #: The level where the text has another one for this violation; None for the rule's.
    level: Level | None = None


class Inconclusive(NamedTuple):
    """Something that is needed to decide a rule and was not received."""

    message: str
    seq: int | None = None
    pointer: str = ""


RuleIssue = Violation | Inconclusive


class Requirement(NamedTuple):
    """The level and the section of a rule in one version."""

    level: Level
    section: str


def must(section: str) -> Requirement:
    """Return a requirement that the specification defines or calls required."""
    return Requirement(Level.MUST, section)


def should(section: str) -> Requirement:
    """Return a requirement that the specification recommends, or shows in examples only."""
    return Requirement(Level.SHOULD, section)


def info(section: str) -> Requirement:
    """Return a requirement of level info: legal or left open, and worth knowing."""
    return Requirement(Level.INFO, section)


def always(_: Any) -> bool:
    """Apply to every response."""
    return True


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """One rule: stable id, title, requirements by version, and the check."""

    id: str
    #: A sentence that states the requirement.
    title: str
    #: By version; a version without an entry has no such rule.
    requirements: Mapping[str, Requirement]
    #: Yields violations, and what makes the rule inconclusive. Never raises.
    check: Callable[[T], Iterator[RuleIssue]]
    #: The reason, or how the rule interprets the specification: paragraphs for its page.
    why: str
    #: Returns whether the rule applies to a transcript.
    when: Callable[[T], bool] = always
    #: Whether an incomplete response can fail this rule but not pass it.
    needs_complete_response: bool = False
    #: Whether violations at a location that another rule reports are dropped.
    fallback: bool = False

    def requirement(self, version: str) -> Requirement:
        """Return the requirement of a version, or that of another if the version has none."""
        return self.requirements.get(version) or next(iter(self.requirements.values()))


def missing(
    transcript: AnyTranscript, message: str, seq: int | None, pointer: str = ""
) -> Violation | Inconclusive:
    """Report something missing: a violation only if the response is complete."""
    if transcript.is_complete:
        return Violation(message, seq, pointer)
    return Inconclusive("The response was truncated before this could be checked.", seq, pointer)


def mistyped(response: Response, is_stream: object, suffix: str = "") -> Iterator[Violation]:
    """Yield a violation if Content-Type is not that of the body.

    `suffix` is that of other types that are accepted for JSON.
    """
    actual = response.media_type
    wanted = "text/event-stream" if is_stream else "application/json"
    if actual != wanted and not (suffix and not is_stream and actual.endswith(suffix)):
        received = f"is {actual[:60]}" if actual else "is missing"
        yield Violation(f"Content-Type {received}. Set it to {wanted}.", response.head_seq)


def unterminated(response: Response) -> Iterator[Violation]:
    """Yield a violation for the rest of a stream that has no blank line after it."""
    message = "The last event is incomplete and clients discard it. End it with a blank line."
    for frame in response.frames:
        if frame.kind is FrameKind.TAIL:
            yield Violation(message, frame.seq)


def misframed(response: Response) -> Iterator[Violation]:
    """Yield a violation for each event whose data a standard client does not read."""
    counts = Counter(message.seq for message in response.messages if not message.framed)
    for seq, count in counts.items():
        what = f"{count:,} JSON objects" if count > 1 else "lines without data:"
        yield Violation(
            f"This event has {what}, so clients do not read it. Begin the line of each "
            "object with data: and end it with a blank line.",
            seq,
        )
