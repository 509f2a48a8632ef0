"""`POST /demo/v1/chat/completions`: a completion as a stream of chunks or as one document.

The model is a search of the corpus. It remembers nothing: what it knows of a conversation is in the
messages of the request.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo import requests, responses, service
from playground.demo.agent_api.request_context import Catalog
from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import PAUSE, endpoint, event_stream, json_response, pace_of
from playground.demo.responses import Document

#: Most messages and functions of a request that are read, and choices of a response.
_MAX_ENTRIES, _MAX_CHOICES = 100, 5
_WORDS = re.compile(r"\S+\s*|\s+")
_DONE = b"data: [DONE]\n\n"

#: Examples for the demo page: a message, and what happens.
ROWS: Sequence[tuple[str, str]] = (
    ("tomato soup", "A text in pieces, from a search of the recipes."),
    ("What did I ask you?", "The earlier questions: those in the messages of the request."),
    ("Think about a risotto", "Reasoning in reasoning_content, then the text."),
    ("Fail in the middle", "An error after the first words; without a stream, HTTP 500."),
    ("Forget the end", "A stream without [DONE]."),
)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A validated request."""

    model: str
    #: Role and text of each message.
    messages: Sequence[tuple[str, str]]
    stream: bool
    choices: int
    functions: Sequence[str]
    with_usage: bool

    @property
    def text(self) -> str:
        return self.messages[-1][1]

    @property
    def earlier(self) -> list[str]:
        return [text for role, text in self.messages[:-1] if role == "user"]


def _error(message: str, param: str | None = None, kind: str = "invalid_request_error") -> Document:
    return {"error": {"message": message, "type": kind, "param": param, "code": None}}


_BROKEN = _error("The oven caught fire.", kind="server_error")


@endpoint(_error, "POST")
async def chat_completions(request: HttpRequest) -> HttpResponseBase:
    """Continue the conversation in the request; 400 for an invalid one."""
    try:
        parsed, pace = _read(requests.read_json(request.body)), pace_of(request)
        catalog = Catalog(await service.loaded_corpus(), service.links(request))
        messages = [_message(parsed, catalog, number) for number in range(parsed.choices)]
    except FailureError as failure:
        param = (failure.details or {}).get("parameter")
        return json_response(_error(failure.message, param), 400)
    if parsed.stream:
        return event_stream(_events(parsed, messages, pace))
    if _asks(parsed, "fail"):
        return json_response(_BROKEN, 500)
    choices = [
        {"index": index, "message": message, "finish_reason": _reason(message)}
        for index, message in enumerate(messages)
    ]
    whole = _envelope(parsed, "chat.completion")
    return json_response({**whole, "choices": choices, "usage": _usage(parsed, messages)})


@endpoint(_error)
async def not_found(request: HttpRequest, path: str) -> HttpResponseBase:
    """Any other path below /demo/v1."""
    return json_response(_error(f"Unknown path: {path[:80]}."), 404)


def _read(document: Document) -> ChatRequest:
    """Read a request. Raise `FailureError`, whose details name the member."""

    def check(name: str, default: Any, expected: str, kind: type) -> Any:
        value = document.get(name)
        if value is None and default is not None:
            return default
        # In Python, true and false are numbers.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)) or value == "":
            raise invalid_parameter(name, value, expected, expected)
        return value

    messages = [_role_and_text(each) for each in check("messages", None, "a list", list)]
    if not messages or not messages[-1][1].strip():
        raise invalid_parameter("messages", None, "a text", "a list that ends with a text")
    options = check("stream_options", {}, "an object", dict)
    tools = check("tools", [], "a list", list)[:_MAX_ENTRIES]
    functions = (_members(_members(each).get("function")).get("name") for each in tools)
    return ChatRequest(
        model=check("model", None, "a string", str),
        messages=messages[-_MAX_ENTRIES:],
        stream=check("stream", False, "true or false", bool),
        choices=min(max(check("n", 1, "an integer", int), 1), _MAX_CHOICES),
        functions=[name for name in functions if isinstance(name, str)],
        with_usage=options.get("include_usage") is True,
    )


