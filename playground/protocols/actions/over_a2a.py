"""Actions over A2A: a message to an agent that has a card (NLWeb 0.55 section 5).

The action names the agent's address; the card says where messages go and in which version, so
without it there is no call to show. The request document keeps the address that the user has
seen: what the card says when the action runs must be the same (`protocols.a2a.exchange`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import a2a
from playground.protocols.a2a import AgentCard
from playground.protocols.actions import endpoints
from playground.protocols.actions.extract import A2A, Action, attribute_text
from playground.protocols.actions.plans import UNSET, ActionPlan, Headers, ServerInfo, Unset
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.origins import same_origin

_STRINGS = ("agent_url", "url", "message_id", "skill")


def plan(
    action: Action, _agent_url: str, params: Any | Unset, headers: Headers, peer: ServerInfo
) -> ActionPlan:
    """The message of an A2A action. See `playground.protocols.actions.planning.plan`."""
    message = action.raw.get("message") if params is UNSET else params
    agent_url, skill = attribute_text(action, "agent_url"), attribute_text(action, "skill")
    card = a2a.read_card(peer.description) if peer.description is not None else None
    missing = [f"The action has no {name}." for name in _missing(action)]
    refusals = (*missing, *_refusals(agent_url if not missing else "", card))
    request = {
        "action": action.name,
        "protocol": A2A,
        "agent_url": agent_url,
        "url": card.url if card else "",
        "skill": skill,
        # An agent has to be told something: what the action is for, where it has no message.
        "message": message if message is not None else action.description or action.name,
        "message_id": peer.message_id,
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
        errors=refusals,
        params_in="" if message is None else "body",
        missing_fields="card" if card is None else "",
        sendable=not refusals and call is not None,
    )


def exchange(target: Target, request: Mapping[str, Any], max_depth: int) -> a2a.A2AExchange:
    """The exchange that reads the card, sends the message and follows the task.

    Raises `ValueError` for what is not the request of an action over A2A, and where the target
    is of another origin than the address that the user has seen.
    """
    if not all(isinstance(request.get(name), str) for name in _STRINGS) or "message" not in request:
        raise ValueError("This is not the request of an action over A2A.")
    for name in ("agent_url", "url"):
        if refusal := endpoints.url_error(request[name]):
            raise ValueError(refusal)
    if not same_origin(target.url, request["url"]):
        raise ValueError("The target is not where the action goes.")
    return a2a.A2AExchange(_errand(request, target), max_depth=max_depth)


def _errand(request: Mapping[str, Any], target: Target) -> a2a.OutgoingMessage:
    resume = target.resume
    own_id = resume.get("messageId") if resume else None
    return a2a.OutgoingMessage(
        agent_url=request["agent_url"],
        url=request["url"],
        message=request["message"],
        message_id=own_id if isinstance(own_id, str) else request["message_id"],
        skill=request["skill"],
        headers=target.headers,
        resume=resume,
    )


def _call(request: Mapping[str, Any], card: AgentCard | None, headers: Headers) -> HttpCall | None:
    """The call that sends the message, None where no card says how."""
    if card is None or card.version is None:
        return None
    target = Target(request["url"], headers=tuple(headers))
    return a2a.send_call(_errand(request, target), card.version, streaming=card.streaming)


def _missing(action: Action) -> list[str]:
    return [name for name in ("agent_url", "skill") if not attribute_text(action, name)]


def _refusals(agent_url: str, card: AgentCard | None) -> list[str]:
    refusals = [endpoints.url_error(agent_url)] if agent_url else []
    if card is not None:
        refusals.append(endpoints.url_error(card.url) if card.url else card.problems[0])
    return list(dict.fromkeys(filter(None, refusals)))
