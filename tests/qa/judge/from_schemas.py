"""The set from the JSON Schemas.

A grammar breaks every attribute of a schema of responses in each way that the schema forbids,
starting from the schema's own examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema

from playground.protocols import schemas
from tests.qa.judge.from_specification.grammar import Attribute, Variation, vary
from tests.qa.judge.from_specification.replies import (
    A2A_ACTION,
    HTTP_ACTION,
    MCP_ACTION,
    OLD_ACTION,
    asked,
    head,
    sequence,
)
from tests.qa.judge.mutants import (
    Level,
    Mutant,
    changed,
    json_response,
    pointed,
    sse,
    stream_response,
)

DOCUMENTS = ("answer", "promise", "elicitation", "failure")
EVENTS = ("start", "result", "complete", "error")
# What 0.54 defines in its text; all else it shows in examples only. The rules of the other set.
DEFINED_BY_054 = re.compile(
    r"/_meta|/_meta/(response_type|session_context|openai~1\w+)|/(results|content|structuredData)"
    r"|/(results|structuredData)/\d+(/@type|/grounding|/actions(/\d+)?)?|/content/\d+(/\w+)?"
    r"|/promise(/token)?|/item(/@type|/grounding|/actions(/\d+)?)?"
)
MISSING_MUST_054 = re.compile(r"/_meta/version|/elicitation|/error")
# In a stream of 0.54, what `start` has and the index are examples.
EXAMPLES_054 = {
    "start": re.compile("/_meta(/response_type|/version|/streaming)?"),
    "result": re.compile("/index"),
}


def mutants() -> Iterator[Mutant]:
    """Yield every mutant of the set."""
    for version in ("0.54", "0.55"):
        for name in DOCUMENTS:
            for example in schemas.load("nlweb", version, name)["examples"]:
                yield from _documents(version, name, example)
        yield from _actions(version)
        for name in EVENTS:
            if f"event-{name}" in schemas.names("nlweb", version):
                yield from _events(version, name)
    yield from _whole()
    for index, name in ((0, "response"), (2, "message"), (3, "content"), (5, "content")):
        yield from _objects(index, name)
    yield from _completions()


def _actions(version: str) -> Iterator[Mutant]:
    for action in (OLD_ACTION,) if version == "0.54" else (HTTP_ACTION, MCP_ACTION, A2A_ACTION):
        item = {"@type": "Recipe", "name": "Eggs", "actions": [action]}
        acting = {**head("answer", version), "results": [item]}
        yield from _documents(version, "answer", acting, f"{action.get('protocol', 'an')} action ")


def _whole() -> Iterator[Mutant]:
    for example in schemas.load("agent-api", "1", "response")["examples"][1:]:
        for variation in _variations("agent-api", "1", "response", example):
            if example["status"] == "failed" and variation.name == "/error is left out":
                continue  # a failed response should have one
            yield _agent_api(f"response {example['status']}", json_response, variation)


def _documents(version: str, name: str, example: Any, kind: str = "") -> Iterator[Mutant]:
    status = 202 if name == "promise" else 200
    if name == "failure" and version == "0.54":
        status = 400
    request = asked(version)
    if "content" in example:
        kind = "app "
        request = asked(version, prefer={"response_format": "chatgpt_app"})
    for variation in _variations("nlweb", version, name, example):
        yield Mutant(
            name=f"{version} schema {kind}{name}: {variation.name}",
            protocol="nlweb",
            binding="http",
            version=version,
            operation="ask",
            request=request,
            response=json_response(variation.document, status),
            **variation.verdict(),
        )


def _events(version: str, name: str) -> Iterator[Mutant]:
    """Break one event of a stream: the second, unless it is the start."""
    example = {
        each: schemas.load("nlweb", version, f"event-{each}")["examples"][0]
        for each in EVENTS
        if f"event-{each}" in schemas.names("nlweb", version)
    }
    order = ["start", "error"] if name == "error" else ["start", "result", "complete"]
    for variation in _variations("nlweb", version, f"event-{name}", example[name]):
        if (name, variation.name) == ("error", "/_meta is left out"):
            said = "§6.1: the data follows the structure of a failure, which has _meta."
            variation = replace(variation, level="should", sentence=said)
        made = [(each, variation.document if each == name else example[each]) for each in order]
        yield Mutant(
            name=f"{version} schema event {name}: {variation.name}",
            protocol="nlweb",
            binding="http",
            version=version,
            operation="ask",
            request=asked(version, prefer={"streaming": True}),
            response=stream_response(sse(made)),
            **variation.verdict(order.index(name)),
        )


def _objects(index: int, name: str) -> Iterator[Mutant]:
    """Break one object of an Agent API stream."""
    objects = sequence()
    for variation in _variations("agent-api", "1", name, objects[index]):
        if not variation.level:
            continue  # whether a sequence needs an attribute, a schema does not say
        made = [*objects[:index], variation.document, *objects[index + 1 :]]
        yield _agent_api(
            f"stream, object {index} {name}",
            lambda _, made=made: stream_response(sse([("", item) for item in made])),
            variation,
            event=index,
        )


def _agent_api(name: str, response: Any, variation: Variation, event: int | None = None) -> Mutant:
    message = {"role": "user", "type": "message", "content": [{"type": "text", "text": "Hi"}]}
    return Mutant(
        name=f"agent-api schema {name}: {variation.name}",
        protocol="agent-api",
        binding="http",
        version="1",
        operation="ask",
        request={"input": [message], "stream": event is not None},
        response=response(variation.document),
        **variation.verdict(event),
    )


def _completions() -> Iterator[Mutant]:
    """Break a completion that is no stream."""
    example = schemas.load("chat-completions", "1", "response")["examples"][0]
    for variation in _variations("chat-completions", "1", "response", example):
        # Whether an attribute is needed, the schema does not say: it is also that of chunks. Nor
        # does it say which attributes of messages are those of requests.
        of_others = any(name in variation.name for name in ("/delta", "/tool_call_id"))
        if of_others or not (variation.level or variation.name == "as it is"):
            continue
        yield Mutant(
            name=f"chat-completions schema response: {variation.name}",
            protocol="chat-completions",
            binding="http",
            version="1",
            operation="ask",
            request={"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
            response=json_response(variation.document),
            **variation.verdict(),
        )


def _variations(protocol: str, version: str, name: str, example: Any) -> Iterator[Variation]:
    root = schemas.load(protocol, version, name)
    where = f"schema {protocol} {version} {name}"
    attributes = [*_attributes(root, root, example, "", where)]
    if version == "0.54":
        attributes = [_of_054(attribute, name) for attribute in attributes]
    if protocol == "agent-api":
        attributes = [_of_agent_api(each) for each in attributes]
    yield Variation("as it is", example, "", f"An example of the {where}.")
    seen = set()
    for variation in vary(example, attributes):
        # 0.54 writes its types with a capital letter, its example of a failure has no version.
        if version == "0.54" and variation.name == _capital(example):
            continue
        if version == "0.54" and name == "failure" and "version is missing" in variation.name:
            continue
        if variation.name not in seen:
            seen.add(variation.name)
            yield variation
    for pointer, value in _out_of_range(root, root, example, ""):
        if version != "0.54":
            said = f"The {where} bounds it."
            made = changed(example, pointer, value)
            yield Variation(f"{pointer} is {value}", made, "must", said, (pointer,))


def _capital(example: Any) -> str:
    kind = example.get("_meta", {}).get("response_type", "")
    return f"/_meta/response_type is “{kind.capitalize()}”"


def _of_054(attribute: Attribute, schema: str) -> Attribute:
    """Give an attribute the level that the text of 0.54 gives it."""
    pointer = attribute.pointer
    example = EXAMPLES_054.get(schema.removeprefix("event-"))
    defined = DEFINED_BY_054.fullmatch(pointer) and not (example and example.fullmatch(pointer))
    level: Level = "must" if defined else "should"
    required: Level = "should" if attribute.required == "should" else level
    if MISSING_MUST_054.fullmatch(pointer) and schema != "event-start":
        required = "must"
    if pointer == "/item":
        required = "should"
    return Attribute(
        pointer,
        # Section 7 shows one action without its array.
        "array object" if pointer.endswith("/actions") else attribute.types,
        attribute.sentence,
        required if attribute.required else _shown(pointer),
        level,
        attribute.values,
        level,
        attribute.empty,
    )


def _shown(pointer: str) -> Level:
    return "should" if SHOWN_BY_054.fullmatch(pointer) else _recommended(pointer)


def _of_agent_api(attribute: Attribute) -> Attribute:
    """Ask for what has a default as the examples do, and for a content's type as its model does."""
    last = attribute.pointer.rpartition("/")[2]
    types = "integer" if last == "created_at" else attribute.types  # the model allows no null
    if attribute.required and last != "type" and "/error/" not in attribute.pointer:
        return Attribute(
            attribute.pointer,
            types,
            attribute.sentence,
            "should",
            values=attribute.values,
            empty=attribute.empty,
        )
    shown = re.fullmatch(r"/output/\d+/(type|content/\d+/object)", attribute.pointer)
    return Attribute(
        attribute.pointer,
        types,
        attribute.sentence,
        attribute.required or ("should" if shown else ""),
        values=attribute.values,
        empty=attribute.empty,
    )


