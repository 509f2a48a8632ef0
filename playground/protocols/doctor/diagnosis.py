"""Diagnosis of one target: which call is next, and the report on all of them.

Driven from outside, as an exchange is: `next_call`, then `add` with the frames of that call; at
the end `end_call`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols.a2a import is_same
from playground.protocols.calls import HttpCall
from playground.protocols.doctor import advice, steps
from playground.protocols.doctor.causes import cause_of_diagnosis
from playground.protocols.doctor.evidence import Evidence, evidence_of
from playground.protocols.doctor.kinds import MCP, NLWEB, DetectedProtocol, kind_of, kinds
from playground.protocols.doctor.probes import END_SESSION, first_detected, ordered
from playground.protocols.doctor.steps import DiagnosisContext, StepStatus
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from playground.protocols.http import USER_AGENT
from playground.protocols.origins import origin_of, with_port
from playground.protocols.problems import Stage

#: Stages of problems that any other call to the same origin would have.
_HOPELESS = frozenset({Stage.POLICY, Stage.RESOLVE, Stage.CONNECT, Stage.TLS, Stage.SEND})

_OTHER_SCHEME = "The same port with http:// instead of https://, or vice versa."
_IF_SILENT = "if the first call has no response"


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """A call that may be made, as it is announced to the user."""

    purpose: str
    when: str
    method: str
    url: str
    #: Whether it is sent with the agent's credentials.
    with_credentials: bool


def announce(target: Target) -> list[AnnouncedCall]:
    """Return every call that a diagnosis of the target may make."""
    found: list[AnnouncedCall] = []
    for probe in (*ordered(target), END_SESSION):
        call = probe.call(target, {})
        if call is not None:
            has_auth = bool(target.headers) and not probe.without_credentials
            found.append(AnnouncedCall(probe.purpose, probe.when, call.method, call.url, has_auth))
    other = _with_other_scheme(target.url)
    return [*found, AnnouncedCall(_OTHER_SCHEME, _IF_SILENT, other.method, other.url, False)]


class Diagnosis:
    """One diagnosis of one target. `url_error` says why its URL cannot be called, "" if it can."""

    def __init__(self, target: Target, url_error: str = "", *, is_brief: bool = False) -> None:
        """Begin with no evidence; `is_brief` ends once an agent was detected at the very URL."""
        #: Evidence by name of the call.
        self._found: dict[str, Evidence] = {}
        self._context = DiagnosisContext(target, self._found, url_error)
        self._target = target
        self._is_brief = is_brief
        self._pending = self._calls()
        self._name = ""

    def next_call(self) -> HttpCall | None:
        for name, call in self._pending:
            self._name = name
            return call
        self._context.is_over = True
        return None

    def add(self, frames: Iterable[Frame]) -> None:
        """Add the frames of the call that `next_call` returned last."""
        self._found[self._name] = evidence_of(frames, self._name)

    def give_up(self) -> None:
        """End the diagnosis at its time limit, without the calls that are left."""
        self._context.is_over = self._context.is_late = True

    def end_call(self) -> HttpCall | None:
        """Return the call that ends the MCP session of the diagnosis, None without one.

        Make it after all others. Its response is no evidence.
        """
        is_due = END_SESSION.is_due(self._target, self._found)
        return END_SESSION.call(self._target, self._found) if is_due else None

    def _calls(self) -> Iterator[tuple[str, HttpCall]]:
        if self._context.url_error:
            return
        for probe in ordered(self._target):
            is_due = probe.is_due(self._target, self._found)
            call = probe.call(self._target, self._found) if is_due else None
            if call is None:
                continue
            own = self._target.url
            if self._is_brief and any(is_same(url, own) for _, url in self.detected_settings()):
                return
            is_first = not self._found
            yield probe.name, call
            first = next(iter(self._found.values()))
            if is_first and not first.status and (problem := first.problem):
                # Not for a server that is only slow.
                is_silent = problem.stage is Stage.HEADERS and not problem.limit
                if problem.stage is Stage.TLS or is_silent:
                    yield "scheme", _with_other_scheme(self._target.url)
                if problem.stage in _HOPELESS or advice.of_scheme(self._found, self._target.url):
                    return

    # The report

    def report(self) -> dict[str, Any]:
        """Return the report so far as JSON; `cause` says why nothing was detected."""
        settings = self.detected_settings()
        return {
            "url": self._target.url,
            "steps": steps.report(self._context),
            "calls": {name: _call(evidence) for name, evidence in self._found.items()},
            "found": _settings(*settings[0]) if settings else None,
            "also": [f"{detected.label} at {url}" for detected, url in settings[1:]],
            "cause": None if settings else self._cause(),
        }

    def _cause(self) -> dict[str, Any] | None:
        """Return why nothing was detected so far, None before the first response."""
        cause = cause_of_diagnosis(self._found, self._target, self._context.url_error)
        if cause is None:
            return None
        names = ("headline", "fix", "remedy", "scheme", "url", "facts")
        return {name: getattr(cause, name) for name in names}

    def detected_settings(self) -> list[tuple[DetectedProtocol, str]]:
        """Return what the agent can be set to, with the URL, best first.

        The agent's own URL takes precedence, then its own protocol; an MCP server counts only if
        it has a tool for queries.
        """
        own = kind_of(self._target)
        order = sorted(kinds(), key=lambda kind: kind != own)
        found = [setting for kind in order if (setting := self._setting(kind))]
        return sorted(found, key=lambda setting: not is_same(setting[1], self._target.url))

    def _setting(self, kind: str) -> tuple[DetectedProtocol, str] | None:
        evidence = first_detected(self._found, kind)
        detected = evidence.detected if evidence else None
        if evidence is None or detected is None or not detected.is_supported:
            return None
        url = self._url(evidence) if evidence.request_line else self._target.url
        if kind == MCP:
            listed = self._found.get("tools")
            if listed is None or steps.tools(self._context, listed).status is not StepStatus.PASSED:
                return None
            is_nlweb = self._target.protocol == "nlweb" and self._target.version != "legacy"
            version = self._target.version if is_nlweb else ""
            return replace(detected, protocol="nlweb", version=version), url
        if kind == NLWEB:
            is_own = evidence.name in ("ask", "ask-otherwise") and kind_of(self._target) == NLWEB
            return detected, self._target.url if is_own else url.removesuffix("/ask")
        return detected, url

    def _url(self, evidence: Evidence) -> str:
        """Return the URL of a call, without its query."""
        path = evidence.request_line.partition(" ")[2].partition("?")[0]
        parts = urlsplit(self._target.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, "", ""))


def _with_other_scheme(url: str) -> HttpCall:
    """Return a GET of the same port in the other scheme, without the agent's headers."""
    parts = urlsplit(url)
    scheme = "http" if parts.scheme == "https" else "https"
    _, _, host = with_port(origin_of(url)).partition("://")
    url = urlunsplit((scheme, host, parts.path or "/", "", ""))
    return HttpCall("GET", url, (("User-Agent", USER_AGENT),))


def _settings(detected: DetectedProtocol, url: str) -> dict[str, Any]:
    return {**asdict(detected), "label": detected.label, "url": url}


def _call(evidence: Evidence) -> dict[str, Any]:
    return {
        "line": evidence.request_line,
        "status": evidence.status,
        "waited_ms": evidence.waited_ms,
        "sent": evidence.sent,
        "received": evidence.received,
        "error": evidence.problem.cause if evidence.problem else "",
    }
