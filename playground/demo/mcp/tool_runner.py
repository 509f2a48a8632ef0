"""Runs a tool: the questions of NLWeb by `ask` and `await`, the others with their effect."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from playground.demo import elicitation, questions, requests, responses, service, storage
from playground.demo.corpus import CorpusItem, strings
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE
from playground.demo.mcp.steps import (
    Call,
    Done,
    ElicitationRequest,
    Notification,
    Step,
    text_result,
)
from playground.demo.mcp.tools import NAMES
from playground.demo.responses import Answer, Document
from playground.demo.rpc import INVALID_PARAMS, RpcError
from playground.demo.service import ServedResponse

#: Failures that lie in the arguments: JSON-RPC errors, with the failure as their data.
_IN_ARGUMENTS = frozenset({"INVALID_QUERY", "INVALID_PARAMETER"})
_AMOUNT = re.compile(r"^(\d{1,5}(?:\.\d{1,3})?)(?=\s|g\b|ml\b|kg\b)", re.ASCII)
_MAX_ITEM = 200
_MAX_ITEMS = 100


async def perform(call: Call) -> AsyncIterator[Step]:
    """The steps of a call; the last is its result, or a question to be answered first.

    Raises `RpcError` with INVALID_PARAMS, whose data is an NLWeb failure where there is one.
    """
    if call.tool not in NAMES:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {call.tool[:80]}")
    if call.tool in ("ask", "await"):
        async for step in _nlweb(call):
            yield step
        return
    run = {"cart_add": _cart_add, "shopping_list": _shopping_list, "scale_recipe": _scale}
    yield await run[call.tool](call)


async def _nlweb(call: Call) -> AsyncIterator[Step]:
    version, session = requests.version_of(call.arguments), requests.session_of(call.arguments)
    try:
        if question := _question(call):
            yield question
            return
        served = await _served(call)
        async for notice in _reports(call, served):
            yield notice
        yield _document(served.document())
    except FailureError as failure:
        document = responses.failure(failure, version, session)
        if failure.code in _IN_ARGUMENTS:
            raise RpcError(INVALID_PARAMS, "Invalid params", document) from None
        # A failure that says something about the world is an answer; a broken agent is an error.
        yield _document(document, failed=failure.status >= 400)


async def _served(call: Call) -> ServedResponse:
    if call.tool == "await":
        return await service.await_(call.arguments)
    return await service.ask(call.request, _answered(call), whole=True)


def _question(call: Call) -> ElicitationRequest | None:
    """The question to ask first, where a surprise is wanted and the user can be asked."""
    query = call.arguments.get("query")
    text = query.get("text") if call.tool == "ask" and isinstance(query, dict) else None
    if not (call.can_ask and isinstance(text, str) and elicitation.is_surprise(text)):
        return None
    given = set(query) & set(questions.ids_of(questions.SURPRISE)) if query else set()
    if given or call.answer is not None:
        return None
    asked = questions.SURPRISE["questions"]
    properties = {str(question["id"]): _field(question, call.lists) for question in asked}
    schema = {"type": "object", "properties": properties, "required": [str(asked[-1]["id"])]}
    return ElicitationRequest(str(questions.SURPRISE["text"]), schema)


def _field(question: Mapping[str, Any], lists: bool) -> Document:
    """A question as a property of the schema that MCP asks with."""
    options = {"type": "string", "enum": list(question["options"])}
    if question["type"] == "multi_select" and lists:
        return {"type": "array", "title": question["text"], "items": options}
    return {**options, "title": question["text"]}


def _answered(call: Call) -> Mapping[str, Any]:
    """The arguments with the user's answers, as attributes of the query. Raises FailureError."""
    if call.answer is None:
        return call.arguments
    if call.answer.get("action") != "accept":
        raise FailureError("CANCELLED", "The question was not answered, so nothing was looked for.")
    content = call.answer.get("content")
    answers = content if isinstance(content, dict) else {}
    known = {
        name: answers[name] for name in questions.ids_of(questions.SURPRISE) if name in answers
    }
    query = call.arguments.get("query")
    if not known or not isinstance(query, dict):
        raise FailureError("INVALID_QUERY", "The answer to the question has no content.")
    return {**call.arguments, "query": {**query, **known}}


async def _reports(call: Call, served: ServedResponse) -> AsyncIterator[Notification]:
    """A log line, and one report of progress for each result, where they are wanted."""
    prefer = call.arguments.get("prefer")
    streaming = isinstance(prefer, dict) and prefer.get("streaming") is True
    if not isinstance(served.response, Answer) or not (streaming and call.token is not None):
        return
    items = served.response.items
    if call.logs("info"):
        said = {"level": "info", "logger": "demo", "data": f"{len(items)} results fit, best first"}
        yield Notification("notifications/message", said)
    for number, item in enumerate(items, 1):
        await asyncio.sleep(PAUSE * served.pace)
        name = str(item.get("name") or item.get("text") or item.get("@type"))
        params = {"progressToken": call.token, "progress": number, "total": len(items)}
        yield Notification("notifications/progress", {**params, "message": f"Found {name[:80]}"})


def _document(document: Document, *, failed: bool = False) -> Done:
    """A reply of NLWeb as a result: as JSON text, and as structured content."""
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
        raise RpcError(INVALID_PARAMS, f"An item is a string of up to {_MAX_ITEM} characters.")
    entry: Document = {"items": items}
    if isinstance(note := call.arguments.get("note"), str) and note:
        entry["note"] = note[:_MAX_ITEM]
    _, count = await storage.add("cart", entry)
    things = "1 thing" if len(items) == 1 else f"{len(items)} things"
    entries = "1 entry" if count == 1 else f"{count} entries"
    return text_result(f"Put {things} into the cart, which has {entries} now.")


async def _shopping_list(_: Call) -> Done:
    rows = await storage.entries("cart")
    items = [item for row in rows for item in strings(row.content.get("items"))]
    text = "\n".join(f"- {item}" for item in items) or "The cart is empty."
    content = [{"type": "text", "text": text}]
    return Done({"content": content, "structuredContent": {"items": items}, "isError": False})


async def _scale(call: Call) -> Done:
    url, servings = call.arguments.get("url"), call.arguments.get("servings", 4)
    if not isinstance(servings, int) or isinstance(servings, bool) or not 1 <= servings <= 100:
        raise RpcError(INVALID_PARAMS, "servings must be a whole number from 1 to 100.")
    recipes = (await service.known()).of_kind("Recipe")
    for entry in recipes:
        if entry.document["url"] == url:
            return text_result(_scaled(entry, servings))
    return text_result("This agent has no recipe at that address.", failed=True)


def _scaled(entry: CorpusItem, servings: int) -> str:
    """The ingredients for so many servings, amounts to two digits."""
    found = re.search(r"\d{1,3}", str(entry.document.get("recipeYield") or ""), re.ASCII)
    factor = servings / (int(found[0]) if found and int(found[0]) else servings)

    def more(match: re.Match[str]) -> str:
        amount = float(match[1]) * factor
        return f"{amount:.0f}" if amount >= 100 else f"{amount:.2g}"

    ingredients = strings(entry.document.get("recipeIngredient"))
    lines = [f"- {_AMOUNT.sub(more, ingredient)}" for ingredient in ingredients]
    many = "1 serving" if servings == 1 else f"{servings} servings"
    return "\n".join([f"{entry.name}, for {many}:", *lines])