def _recommended(pointer: str) -> Level:
    return "should" if re.fullmatch(r"(/(results|structuredData)/\d+|/item)/@type", pointer) else ""


# 0.54 shows them in every example, and its schema requires none of them.
SHOWN_BY_054 = re.compile(
    r"/elicitation/questions/\d+/(id|text|type|options)|.*/actions/\d+/(name|description|endpoint|method)"
)


def _merged(root: Any, schema: Any, instance: Any) -> dict[str, Any]:
    """Return a schema with what it refers to, and what applies to an instance, put into it."""
    merged: dict[str, Any] = {"properties": {}, "required": []}
    parts = [schema]
    if "$ref" in schema:
        parts.append(_merged(root, root["$defs"][schema["$ref"].rpartition("/")[2]], instance))
    parts += [_merged(root, part, instance) for part in schema.get("allOf", ())]
    if "if" in schema and jsonschema.Draft202012Validator(schema["if"]).is_valid(instance):
        parts.append(_merged(root, schema.get("then", {}), instance))
    parts += _matching(root, schema, instance)
    for part in parts:
        for name, value in part.items():
            if name == "properties":
                for key, child in value.items():
                    merged["properties"][key] = {**merged["properties"].get(key, {}), **child}
            elif name == "required":
                merged["required"] = [*dict.fromkeys([*merged["required"], *value])]
            elif name not in ("$ref", "allOf", "if", "then", "anyOf", "description", "examples"):
                merged[name] = value
    return merged


