"""Tools of the server: their descriptions, and what a call of each does, step by step.

Both generations of MCP send the same steps: notifications, an elicitation and a result.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest

from playground.demo import elicitation, jsonrpc, lists, requests, responses, service
from playground.demo.corpus import CorpusItem, strings
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE, pace_of
from playground.demo.jsonrpc import INVALID_PARAMS, JsonRpcMessage, RpcError
from playground.demo.responses import Answer, Document
from playground.demo.service import ServedResponse

#: Tools on a page: few, so that a list has more than one page.
PAGE = 3
#: Severities of log messages, in ascending order.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
#: The server in all versions of MCP.
SERVER = {"name": "nlweb-demo", "title": "NLWeb demo agent", "version": "1.0"}
INSTRUCTIONS = (
    "Use the tool ask to search recipes, restaurants, cookware, films and articles, and await to"
    " get the answer to a promise. The other tools manage a shopping cart and scale recipes."
)
_CURSOR = "tools-"
#: Failures caused by the arguments: JSON-RPC errors, with the failure as their data.
_IN_ARGUMENTS = frozenset({"INVALID_QUERY", "INVALID_PARAMETER"})
_AMOUNT = re.compile(r"^(\d{1,5}(?:\.\d{1,3})?)(?=\s|g\b|ml\b|kg\b)", re.ASCII)
_MAX_ITEM = 200
_MAX_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, with what its caller accepts besides a result."""

    request: HttpRequest
    tool: str
    arguments: Mapping[str, Any]
    #: Factor of every deliberate delay; 0 means none.
    pace: float = 1.0
    #: The progress token; None for no progress notifications.
    token: str | int | None = None
    #: The least severity of log messages to the caller; "" for no log.
    level: str = ""
    #: True if the caller supports elicitation.
    can_elicit: bool = False
    #: True if an answer may be a list (since 2025-11-25).
    allows_lists: bool = True
    #: The response to the elicitation of this call: `{"action": …, "content": …}`.
    answer: Mapping[str, Any] | None = None

    def logs(self, level: str) -> bool:
        """Return True if messages of a severity are sent."""
        return self.level in LEVELS and LEVELS.index(level) >= LEVELS.index(self.level)


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification before the result."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """An elicitation of MCP: the call continues when the user has answered."""

    message: str
    schema: Mapping[str, Any]

    @property
    def params(self) -> Document:
        return {
            "mode": "form",
            "message": self.message,
            "requestedSchema": dict(self.schema),
        }


@dataclass(frozen=True, slots=True)
class Done:
    """The result of the call."""

    result: Document


Step = Notification | ElicitationRequest | Done


def text_result(text: str, *, failed: bool = False) -> Done:
    return Done({"content": [{"type": "text", "text": text}], "isError": failed})


def call_params(request: HttpRequest, message: JsonRpcMessage) -> dict[str, Any]:
    """Return the fields of `Call` that are read alike in both generations. Raise `RpcError`."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "tools/call requires a tool name.")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments must be an object.")
    meta = message.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return {
        "tool": name,
        "arguments": arguments or {},
        "pace": pace_of(request),
        "token": token if jsonrpc.is_id(token) else None,
    }


async def perform(call: Call) -> AsyncIterator[Step]:
    """Yield the steps of a call; the last is its result, or an elicitation before it.

    Raise `RpcError` with INVALID_PARAMS, whose data is an NLWeb failure where there is one.
    """
    if call.tool in ("ask", "await"):
        async for step in _nlweb(call):
            yield step
    elif function := _FUNCTIONS.get(call.tool):
        yield await function(call)
    else:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {call.tool[:80]}")


async def _nlweb(call: Call) -> AsyncIterator[Step]:
    version, session = requests.version_of(call.arguments), requests.session_of(call.arguments)
    try:
        if elicitation_request := _elicitation_request(call):
            yield elicitation_request
            return
        if call.tool == "await":
            served = await service.await_(call.arguments)
        else:
            served = await service.ask(call.request, _with_answers(call), whole=True)
        async for notification in _notifications(call, served):
            yield notification
        yield _document_result(served.document())
    except FailureError as failure:
        document = responses.failure(failure, version, session)
        if failure.code in _IN_ARGUMENTS:
            raise RpcError(INVALID_PARAMS, "Invalid params", document) from None
        # Failures with a status below 400 are answers; the others are errors.
        yield _document_result(document, failed=failure.status(version) >= 400)


def _elicitation_request(call: Call) -> ElicitationRequest | None:
    """Return the elicitation before a surprise; None if there is none or it is answered.

    Raise `FailureError` for an invalid request, before anything is asked.
    """
    if not call.can_elicit or call.tool != "ask" or call.answer is not None:
        return None
    ask = requests.read_ask(call.arguments, "", call.pace)
    given = set(ask.filters) & set(elicitation.ids_of(elicitation.SURPRISE))
    if given or not elicitation.is_surprise(ask.text):
        return None
    surprise = elicitation.presented(elicitation.SURPRISE, ask.version, ask.language)
    questions = surprise["questions"]
    properties = {
        str(question["id"]): _property(question, call.allows_lists) for question in questions
    }
    schema = {"type": "object", "properties": properties, "required": [str(questions[-1]["id"])]}
    return ElicitationRequest(str(surprise["text"]), schema)


def _property(question: Mapping[str, Any], allows_lists: bool) -> Document:
    options = {"type": "string", "enum": list(question["options"])}
    if question["type"] == "multi_select" and allows_lists:
        return {"type": "array", "title": question["text"], "items": options}
    return {**options, "title": question["text"]}


