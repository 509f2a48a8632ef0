"""Requests that an MCP server makes while it answers: elicitation in both generations, and others.

A stateful server (up to 2025-11-25) sends `elicitation/create` in mid-call and waits; the result
of a stateless one (from 2026-07-28 on) says `input_required`, and the call is made again with the
answers. Both describe the values by a small part of JSON Schema (choices as `enum`, `oneOf` or
`anyOf`, bounds, a format), which becomes questions like those of NLWeb. Total: any JSON value is
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import jsonrpc, lenient
from playground.protocols.events import Constraints, Elicitation, Event, Note, Question, Unknown
from playground.protocols.jsonrpc import METHOD_NOT_FOUND, JsonRpcMessage

CREATE, ROOTS, PING = "elicitation/create", "roots/list", "ping"

#: `kind` of `Elicitation.resume` and `Target.resume`: a response to a request of the server, the
#: same call with the answers, and the same call again.
RESPONSE, INPUT, AGAIN = "mcp-response", "mcp-input", "mcp-again"

ACCEPT, DECLINE, CANCEL = "accept", "decline", "cancel"
ACTIONS = (ACCEPT, DECLINE, CANCEL)

#: Questions that are read, options of one, and requests that one result may have.
MAX_QUESTIONS, MAX_OPTIONS, MAX_REQUESTS = 500, 500, 50
#: Requests of one run that are read; a server may send them without end.
MAX_SERVER_REQUESTS = 50
#: Characters of a question's id, so that ids can be stored.
MAX_NAME = 200
#: Characters of a format's name, and the highest value of `minLength` and `maxLength`.
_MAX_FORMAT, _MAX_LENGTH = 200, 2**53


# --- elicitation requests ---------------------------------------------------------------------


def elicitation_request(
    seq: int, request_id: Any, params: Any, session: str, version: str
) -> Elicitation:
    """Return the event of an `elicitation/create` request in mid-call."""
    params = lenient.members(params)
    resume = {
        "kind": RESPONSE,
        "id": request_id,
        "session": session,
        "version": version,
        "requests": {"": params},
    }
    return _elicitation(seq, resume, params)


def input_requests(seq: int, result: Mapping[str, Any]) -> Elicitation | None:
    """Return the event of a result that says `input_required`; None if no user can answer it."""
    given = lenient.members(result.get("inputRequests"))
    requests, others = {}, {}
    for key, value in list(given.items())[:MAX_REQUESTS]:
        value = lenient.members(value)
        if value.get("method") == CREATE:
            requests[key] = lenient.members(value.get("params"))
        else:
            others[key] = value.get("method")
    has_state = result.get("requestState") is not None
    if any(method != ROOTS for method in others.values()) or not (requests or others or has_state):
        return None
    resume: dict[str, Any] = {"kind": INPUT, "requests": requests, "roots": list(others)}
    if "requestState" in result:
        resume["requestState"] = result["requestState"]
    return _elicitation(seq, resume, result)


def url_elicitation(seq: int, data: Any) -> Elicitation | None:
    """Return the event of an error that requires a visit to URLs (-32042); None without any."""
    listed = lenient.items(lenient.members(data).get("elicitations"))
    requests = [each for each in listed if isinstance(each, Mapping)]
    if not requests:
        return None
    numbered = {str(number): each for number, each in enumerate(requests[:MAX_REQUESTS])}
    return _elicitation(seq, {"kind": AGAIN, "requests": numbered}, data)


def is_url_elicitation(params: Mapping[str, Any]) -> bool:
    """Return whether a request sends the user to a URL instead of requesting values."""
    return params.get("mode") == "url" or ("url" in params and "requestedSchema" not in params)


# --- answers ----------------------------------------------------------------------------------


def resume_of(
    pending: Mapping[str, Any], action: str, values: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the `Target.resume` of an answer to an elicitation whose `resume` is `pending`.

    `values` by question id are for accepting. None if the call is simply made again. Raise
    `ValueError` for another `action` than accept, decline and cancel.
    """
    if action not in ACTIONS:
        raise ValueError(f"Answer the elicitation with one of {', '.join(ACTIONS)}.")
    if pending.get("kind") == AGAIN:
        return None
    answers: dict[str, dict[str, Any]] = {key: {"action": action} for key in _requests(pending)}
    if action == ACCEPT:
        for key, params in _requests(pending).items():
            if not is_url_elicitation(params):
                answers[key]["content"] = {}
        for each in _properties(pending):
            if each.id in values:
                answers[each.key]["content"][each.name] = _answer(each.schema, values[each.id])
    if pending.get("kind") == RESPONSE:
        call = {name: pending.get(name) for name in ("id", "session", "version")}
        return {"kind": RESPONSE, **call, "result": answers.get("", {"action": action})}
    responses = {**answers, **{key: {"roots": []} for key in lenient.texts(pending.get("roots"))}}
    state = {"requestState": pending["requestState"]} if "requestState" in pending else {}
    return {"kind": INPUT, "inputResponses": responses, **state}