def _matching(root: Any, schema: Any, instance: Any) -> list[dict[str, Any]]:
    """Return the first alternative of a schema that an instance fits, in a list."""
    for part in schema.get("anyOf", ()):
        holder = {**part, "$defs": root.get("$defs", {})}
        if jsonschema.Draft202012Validator(holder).is_valid(instance):
            return [_merged(root, part, instance)]
    return []


def _types(root: Any, schema: Any) -> str:
    """Return the JSON types that a schema allows, "" for any."""
    found: list[str] = []
    if "$ref" in schema:
        found.append(_types(root, root["$defs"][schema["$ref"].rpartition("/")[2]]))
    found += [_types(root, part) for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()))]
    kinds = schema.get("type", [])
    found += [kinds] if isinstance(kinds, str) else kinds
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    found += ["boolean" if isinstance(value, bool) else "string" for value in values]
    return " ".join(dict.fromkeys(" ".join(found).split()))


def _attributes(root: Any, schema: Any, instance: Any, at: str, where: str) -> Iterator[Attribute]:
    """Walk a schema along an instance: a row for each attribute, present or optional."""
    whole = _merged(root, schema, instance)
    if isinstance(instance, list):
        for number, entry in enumerate(instance):
            yield from _row(root, whole.get("items", {}), f"{at}/{number}", where, required=True)
            yield from _attributes(root, whole.get("items", {}), entry, f"{at}/{number}", where)
    if not isinstance(instance, dict):
        return
    for name, child in whole["properties"].items():
        if "x-addition" in child:
            continue  # agents send it, and the text does not define it
        pointer = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
        required = name in whole["required"]
        yield from _row(root, child, pointer, where, required=required)
        if name in instance:
            yield from _attributes(root, child, instance[name], pointer, where)


def _row(
    root: Any, schema: Any, pointer: str, where: str, *, required: bool
) -> Iterator[Attribute]:
    types = _types(root, schema)
    if not types:
        return
    constants = schema.get("enum", [schema["const"]] if "const" in schema else [])
    values = tuple(value for value in constants if isinstance(value, str))
    missing: Level = "must" if required else _recommended(pointer)
    said = f"The {where} says what {pointer} is."
    empty: Level = "must" if schema.get("minLength") else ""
    yield Attribute(pointer, types, said, missing, values=values, empty=empty)


def _out_of_range(root: Any, schema: Any, instance: Any, at: str) -> Iterator[tuple[str, float]]:
    whole = _merged(root, schema, instance)
    if isinstance(instance, dict):
        for name, child in whole["properties"].items():
            if name in instance:
                pointer = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
                yield from _out_of_range(
                    root, child, pointed(instance, f"/{pointer[len(at) + 1 :]}"), pointer
                )
    elif isinstance(instance, list):
        for number, entry in enumerate(instance):
            yield from _out_of_range(root, whole.get("items", {}), entry, f"{at}/{number}")
    if "minimum" in whole and isinstance(instance, int | float):
        yield at, whole["minimum"] - 1
    if "maximum" in whole and isinstance(instance, int | float):
        yield at, whole["maximum"] + 1
