"""Agents: list, add, edit and delete; tools of an MCP server; the connection doctor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.agents import doctor
from playground.agents.doctor import report_for
from playground.agents.forms import AgentForm
from playground.composer.views import prepare_form
from playground.conversation.errors import authentication
from playground.engine.calls import probe
from playground.engine.preparation import (
    ADDRESS,
    agent_for_url,
    available_bindings,
    free_name,
    version_and_binding,
)
from playground.engine.request import (
    PreparedRequest,
    SecretNotAllowedError,
    agent_url_over,
    request_to,
)
from playground.models import Agent, Run
from playground.models.agents import detected_target, proposed_changes
from playground.models.rows import owner_of
from playground.protocols import mcp, registry
from playground.protocols.doctor import Remedy
from playground.protocols.events import Event, Failure
from playground.protocols.mcp import handshake
from playground.protocols.origins import MAX_URL, same_origin
from playground.protocols.problems import Problem
from playground.protocols.registry import ProtocolSpec
from playground.ui.formatting import value_text
from playground.ui.helpers import find_run, get_agent, get_run, is_htmx, room_problem, save_form


@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: HttpRequest) -> HttpResponse:
    """List the agents (GET), or add one (POST)."""
    if request.method != "POST":
        found = Agent.objects.owned_by(request.user)
        return render(request, "agents/list.html", {"agents": found})
    owner = owner_of(request.user)
    form = AgentForm(request.POST, instance=Agent(owner=owner))
    if not form.is_valid() or not (agent := save_form(form)):
        return _form(request, form, status=422, run=_source_run(request, request.POST))
    messages.success(request, f"{agent.name} was added.")
    if run := _source_run(request, request.POST):
        _adopt(run, agent)
        return redirect(run)
    return redirect(f"{reverse('workbench')}?agent={agent.slug}")


@require_safe
def new_agent(request: HttpRequest) -> HttpResponse:
    """Show the form of a new agent.

    Prefilled from `run`, the key of a run that was sent to a URL, with what was detected there, or
    else from `url`, `protocol`,
    `binding` and `version`; `auth` is the kind of its authentication.
    """
    owner = owner_of(request.user)
    run = _source_run(request, request.GET)
    agent = run.target_agent if run else None
    if agent is None:
        agent = agent_for_url(
            request.GET.get("url", "")[:MAX_URL],
            request.GET.get("protocol", ""),
            owner.pk if owner else None,
        )
        agent.version, agent.binding = version_and_binding(
            agent, request.GET.get("version"), request.GET.get("binding")
        )
    initial = {name: getattr(agent, name) for name in ("url", "protocol", "binding", "version")}
    initial |= detected_target(run) if run else {}
    if agent.url:
        initial["name"] = free_name(agent)
    if (auth := request.GET.get("auth", "")) in Agent.Auth.values:
        initial["auth"] = auth
    return _form(request, AgentForm(initial=initial), run=run)


def _source_run(request: HttpRequest, fields: QueryDict) -> Run | None:
    """Return the run to a URL that an agent is made from, None without one."""
    run = find_run(request, fields["run"]) if fields.get("run") else None
    return run if run is not None and run.sent_to_url else None


def _adopt(run: Run, agent: Agent) -> None:
    """Assign the runs to a URL in a conversation to the agent that was made from one of them.

    Only where the URL stays at its origin: what follows these runs goes to the agent.
    """
    if not same_origin(run.url, agent.url) or run.protocol != agent.protocol:
        return
    Agent.objects.filter(pk=agent.pk).update(detected=run.detected)
    found = Run.objects.filter(owner=run.owner_id, sent_to_url=True, url=run.url)
    found.filter(conversation=run.conversation_id).update(agent=agent, sent_to_url=False)


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of an agent (GET), or save it (POST)."""
    found = get_agent(request, slug)
    name = found.name
    if request.method != "POST":
        return _form(request, AgentForm(instance=found), found)
    form = AgentForm(request.POST, instance=found)
    if not form.is_valid() or not save_form(form):
        found.name = name  # The title shows the stored name.
        return _form(request, form, found, status=422)
    messages.success(request, f"{found.name} was saved.")
    return redirect(f"{reverse('workbench')}?agent={found.slug}")


def _form(
    request: HttpRequest,
    form: AgentForm,
    agent: Agent | None = None,
    status: int = 200,
    run: Run | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "agent": agent, "source_run": run}
    context["versions"] = [
        (name, row.label, row.versions) for name, row in registry.PROTOCOLS.items()
    ]
    context |= {"applies": _applies(), "url_help": list(_url_help())}
    if agent is not None:
        # The form holds the typed values; the tools depend on the stored ones.
        context |= _tools_context(Agent.objects.get(pk=agent.pk))
    return render(request, "agents/form.html", context, status=status)


