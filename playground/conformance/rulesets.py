"""Which rules there are for a protocol over a binding, and what reads their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.conformance import agent_api, mcp, transcript
from playground.conformance.nlweb import CONTENT_RULES, RULES
from playground.conformance.rule import AnyTranscript, Rule
from playground.protocols.frames import Frame


class RuleInput(NamedTuple):
    """What is to be judged: the arguments of `playground.conformance.judge`."""

    frames: tuple[Frame, ...]
    request: Any
    version: str
    operation: str
    state: str
    earlier_progress: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that are asked about the same transcript."""

    #: What pages call them.
    title: str
    #: One word, for anchors.
    slug: str
    rules: tuple[Rule[Any], ...]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All the rules of a protocol over a binding."""

    groups: tuple[RuleGroup, ...]
    #: A transcript for each chapter; None where its rules are about nothing that came.
    read: Callable[[RuleInput], tuple[AnyTranscript | None, ...]]

    @property
    def rules(self) -> tuple[Rule[Any], ...]:
        """Every rule, in the order in which a report lists them."""
        return tuple(rule for chapter in self.groups for rule in chapter.rules)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that the rules know, oldest first."""
        return tuple(sorted({name for rule in self.rules for name in rule.requirements}))


def _is_nlweb(case: RuleInput) -> bool:
    return case.operation in ("ask", "await")


def _nlweb(case: RuleInput) -> tuple[AnyTranscript | None]:
    if not _is_nlweb(case):
        return (None,)
    reply = transcript.read(
        case.frames,
        case.request,
        case.version,
        operation=case.operation,
        state=case.state,
        earlier_progress=case.earlier_progress,
    )
    return (reply,)


def _over_mcp(case: RuleInput) -> tuple[AnyTranscript | None, AnyTranscript]:
    run = mcp.read(
        case.frames, case.request, case.version, operation=case.operation, state=case.state
    )
    reply = mcp.inner(run, case.operation, case.earlier_progress) if _is_nlweb(case) else None
    return reply, run


def _agent_api(case: RuleInput) -> tuple[AnyTranscript]:
    return (agent_api.read(case.frames, case.request, case.version, state=case.state),)


#: By protocol and binding.
RULESETS: Mapping[tuple[str, str], RuleSet] = {
    ("nlweb", "http"): RuleSet((RuleGroup("NLWeb", "nlweb", RULES),), _nlweb),
    # What is about HTTP and streams is MCP's affair there.
    ("nlweb", "mcp"): RuleSet(
        (RuleGroup("NLWeb", "nlweb", CONTENT_RULES), RuleGroup("MCP", "mcp", mcp.RULES)), _over_mcp
    ),
    ("agent-api", "http"): RuleSet(
        (RuleGroup("Agent API", "agent-api", agent_api.RULES),), _agent_api
    ),
}
_EMPTY = RuleSet((), lambda _: ())


def ruleset(protocol: str, binding: str = "http") -> RuleSet:
    """The rules of a protocol over a binding; an empty book where there are none."""
    return RULESETS.get((protocol, binding), _EMPTY)
