"""Which rules there are for a protocol over a binding, and what reads their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.conformance import agent_api, transcript
from playground.conformance.rule import Record, Rule
from playground.conformance.rules import RULES
from playground.protocols.frames import Frame


class Case(NamedTuple):
    """What is to be judged: the arguments of `playground.conformance.judge`."""

    frames: tuple[Frame, ...]
    request: Any
    version: str
    operation: str
    state: str
    earlier_progress: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Rules that are asked about the same transcript."""

    #: What the rules page calls them.
    title: str
    #: One word, for the page's anchors.
    slug: str
    rules: tuple[Rule[Any], ...]
    #: The transcript of a case; None where the rules are about nothing that came.
    read: Callable[[Case], Record | None]


def _nlweb(case: Case) -> Record | None:
    if case.operation not in ("ask", "await"):
        return None
    return transcript.read(
        case.frames,
        case.request,
        case.version,
        operation=case.operation,
        state=case.state,
        earlier_progress=case.earlier_progress,
    )


def _agent_api(case: Case) -> Record | None:
    return agent_api.read(case.frames, case.request, case.version, state=case.state)


NLWEB = Chapter("NLWeb", "nlweb", RULES, _nlweb)
AGENT_API = Chapter("Agent API", "agent-api", agent_api.RULES, _agent_api)

#: By protocol and binding.
BOOKS: Mapping[tuple[str, str], tuple[Chapter, ...]] = {
    ("nlweb", "http"): (NLWEB,),
    ("agent-api", "http"): (AGENT_API,),
}


def chapters(protocol: str, binding: str = "http") -> tuple[Chapter, ...]:
    """The rules of a protocol over a binding; none where there are none."""
    return BOOKS.get((protocol, binding), ())


def versions(protocol: str, binding: str = "http") -> tuple[str, ...]:
    """The versions that the rules know, oldest first."""
    return tuple(
        sorted(
            {name for one in chapters(protocol, binding) for r in one.rules for name in r.demands}
        )
    )


def rules(protocol: str, binding: str = "http") -> tuple[Rule[Any], ...]:
    """Every rule of a protocol over a binding."""
    return tuple(rule for chapter in chapters(protocol, binding) for rule in chapter.rules)
