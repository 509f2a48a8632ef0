"""Actions over A2A: a message to an agent that has a card (NLWeb 0.55 section 5).

The action names the agent's URL; the card has the URL and the version for messages, so without it
the plan has no call. The request document holds the URL that the user has seen: the card must name
the same one when the action runs (`protocols.a2a.exchange`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.a2a.card import AgentCard, read_card, url_at
from playground.protocols.a2a.exchange import A2AExchange
from playground.protocols.a2a.messages import OutgoingMessage, send_call
from playground.protocols.actions.extract import A2A, Action, attribute_text, missing_attributes
from playground.protocols.actions.plans import (
    UNSET,
    ActionPlan,
    Headers,
    ServerInfo,
    Unset,
    url_error,
)
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target

_STRINGS = ("agent_url", "url", "message_id", "skill")


def plan(
    action: Action, _agent_url: str, params: Any | Unset, headers: Headers, server_info: ServerInfo
) -> ActionPlan:
    """See `playground.protocols.actions.bindings.plan`."""
    message = action.raw.get("message") if params is UNSET else params
    agent_url, skill = attribute_text(action, "agent_url"), attribute_text(action, "skill")
    card = read_card(server_info.description) if server_info.description is not None else None
    url = card.url if card else ""
    if card and server_info.url and server_info.url == url_at(agent_url, url):
        url = server_info.url
    missing = missing_attributes(action, "agent_url", "skill")
    errors = (*missing, *_errors(agent_url if not missing else "", card, url))
    request = {
        "action": action.name,
        "protocol": A2A,
        "agent_url": agent_url,
        "url": url,
        "skill": skill,
        # A message must not be empty: the action's description replaces a missing one.
        "message": message if message is not None else action.description or action.name,
        "message_id": server_info.message_id,
    }
    call = _call(request, card, headers)
    return ActionPlan(
        protocol=A2A,
        method="POST",
        url=request["url"],
        headers=call.headers if call else (),
        params=message,
        body=call.body if call else b"",
        request=request,
        inferred=action.inferred,
        errors=errors,
        params_in="" if message is None else "body",
        missing="card" if card is None else "",
        sendable=not errors and call is not None,
    )


def exchange(target: Target, request: Mapping[str, Any], max_depth: int) -> A2AExchange:
    """Return the exchange that reads the card, sends the message and polls the task."""
    return A2AExchange(_outgoing_message(request, target), max_depth=max_depth)


def error(request: Mapping[str, Any]) -> str | None:
    """See `playground.protocols.actions.bindings.ActionBinding`."""
    if not all(isinstance(request.get(name), str) for name in _STRINGS) or "message" not in request:
        return "This is not a request of an A2A action."
    return url_error(request["agent_url"]) or url_error(request["url"])


def _outgoing_message(request: Mapping[str, Any], target: Target) -> OutgoingMessage:
    resume = target.resume
    own_id = resume.get("messageId") if resume else None
    return OutgoingMessage(
        agent_url=request["agent_url"],
        url=request["url"],
        message=request["message"],
        message_id=own_id if isinstance(own_id, str) else request["message_id"],
        skill=request["skill"],
        headers=target.headers,
        resume=resume,
    )


def _call(request: Mapping[str, Any], card: AgentCard | None, headers: Headers) -> HttpCall | None:
    """Return the call that sends the message, None without a card that can be used."""
    if card is None or card.version is None:
        return None
    target = Target(request["url"], headers=tuple(headers))
    return send_call(_outgoing_message(request, target), card.version, streaming=card.streaming)


def _errors(agent_url: str, card: AgentCard | None, url: str) -> list[str]:
    errors = [url_error(agent_url)] if agent_url else []
    if card is not None:
        errors.append(url_error(url) if url else card.problems[0])
    return list(dict.fromkeys(filter(None, errors)))
