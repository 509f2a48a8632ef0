"""Rule: a pure function from a transcript to its violations, with id, title and requirements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from playground.conformance.findings import Level
from playground.protocols.response import Response


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
