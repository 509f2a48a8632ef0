"""An examination: which call comes next, and what all of them together say.

Driven from outside, as an exchange is: `next_call`, then `take` with the frames of that call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols.a2a.card import is_same
from playground.protocols.calls import HttpCall
from playground.protocols.doctor import protocol_checks, steps
from playground.protocols.doctor.detection import DetectedProtocol
from playground.protocols.doctor.evidence import Evidence, evidence_of
from playground.protocols.doctor.probes import (
    AGENT_API,
    MCP,
    NLWEB,
    Probe,
    ordered,
    probe_protocol,
    speaks,
)
from playground.protocols.doctor.steps import DiagnosisContext, StepStatus
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from playground.protocols.http import USER_AGENT
from playground.protocols.origins import origin_of, with_port
from playground.protocols.problems import Problem, Stage

#: Stages at which no other call to the same place fares better.
_HOPELESS = frozenset({Stage.POLICY, Stage.RESOLVE, Stage.CONNECT, Stage.TLS, Stage.SEND})

_OTHER_SCHEME = "A look at the same port with the other of http:// and https://."
_IF_SILENT = "if nobody answers the first call"


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """A call that may be made, as it is announced."""

    purpose: str
    when: str
    method: str
    url: str
    #: Whether what authenticates at the agent goes along.
    with_credentials: bool


def announce(target: Target) -> list[AnnouncedCall]:
    """Every call that an examination of the target may make."""
    found: list[AnnouncedCall] = []
    for probe in ordered(target):
        call = probe.make(_as_sent(target, probe), {})
        if call is not None:
            along = bool(target.headers) and not probe.without_credentials
            found.append(AnnouncedCall(probe.purpose, probe.when, call.method, call.url, along))
    other = _with_other_scheme(target.url)
    return [*found, AnnouncedCall(_OTHER_SCHEME, _IF_SILENT, other.method, other.url, False)]


def _as_sent(target: Target, probe: Probe) -> Target:
    return replace(target, headers=()) if probe.without_credentials else target


class Diagnosis:
    """One examination of one target. `refusal` says why its address is none, "" if it is one."""

    def __init__(self, target: Target, refusal: str = "") -> None:
        self._target = target
        self._refusal = refusal
        self._found: dict[str, Evidence] = {}
        self._plan = self._calls()
        self._name = ""
        self._is_over = self._is_late = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be sent."""
        return self._is_over

    def next_call(self) -> HttpCall | None:
        """The next call, None when the examination is over."""
        for name, call in self._plan:
            self._name = name
            return call
        self._is_over = True
        return None

    def add(self, frames: Iterable[Frame]) -> None:
        """The frames of the call that `next_call` gave last."""
        self._found[self._name] = evidence_of(frames)

    def give_up(self) -> None:
        """The time is up: what was not asked yet stays unasked."""
        self._is_over = self._is_late = True

    def _calls(self) -> Iterator[tuple[str, HttpCall]]:
        if self._refusal:
            return
        for probe in ordered(self._target):
            target = _as_sent(self._target, probe)
            call = probe.make(target, self._found) if probe.is_due(target, self._found) else None
            if call is None:
                continue
            is_first = not self._found
            yield probe.name, call
            if is_first and (problem := self._silence()):
                if _is_mixed_up(problem):
                    yield "scheme", _with_other_scheme(self._target.url)
                if problem.stage in _HOPELESS or steps.other_scheme(self.case):
                    return

    def _silence(self) -> Problem | None:
        """Why the first call had no answer at all, None if it had one."""
        first = next(iter(self._found.values()))
        return None if first.status else first.problem

    # What it came to

    @property
    def case(self) -> DiagnosisContext:
        """What is known now."""
        return DiagnosisContext(
            self._target, self._found, self._refusal, self._is_over, self._is_late
        )

    def report(self) -> dict[str, Any]:
        """What is known now, as JSON: `steps`, `calls`, `found` and `also`."""
        case = self.case
        table = (*steps.CONNECTION, *protocol_checks.FAMILIES)
        judged = [steps.as_json(name, title, judge(case)) for name, title, judge in table]
        speeches = self.speeches()
        return {
            "url": self._target.url,
            "steps": judged,
            "calls": {name: _call(evidence) for name, evidence in self._found.items()},
            "found": _found(*speeches[0]) if speeches else None,
            "also": [f"{speech.label} at {url}" for speech, url in speeches[1:]],
        }

    def speeches(self) -> list[tuple[DetectedProtocol, str]]:
        """What the agent can be set to and at which address, best first.

        What is at the agent's own address comes first, then its own family; an MCP server
        counts only if it has a tool for queries.
        """
        own = probe_protocol(self._target)
        order = sorted((NLWEB, MCP, AGENT_API), key=lambda family: family != own)
        found = [spoken for family in order if (spoken := self._speech(family))]
        return sorted(found, key=lambda spoken: not is_same(spoken[1], self._target.url))

    def _speech(self, family: str) -> tuple[DetectedProtocol, str] | None:
        hit = speaks(self._found, family)
        if hit is None or hit[1].detected is None:
            return None
        name, evidence = hit
        speech, url = hit[1].detected, self._url(name)
        if family == MCP:
            if (
                protocol_checks.tools(replace(self.case, is_over=True)).status
                is not StepStatus.PASSED
            ):
                return None
            return replace(speech, protocol="nlweb", version=self._kept_version()), url
        if family == NLWEB:
            is_own = name in ("ask", "ask-otherwise") and probe_protocol(self._target) == NLWEB
            url = self._target.url if is_own else url.removesuffix("/ask")
        return speech, url if evidence.request_line else self._target.url

    def _kept_version(self) -> str:
        target = self._target
        return target.version if target.protocol == "nlweb" and target.version != "legacy" else ""

    def _url(self, name: str) -> str:
        """The address that a call went to, without its query."""
        path = self._found[name].request_line.partition(" ")[2].partition("?")[0]
        parts = urlsplit(self._target.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, "", ""))


def _is_mixed_up(problem: Problem) -> bool:
    """Whether http and https may be mixed up. A server that is only slow is not asked again."""
    return problem.stage is Stage.TLS or (problem.stage is Stage.HEADERS and not problem.limit)


def _with_other_scheme(url: str) -> HttpCall:
    """A bare look at the same port in the other scheme. Nothing of the agent's goes along."""
    parts = urlsplit(url)
    scheme = "http" if parts.scheme == "https" else "https"
    _, _, host = with_port(origin_of(url)).partition("://")
    where = urlunsplit((scheme, host, parts.path or "/", "", ""))
    return HttpCall("GET", where, (("User-Agent", USER_AGENT),))


def _found(speech: DetectedProtocol, url: str) -> dict[str, Any]:
    return {
        "protocol": speech.protocol,
        "version": speech.version,
        "binding": speech.binding,
        "generation": speech.generation,
        "dialect": speech.dialect,
        "label": speech.label,
        "url": url,
    }


def _call(evidence: Evidence) -> dict[str, Any]:
    return {
        "line": evidence.request_line,
        "status": evidence.status,
        "waited_ms": evidence.waited_ms,
        "sent": evidence.sent,
        "received": evidence.received,
        "error": evidence.problem.cause if evidence.problem else "",
    }
