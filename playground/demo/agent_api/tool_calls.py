"""Calls that need the caller: functions of the request's own, and approvals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playground.demo.agent_api.handlers import RequestContext

#: What the list of tools names; the real ones are those of the demo over MCP.
MCP_TOOLS: Sequence[Mapping[str, Any]] = (
    {
        "name": "cart_add",
        "description": "Put things into the shopping cart of this demo.",
        "input_schema": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"type": "string"}}},
            "required": ["items"],
        },
    },
)
#: Parts of a name that say nothing about what a function is for.
_VERBS = frozenset("get set list find fetch read look search check call do my the for".split())
_MAX_FOUND = 8
#: Functions that are called at once.
_MAX_CALLS = 4


def matching_functions(scene: RequestContext) -> list[Mapping[str, Any]]:
    """The functions of the caller whose names have a word of the question in them."""
    found: dict[str, Mapping[str, Any]] = {}
    words = set(re.findall(r"\w+", scene.turn.text.lower()))
    for function in scene.turn.functions:
        name = str(function["name"])
        parts = {part.lower() for part in re.findall(r"[A-Za-z][a-z]*", name)} - _VERBS
        if name.lower() in words or parts & words:
            found.setdefault(name, function)
    return list(found.values())[:_MAX_CALLS]


def call(scene: RequestContext, functions: Sequence[Mapping[str, Any]]) -> None:
    """Call functions of the caller: the response ends there, and waits for the next request."""
    text, script = scene.turn.text, scene.script
    names = [str(function["name"]) for function in functions]
    listed = " and ".join(name[:60] for name in names)
    says = "says" if len(names) == 1 else "say"
    script.write_text(f"For that I have to know what {listed} {says}.", "reasoning")
    scene.state["calls"] = [
        {"id": script.call("function_call", name, _arguments(function, text)), "name": name}
        for name, function in zip(names, functions, strict=True)
    ]
    script.end()


def approval(request: str, items: Sequence[str]) -> dict[str, Any]:
    """The data of a request for approval; its members are those that agents in use send."""
    arguments = json.dumps({"items": list(items)}, ensure_ascii=False)
    return {
        "id": request,
        "name": "cart_add",
        "arguments": arguments,
        "server_label": "demo-mcp",
    }


def resume(scene: RequestContext) -> None:
    """Go on where calls or an approval were waited for; fail where none was, or one is missing."""
    state, turn = scene.state, scene.turn
    waiting, asked = state.pop("calls", None) or [], state.pop("approval", None) or {}
    missing = [each["name"] for each in waiting if each["id"] not in turn.outputs]
    if waiting and not missing:
        _with_outputs(scene, {each["name"]: turn.outputs[each["id"]] for each in waiting})
    elif len(missing) < len(waiting):
        state["calls"] = waiting
        text = f"I wait for the outputs of all calls in one request: {missing[0][:60]} is missing."
        scene.script.end("failed", {"code": "MISSING_OUTPUT", "message": text})
    elif asked.get("id") in turn.approvals:
        _decided(scene, asked["items"], turn.approvals[asked["id"]])
    else:
        text = "Nothing in this session waits for that: no call has this id."
        scene.script.end("failed", {"code": "UNKNOWN_CALL", "message": text})


def _with_outputs(scene: RequestContext, outputs: Mapping[str, str]) -> None:
    """Answer the question that functions were called for, with what each of them returned."""
    said = {name: words for name, output in outputs.items() if (words := _words_in(output))}
    if not said:
        names, have = " and ".join(outputs), "has" if len(outputs) == 1 else "have"
        scene.script.write_text(f"{names} {have} nothing to say, so neither have I.")
    else:
        found = scene.catalog.find(", ".join(word for words in said.values() for word in words))
        told = [f"{name} says: {', '.join(words)}." for name, words in said.items()]
        scene.script.write_text(" ".join([*told, found.text]), parts=found.parts)
    scene.script.end()


def _decided(scene: RequestContext, items: Sequence[str], approved: bool) -> None:
    script = scene.script
    if not approved:
        script.write_text("Then I will not order anything.")
        script.end()
        return
    more = {"server_label": "demo-mcp"}
    call_id = script.call("mcp_call", "cart_add", {"items": list(items)}, **more)
    scene.state["bought"] = list(items)
    script.output("mcp_call_output", call_id, f"{len(items)} things are in the cart.")
    script.write_text(f"Done: {', '.join(items)} are in the cart.")
    script.end()


def _arguments(function: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Something for each required parameter that fits its schema, as far as that is simple."""
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


def _words_in(output: str) -> list[str]:
    """The things that an output names: the strings in its JSON, or its own words."""
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        found = output
    values: list[Any] = [found]
    if isinstance(found, dict):
        values = list(found.values())
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    texts = [part.strip() for each in flat if isinstance(each, str) for part in each.split(",")]
    return [text[:60] for text in texts if text][:_MAX_FOUND]
