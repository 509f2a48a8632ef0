"""Error card of a run: one cause, the one button that helps, and the details.

The cause is read from the stored response (`playground.protocols.doctor.causes`); nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from playground.models import Agent, Run
from playground.models.runs import RunState
from playground.protocols import registry, unreadable
from playground.protocols.doctor import (
    Cause,
    DetectedProtocol,
    Evidence,
    Remedy,
    cause_of,
    evidence_of,
)
from playground.protocols.events import Outcome
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import REASON_PHRASES
from playground.protocols.mcp import responses
from playground.protocols.nlweb.failures import retry_after_seconds
from playground.protocols.origins import same_origin
from playground.protocols.problems import Problem

#: Bytes of a body and number of frames that are read.
MAX_BODY, MAX_FRAMES = 64 * 1024, 2_000
#: Statuses that come with `Retry-After` (RFC 9110).
_RETRY_STATUSES = (429, 503)
#: Labels of the button by the scheme of the required authentication.
_AUTHENTICATE_LABELS = {"bearer": "Add a token", "basic": "Add user name and password"}
#: Authentication schemes of HTTP as kinds of an agent's authentication.
_AUTH_KINDS = {"bearer": Agent.Auth.BEARER, "basic": Agent.Auth.BASIC}
_REFUSED = "The credentials of this request were not accepted. Check them."
#: Kind of an error that no protocol defines.
_FOREIGN = "JSON error message"


@dataclass(frozen=True, slots=True)
class ErrorCard:
    """An error as its template shows it."""

    headline: str
    #: "" where the entry of the failure above says it.
    fix: str
    remedy: Remedy
    #: Label of the button of the remedy.
    label: str
    #: Fields of the form that switches the target, by name; the URL of a link for other remedies.
    switch: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    #: URL of the doctor's page, and of the form that saves the URL as an agent; "" for none.
    diagnose: str = ""
    save: str = ""
    #: (label, value)
    details: tuple[tuple[str, str], ...] = ()
    #: The text of the error or the offending bytes.
    raw: str = ""
    #: The whole seconds of `Retry-After` that remain, None if there is none.
    wait: int | None = None

    @property
    def is_retry(self) -> bool:
        """Return whether sending it again is what helps."""
        return self.remedy is Remedy.RETRY


def error_card(run: Run) -> ErrorCard | None:
    if not run.is_final or run.state in (RunState.CANCELLED, RunState.INTERRUPTED):
        return None
    status, is_failure = run.status or 0, run.outcome == Outcome.FAILURE.value
    # With a promise `Retry-After` is about polling.
    retry_after = run.retry_after if status in _RETRY_STATUSES or is_failure else ""
    is_suspect = is_failure or run.outcome == Outcome.NONE.value
    if not (run.problem or status >= 300 or retry_after or is_suspect):
        return None
    evidence = _evidence(run)
    problem = Problem.from_json(run.problem) if run.problem else None
    cause = cause_of(evidence, Target(**run.describe_target()), problem)
    is_proven = cause is not None and cause.remedy in (Remedy.AUTHENTICATE, Remedy.SWITCH)
    if not (problem or status >= 400 or retry_after or is_proven):
        return None
    is_reported = is_failure and not problem and not is_proven
    is_reported = is_reported and _failure_kind(run, evidence) != _FOREIGN
    if cause is None or is_reported:
        phrase = _status_line(status) if status >= 400 else "Agent error"
        cause = Cause(
            phrase, "" if is_reported else unreadable.fix_for_status(status, {}), Remedy.RETRY
        )
    elif run.binding == "mcp" and status >= 400 and cause.remedy is not Remedy.SWITCH:
        headers = {**evidence.headers, "retry-after": ""}
        cause = replace(cause, fix=responses.fix_for(status, headers))
    if cause.remedy is Remedy.AUTHENTICATE:
        cause = _of_credentials(run, cause, evidence)
    remedy = _remedy(run, cause)
    card = ErrorCard(
        headline=cause.headline,
        fix=cause.fix,
        remedy=remedy,
        label=_label(run, cause, remedy),
        switch=_switch(run, cause) if remedy is Remedy.SWITCH else {},
        link=_link(run, cause, remedy),
        diagnose=_doctor(run),
        save=f"{reverse('agent-new')}?run={run.pk}" if run.sent_to_url else "",
        details=(*cause.facts, *_details(run, evidence, problem, retry_after, cause.headline)),
        raw=problem.detail if problem else "",
        wait=_remaining_seconds(run, evidence.headers.get("date", "")) if retry_after else None,
    )
    if problem and problem.limit == "quota":
        # Nothing is wrong with the connection.
        return replace(
            card, remedy=Remedy.EDIT, label="Open History", link=reverse("history"), diagnose=""
        )
    return card


def _evidence(run: Run) -> Evidence:
    """Return the evidence of the last call, as far as it is read."""
    frames: list[Frame] = []
    size = 0
    for frame in islice(run.read_frames(), MAX_FRAMES):
        if frame.kind is FrameKind.CALL:
            frames, size = [], 0
        size += len(frame.data)
        if size <= MAX_BODY or frame.kind not in (FrameKind.BODY, FrameKind.EVENT, FrameKind.TAIL):
            frames.append(frame)
        elif frame.kind is FrameKind.BODY and not any(each.kind is frame.kind for each in frames):
            frames.append(Frame(frame.seq, frame.at_us, frame.kind, frame.data[:MAX_BODY]))
    return evidence_of(frames)


def _of_credentials(run: Run, cause: Cause, evidence: Evidence) -> Cause:
    """Return the cause for a request that had credentials, or whose agent has them since."""
    agent = run.agent
    own = (run.request_template or {}).get("auth") or {}
    agents_header = agent.auth_header if agent and agent.auth == Agent.Auth.API_KEY else ""
    names = {"authorization", "x-api-key", agents_header.lower(), own.get("header", "").lower()}
    if names & evidence.request_headers:
        return replace(cause, fix=_REFUSED)
    if agent is not None and agent.auth != Agent.Auth.NONE and not own:
        fix = "The agent has credentials now, which this request did not have."
        return replace(cause, fix=fix, remedy=Remedy.RETRY)
    return cause


# The button


def _remedy(run: Run, cause: Cause) -> Remedy:
    """Return the remedy that is possible: an agent with credentials stays at its origin."""
    if cause.remedy is Remedy.SWITCH:
        if not (run.can_be_continued and run.is_turn):
            return Remedy.DIAGNOSE
        if cause.url and run.agent is not None and not same_origin(cause.url, run.agent.url):
            return Remedy.EDIT
    return cause.remedy


def _switch(run: Run, cause: Cause) -> dict[str, str]:
    """Return the target to switch to, by the names of the fields of a repetition."""
    detected = cause.detected
    if detected is None:
        return {"url": cause.url}
    protocol = detected.protocol
    if not protocol:
        # Any protocol can be sent over HTTP, also one that is not in the table, as an action.
        is_http = detected.binding == Agent.Binding.HTTP
        is_own = is_http or registry.has_binding(run.protocol, detected.binding)
        protocol = run.protocol if is_own else registry.DEFAULT
    version = detected.version
    if not version and (protocol != run.protocol or run.version == "legacy"):
        version = registry.known_version(protocol)
    return {
        "protocol": protocol,
        "binding": detected.binding,
        "version": version or run.version,
        "url": run.url,
    }


def _label(run: Run, cause: Cause, remedy: Remedy) -> str:
    match remedy:
        case Remedy.AUTHENTICATE:
            is_refused = cause.fix == _REFUSED
            return "Edit credentials" if is_refused else authentication(cause.scheme)[0]
        case Remedy.SWITCH:
            return f"{_switch_label(run, cause.detected)} and resend"
        case Remedy.EDIT:
            return "Edit agent" if run.agent is not None else "Edit URL"
        case Remedy.DIAGNOSE:
            return "Diagnose connection"
        case _:
            return "Retry"


def authentication(scheme: str) -> tuple[str, Agent.Auth]:
    """Return the label of the button for a required authentication, and its kind of an agent's.

    `scheme` is that of `WWW-Authenticate` (RFC 9110) in lower case, "" where none was named.
    """
    label = _AUTHENTICATE_LABELS.get(scheme, "Add credentials")
    return label, _AUTH_KINDS.get(scheme, Agent.Auth.BEARER)


def _switch_label(run: Run, detected: DetectedProtocol | None) -> str:
    if detected is None:
        return "Use this URL"
    row = registry.spec(detected.protocol)
    if detected.version == "legacy":
        return f"Switch to legacy {row.label}"
    if detected.binding == Agent.Binding.MCP:
        return f"Switch to {Agent.Binding.MCP.label}"
    over = " over HTTP" if run.binding != Agent.Binding.HTTP and len(row.bindings) > 1 else ""
    return f"Switch to {row.label}{over}"


def _link(run: Run, cause: Cause, remedy: Remedy) -> str:
    agent = run.agent
    if remedy is Remedy.EDIT and agent is not None:
        return f"{agent.get_absolute_url()}#id_url"
    if remedy is not Remedy.AUTHENTICATE:
        return _doctor(run) if remedy is Remedy.DIAGNOSE else ""
    if agent is not None:
        return f"{agent.get_absolute_url()}#id_auth"
    if not run.sent_to_url:
        return ""
    query = {"run": run.pk, "auth": authentication(cause.scheme)[1]}
    return f"{reverse('agent-new')}?{urlencode(query)}#id_auth"


def _doctor(run: Run) -> str:
    """Return the URL of the doctor of a run's target, "" for an action and a deleted agent."""
    if run.protocol == registry.ACTION:
        return ""
    if run.agent is not None:
        return reverse("agent-doctor", args=[run.agent.slug])
    return reverse("run-doctor", args=[run.pk]) if run.sent_to_url else ""


