"""Rule sets: the rules of a protocol over a binding, and the readers of their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.conformance import agent_api, mcp, transcript
from playground.conformance.nlweb import CONTENT_RULES, RULES
from playground.conformance.rule import AnyTranscript, Rule
from playground.protocols.frames import Frame


class RuleInput(NamedTuple):
    """The arguments of `playground.conformance.run_rules`."""

    frames: tuple[Frame, ...]
    request: Any
    version: str
    operation: str
    state: str
    earlier_progress: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that read the same transcript."""

    #: The label on pages.
    title: str
    #: One word, for anchors.
    slug: str
    rules: tuple[Rule[Any], ...]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a protocol over a binding."""

    groups: tuple[RuleGroup, ...]
    #: Returns a transcript for each group; None if its rules do not apply to the run.
    read: Callable[[RuleInput], tuple[AnyTranscript | None, ...]]

    @property
    def rules(self) -> tuple[Rule[Any], ...]:
        """Return every rule, in the order of a report."""
        return tuple(rule for group in self.groups for rule in group.rules)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions that have rules, oldest first."""
        return tuple(sorted({name for rule in self.rules for name in rule.requirements}))


def _is_nlweb(rule_input: RuleInput) -> bool:
    return rule_input.operation in ("ask", "await")


def _read_nlweb(rule_input: RuleInput) -> tuple[AnyTranscript | None]:
    if not _is_nlweb(rule_input):
        return (None,)
    nlweb_transcript = transcript.read(
        rule_input.frames,
        rule_input.request,
        rule_input.version,
        operation=rule_input.operation,
        state=rule_input.state,
        earlier_progress=rule_input.earlier_progress,
    )
    return (nlweb_transcript,)


def _read_mcp(rule_input: RuleInput) -> tuple[AnyTranscript | None, AnyTranscript]:
    mcp_transcript = mcp.read(
        rule_input.frames,
        rule_input.request,
        rule_input.version,
        operation=rule_input.operation,
        state=rule_input.state,
    )
    nlweb_transcript = (
        mcp.inner(mcp_transcript, rule_input.operation, rule_input.earlier_progress)
        if _is_nlweb(rule_input)
        else None
    )
    return nlweb_transcript, mcp_transcript


def _read_agent_api(rule_input: RuleInput) -> tuple[AnyTranscript]:
    return (
        agent_api.read(
            rule_input.frames, rule_input.request, rule_input.version, state=rule_input.state
        ),
    )


#: By protocol and binding.
RULESETS: Mapping[tuple[str, str], RuleSet] = {
    ("nlweb", "http"): RuleSet((RuleGroup("NLWeb", "nlweb", RULES),), _read_nlweb),
    # NLWeb's rules on HTTP and streams do not apply over MCP, which has its own.
    ("nlweb", "mcp"): RuleSet(
        (RuleGroup("NLWeb", "nlweb", CONTENT_RULES), RuleGroup("MCP", "mcp", mcp.RULES)), _read_mcp
    ),
    ("agent-api", "http"): RuleSet(
        (RuleGroup("Agent API", "agent-api", agent_api.RULES),), _read_agent_api
    ),
}
_EMPTY = RuleSet((), lambda _: ())


def ruleset(protocol: str, binding: str = "http") -> RuleSet:
    """Return the rules of a protocol over a binding; an empty rule set if there are none."""
    return RULESETS.get((protocol, binding), _EMPTY)