def _role_and_text(message: Any) -> tuple[str, str]:
    content = _members(message).get("content")
    parts = content if isinstance(content, list) else []
    texts = [content, *(_members(part).get("text") for part in parts)]
    text = " ".join(each for each in texts if isinstance(each, str))
    return str(_members(message).get("role")), text[: requests.MAX_TEXT]


def _members(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _asks(parsed: ChatRequest, word: str) -> bool:
    return re.search(rf"\b{word}", parsed.text, re.I) is not None


def _message(parsed: ChatRequest, catalog: Catalog, number: int) -> Document:
    """Return the message of a choice. Raise `FailureError` for a question without words."""
    text, role = parsed.text, parsed.messages[-1][0]
    words = set(re.findall(r"\w+", text.lower()))
    called = [name for name in parsed.functions if words & set(re.findall(r"[a-z]{4,}", name))]
    if role == "user" and called:
        return {"role": "assistant", "content": None, "tool_calls": [*_calls(called, text)]}
    if _asks(parsed, "what did I ask"):
        listed = "; ".join(f"“{each[:80]}”" for each in parsed.earlier)
        text = f"You asked {listed}." if listed else "This is your first question."
        return {"role": "assistant", "content": text}
    found = catalog.find(text, parsed.earlier)
    names = [str(item["name"]) for item in found.items]
    answer = f"{found.text}\n\n" + "\n".join(f"- {name}" for name in names)
    if number and names:
        answer = f"Or try {names[number % len(names)]}."
    if role == "tool":
        answer = f"With that output: {answer}"
    thoughts = f"The question is about “{text[:80]}”. Let me search the recipes for that."
    thinks = {"reasoning_content": thoughts} if _asks(parsed, "think") else {}
    return {"role": "assistant", **thinks, "content": answer.strip()}


def _calls(names: Sequence[str], text: str) -> Iterator[Document]:
    for name in names:
        function = {"name": name, "arguments": json.dumps({"query": text[:80]})}
        yield {"id": f"call_{uuid4().hex[:12]}", "type": "function", "function": function}


def _reason(message: Document) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _envelope(parsed: ChatRequest, kind: str) -> Document:
    name = f"chatcmpl-{uuid4().hex[:16]}"
    return {"id": name, "object": kind, "created": int(time.time()), "model": parsed.model}


def _usage(parsed: ChatRequest, messages: Sequence[Document]) -> Document:
    """Count words, which stand for tokens."""
    sent = sum(len(text.split()) for _, text in parsed.messages)
    written = sum(len(str(message["content"] or "").split()) for message in messages)
    counts = {"prompt_tokens": sent, "completion_tokens": written}
    return {**counts, "total_tokens": sent + written}


def _deltas(message: Document) -> Iterator[Document]:
    """Yield a message in pieces: the role, each word, and arguments of calls in two halves."""
    yield {"role": message["role"], "content": None if message.get("tool_calls") else ""}
    for name in ("reasoning_content", "content"):
        for word in _WORDS.findall(message.get(name) or ""):
            yield {name: word}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        text = function["arguments"]
        empty = {**function, "arguments": ""}
        yield {"tool_calls": [{"index": index, **call, "function": empty}]}
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


async def _events(
    parsed: ChatRequest, messages: Sequence[Document], pace: float
) -> AsyncIterator[bytes]:
    """Yield SSE events without names, one chunk each, and the end."""
    envelope = _envelope(parsed, "chat.completion.chunk")
    fails = _asks(parsed, "fail")

    async def event(document: Document) -> bytes:
        await asyncio.sleep(PAUSE * pace * 0.6)
        return responses.event("", document)

    for index, message in enumerate(messages):
        for number, delta in enumerate(_deltas(message)):
            if fails and number == 4:
                yield await event(_BROKEN)
                return
            choice = {"index": index, "delta": delta, "finish_reason": None}
            yield await event({**envelope, "choices": [choice]})
        choice = {"index": index, "delta": {}, "finish_reason": _reason(message)}
        yield await event({**envelope, "choices": [choice]})
    if parsed.with_usage:
        yield await event({**envelope, "choices": [], "usage": _usage(parsed, messages)})
    if not _asks(parsed, "forget the end"):
        yield _DONE
