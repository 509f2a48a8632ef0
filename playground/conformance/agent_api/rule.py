"""What a rule of the Agent API is made of: one version, and ids that begin with its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import Requirement, Rule, RuleIssue, always

#: The one version.
VERSION = "1"

Check = Callable[[AgentTranscript], Iterator[RuleIssue]]
AgentRule = Rule[AgentTranscript]


def rule(
    name: str,
    title: str,
    demand: Requirement,
    *,
    when: Callable[[AgentTranscript], bool] = always,
    needs_complete_response: bool = False,
) -> Callable[[Check], AgentRule]:
    """Make a rule of the Agent API of the function below it."""

    def made(check: Check) -> AgentRule:
        return Rule(
            f"agent-api.{name}", title, {VERSION: demand}, check, when, needs_complete_response
        )

    return made


def streamed(t: AgentTranscript) -> bool:
    """Whether the response came as a stream of objects."""
    return t.transfer.streamed and t.has_response