def _applies() -> dict[str, str]:
    """Return when fields of the form apply: see `static/agents/form.js`."""

    def protocols(has: Callable[[ProtocolSpec], object]) -> str:
        return "protocol=" + "|".join(name for name, row in registry.PROTOCOLS.items() if has(row))

    return {
        "binding": protocols(lambda row: len(row.bindings) > 1),
        "own_ids": protocols(lambda row: row.with_own_ids),
        "mcp": f"{protocols(lambda row: Agent.Binding.MCP in row.bindings)} binding=mcp",
    }


def _url_help() -> Iterator[tuple[str, str]]:
    """Yield what the form says about the URL, with when it applies."""
    for name, row in registry.PROTOCOLS.items():
        for binding, text in row.url_help.items():
            over = f" binding={binding}" if len(row.bindings) > 1 else ""
            yield f"protocol={name}{over}", text


def _tools_context(agent: Agent) -> dict[str, Any]:
    """Return the stored tools of an agent, for `agents/form.html#tools`."""
    if Agent.Binding.MCP not in available_bindings(agent):
        return {"agent": agent}
    address = agent_url_over(agent, Agent.Binding.MCP)
    session = handshake.session_from_json(agent.handshake, address)
    toolbox = _toolbox(session, (agent.ask_tool, agent.await_tool)) if session else None
    return {"agent": agent, "tools_url": address, "toolbox": toolbox}


_HANDSHAKES = {
    handshake.DISCOVERED: "Supports server/discover; no session.",
    handshake.INITIALIZED: "Initialized with initialize.",
    handshake.BARE: "Supports neither server/discover nor initialize, but accepts tool calls.",
}


def _toolbox(session: handshake.Session, configured: tuple[str, str]) -> dict[str, Any]:
    """Return a server with its tools; `configured` are those for `ask` and for `await`."""
    tools = [each for each in session.tools if isinstance(each, Mapping)]
    names = [value_text(each.get("name"), 128) for each in tools]
    called = {name: session.tool_for(name, configured) for name in handshake.OPERATIONS}
    handshake_text = _HANDSHAKES.get(session.generation, "")
    if session.generation == handshake.INITIALIZED:
        uses = "uses" if session.uses_id else "does not use"
        handshake_text += f" The server {uses} a session."
    return {
        "session": session,
        "server": _server_label(session.server),
        "handshake_text": handshake_text,
        "tools": list(zip(names, tools, strict=True)),
        "names": names,
        # The tools for `ask` and `await`, and without a choice.
        "called": called,
        "suggested": {name: session.tool_for(name) for name in handshake.OPERATIONS},
    }


def _server_label(info: Any) -> str:
    """Return the name and version that a server gives, "" for none."""
    if not isinstance(info, Mapping):
        return ""
    parts = (value_text(info.get(name), 120) for name in ("title", "name", "version"))
    return " ".join(dict.fromkeys(filter(None, parts)))


@require_POST
async def tools(request: HttpRequest, slug: str) -> HttpResponse:
    """Connect to the agent's MCP server, and show its tools."""
    found = await sync_to_async(get_agent)(request, slug)
    if Agent.Binding.MCP not in available_bindings(found):
        raise Http404
    # Their descriptions are as large as the server wants.
    if refusal := await sync_to_async(room_problem)(request, is_begun=True):
        context = {**await sync_to_async(_tools_context)(found), "cause": refusal}
        return await sync_to_async(render)(request, "agents/form.html#tools", context, status=422)
    over_mcp = partial(request_to, binding=Agent.Binding.MCP)
    prepared = await sync_to_async(over_mcp)(found, {})
    exchange = mcp.list_tools(prepared.target, settings.RUN_LIMITS.max_depth)
    events, problem = await probe(exchange, owner=found.owner_id, redact=prepared.redact)
    if (session := exchange.handshake) is not None:
        await sync_to_async(found.save_handshake)(session)
        found.handshake = dict(session)
    if not is_htmx(request):
        return redirect(found)
    context = await sync_to_async(_tools_context)(found)
    errors = _error_context(events, problem)
    return await sync_to_async(render)(request, "agents/form.html#tools", {**context, **errors})


def _error_context(events: list[Event], problem: Problem | None) -> dict[str, Any]:
    """Return why the tools could not be loaded; empty where they could."""
    if problem is not None:
        return {"cause": problem.cause, "fix": problem.fix}
    failures = [event for event in events if isinstance(event, Failure)]
    return {"cause": failures[-1].message or failures[-1].code} if failures else {}


