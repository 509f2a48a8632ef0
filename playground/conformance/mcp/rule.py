"""Decorator of MCP's rules: both versions of NLWeb, and ids with the prefix `mcp`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import Requirement, Rule, RuleIssue, always

Check = Callable[[McpTranscript], Iterator[RuleIssue]]
McpRule = Rule[McpTranscript]


def rule(
    name: str,
    title: str,
    requirement: Requirement,
    *,
    v54: Requirement | None = None,
    when: Callable[[McpTranscript], bool] = always,
    needs_complete_response: bool = False,
) -> Callable[[Check], McpRule]:
    """Return a decorator that makes a rule of MCP; `v54` if 0.54 has another requirement."""

    def make_rule(check: Check) -> McpRule:
        requirements = {"0.54": v54 or requirement, "0.55": requirement}
        return Rule(f"mcp.{name}", title, requirements, check, when, needs_complete_response)

    return make_rule
