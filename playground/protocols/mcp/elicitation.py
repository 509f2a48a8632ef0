"""MCP's own questions, in both generations, and the answers to them.

Up to 2025-11-25 the server asks in mid-call (`elicitation/create`) and waits; from 2026-07-28
on its result says `input_required`, and the call is made again with the answers. Both describe
what they want by a small part of JSON Schema, which becomes questions like those of NLWeb.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.events import Elicitation, Question
from playground.protocols.mcp import properties

CREATE, ROOTS = "elicitation/create", "roots/list"

#: `kind` of `Elicitation.reply` and `Target.resume`: a response to a request of the server's, the
#: same call with the answers, and the same call again.
RESPONSE, INPUT, AGAIN = "mcp-response", "mcp-input", "mcp-again"

ACCEPT, DECLINE, CANCEL = "accept", "decline", "cancel"
ACTIONS = (ACCEPT, DECLINE, CANCEL)

#: Questions that are read, and requests that one result may have.
MAX_QUESTIONS, MAX_REQUESTS = 500, 50
#: Characters of an id, so that ids can be kept.
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class _Asked:
    """One property of one request's schema."""

    key: str
    name: str
    schema: Mapping[str, Any]
    required: bool
    #: What its question is called: unique in the elicitation.
    id: str


def elicitation_request(
    seq: int, request_id: Any, params: Any, session: str, version: str
) -> Elicitation:
    """The question that a server asks in mid-call."""
    params = params if isinstance(params, Mapping) else {}
    reply = {
        "kind": RESPONSE,
        "id": request_id,
        "session": session,
        "version": version,
        "requests": {"": params},
    }
    return _elicitation(seq, reply, params)


def input_requests(seq: int, result: Mapping[str, Any]) -> Elicitation | None:
    """The questions of a result that wants input; None where no user can answer them."""
    given = result.get("inputRequests")
    given = given if isinstance(given, Mapping) else {}
    requests, others = {}, {}
    for key, value in list(given.items())[:MAX_REQUESTS]:
        value = value if isinstance(value, Mapping) else {}
        if value.get("method") == CREATE:
            params = value.get("params")
            requests[key] = params if isinstance(params, Mapping) else {}
        else:
            others[key] = value.get("method")
    if any(method != ROOTS for method in others.values()) or not (
        requests or others or _state(result)
    ):
        return None
    reply: dict[str, Any] = {"kind": INPUT, "requests": requests, "roots": list(others)}
    if "requestState" in result:
        reply["requestState"] = result["requestState"]
    return _elicitation(seq, reply, result)


def url_elicitation(seq: int, data: Any) -> Elicitation | None:
    """The addresses of an error that wants them visited first (-32042); None without any."""
    listed = data.get("elicitations") if isinstance(data, Mapping) else None
    requests = (
        [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    )
    if not requests:
        return None
    numbered = {str(number): one for number, one in enumerate(requests[:MAX_REQUESTS])}
    return _elicitation(seq, {"kind": AGAIN, "requests": numbered}, data)


def resume_of(
    reply: Mapping[str, Any], action: str, values: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What `Target.resume` has to say to answer: `values` by question id, for accepting.

    None where the call is simply made again. Raises `ValueError` for another `action` than
    accept, decline and cancel.
    """
    if action not in ACTIONS:
        raise ValueError(f"A question is answered by one of {', '.join(ACTIONS)}.")
    if reply.get("kind") == AGAIN:
        return None
    answers = {key: {"action": action} for key in _requests(reply)}
    if action == ACCEPT:
        for key, params in _requests(reply).items():
            if not is_url_elicitation(params):
                answers[key]["content"] = {}  # type: ignore[assignment]
        for each in _asked(reply):
            if each.id in values:
                value = properties.answer_of(each.schema, values[each.id])
                answers[each.key]["content"][each.name] = value  # type: ignore[index]
    if reply.get("kind") == RESPONSE:
        kept = {name: reply.get(name) for name in ("id", "session", "version")}
        return {"kind": RESPONSE, **kept, "result": answers.get("", {"action": action})}
    responses = {**answers, **{key: {"roots": []} for key in _listed(reply.get("roots"))}}
    state = {"requestState": reply["requestState"]} if "requestState" in reply else {}
    return {"kind": INPUT, "inputResponses": responses, **state}


def action_of(resume: Any) -> str:
    """Whether a `Target.resume` accepts, declines or dismisses; "" for what is no answer."""
    resume = resume if isinstance(resume, Mapping) else {}
    answers: list[Any] = [resume.get("result")]
    if isinstance(resume.get("inputResponses"), Mapping):
        answers += resume["inputResponses"].values()
    for answer in answers:
        if isinstance(answer, Mapping) and answer.get("action") in ACTIONS:
            return str(answer["action"])
    return ""


def response(resume: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON-RPC response that a `Target.resume` of the kind `RESPONSE` is."""
    message = {"jsonrpc": jsonrpc.VERSION, "id": resume.get("id")}
    name = "error" if "error" in resume else "result"
    return {**message, name: resume.get(name)}


def is_url_elicitation(params: Mapping[str, Any]) -> bool:
    """Whether a request sends the user to an address instead of asking for values."""
    return params.get("mode") == "url" or ("url" in params and "requestedSchema" not in params)


def _state(result: Mapping[str, Any]) -> bool:
    return result.get("requestState") is not None


def _elicitation(seq: int, reply: Mapping[str, Any], raw: Any) -> Elicitation:
    requests = _requests(reply).values()
    said = (message for params in requests if isinstance(message := params.get("message"), str))
    links = tuple(url for params in requests if isinstance(url := params.get("url"), str))
    return Elicitation(
        seq,
        "\n".join(dict.fromkeys(said)),
        tuple(_question(each) for each in _asked(reply)),
        raw,
        resume=reply,
        links=links,
    )


def _question(asked: _Asked) -> Question:
    return properties.question_of(
        asked.schema, asked.name, identifier=asked.id, required=asked.required
    )


def _requests(reply: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    requests = reply.get("requests")
    return requests if isinstance(requests, Mapping) else {}


def _asked(reply: Mapping[str, Any]) -> list[_Asked]:
    """Every property that is asked for, in order."""
    requests = _requests(reply)
    found: list[_Asked] = []
    taken: set[str] = set()
    for key, params in requests.items():
        if is_url_elicitation(params):
            continue
        schema = params.get("requestedSchema")
        schema = schema if isinstance(schema, Mapping) else {}
        listed = schema.get("properties")
        required = frozenset(_listed(schema.get("required")))
        for name, own in (listed if isinstance(listed, Mapping) else {}).items():
            unique = _unique(name if len(requests) == 1 else f"{key}.{name}", taken)
            own = own if isinstance(own, Mapping) else {}
            found.append(_Asked(key, name, own, name in required, unique))
            if len(found) == MAX_QUESTIONS:
                return found
    return found


def _unique(name: str, taken: set[str]) -> str:
    base = name = name[:MAX_NAME] or "answer"
    number = 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _listed(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
