"""The tools of the server: what they are called, what they take, in pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.demo.responses import Document
from playground.demo.rpc import INVALID_PARAMS, RpcError

#: So few on a page that a list takes more than one.
PAGE = 3
_CURSOR = "tools-"


def _tool(name: str, description: str, schema: Mapping[str, Any], **more: Any) -> Document:
    return {"name": name, "description": description, "inputSchema": dict(schema), **more}


def _object(properties: Mapping[str, Any], required: Sequence[str] = ()) -> Document:
    schema: Document = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema


_ASK = _object(
    {
        "query": {
            "type": "object",
            "description": "The query object containing text and filters",
            "properties": {
                "text": {"type": "string"},
                "site": {"type": "string"},
                "itemType": {"type": "string"},
            },
            "required": ["text"],
        },
        "context": {
            "type": "object",
            "description": "Semantic context including conversation history",
        },
        "prefer": {
            "type": "object",
            "description": "Response preferences (streaming, formatting, mode)",
        },
        "meta": {
            "type": "object",
            "description": "Protocol metadata, version, and session context",
        },
    },
    ["query"],
)
_AWAIT = _object(
    {
        "promise_token": {"type": "string"},
        "action": {"type": "string", "enum": ["checkin", "cancel"]},
        "meta": {"type": "object"},
    },
    ["promise_token", "action"],
)
_ITEMS = {
    "type": "array",
    "items": {"type": "string", "maxLength": 200},
    "minItems": 1,
    "maxItems": 100,
    "description": "What to buy, one thing each",
}
_NOTE = {"type": "string", "maxLength": 200, "description": "Anything to bear in mind"}
_CART_ADD = _object({"items": _ITEMS, "note": _NOTE}, ["items"])
_SCALE = _object(
    {
        "url": {"type": "string", "description": "The address of a recipe of this agent"},
        "servings": {"type": "integer", "minimum": 1, "maximum": 100, "default": 4},
    },
    ["url"],
)
_LIST = _object({"items": {"type": "array", "items": {"type": "string"}}}, ["items"])
_READS = {"readOnlyHint": True}

#: NLWeb 0.55, A.1 and A.2, and what the actions of this agent call (section 5).
TOOLS: Sequence[Document] = (
    _tool("ask", "Natural language interface to recipes, restaurants and a little more.", _ASK),
    _tool("await", "Check status or cancel a long-running promise.", _AWAIT),
    _tool("cart_add", "Put things into the shopping cart of this demo.", _CART_ADD),
    _tool("shopping_list", "Everything in the shopping cart of this demo.", _object({}),
          outputSchema=_LIST, annotations=_READS),
    _tool("scale_recipe", "The ingredients of a recipe for another number of servings.", _SCALE,
          annotations=_READS),
)  # fmt: skip
NAMES = frozenset(tool["name"] for tool in TOOLS)


def page(cursor: Any) -> Document:
    """One page of the list, with `nextCursor` on all but the last. Raises `RpcError`."""
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
        raise RpcError(INVALID_PARAMS, "There is no such page: the cursor is not ours.")
    return starts[cursor]
