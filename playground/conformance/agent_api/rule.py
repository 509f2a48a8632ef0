"""Decorator of the Agent API's rules: one version, and ids with the prefix `agent-api`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import Requirement, Rule, RuleIssue, Violation, always

#: The only version.
VERSION = "1"

Check = Callable[[AgentTranscript], Iterator[RuleIssue]]
AgentRule = Rule[AgentTranscript]


def rule(
    name: str,
    title: str,
    requirement: Requirement,
    *,
    when: Callable[[AgentTranscript], bool] = always,
    needs_complete_response: bool = False,
) -> Callable[[Check], AgentRule]:
    def make_rule(check: Check) -> AgentRule:
        return Rule(
            f"agent-api.{name}", title, {VERSION: requirement}, check, when, needs_complete_response
        )

    return make_rule


def state_row(
    name: str,
    title: str,
    requirement: Requirement,
    sentence: str,
    *,
    why: str,
    when: Callable[[AgentTranscript], bool],
    needs_complete_response: bool = False,
) -> AgentRule:
    """Return a rule whose violations show while the stream is read, with a sentence for each."""

    def check(t: AgentTranscript) -> Iterator[RuleIssue]:
        yield from reported(t, name, sentence)

    check.__doc__ = why
    return rule(
        name, title, requirement, when=when, needs_complete_response=needs_complete_response
    )(check)


def reported(t: AgentTranscript, name: str, sentence: str) -> Iterator[Violation]:
    for seq, pointer, words in t.stream_state.deviations[name]:
        yield Violation(sentence.format(**words), seq, pointer)


def streamed(t: AgentTranscript) -> bool:
    return t.http_response.streamed and t.has_response
