"""The steps of the protocols: what answers at the address, and what was expected there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from playground.protocols.a2a.card import is_same, read_card
from playground.protocols.doctor import advice
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.doctor.probes import A2A, AGENT_API, FAMILY_OF, MCP, NLWEB, speaks
from playground.protocols.doctor.steps import (
    NAMES,
    DiagnosisContext,
    StepConclusion,
    failed,
    label,
    passed,
    pending,
    skipped,
)
from playground.protocols.mcp.sessions import Session

_ASKS = tuple(name for name, family in FAMILY_OF.items() if family == NLWEB and name != "await")
#: Tools that are named in a sentence.
_MAX_NAMES = 8


def _unless_cut_off(
    step: Callable[[DiagnosisContext], StepConclusion],
) -> Callable[[DiagnosisContext], StepConclusion]:
    """A step that is not reached where the first call had no answer and no other was made."""

    def judged(case: DiagnosisContext) -> StepConclusion:
        first, *others = [name for name in case.evidence if name in FAMILY_OF] or [""]
        if case.refusal or (case.is_over and not others and not _status(case, first)):
            return pending(case)
        return step(case)

    return judged


def _status(case: DiagnosisContext, name: str) -> int:
    return case.evidence[name].status if name in case.evidence else 0


def _missing(case: DiagnosisContext, family: str, *calls: str) -> StepConclusion:
    """What was expected is not there: what is wrong, and what answers in its place."""
    evidence = case.evidence[calls[0]]
    if evidence.problem and not evidence.status:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), *calls)
    if evidence.is_denied or evidence.status >= 500:
        return failed(advice.denied_cause(evidence), advice.denied_fix(evidence), *calls)
    what = f"{label(case, calls[0])} does not answer as {NAMES[family]} (HTTP {evidence.status})."
    others = (
        speaks(case.evidence, each) for each in (MCP, NLWEB, AGENT_API, A2A) if each != family
    )
    if other := next(filter(None, others), None):
        speech = other[1].detected
        if speech:
            there = f"{label(case, other[0])} speaks {speech.label}."
            return failed(f"{what} {there}", advice.apply_settings_advice(speech), *calls, other[0])
    return failed(what, advice.missing_fix(family, evidence), *calls)


def answers_at_agent_url(case: DiagnosisContext, family: str) -> bool:
    """Whether a family answers at the very address that the agent has."""
    hit = speaks(case.evidence, family)
    return hit is not None and label(case, hit[0]) == (urlsplit(case.target.url).path or "/")


def _absent(case: DiagnosisContext, family: str, *calls: str) -> StepConclusion:
    """What nobody expected is not there, which is no failure."""
    return skipped(f"Does not apply: nothing speaks {NAMES[family]} here.", *calls)


def _lacking(case: DiagnosisContext, family: str, *calls: str) -> StepConclusion:
    made = case.was_called(*calls)
    if not made or not (case.is_over or _is_done(case, family)):
        return pending(case)
    return (_missing if case.family == family else _absent)(case, family, *made)


def _is_done(case: DiagnosisContext, family: str) -> bool:
    """Whether calls of another family were made after those of this one."""
    return FAMILY_OF.get(list(case.evidence)[-1], "") != family


# --- NLWeb over HTTP --------------------------------------------------------------------------


def ask(case: DiagnosisContext) -> StepConclusion:
    """Whether `/ask` answers, or where else it does."""
    hit = speaks(case.evidence, NLWEB)
    if hit is None:
        return _lacking(case, NLWEB, *_ASKS)
    name, evidence = hit
    speech = evidence.detected
    spoken = speech.label if speech else ""
    if name.startswith("ask-at") and case.family == NLWEB:
        if answers_at_agent_url(case, MCP):
            return _missing(case, NLWEB, *case.was_called(*_ASKS))
        there = label(case, name).partition("?")[0]
        where = there.removesuffix("/ask") or "the host alone, without a path"
        return failed(
            f"{label(case, 'ask')} is not there; {there} speaks {spoken}.",
            f"Set the path of the agent's URL to {where}.",
            "ask",
            name,
        )
    if name == "ask-otherwise" and case.family == NLWEB:
        cause = f"{label(case, 'ask')} is understood in another form only: it speaks {spoken}."
        return failed(cause, f"Set the agent's version to {_version(evidence)}.", "ask", name)
    return passed(f"{label(case, name)} speaks {spoken}.", name)


def _version(evidence: Evidence) -> str:
    speech = evidence.detected
    return (speech.version if speech else "") or "another one"


def await_endpoint(case: DiagnosisContext) -> StepConclusion:
    """Whether `/await` is there: promises are asked after at it."""
    if "await" not in case.evidence:
        hit = speaks(case.evidence, NLWEB)
        if hit and hit[1].detected and hit[1].detected.version == "legacy":
            return skipped("Does not apply: the older server makes no promises.")
        if case.is_over and hit is None:
            return skipped("Does not apply: there is no /ask either.")
        return pending(case)
    evidence = case.evidence["await"]
    if evidence.detected:
        return passed(f"{label(case, 'await')} answers (HTTP {evidence.status}).", "await")
    if evidence.status in (404, 405, 501):
        cause = f"There is no {label(case, 'await')} (HTTP {evidence.status})."
        return skipped(f"{cause} An agent that makes no promises needs none.", "await")
    if evidence.problem and not evidence.status:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), "await")
    return failed(
        f"{label(case, 'await')} does not answer as NLWeb (HTTP {evidence.status}).",
        "Let it answer an unknown token with a failure as NLWeb defines it.",
        "await",
    )


# --- MCP --------------------------------------------------------------------------------------


def mcp_handshake(case: DiagnosisContext) -> StepConclusion:
    """Whether an MCP server can be opened, and of which generation it is."""
    hit = speaks(case.evidence, MCP)
    if hit is None:
        return _lacking(case, MCP, "discover", "initialize")
    name, evidence = hit
    speech = evidence.detected
    how = "server/discover" if name == "discover" else "initialize"
    spoken = f"MCP {speech.generation}" if speech and speech.generation else "MCP"
    return passed(f"{label(case, name)} answers {how}: it speaks {spoken}.", *_opened(case))


def _opened(case: DiagnosisContext) -> tuple[str, ...]:
    return case.was_called("discover", "initialize", "initialized")


def tools(case: DiagnosisContext) -> StepConclusion:
    """Which tools there are, and whether one of them is for asking."""
    if "tools" not in case.evidence:
        if case.is_over and speaks(case.evidence, MCP) is None:
            return skipped("Does not apply: there is no MCP server.")
        return pending(case)
    evidence = case.evidence["tools"]
    result = _list_in(evidence)
    if result is None:
        return failed(
            f"tools/list was not answered with a list of tools (HTTP {evidence.status}).",
            advice.COMPARE,
            "tools",
        )
    listed, more = result["tools"], _goes_on(result)
    session = Session("", tools=tuple(listed))
    name = session.tool_for("ask", case.target.tools)
    names = _told(listed, more=more)
    if name not in _names(listed, len(listed)):
        missing = (
            f"There is no tool {name[:80]}" if any(case.target.tools) else "No tool takes queries"
        )
        cause = f"{missing}{' on the first page of the list' if more else ''}. There are: {names}."
        if case.family != MCP or more:
            return skipped(cause, "tools")
        fix = "Name the tool for ask in the agent's form, or let the server offer one."
        return failed(cause, fix, "tools")
    return passed(f"The tool {name[:80]} takes queries. There are: {names}.", "tools")


def _list_in(evidence: Evidence) -> Mapping[str, Any] | None:
    """The result that lists tools: the first page of the list, and all that the doctor reads."""
    for _, payload in evidence.messages:
        result = payload.get("result") if isinstance(payload, Mapping) else None
        if isinstance(result, Mapping) and isinstance(result.get("tools"), list):
            return result
    return None


def _goes_on(result: Mapping[str, Any]) -> bool:
    """Whether the list has further pages."""
    cursor = result.get("nextCursor")
    return isinstance(cursor, str) and bool(cursor)


def _told(listed: list[Any], *, more: bool) -> str:
    """The tools of a page in a line."""
    names = _names(listed)
    left = len(_names(listed, len(listed))) - len(names)
    told = ", ".join(names) or "none"
    told += f" and {left} more" if left else ""
    if not more:
        return told
    return f"{told}, and more on further pages" if left else f"{told} and more on further pages"


def _names(listed: list[Any], most: int = _MAX_NAMES) -> list[str]:
    named = (tool.get("name") for tool in listed if isinstance(tool, Mapping))
    return [name[:80] for name in named if isinstance(name, str)][:most]


# --- Agent API and A2A ------------------------------------------------------------------------


def lifecycle(case: DiagnosisContext) -> StepConclusion:
    """Whether a response of the Agent API comes to its end."""
    evidence = case.evidence.get(AGENT_API)
    if evidence is None:
        return pending(case)
    speech = evidence.detected
    if speech is None or speech.protocol != "agent-api":
        return _lacking(case, AGENT_API, AGENT_API)
    last = _last_status(evidence)
    where = label(case, AGENT_API)
    if last == "completed":
        return passed(f"{where} speaks {speech.label}, and completed its response.", AGENT_API)
    if last in ("failed", "rejected", "canceled"):
        cause = f"{where} speaks {speech.label}, and its response ended as {last}."
        return failed(cause, "See the error in the call below, and the agent's log.", AGENT_API)
    if last is None:
        cause = f"{where} speaks {speech.label}, and refused the message."
        return failed(cause, "See the error in the call below.", AGENT_API)
    cause = f"{where} speaks {speech.label}; its response was {last} when the doctor left."
    if not evidence.ended:
        return passed(cause, AGENT_API)
    return failed(
        f"{where} ended the stream while its response was {last}.",
        "Let the agent end with a response whose status is completed or failed.",
        AGENT_API,
    )


def _last_status(evidence: Evidence) -> str | None:
    """The latest status of the response itself."""
    found = None
    for _, payload in evidence.messages:
        if isinstance(payload, Mapping) and payload.get("object") == "response":
            status = payload.get("status")
            found = status[:40] if isinstance(status, str) else found
    return found


def card(case: DiagnosisContext) -> StepConclusion:
    """Whether there is an agent card, and where it sends its callers."""
    evidence = case.evidence.get("card")
    if evidence is None:
        return pending(case)
    speech = evidence.detected
    if speech is None or speech.binding != "a2a":
        return skipped("Does not apply: there is no agent card.", "card")
    read = read_card(evidence.payload)
    named = f"{read.name[:80] or 'An agent'} speaks {speech.label}"
    skills = ", ".join(skill.id[:60] for skill in read.skills[:_MAX_NAMES])
    cause = f"{named}. Skills: {skills or 'none'}."
    urls = [interface.url for interface in read.interfaces if interface.url]
    if urls and not any(is_same(case.target.url, url) for url in urls):
        cause = f"{cause} It sends its callers to {urls[0][:200]}."
    return passed(cause, "card")


FAMILIES: tuple[tuple[str, str, Callable[[DiagnosisContext], StepConclusion]], ...] = (
    ("ask", "/ask", _unless_cut_off(ask)),
    ("await", "/await", _unless_cut_off(await_endpoint)),
    ("mcp", "MCP opening", _unless_cut_off(mcp_handshake)),
    ("tools", "MCP tools", _unless_cut_off(tools)),
    ("agent-api", "Agent API lifecycle", _unless_cut_off(lifecycle)),
    ("card", "A2A card", _unless_cut_off(card)),
)