def _with_answers(call: Call) -> Mapping[str, Any]:
    """Return the arguments with the answers as attributes of the query. Raise `FailureError`."""
    if call.answer is None:
        return call.arguments
    if call.answer.get("action") != "accept":
        raise FailureError("NO_RESULTS", "The question was not answered; no search was performed.")
    content = call.answer.get("content")
    answers = content if isinstance(content, dict) else {}
    ids = elicitation.ids_of(elicitation.SURPRISE)
    known = {name: answers[name] for name in ids if name in answers}
    query = call.arguments.get("query")
    if not known or not isinstance(query, dict):
        raise FailureError("INVALID_QUERY", "The answer to the question has no content.")
    return {**call.arguments, "query": {**query, **known}}


async def _notifications(call: Call, served: ServedResponse) -> AsyncIterator[Notification]:
    """Yield a log message, and a progress notification for each result, if requested."""
    prefer = call.arguments.get("prefer")
    streaming = isinstance(prefer, dict) and prefer.get("streaming") is True
    if not isinstance(served.response, Answer) or not (streaming and call.token is not None):
        return
    items = served.response.items
    if call.logs("info"):
        data = f"{len(items)} results, best first"
        log_params = {"level": "info", "logger": "demo", "data": data}
        yield Notification("notifications/message", log_params)
    for number, item in enumerate(items, 1):
        await asyncio.sleep(PAUSE * served.pace)
        name = str(item.get("name") or item.get("text") or item.get("@type"))
        params = {"progressToken": call.token, "progress": number, "total": len(items)}
        yield Notification("notifications/progress", {**params, "message": f"Found {name[:80]}"})


def _document_result(document: Document, *, failed: bool = False) -> Done:
    """Return a response of NLWeb as a result: as JSON text and as structured content."""
    text = responses.encode(document).decode("utf-8")
    content = [{"type": "text", "text": text}]
    return Done({"content": content, "structuredContent": document, "isError": failed})


async def _cart_add(call: Call) -> Done:
    items = call.arguments.get("items")
    if isinstance(items, str):
        items = [items]
    if not isinstance(items, list) or not 0 < len(items) <= _MAX_ITEMS:
        raise RpcError(INVALID_PARAMS, f"items must be a list of 1 to {_MAX_ITEMS} strings.")
    if not all(isinstance(item, str) and 0 < len(item) <= _MAX_ITEM for item in items):
        raise RpcError(INVALID_PARAMS, f"An item must be a string of up to {_MAX_ITEM} characters.")
    entry: Document = {"items": items}
    if isinstance(note := call.arguments.get("note"), str) and note:
        entry["note"] = note[:_MAX_ITEM]
    _, count = await lists.add("cart", entry)
    count_text = "1 item" if len(items) == 1 else f"{len(items)} items"
    entries = "1 entry" if count == 1 else f"{count} entries"
    return text_result(f"Added {count_text} to the cart, which now has {entries}.")


async def _shopping_list(_: Call) -> Done:
    rows = await lists.entries("cart")
    items = [item for row in rows for item in strings(row.content.get("items"))]
    text = "\n".join(f"- {item}" for item in items) or "The cart is empty."
    content = [{"type": "text", "text": text}]
    return Done({"content": content, "structuredContent": {"items": items}, "isError": False})


async def _scale(call: Call) -> Done:
    url, servings = call.arguments.get("url"), call.arguments.get("servings", 4)
    if not isinstance(servings, int) or isinstance(servings, bool) or not 1 <= servings <= 100:
        raise RpcError(INVALID_PARAMS, "servings must be an integer from 1 to 100.")
    recipes = (await service.loaded_corpus()).of_kind("Recipe")
    for entry in recipes:
        if entry.document["url"] == url:
            return text_result(_scaled(entry, servings))
    return text_result("This agent has no recipe with that URL.", failed=True)


def _scaled(entry: CorpusItem, servings: int) -> str:
    """Return the ingredients for a number of servings, amounts with two digits."""
    found = re.search(r"\d{1,3}", str(entry.document.get("recipeYield") or ""), re.ASCII)
    factor = servings / (int(found[0]) if found and int(found[0]) else servings)

    def scale(match: re.Match[str]) -> str:
        amount = float(match[1]) * factor
        return f"{amount:.0f}" if amount >= 100 else f"{amount:.2g}"

    ingredients = strings(entry.document.get("recipeIngredient"))
    lines = [f"- {_AMOUNT.sub(scale, ingredient)}" for ingredient in ingredients]
    count = "1 serving" if servings == 1 else f"{servings} servings"
    return "\n".join([f"{entry.name}, for {count}:", *lines])


#: The tools other than `ask` and `await`, with their function.
_FUNCTIONS: Mapping[str, Callable[[Call], Awaitable[Done]]] = {
    "cart_add": _cart_add,
    "shopping_list": _shopping_list,
    "scale_recipe": _scale,
}


def page(cursor: Any) -> Document:
    """Return a page of the list, with `nextCursor` on all but the last. Raise `RpcError`."""
    start = _start(cursor)
    found: Document = {"tools": list(TOOLS[start : start + PAGE])}
    if start + PAGE < len(TOOLS):
        found["nextCursor"] = f"{_CURSOR}{start + PAGE}"
    return found


def _start(cursor: Any) -> int:
    if cursor is None:
        return 0
    starts = {f"{_CURSOR}{number}": number for number in range(PAGE, len(TOOLS), PAGE)}
    if not isinstance(cursor, str) or cursor not in starts:
        raise RpcError(INVALID_PARAMS, "Invalid cursor.")
    return starts[cursor]


#: `ask` and `await` of NLWeb 0.55, A.1 and A.2, and the tools of this agent's actions (section 5).
TOOLS: Sequence[Document] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
