"""The calls that are made of an A2A agent: for its card, and with an errand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols.a2a import messages
from playground.protocols.a2a.versions import A2AVersion
from playground.protocols.calls import HttpCall
from playground.protocols.http import USER_AGENT, encode, merge_headers
from playground.protocols.origins import same_origin

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """What an agent is to be told, and where the user agreed to send it."""

    #: The address that the agent is known by; its card is near it.
    agent_url: str
    #: The address that the user has seen and agreed to.
    url: str
    message: Any
    message_id: str
    skill: str = ""
    #: Headers of the user, for the agreed address only.
    headers: Headers = ()
    resume: Mapping[str, Any] | None = None


def send_call(errand: OutgoingMessage, version: A2AVersion, *, streaming: bool) -> HttpCall:
    """The call that sends the message of an errand."""
    body = messages.send_message(
        version,
        errand.message,
        skill=errand.skill,
        message_id=errand.message_id,
        streaming=streaming,
        resume=errand.resume,
    )
    return post_rpc(errand, version, body, streaming=streaming)


def post_rpc(
    errand: OutgoingMessage, version: A2AVersion, body: Any, *, streaming: bool = False
) -> HttpCall:
    """A call of JSON-RPC at the agreed address, in the version of the card."""
    accept = "text/event-stream, application/json" if streaming else "application/json"
    defaults = (
        ("Content-Type", "application/json"),
        ("Accept", accept),
        ("User-Agent", USER_AGENT),
        *version.headers,
    )
    return HttpCall(
        "POST", errand.url, merge_headers(defaults, errand.headers), encode(body), streaming
    )


def card_call(url: str, errand_url: str = "", headers: Headers = ()) -> HttpCall:
    """The call that reads a card; the headers go along to the origin of `errand_url` only."""
    own = headers if same_origin(url, errand_url) else ()
    defaults = (("Accept", "application/json"), ("User-Agent", USER_AGENT))
    return HttpCall("GET", url, merge_headers(defaults, own))
