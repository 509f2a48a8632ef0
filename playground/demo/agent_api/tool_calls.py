"""Tool calls that need the caller: functions that a request offers, and approvals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from playground.demo.agent_api.request_context import RequestContext

#: The tools in the list of an MCP server; the demo's MCP endpoint has the real ones.
MCP_TOOLS: Sequence[Mapping[str, Any]] = (
    {
        "name": "cart_add",
        "description": "Add items to the demo's shopping cart.",
        "input_schema": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"type": "string"}}},
            "required": ["items"],
        },
    },
)
#: Parts of a name that do not describe the purpose of a function.
_VERBS = frozenset("get set list find fetch read look search check call do my the for".split())
_MAX_FOUND = 8
#: Levels of nesting of an output that are read.
_MAX_DEPTH = 20
#: Functions that one response calls.
_MAX_CALLS = 4


def matching_functions(context: RequestContext) -> list[Mapping[str, Any]]:
    """Return the functions of the caller whose names have a word of the question."""
    found: dict[str, Mapping[str, Any]] = {}
    words = set(re.findall(r"\w+", context.request.text.lower()))
    for function in context.request.functions:
        name = str(function["name"])
        parts = {part.lower() for part in re.findall(r"[A-Za-z][a-z]*", name)} - _VERBS
        if name.lower() in words or parts & words:
            found.setdefault(name, function)
    return list(found.values())[:_MAX_CALLS]


def call(context: RequestContext, functions: Sequence[Mapping[str, Any]]) -> None:
    """Call functions of the caller and end the response; the next request has their outputs."""
    text, writer = context.request.text, context.writer
    names = [str(function["name"]) for function in functions]
    listed = " and ".join(name[:60] for name in names)
    writer.reason(f"To answer, I need the output of {listed}.")
    context.state["calls"] = [
        {"id": writer.call("function_call", name, _arguments(function, text)), "name": name}
        for name, function in zip(names, functions, strict=True)
    ]
    writer.end()


def approval(approval_id: str, items: Sequence[str]) -> dict[str, Any]:
    """Return the data of an approval request, with the members that agents in use send."""
    arguments = json.dumps({"items": list(items)}, ensure_ascii=False)
    return {
        "id": approval_id,
        "name": "cart_add",
        "arguments": arguments,
        "server_label": "demo-mcp",
    }


def resume(context: RequestContext) -> None:
    """Resume after function outputs or an approval; fail if none is pending, or one is missing."""
    state, request = context.state, context.request
    waiting, approval = state.pop("calls", None) or [], state.pop("approval", None) or {}
    missing = [each["name"] for each in waiting if each["id"] not in request.outputs]
    if waiting and not missing:
        _with_outputs(context, {each["name"]: request.outputs[each["id"]] for each in waiting})
    elif len(missing) < len(waiting):
        state["calls"] = waiting
        text = f"Send the outputs of all calls in one request: {missing[0][:60]} is missing."
        context.writer.end("failed", {"code": "MISSING_OUTPUT", "message": text})
    elif approval.get("id") in request.approvals:
        _order(context, approval["items"], request.approvals[approval["id"]])
    else:
        text = "Unknown call id: no call in this session is waiting for it."
        context.writer.end("failed", {"code": "UNKNOWN_CALL", "message": text})


def _with_outputs(context: RequestContext, outputs: Mapping[str, str]) -> None:
    """Answer the question with the outputs of the functions."""
    texts = {name: words for name, output in outputs.items() if (words := _texts_in(output))}
    if not texts:
        names = " and ".join(outputs)
        context.writer.write_text(f"{names} returned no data, so there is nothing to search for.")
    else:
        found = context.catalog.find(", ".join(word for words in texts.values() for word in words))
        sentences = [f"{name} returned: {', '.join(words)}." for name, words in texts.items()]
        context.writer.write_text(" ".join([*sentences, found.text]), parts=found.parts)
    context.writer.end()


def _order(context: RequestContext, items: Sequence[str], approved: bool) -> None:
    """Call the approved tool, or end the response."""
    writer = context.writer
    if not approved:
        writer.write_text("Then I will not order anything.")
        writer.end()
        return
    more = {"server_label": "demo-mcp"}
    added = f"Added {len(items)} items to the cart."
    if writer.extensions:
        call_id = writer.call("mcp_call", "cart_add", {"items": list(items)}, **more)
        writer.output("mcp_call_output", call_id, added)
    else:
        # The specification lists no type for the output of an MCP call.
        writer.call("mcp_call", "cart_add", {"items": list(items)}, **more, output=added)
    context.state["bought"] = list(items)
    writer.write_text(f"Done. Added to the cart: {', '.join(items)}.")
    writer.end()


def _arguments(function: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a value for each required parameter that fits its schema, if the schema is simple."""
    schema = function.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    return {
        name: _value(properties.get(name), text) for name in required[:20] if isinstance(name, str)
    }


def _value(schema: Any, text: str) -> Any:
    if not isinstance(schema, dict):
        return text
    if isinstance(options := schema.get("enum"), list) and options:
        return options[0]
    if "default" in schema:
        return schema["default"]
    kinds = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    kind = schema.get("type")
    return kinds.get(kind, text) if isinstance(kind, str) else text


def _texts_in(output: str) -> list[str]:
    """Return the values in the JSON of an output as texts; of other text its parts.

    Values that are nested too deeply are left out.
    """
    try:
        found = json.loads(output)
    except RecursionError:
        return []
    except ValueError:
        found = output
    texts = (text[:60] for text in _value_texts(found) if text)
    return list(islice(dict.fromkeys(texts), _MAX_FOUND))


def _value_texts(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the texts of a JSON value at any depth: numbers and `true` with their name."""
    if depth > _MAX_DEPTH:
        return
    label = name.replace("_", " ")
    match value:
        case dict():
            for key, member in value.items():
                yield from _value_texts(member, key, depth + 1)
        case list():
            for member in value:
                yield from _value_texts(member, name, depth + 1)
        case str():
            yield from (part.strip() for part in value.split(","))
        case bool():
            yield label if value else ""
        case int() | float():
            yield f"{label} {value}".strip()
