"""The set that is written with knowledge of the JSON Schemas and of the rules.

Two halves. A grammar breaks every attribute of a schema of responses in each way that the schema
forbids, starting from the schema's own examples. And every reply of the tables in
tests/conformance that breaks a rule is to be found by this rule, with the level in `LEVELS`.

What the second half can show is limited: the rules were written with these replies, so that all of
them are found, and a level in `LEVELS` is that of the rule when the table was written, except for
the rules named above it, whose level was read from the text. It shows a rule that stops finding
its replies, or whose level moves; for wrong levels there is the other set.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import jsonschema

from playground.protocols import schemas
from playground.protocols.frames import BODY_KINDS, FrameKind
from playground.protocols.http import read_head
from tests.conformance.agent_api.table import CASES as AGENT_API
from tests.conformance.case import Case
from tests.conformance.mcp.table import CASES as MCP
from tests.conformance.nlweb.table import CASES as NLWEB
from tests.conformance.scripts import VERSION, ScriptedResponse
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
    JSON_HEADERS,
    Level,
    Mutant,
    Place,
    Response,
    changed,
    json_response,
    pointed,
    sse,
    stream_response,
)


def mutants() -> list[Mutant]:
    """Return every mutant of the set."""
    return [*_from_schemas(), *_from_cases()]


# The schemas

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

# What agents send and the schemas describe, but the text does not define.
OF_AGENTS = {
    "response": re.compile(r"/output/\d+/(usage|metadata)"),
    "message": re.compile("/(usage|metadata)"),
    "content": re.compile("/metadata"),
}


def _from_schemas() -> Iterator[Mutant]:
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
            level=variation.level,
            sentence=variation.sentence,
            pointers=tuple(Place(pointer) for pointer in variation.pointers),
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
            level=variation.level,
            sentence=variation.sentence,
            pointers=tuple(Place(pointer, order.index(name)) for pointer in variation.pointers),
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
        level=variation.level,
        sentence=variation.sentence,
        pointers=tuple(Place(pointer, event) for pointer in variation.pointers),
    )


def _variations(protocol: str, version: str, name: str, example: Any) -> Iterator[Variation]:
    root = schemas.load(protocol, version, name)
    where = f"schema {protocol} {version} {name}"
    attributes = [*_attributes(root, root, example, "", where)]
    if version == "0.54":
        attributes = [_of_054(attribute, name) for attribute in attributes]
    if protocol == "agent-api":
        others = OF_AGENTS[name]
        attributes = [_of_agent_api(each) for each in attributes if not others.match(each.pointer)]
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


# The rules

# The level of each rule: in NLWeb 0.54 and 0.55 ("-" for a version without it), or in the Agent
# API. Read from the texts, not from the rules.
LEVELS_TEXT = """
http-retry-after                   -      should
streaming-honoured                 should should
format-honoured                    should should
mode-list-honoured                 should should
language-honoured                  info   info
version-asked                      info   info
reply-object                       must   must
http-400-failure                   should should
meta-present                       must   must
response-type                      must   must
response-type-lowercase            info   must
version-present                    must   must
session-context-object             must   must
session-context-echoed             info   info
output-template-uri                must   must
format-named                       must   must
schema-metadata                    must   must
response-type-consistent           must   must
schema-reply                       should must
answer-content                     must   must
answer-structured                  info   info
content-parts                      must   must
content-parts-spelled              info   -
mode-summarize-honoured            should should
summary-text                       -      should
item-object                        must   must
item-type                          should should
item-type-string                   must   must
item-url                           should should
item-grounding                     must   must
actions-list                       must   must
actions-single                     info   -
meta-top-level                     info   -
promise-object                     must   must
promise-token                      must   must
promise-estimated-time             should must
promise-estimate-plausible         info   info
promise-progress                   should must
elicitation-object                 must   must
elicitation-not-empty              should should
question-complete                  should must
question-ids-unique                should must
question-type-known                info   info
question-options                   should must
question-default                   info   info
elicitation-readable               info   info
version-in-failure                 info   -
failure-error                      must   must
failure-code                       should must
failure-code-known                 info   info
promise-progress-monotone          info   info
promise-kept                       must   must
promise-cancellation-kept          info   must
await-reply                        info   info
await-cancelled                    info   should
await-cancelled-code               info   must
await-token-kept                   info   info
action-complete                    should must
action-protocol                    info   must
action-target                      should must
action-address                     should should
action-url                         should must
action-method                      should must
action-headers                     should must
schema-action                      should must
stream-closed                      should should
stream-bom                         info   info
format-named-stream                info   info
stream-data-json                   must   must
stream-data-present                info   info
stream-events-named                should must
stream-events-known                info   info
stream-start-first                 should must
stream-start-once                  should must
stream-start-meta                  should must
stream-complete-present            should must
stream-complete-once               should must
stream-complete-last               should must
stream-complete-meta               must   must
stream-meta-agrees                 should should
error-event                        -      must
error-event-meta                   -      should
error-event-last                   -      info
result-event                       should must
result-index                       should must
result-index-unique                should must
result-index-gapless               info   info
result-order                       info   info
schema-event                       should must
one-reply                          must   must
http-method                        must   must
http-header-values                 should should
http-content-type                  should should
stream-compression                 info   info
http-error-failure                 info   info
http-status                        should should
http-status-fits-code              should should
http-no-redirect                   info   should
json-numbers                       must   must
json-utf8                          must   must
json-names-unique                  should should
json-surrogates                    should should
mcp.content-type                   must   must
mcp.accepted                       must   must
mcp.stream-closed                  should should
mcp.session-id                     must   must
mcp.session-kept                   should should
mcp.event-id-unique                must   must
mcp.session-modern                 should should
mcp.login                          must   must
mcp.json-rpc                       must   must
mcp.no-batch                       must   must
mcp.response-id                    must   must
mcp.request-id                     must   must
mcp.one-response                   must   must
mcp.result-or-error                must   must
mcp.error-object                   must   must
mcp.error-code                     should should
mcp.error-code-modern              must   must
mcp.error-failure                  info   info
mcp.initialize                     must   must
mcp.discover                       must   must
mcp.version-agreed                 must   must
mcp.version-current                info   info
mcp.result-type                    must   must
mcp.server-named                   should should
mcp.cache-hints                    must   must
mcp.tools-list                     must   must
mcp.tool-names                     should should
mcp.tools-cursor                   must   must
mcp.tools-whole                    info   info
mcp.tool-ask                       should should
mcp.tool-await                     info   info
mcp.tool-schema                    must   must
mcp.tool-schema-references         should should
mcp.tool-ask-schema                must   must
mcp.tool-ask-invalid               should should
mcp.tool-ask-members               should should
mcp.tool-await-schema              must   must
mcp.tool-await-invalid             should should
mcp.tool-described                 should should
mcp.nlweb-reply                    must   must
mcp.reply-shape                    info   info
mcp.result-content                 info   must
mcp.content-parts                  info   must
mcp.is-error                       must   must
mcp.error-described                should should
mcp.error-agrees                   should should
mcp.error-explained                info   info
mcp.structured-object              must   must
mcp.structured-agrees              should should
mcp.elicitation                    must   must
mcp.elicitation-flat               must   must
mcp.input-required                 must   must
mcp.progress                       must   must
mcp.progress-increasing            must   must
mcp.log                            must   must
mcp.log-requested                  must   must
mcp.notification-known             info   info
mcp.request-modern                 must   must
agent-api.reply                    must
agent-api.content-type             should
agent-api.error-status             info
agent-api.stream-honoured          should
agent-api.stream-closed            should
agent-api.data-json                must
agent-api.done-marker              info
agent-api.event-names              info
agent-api.object-known             must
agent-api.object-present           should
agent-api.bare-error               should
agent-api.response-fields          must
agent-api.message-fields           must
agent-api.response-members         should
agent-api.message-members          should
agent-api.content-fields           must
agent-api.content-index            must
agent-api.content-msg-id           should
agent-api.content-status           should
agent-api.content-delta            info
agent-api.listed-delta             should
agent-api.content-payload          info
agent-api.message-type-known       must
agent-api.message-type-used        info
agent-api.content-type-known       must
agent-api.role-known               should
agent-api.status-known             must
agent-api.status-incomplete        info
agent-api.members-known            info
agent-api.response-first           should
agent-api.initial-status           should
agent-api.status-transitions       must
agent-api.nothing-after-end        must
agent-api.response-ended           must
agent-api.document-ended           must
agent-api.message-ended            should
agent-api.output-ended             must
agent-api.message-ended-failed     should
agent-api.messages-in-output       should
agent-api.sequence-present         info
agent-api.sequence-type            must
agent-api.sequence-digits          should
agent-api.sequence-increasing      should
agent-api.sequence-gapless         info
agent-api.response-id-kept         must
agent-api.created-at-kept          should
agent-api.session-kept             should
agent-api.message-kept             should
agent-api.message-id-kept          must
agent-api.message-id-unique        must
agent-api.content-kept             should
agent-api.content-in-message       must
agent-api.message-announced        must
agent-api.message-before-content   should
agent-api.content-after-message    must
agent-api.content-after-end        must
agent-api.content-ended            must
agent-api.content-index-gapless    must
agent-api.delta-sum                must
agent-api.delta-sum-punctuation    info
agent-api.text-in-pieces           must
agent-api.data-in-pieces           info
agent-api.message-content          should
agent-api.call-fields              info
agent-api.call-types               must
agent-api.call-arguments           info
agent-api.output-fields            must
agent-api.output-members           info
agent-api.output-paired            should
agent-api.call-id-unique           must
agent-api.output-unique            should
agent-api.call-answered            info
agent-api.error-object             must
agent-api.error-explained          should
agent-api.failed-error             should
agent-api.error-failed             should
agent-api.usage                    info
agent-api.times                    info
agent-api.times-order              should
agent-api.session-echoed           should
"""
LEVELS: Mapping[str, tuple[str, ...]] = {
    row.split()[0]: tuple(row.split()[1:]) for row in LEVELS_TEXT.split("\n") if row
}

# What 0.54 says to be there, with the type that only its examples show.
TYPES_054: Mapping[str, type] = {
    "version": str,
    "response_format": str,
    "protocol": str,
    "error": dict,
    "elicitation": dict,
    "questions": list,
}
RULES_OF_NLWEB = {case.rule for case in NLWEB}


def _from_cases() -> Iterator[Mutant]:
    numbers: Counter[tuple[str, str]] = Counter()
    for cases in (NLWEB, MCP, AGENT_API):
        for case in cases:
            for version in case.versions:
                yield from _from_case(case, version, numbers)


def _from_case(case: Case, version: str, numbers: Counter[tuple[str, str]]) -> Iterator[Mutant]:
    levels = LEVELS.get(case.rule, ("-", "-"))
    fixed = levels[0 if version in ("0.54", "1") else 1]
    if fixed == "-":
        return
    for reply, locations in case.bad:
        number = numbers[case.rule, version]
        numbers[case.rule, version] += 1
        frames = tuple(_with_data(frame, version, reply) for frame in reply.frames)
        is_example = version == "0.54" and case.rule in RULES_OF_NLWEB
        is_untyped = is_example and _is_of_another_type(reply, locations)
        level: Any = "should" if is_untyped else fixed
        protocol: Any = reply.protocol
        binding: Any = reply.binding
        operation: Any = reply.operation
        yield Mutant(
            name=f"{version} rule {case.rule}, {number}",
            protocol=protocol,
            binding=binding,
            version=version,
            operation=operation,
            request=reply.request,
            response=_response(reply),
            level=level,
            sentence=f"The rule {case.rule}: see its page.",
            pointers=tuple(Place(pointer, frame=seq) for seq, pointer in locations),
            rule=case.rule,
            frames=frames,
            state=reply.state,
            earlier=reply.earlier,
        )


def _is_of_another_type(reply: ScriptedResponse, locations: Any) -> bool:
    """Return whether the value at the first location has another type than in the examples."""
    pointer = locations[0][1] if locations else ""
    body = b"".join(frame.data for frame in reply.frames if frame.kind in BODY_KINDS)
    try:
        value = pointed(json.loads(body.replace(VERSION.encode(), b"0.54")), pointer)
    except (LookupError, ValueError):
        return False
    return not isinstance(value, TYPES_054.get(pointer.rpartition("/")[2], object))


def _with_data(frame: Any, version: str, reply: ScriptedResponse) -> Any:
    data = frame.data.replace(VERSION.encode(), version.encode())
    return type(frame)(frame.seq, frame.at_us, frame.kind, data)


def _response(reply: ScriptedResponse) -> Response:
    """Return the last HTTP response among the frames, for those who want to see it."""
    head = next((f for f in reversed(reply.frames) if f.kind is FrameKind.HEAD), None)
    status, headers = read_head(head.data) if head else (0, dict(JSON_HEADERS))
    start = head.seq if head else 0
    body = b"".join(f.data for f in reply.frames if f.seq > start and f.kind in BODY_KINDS)
    return Response(status, tuple(headers.items()), body)