def is_server_request(resume: Mapping[str, Any] | None) -> bool:
    """Return whether a call stays open for the answer, by what resumes its exchange."""
    return resume is not None and resume.get("kind") == RESPONSE


def action_of(resume: Any) -> str:
    """Return whether a `Target.resume` accepts, declines or cancels; "" if it does nothing."""
    resume = lenient.members(resume)
    answers: list[Any] = [resume.get("result")]
    if isinstance(resume.get("inputResponses"), Mapping):
        answers += resume["inputResponses"].values()
    for answer in answers:
        if isinstance(answer, Mapping) and answer.get("action") in ACTIONS:
            return str(answer["action"])
    return ""


def response(resume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-RPC response of a `Target.resume` of the kind `RESPONSE`."""
    message = {"jsonrpc": jsonrpc.VERSION, "id": resume.get("id")}
    name = "error" if "error" in resume else "result"
    return {**message, name: resume.get(name)}


# --- properties of requested schemas ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Property:
    """One property of one request's schema."""

    key: str
    name: str
    schema: Mapping[str, Any]
    required: bool
    #: The id of its question, unique in the elicitation.
    id: str


def _elicitation(seq: int, resume: Mapping[str, Any], raw: Any) -> Elicitation:
    requests = _requests(resume).values()
    texts = (message for params in requests if isinstance(message := params.get("message"), str))
    links = tuple(url for params in requests if isinstance(url := params.get("url"), str))
    return Elicitation(
        seq,
        "\n".join(dict.fromkeys(texts)),
        tuple(_question(each) for each in _properties(resume)),
        raw,
        resume=resume,
        links=links,
    )


def _requests(resume: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return lenient.members(resume.get("requests"))


def _properties(resume: Mapping[str, Any]) -> list[_Property]:
    """Return every property of every request, in order, at most `MAX_QUESTIONS`."""
    requests = _requests(resume)
    found: list[_Property] = []
    ids: set[str] = set()
    for key, params in requests.items():
        if is_url_elicitation(params):
            continue
        schema = lenient.members(params.get("requestedSchema"))
        required = frozenset(lenient.texts(schema.get("required")))
        for name, own in lenient.members(schema.get("properties")).items():
            own_id = _unique(name if len(requests) == 1 else f"{key}.{name}", ids)
            own = lenient.members(own)
            found.append(_Property(key, name, own, name in required, own_id))
            if len(found) == MAX_QUESTIONS:
                return found
    return found


def _unique(name: str, ids: set[str]) -> str:
    base = name = name[:MAX_NAME] or "answer"
    number = 1
    while name in ids:
        number += 1
        name = f"{base}_{number}"
    ids.add(name)
    return name


def _question(each: _Property) -> Question:
    schema = each.schema
    kind, options = _options(schema)
    is_list = kind == "multi_select"
    return Question(
        id=each.id,
        text=lenient.text(schema.get("title")) or each.name,
        type=kind or _TYPES.get(lenient.text(schema.get("type")), "free_text"),
        options=tuple(text for text, _, _ in options),
        labels=tuple(label for _, label, _ in options),
        default=_default(schema, options),
        hint=lenient.text(schema.get("description")),
        constraints=Constraints(
            required=each.required,
            integer=schema.get("type") == "integer",
            minimum=lenient.number(schema.get("minItems" if is_list else "minimum")),
            maximum=lenient.number(schema.get("maxItems" if is_list else "maximum")),
            min_length=_length(schema, "minLength"),
            max_length=_length(schema, "maxLength"),
            format=lenient.text(schema.get("format"))[:_MAX_FORMAT],
        ),
    )


def _answer(schema: Mapping[str, Any], value: Any) -> Any:
    """Return an answer as the schema has it: options are texts in a form, any value in JSON."""
    _, options = _options(schema)
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if not options and schema.get("type") == "array" and isinstance(value, str):
        return value.splitlines()
    values = {text: own for text, _, own in options}
    if isinstance(value, list):
        return [values.get(each, each) for each in value]
    return values.get(value, value) if isinstance(value, str) else value


_TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "number": "number",
    "integer": "number",
    "string": "free_text",
}
#: An option: text, label and value.
_Option = tuple[str, str, Any]


def _options(schema: Mapping[str, Any]) -> tuple[str, list[_Option]]:
    """Return the type of a question with options, and these; "" and none for any other."""
    items = schema.get("items")
    if schema.get("type") == "array" or isinstance(items, Mapping):
        options = list(_listed_options(items)) if isinstance(items, Mapping) else []
        return ("multi_select", options) if options else ("", [])
    options = list(_listed_options(schema))
    return ("single_select", options) if options else ("", [])


def _listed_options(schema: Mapping[str, Any]) -> Iterator[_Option]:
    titled = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(titled, list):
        for each in titled[:MAX_OPTIONS]:
            if isinstance(each, Mapping) and "const" in each:
                text = _as_text(each["const"])
                yield text, lenient.text(each.get("title")) or text, each["const"]
        return
    names = lenient.items(schema.get("enumNames"))
    for number, value in enumerate(lenient.items(schema.get("enum"))[:MAX_OPTIONS]):
        text = _as_text(value)
        label = names[number] if number < len(names) else None
        yield text, label if isinstance(label, str) and label else text, value


def _default(schema: Mapping[str, Any], options: Sequence[_Option]) -> Any:
    default = schema.get("default")
    if not options:
        return default
    if isinstance(default, list):
        return [_as_text(each) for each in default]
    return None if default is None else _as_text(default)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _length(schema: Mapping[str, Any], name: str) -> int | None:
    value = schema.get(name)
    # A higher bound constrains nothing, and may have too many digits to be written.
    return value if type(value) is int and 0 <= value <= _MAX_LENGTH else None


# --- requests in mid-call -----------------------------------------------------------------------


class ServerRequests:
    """Requests of one server, and the automatic responses that are due."""

    def __init__(self) -> None:
        #: Whether the server has sent an elicitation.
        self.has_elicited = False
        self._count = 0
        self._due: list[Mapping[str, Any]] = []

    def read(
        self, seq: int, message: JsonRpcMessage, session: str, version: str
    ) -> Sequence[Event]:
        self._count += 1
        if self._count > MAX_SERVER_REQUESTS:
            reason = f"Only the first {MAX_SERVER_REQUESTS} requests of a server are processed."
            return [Unknown(seq, message.method, message.raw, reason)]
        if message.method == CREATE:
            self.has_elicited = True
            return [elicitation_request(seq, message.id, message.params, session, version)]
        answer = _automatic_answer(message)
        call = {"id": message.id, "session": session, "version": version}
        self._due.append({"kind": RESPONSE, **call, **answer})
        if "result" in answer:
            return [Note(seq, f"mcp {message.method}", message.params)]
        reason = "Unsupported server request. The playground responded with an error."
        return [Unknown(seq, message.method, message.params, reason)]

    def take_responses(self) -> Sequence[Mapping[str, Any]]:
        """Return the automatic responses that are due, each once."""
        due, self._due = self._due, []
        return due


def _automatic_answer(message: JsonRpcMessage) -> Mapping[str, Any]:
    if message.method == PING:
        return {"result": {}}
    if message.method == ROOTS:
        return {"result": {"roots": []}}
    return {"error": {"code": METHOD_NOT_FOUND, "message": "The client does not offer this."}}
