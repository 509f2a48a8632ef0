"""What a rule of MCP is made of: ids that begin with its name, and both versions of NLWeb."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import Requirement, Rule, RuleIssue, always

Check = Callable[[McpTranscript], Iterator[RuleIssue]]
McpRule = Rule[McpTranscript]


def rule(
    name: str,
    title: str,
    demand: Requirement,
    *,
    v54: Requirement | None = None,
    when: Callable[[McpTranscript], bool] = always,
    needs_complete_response: bool = False,
) -> Callable[[Check], McpRule]:
    """Make a rule of MCP of the function below it; `v54` where 0.54 asks for something else."""

    def made(check: Check) -> McpRule:
        demands = {"0.54": v54 or demand, "0.55": demand}
        return Rule(f"mcp.{name}", title, demands, check, when, needs_complete_response)

    return made
