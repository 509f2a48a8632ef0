"""What a rule is: a pure function from a transcript to what violates it, and a row of facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from playground.conformance.findings import Level
from playground.conformance.transcript import Transcript


class AnyTranscript(Protocol):
    """What judging has to know of a transcript, whatever protocol it is of."""

    @property
    def version(self) -> str:
        """The version that it is judged by."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether nothing more could have come."""
        ...

    @property
    def overflowed(self) -> bool:
        """Whether there is more than the rules look at."""
        ...

    def pointed(self, seq: int | None, pointer: str) -> str:
        """A rule's pointer as it leads through the JSON of frame `seq`."""
        ...


#: A transcript of one protocol.
T = TypeVar("T", bound=AnyTranscript)


class Violation(NamedTuple):
    """Something that breaks a rule."""

    #: What is wrong and how to mend it, as sentences.
    message: str
    #: Number of the frame, None where it is about no frame.
    seq: int | None
    #: JSON pointer into that frame's JSON.
    pointer: str = ""


class Inconclusive(NamedTuple):
    """Something that would be needed to judge a rule and did not come."""

    message: str
    seq: int | None = None
    pointer: str = ""


RuleIssue = Violation | Inconclusive


class Requirement(NamedTuple):
    """How much a version asks for something, and where."""

    level: Level
    section: str


def must(section: str) -> Requirement:
    """The specification defines it, or calls it required."""
    return Requirement(Level.MUST, section)


def should(section: str) -> Requirement:
    """The specification recommends it, or shows it in examples without defining it."""
    return Requirement(Level.SHOULD, section)


def info(section: str) -> Requirement:
    """Legal or left open, and worth knowing all the same."""
    return Requirement(Level.INFO, section)


def always(_: Any) -> bool:
    """Applies to every reply."""
    return True


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """One rule: stable id, what it wants, what each version demands, and how to check it."""

    id: str
    #: A sentence of what the rule wants.
    title: str
    #: By version; a version that is missing knows no such rule.
    requirements: Mapping[str, Requirement]
    #: Yields what violates the rule or keeps it from being judged. Never raises.
    check: Callable[[T], Iterator[RuleIssue]]
    #: Whether a transcript is one that the rule is about.
    when: Callable[[T], bool] = always
    #: Whether a reply that did not come whole can fail this rule but not pass it.
    needs_complete_response: bool = False
    #: Whether what another rule reports at the same place is left to that rule.
    fallback: bool = False

    def requirement(self, version: str) -> Requirement:
        """What a version demands; of one that knows no such rule, what another does."""
        return self.requirements.get(version) or next(iter(self.requirements.values()))


def rule(
    name: str,
    title: str,
    *,
    v55: Requirement | None = None,
    v54: Requirement | None = None,
    when: Callable[[Transcript], bool] = always,
    needs_complete_response: bool = False,
    fallback: bool = False,
) -> Callable[[Callable[[Transcript], Iterator[RuleIssue]]], Rule[Transcript]]:
    """Make a rule of NLWeb of the function below it; the modules of `rules` list them."""
    asked = {"0.55": v55, "0.54": v54}
    demands = {version: demand for version, demand in asked.items() if demand is not None}

    def made(check: Callable[[Transcript], Iterator[RuleIssue]]) -> Rule[Transcript]:
        return Rule(name, title, demands, check, when, needs_complete_response, fallback)

    return made


def missing(
    transcript: AnyTranscript, message: str, seq: int | None, pointer: str = ""
) -> Violation | Inconclusive:
    """Something did not come: a violation only if nothing more could have come."""
    if transcript.is_complete:
        return Violation(message, seq, pointer)
    return Inconclusive("The reply broke off before this could be judged.", seq, pointer)