@require_POST
def deletion(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an agent. Its runs stay; they hold a copy of what they need."""
    found = get_agent(request, slug)
    found.delete()
    messages.success(request, f"{found.name} was deleted.")
    return redirect("agents")


BUSY = f"{doctor.MAX_AT_ONCE} diagnoses are in progress. Try again shortly."


def _subject(request: HttpRequest, slug: str, pk: UUID | None) -> doctor.Subject:
    """Return the agent with a slug, or the run with a key that was sent to a URL."""
    if pk is None:
        return get_agent(request, slug)
    run = get_run(request, pk)
    if not run.sent_to_url:
        raise Http404
    return run


def _context(subject: doctor.Subject) -> dict[str, Any]:
    agent = subject if isinstance(subject, Agent) else None
    args = [agent.slug] if agent else [subject.pk]
    prefix = "agent" if agent else "run"
    return {
        "agent": agent,
        "subject": subject,
        "name": agent.name if agent else str(getattr(subject, "agent_name", "")),
        "doctor_url": reverse(f"{prefix}-doctor", args=args),
        "report_url": reverse(f"{prefix}-doctor-report", args=args),
        "is_running": doctor.is_running(subject),
        "report": report_for(subject),
    }


@require_http_methods(["GET", "HEAD", "POST"])
async def diagnosis(request: HttpRequest, slug: str = "", pk: UUID | None = None) -> HttpResponse:
    """Show the planned calls and the latest report (GET), or start a diagnosis (POST)."""
    subject = await sync_to_async(_subject)(request, slug, pk)
    if request.method != "POST":
        return await sync_to_async(_page)(request, subject)
    try:
        prepared = await sync_to_async(doctor.request_of)(subject)
    except SecretNotAllowedError as error:
        await sync_to_async(messages.warning)(request, str(error))
    else:
        if refusal := await sync_to_async(room_problem)(request, is_begun=True):
            await sync_to_async(messages.warning)(request, refusal)
        elif not doctor.start(subject, prepared):
            await sync_to_async(messages.warning)(request, BUSY)
    return redirect(f"{'agent' if pk is None else 'run'}-doctor", slug or pk)


def _page(request: HttpRequest, subject: doctor.Subject) -> HttpResponse:
    context = _context(subject)
    try:
        context["announced"] = doctor.planned_calls(subject)
    except SecretNotAllowedError:
        context["announced"] = []  # Starting says why.
    return render(request, "agents/doctor.html", context)


@require_safe
def report(request: HttpRequest, slug: str = "", pk: UUID | None = None) -> HttpResponse:
    """Show the current report; it polls itself while the diagnosis is in progress."""
    return render(request, "agents/doctor.html#report", _context(_subject(request, slug, pk)))


@require_POST
def apply_detected(request: HttpRequest, slug: str) -> HttpResponse:
    """Apply the detected settings to the agent, which nothing else does."""
    agent = get_agent(request, slug)
    changes: dict[str, Any] = {**proposed_changes(agent)}
    for name, value in changes.items():
        setattr(agent, name, value)
    if "url" in changes and isinstance(agent.detected, dict):
        # The report is about the new URL: it was made there.
        agent.detected["report"]["url"] = changes["url"]
        changes["detected"] = agent.detected
    # No other fields: a run may have stored more about the agent meanwhile.
    agent.save(update_fields=list(changes))
    messages.success(request, f"Detected settings applied to {agent.name}.")
    return redirect("agent-doctor", agent.slug)


@require_POST
async def detection(request: HttpRequest) -> HttpResponse:
    """Detect what responds at the URL of the composer; nothing is stored.

    The response is JSON: `found` has the detected settings, null for none, `cause` why nothing was
    detected. A cause that credentials help against has `authenticate`, the label of a link, and
    `auth`, how an agent authenticates.
    """
    prepared = await sync_to_async(_prepared)(request)
    if isinstance(prepared, HttpResponse):
        return prepared
    owner = prepared.agent.owner_id
    try:
        found = await doctor.detect(prepared, owner)
    except doctor.TooManyError:
        return _no_detection(BUSY)
    cause = found["cause"]
    if cause and cause["remedy"] == Remedy.AUTHENTICATE:
        label, auth = authentication(cause["scheme"])
        cause = {**cause, "authenticate": label, "auth": auth}
    return JsonResponse({"found": found["found"], "cause": cause, "at": found["at"]})


def _prepared(request: HttpRequest) -> PreparedRequest | HttpResponse:
    """Return the composer's request; or why nothing may be sent to its URL.

    The problems of its document do not matter: it is not sent.
    """
    prepared = prepare_form(request)
    if not prepared.has_call:
        return _no_detection(prepared.errors[0].message)
    at_url = (each.message for each in prepared.errors if each.pointer == ADDRESS)
    reasons = [*prepared.refusals(), *at_url]
    return _no_detection(reasons[0]) if reasons else prepared


def _no_detection(reason: str) -> JsonResponse:
    cause = {"headline": reason, "fix": "", "remedy": "edit", "scheme": "", "url": "", "facts": []}
    return JsonResponse({"found": None, "cause": cause, "at": ""})
