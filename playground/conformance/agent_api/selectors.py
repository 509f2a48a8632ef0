"""What the rules of the Agent API share: their version, and the places that they look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.agent_api.stream_state import StateRule
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import Requirement, Rule, RuleIssue, Violation
from playground.conformance.shape import MISSING, Condition, Place, RuleFactory

#: The only version.
VERSION = "1"

AgentRule = Rule[AgentTranscript]
_rules = RuleFactory[AgentTranscript]("agent-api.", (VERSION,))
rule, row = _rules.rule, _rules.row


def state_row(
    name: StateRule,
    title: str,
    requirement: Requirement,
    when: Condition[AgentTranscript],
    sentence: str,
    *,
    why: str,
    needs_complete_response: bool = False,
) -> AgentRule:
    """Return a rule whose violations show while the stream is read, with a sentence for each."""

    def check(t: AgentTranscript) -> Iterator[RuleIssue]:
        yield from reported(t, name, sentence)

    flag = needs_complete_response
    return rule(name, title, requirement, check, why=why, when=when, needs_complete_response=flag)


def reported(t: AgentTranscript, name: StateRule, sentence: str) -> Iterator[Violation]:
    """Yield the violations of a rule that the stream state has, with its words in a sentence."""
    for seq, pointer, words in t.stream_state.deviations[name]:
        yield Violation(sentence.format(**words), seq, pointer)


# Places


def responses(t: AgentTranscript) -> Iterable[Place]:
    return t.responses


def messages(t: AgentTranscript) -> Iterable[Place]:
    return t.messages


def contents(t: AgentTranscript) -> Iterable[Place]:
    return t.contents


def listed_contents(t: AgentTranscript) -> Iterable[Place]:
    """Select the contents within messages."""
    return (listed.location for listed in t.stream_state.listed_contents)


def segments(t: AgentTranscript) -> Iterable[Place]:
    """Select the contents that a stream sends by themselves."""
    return t.segments if t.http_response.streamed else ()


def completed(t: AgentTranscript) -> Iterable[Place]:
    """Select the first completed response."""
    return [t.completed] if t.completed else ()


# Conditions and tests


def streamed(t: AgentTranscript) -> bool:
    return t.http_response.streamed and t.has_response


def has_streamed_contents(t: AgentTranscript) -> bool:
    return t.http_response.streamed and bool(t.contents)


def is_set(value: Any) -> bool:
    """Return whether a member is neither missing nor null."""
    return value is not MISSING and value is not None


def is_not_blank(value: Any) -> object:
    """Return whether a value is anything but a blank string."""
    return not isinstance(value, str) or value.strip()