# The details


def _details(
    run: Run, evidence: Evidence, problem: Problem | None, retry_after: str, headline: str
) -> list[tuple[str, str]]:
    status = run.status or 0
    found = [
        ("Status", _status_line(status) if status else ""),
        ("Response", _body_kind(run, evidence) if status else ""),
        ("WWW-Authenticate", evidence.headers.get("www-authenticate", "")[:400]),
        ("Retry-After", retry_after),
        ("Error", problem.cause if problem and problem.cause != headline else ""),
        ("Phase", str(problem.stage) if problem else ""),
        ("Limit", (problem.limit or "") if problem else ""),
    ]
    return [(label, value) for label, value in found if value]


def _status_line(status: int) -> str:
    return f"HTTP {status} {REASON_PHRASES.get(status, '')}".strip()


def _body_kind(run: Run, evidence: Evidence) -> str:
    """Return the kind of the body, by its content and not by its headers."""
    if run.outcome == Outcome.FAILURE.value:
        return _failure_kind(run, evidence)
    if run.outcome != Outcome.NONE.value:
        return f"{run.spec.label} {run.outcome}, despite the status"
    if not run.bytes or not (evidence.response.streamed or evidence.text):
        return "Empty"
    if evidence.response.streamed:
        return "Event stream without a result"
    is_cut = run.bytes > MAX_BODY and evidence.text.lstrip()[:1] in ("{", "[")
    if evidence.messages or is_cut:
        return f"JSON, but not {run.spec.response_name}"
    media_type = evidence.media_type[:60]
    kind = "HTML page" if unreadable.is_html(evidence.text) else "Text, not JSON"
    return f"{kind} ({media_type})" if media_type else kind


def _failure_kind(run: Run, evidence: Evidence) -> str:
    """Return the kind of a body that is an error: only what the protocol defines, if it does."""
    is_json_rpc = isinstance(evidence.payload, Mapping) and "jsonrpc" in evidence.payload
    if is_json_rpc and run.binding == "http":
        return "JSON-RPC error"
    if not run.spec.defines_errors:
        return f"{run.spec.label} error"
    is_own = evidence.detected or is_json_rpc
    return f"{run.spec.label} failure" if is_own else _FOREIGN


# Waiting


def _remaining_seconds(run: Run, date: str) -> int | None:
    """Return the remaining whole seconds of `Retry-After`; None if it cannot be parsed."""
    received_at = (run.started_at or run.created_at) + timedelta(microseconds=run.headers_us or 0)
    delay = retry_after_seconds(run.retry_after, date or received_at.timestamp())
    if delay is None:
        return None
    elapsed = (timezone.now() - received_at).total_seconds()
    return max(0, round(min(delay, 1e9) - elapsed))
