"""Requests of Chat Completions: build one, follow one up, and validate one by its schema.

A server keeps nothing: a request has the whole conversation in `messages`. The session context of
a turn is therefore the conversation so far. Everything here is total: a request of any shape is
accepted, and no argument is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols import lenient, schema_check
from playground.protocols.events import ToolCall
from playground.protocols.exchange import RequestProblem, Version

VERSIONS = (Version("1", "Chat Completions"),)

#: The name of the model in a first request; the playground cannot know which ones a server has.
MODEL = "default"
#: Roles of instructions, which begin every request of a conversation.
_INSTRUCTIONS = frozenset({"system", "developer"})

Messages = list[Any]


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    del version
    return {"model": MODEL, "messages": [_user(text)], "stream": streaming}


def validate_request(document: Any, version: str) -> list[RequestProblem]:
    """Return the validation problems of a request, errors first."""
    found = schema_check.problems(
        document, schema_check.load("chat-completions", version, "request")
    )
    return sorted(found, key=lambda problem: problem.level != "error")


def is_request(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("messages"), list) and "query" not in document


def wants_stream(document: Mapping[str, Any]) -> bool:
    """Return whether the request asks for a stream: false by default."""
    return document.get("stream") is True


def text_of_request(document: Any) -> str:
    """Return the last text of the user or of a tool, "" for none."""
    return _last_text(document, "user", "tool")


def query_text(document: Any) -> str:
    return _last_text(document, "user")


# The next request of a conversation


def session_context(document: Any, returned: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the conversation after a turn, which ends with words of the model; None before any.

    They come from the request, and from what was returned for it.
    """
    messages = _messages(document)
    if answer := _messages(returned):
        return {"messages": [*messages, *answer]}
    roles = [_role(message) for message in messages]
    said = len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0
    return {"messages": messages[:said]} if said else None


def with_session_context(document: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "messages": [*_messages(context), *_messages(document)]}


def follow_up_document(
    request: Any,
    *,
    prev: Sequence[str] = (),
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the document of the turn after `request`, with the conversation in it.

    Without a conversation, the instructions stay. `prev` is not needed: the messages have it.
    """
    del prev
    return with_messages(request, [_user(text)], session_context)


def with_messages(
    request: Any, messages: Sequence[Mapping[str, Any]], context: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the document that follows `request` with these messages as its last ones."""
    said = [each for each in _messages(request) if _role(each) in _INSTRUCTIONS]
    said = _messages(context) or said
    return {**lenient.members(request), "messages": [*said, *map(dict, messages)]}


def output_message(call: ToolCall, output: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.call_id, "content": output}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _messages(document: Any) -> Messages:
    return lenient.items(lenient.members(document).get("messages"))


def _role(message: Any) -> str:
    return lenient.text(lenient.members(message).get("role"))


def _last_text(document: Any, *roles: str) -> str:
    found = (_text(each) for each in reversed(_messages(document)) if _role(each) in roles)
    return next(filter(None, found), "")


def _text(message: Any) -> str:
    content = lenient.members(message).get("content")
    parts = [lenient.members(part).get("text") for part in lenient.items(content)]
    return " ".join(lenient.texts([content, *parts])).strip()
