"""The call of an action as the desk shows it, and all that speaks for and against it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from playground import engine
from playground.models import Agent
from playground.protocols import registry
from playground.protocols.actions import ActionPlan, plan
from playground.protocols.actions.extract import HTTP, MCP
from playground.protocols.actions.planning import BINDINGS
from playground.protocols.calls import HttpCall
from playground.protocols.origins import origin_of, same_origin
from playground.rendering import action_servers
from playground.rendering.action_panel import headers_of, label_of
from playground.rendering.pretty import readable
from playground.transport import OutboundPolicy, check_url
from playground.views.action_desk import ActionPanel
from playground.views.action_form import SubmittedAction, server_facts
from playground.views.compose import describe_call, is_new


def plan_of(desk: ActionPanel, filled: SubmittedAction) -> ActionPlan:
    """The call of the action with what was filled in."""
    return plan(
        desk.action,
        desk.run.url,
        params=filled.params,
        headers=filled.headers,
        peer=filled.server(desk),
    )


def context_of(request: HttpRequest, desk: ActionPanel, filled: SubmittedAction) -> dict[str, Any]:
    """The context of the desk: the exact call, and all that there is to know about it."""
    planned = plan_of(desk, filled)
    facts = server_facts(desk, filled, planned.params)
    own = is_agent_origin(desk.agent, planned)
    filled.as_agent = filled.as_agent and own
    unagreed = isinstance(facts, action_servers.A2AAgentView) and facts.has_other_origin
    unagreed = unagreed and filled.confirmed_url != planned.url
    sendable = is_sendable(planned) and not filled.problems and not unagreed
    prepared = prepared_of(desk, filled, planned)
    described = describe_call(_exact(prepared, planned), prepared.redact)
    credentials = [name for name, _ in desk.agent.auth_headers()] if filled.as_agent else []
    return {
        **_place(desk),
        "plan": planned,
        "peer": facts,
        "filled": filled,
        "controls": facts.controls if isinstance(facts, action_servers.McpServerView) else (),
        "params": "" if planned.params is None else readable(planned.params),
        "call": described,
        "headers": headers_of(
            described["headers"],
            desk.action,
            yours=[name for name, _ in filled.headers],
            credentials=credentials,
        ),
        "refusals": [*filled.problems, *errors(planned)],
        "sendable": sendable,
        # Something is missing that somebody can give, or without what was filled in it
        # could be sent.
        "mendable": not sendable and (unagreed or _is_mendable(desk, filled)),
        # The plan is that of other fields then, and is not shown as if it were of these.
        "unread": bool(filled.problems),
        "origin": planned.origin,
        "agent_origin": origin_of(desk.agent.url),
        "is_own": own,
        "is_new": bool(planned.origin) and is_new(request, planned.url),
        "unagreed": unagreed,
        "as_agent": filled.as_agent,
        "has_credentials": bool(desk.agent.auth_headers()),
    }


def _place(desk: ActionPanel) -> dict[str, Any]:
    return {
        "run": desk.run,
        "page": desk.page,
        "anchor": desk.anchor,
        "seq": desk.entry_ref[0],
        "part": desk.entry_ref[1],
        "number": desk.number,
        "action": desk.action,
        "label": label_of(desk.action),
        "agent": desk.agent,
    }


def prepared_of(
    desk: ActionPanel, filled: SubmittedAction, planned: ActionPlan
) -> engine.PreparedRequest:
    """What the engine makes a run of."""
    binding = BINDINGS.get(planned.protocol)
    return engine.action_request(
        desk.agent,
        planned.request,
        planned.url,
        binding=binding.name if binding else "http",
        headers=filled.headers,
        as_agent=filled.as_agent,
    )


def _exact(prepared: engine.PreparedRequest, planned: ActionPlan) -> HttpCall:
    """The call as the engine would make it.

    As it is planned where it would not, or where others are made before it.
    """
    if planned.sendable and planned.protocol == HTTP:
        call = registry.exchange(prepared.target, prepared.request).next_call()
        if call is not None:
            return call
    own = dict(prepared.target.headers) if planned.sendable else {}
    added = [pair for pair in own.items() if pair not in planned.headers]
    return HttpCall(planned.method, planned.url, (*planned.headers, *added), planned.body)


def is_agent_origin(agent: Agent, planned: ActionPlan) -> bool:
    """Whether the call goes to the agent's own origin."""
    return same_origin(planned.url, agent.url)


def errors(planned: ActionPlan) -> list[str]:
    """Why a call is not made, as sentences."""
    refusals = list(planned.errors)
    if planned.sendable and (refusal := _forbidden(planned.url)):
        refusals.append(refusal)
    return refusals


def is_sendable(planned: ActionPlan) -> bool:
    """Whether a call can be made."""
    return planned.sendable and not errors(planned)


def _is_mendable(desk: ActionPanel, filled: SubmittedAction) -> bool:
    url = desk.server.url if desk.server and desk.protocol == MCP else filled.url
    planned = plan_of(desk, SubmittedAction(url=url, message_id=filled.message_id))
    return is_sendable(planned) or (bool(planned.missing_fields) and not planned.errors)


def _forbidden(url: str) -> str:
    """Why the outbound policy refuses an address, "" where that is open until it is called.

    Only addresses that are written out can be judged before their name is resolved.
    """
    if problem := check_url(url):
        return problem
    host = (urlsplit(url).hostname or "").lower()
    literal = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
    policy = OutboundPolicy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    try:
        refusal = policy.verdict(ip_address(literal), host)
    except ValueError:
        return ""
    return refusal.message if refusal else ""
