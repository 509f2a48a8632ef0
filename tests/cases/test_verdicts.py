"""Verdicts on what other people's agents send: the levels that the specifications support."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases import MCP_ARGUMENTS, MCP_TOOLS, ask, mcp_server
from tests.support.servers import Script, head, reply

OLD, NEW = "0.54", "0.55"
ITEM = {"@type": "Recipe", "name": "Eggs"}
ACTION = {"name": "save", "description": "Save it"}
JSON_WANTED = ("--set", "prefer.streaming=false")


def meta(version: str = NEW, kind: str = "answer", **more: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": version, **more}}


def document(payload: Any, **headers: str) -> Script:
    body = json.dumps(payload).encode()
    length = str(len(body))
    return [head(content_type="application/json", content_length=length, **headers) + body]


def stream(*events: tuple[str, Any]) -> Script:
    blocks = (f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return [reply("".join(blocks).encode(), "text/event-stream")]


def findings(script: Script, *arguments: str, version: str = NEW) -> dict[str, str]:
    """The levels of the rules that fail on a response."""
    return ask(*script, arguments=("--version", version, *arguments)).findings


def whole(payload: Any, *arguments: str, version: str = NEW, **headers: str) -> dict[str, str]:
    return findings(document(payload, **headers), *JSON_WANTED, *arguments, version=version)


# Formats of the agent's own: 0.55 3.3.1, 4 and 4.1.1


OWN = ("--set", "prefer.response_format=geojson")
CONTENTS: dict[str, Any] = {
    "a member of its own": {"features": [{"type": "Feature", "geometry": None}]},
    "results of another shape": {"results": {"type": "FeatureCollection", "features": [1]}},
    "rows": {"results": [["Eggs", 3], ["Leek", 4]]},
    "a text": {"content": "POINT (1 2)"},
    "nothing but metadata": {},
}


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("name", CONTENTS)
def test_a_format_of_the_agents_own_has_any_structure(name: str, version: str) -> None:
    response = {**meta(version, response_format="geojson"), **CONTENTS[name]}
    assert whole(response, *OWN, version=version) == {}


def test_one_of_several_formats_that_the_request_accepts() -> None:
    response = {**meta(response_format="csv"), "table": "a,b"}
    assert whole(response, "--set", "prefer.response_format=geojson, csv") == {}


def test_a_format_of_its_own_in_a_stream() -> None:
    named = meta(response_format="geojson")
    feature = {"index": 0, "item": {"type": "Feature"}}
    events = (("start", {"_meta": {**named["_meta"], "streaming": True}}), ("feature", feature))
    assert findings(stream(*events, ("complete", named)), *OWN) == {"stream-events-known": "info"}


@pytest.mark.parametrize(
    ("named", "arguments"),
    [({"response_format": "geojson"}, ()), ({}, OWN)],
    ids=["asked", "named"],
)
def test_a_format_that_was_not_both_asked_for_and_named(
    named: dict[str, str], arguments: tuple[str, ...]
) -> None:
    response = {**meta(**named), "features": []}
    assert whole(response, *arguments)["answer-content"] == "must"


# Streams of 0.54: 8.4


RESULT = ("result", {"index": 0, "item": ITEM})
COMPLETE = ("complete", meta(OLD))


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([RESULT, COMPLETE], {"stream-start-first": "info"}),
        (
            [("result", {"index": 0, "item": ITEM, **meta(OLD)}), COMPLETE],
            {"stream-start-first": "info"},
        ),
        (
            [RESULT, ("complete", {})],
            {
                "meta-present": "must",
                "stream-start-first": "should",
                "stream-complete-meta": "must",
            },
        ),
        (
            [RESULT],
            {
                "meta-present": "must",
                "stream-start-first": "should",
                "stream-complete-present": "should",
            },
        ),
        (
            [RESULT, ("start", meta(OLD, streaming=True)), COMPLETE],
            {"stream-start-first": "should"},
        ),
    ],
)
def test_metadata_in_any_event_of_a_stream_of_0_54(events: Any, found: dict[str, str]) -> None:
    assert findings(stream(*events), version=OLD) == found


# Actions of 0.54: 4.1.1


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ({"url": "https://a.example/save", "description": "Save it", "params": {}}, {}),
        ({"url": "https://a.example/mcp", **ACTION, "protocol": "MCP"}, {}),
        ({"url": "/save", **ACTION}, {"action-address": "should"}),
        ({"url": "https://a.example/a b", **ACTION}, {"action-url": "should"}),
        ({"url": "https://a.example/save"}, {"action-complete": "should"}),
        # Another member names the target.
        (
            {"url": "/recipe", **ACTION, "endpoint": "https://a.example/save"},
            {"action-target": "should", "action-protocol": "info"},
        ),
        ({"url": " ", **ACTION}, {"action-target": "should", "action-protocol": "info"}),
    ],
)
def test_an_action_of_0_54_with_a_url(action: dict[str, Any], found: dict[str, str]) -> None:
    response = {**meta(OLD), "results": [{**ITEM, "actions": [action]}]}
    assert whole(response, version=OLD) == found


def test_an_action_of_0_55_with_a_url() -> None:
    """Section 5 of 0.55 has the member endpoint."""
    action = {"url": "https://a.example/save", **ACTION, "protocol": "HTTP", "method": "POST"}
    response = {**meta(), "results": [{**ITEM, "actions": [action]}]}
    assert whole(response)["action-target"] == "must"


@pytest.mark.parametrize("context", [["https://schema.org"], {"@vocab": "x"}, 5, None, True])
def test_the_context_of_an_action_is_a_string(context: Any) -> None:
    action = {
        "@context": context,
        **ACTION,
        "protocol": "HTTP",
        "method": "GET",
        "endpoint": "https://a.example",
    }
    response = {**meta(), "results": [{**ITEM, "actions": [action]}]}
    assert whole(response) == {"schema-action": "must"}


# A document although a stream was asked for: 3.3


@pytest.mark.parametrize(
    ("accept", "found"),
    [
        ("text/event-stream", {"streaming-honoured": "should"}),
        ("text/event-stream, application/json;q=0.5", {"streaming-honoured": "info"}),
        ("application/*", {"streaming-honoured": "info"}),
        ("*/*", {"streaming-honoured": "info"}),
    ],
)
def test_a_document_instead_of_a_stream(accept: str, found: dict[str, str]) -> None:
    """Streaming is a preference, unless the type contradicts what the request accepts."""
    script = document({**meta(), "results": [ITEM]})
    header = ("--header", f"Accept: {accept}", "--set", "prefer.streaming=true")
    assert findings(script, *header) == found


# structured_data: section 4 of 0.54


@pytest.mark.parametrize("content", [{}, {"content": [{"type": "text", "text": "Eggs."}]}])
def test_structured_data_of_0_54(content: dict[str, Any]) -> None:
    response = {**meta(OLD), **content, "structured_data": [ITEM]}
    answer = ask(*document(response), arguments=("--version", OLD, *JSON_WANTED))
    assert answer.findings == {"answer-structured": "info"}
    (message,) = [each["message"] for each in answer.end["findings"] if each["verdict"] == "fail"]
    assert "no results" not in message
    assert "A.3" not in message
    assert "Eggs" in answer.page


def test_items_of_structured_data_are_judged() -> None:
    response = {**meta(OLD), "structured_data": [{"name": "Eggs"}, 5]}
    found = whole(response, version=OLD)
    assert found == {"answer-structured": "info", "item-type": "should", "item-object": "must"}


# Events: 6.1


@pytest.mark.parametrize(
    ("name", "data", "level"),
    [
        ("results", {"results": [ITEM]}, "should"),
        ("item", ITEM, "should"),
        ("Result", {"index": 0, "item": ITEM}, "should"),
        ("result_item", ITEM, "should"),
        ("search-results", [ITEM], "should"),
        ("hit", {"index": 0, "item": ITEM}, "should"),
        ("item", {}, "info"),
        ("result_count", {"count": 3}, "info"),
        ("progress", {"text": "Searching…"}, "info"),
        ("item" * 10_000, {"a": 1}, "info"),
    ],
)
@pytest.mark.parametrize("version", [OLD, NEW])
def test_results_under_another_name(name: str, data: Any, level: str, version: str) -> None:
    """Clients lose them: they read results from events named result."""
    events = (("start", meta(version, streaming=True)), (name, data), ("complete", meta(version)))
    assert findings(stream(*events), version=version)["stream-events-known"] == level


def test_an_error_event_without_metadata() -> None:
    start, error = ("start", meta(streaming=True)), {"error": {"code": "TIMEOUT"}}
    assert findings(stream(start, ("error", error))) == {"error-event-meta": "should"}
    assert findings(stream(start, ("error", {**meta(kind="failure"), **error}))) == {}


# MCP


def promise_over_mcp(*tools: dict[str, Any]) -> dict[str, str]:
    response = {**meta(kind="promise"), "promise": {"token": "p"}}
    result = {"content": [{"type": "text", "text": json.dumps(response)}]}
    server = mcp_server(
        lambda id_: document({"jsonrpc": "2.0", "id": id_, "result": result}), *tools
    )
    return ask(answer=server, arguments=MCP_ARGUMENTS).findings


def test_a_promise_of_a_server_without_await() -> None:
    assert promise_over_mcp(MCP_TOOLS["ask"]) == {"mcp.tool-await": "should"}
    assert promise_over_mcp(*MCP_TOOLS.values()) == {}


def test_a_format_of_its_own_over_mcp() -> None:
    response = {**meta(response_format="geojson"), "features": []}
    result = {"content": [{"type": "text", "text": json.dumps(response)}]}
    server = mcp_server(lambda id_: document({"jsonrpc": "2.0", "id": id_, "result": result}))
    assert ask(answer=server, arguments=(*MCP_ARGUMENTS, *OWN)).findings == {}


# Language: 3.3


def asks_for(language: str) -> tuple[str, ...]:
    return ("--set", f"prefer.accept-language={language}")


@pytest.mark.parametrize(
    ("arguments", "headers", "response", "differs"),
    [
        (asks_for("en"), {"content_language": "de-CH"}, {}, True),
        (asks_for("en"), {"content_language": "en-US"}, {}, False),
        (asks_for("en-GB"), {"content_language": "de, en"}, {}, False),
        (asks_for("fr, en;q=0.5"), {"content_language": "en"}, {}, False),
        (asks_for("en"), {}, {"results": [{**ITEM, "inLanguage": "de"}]}, True),
        (asks_for("en"), {}, {"results": [{**ITEM, "@language": ["de", "en"]}]}, False),
        (asks_for("en"), {}, {"results": [{**ITEM, "inLanguage": {"name": "German"}}]}, False),
        (asks_for("en"), {}, meta(language="de"), True),
        # The header, where the request has no preference of its own.
        (("--header", "Accept-Language: de"), {"content_language": "en"}, {}, True),
        (
            ("--header", "Accept-Language: de", *asks_for("en")),
            {"content_language": "en"},
            {},
            False,
        ),
        (asks_for("*"), {"content_language": "en"}, {}, False),
        ((), {"content_language": "en"}, {}, False),
        (asks_for("en"), {"content_language": "<script>\x1b[31m"}, {}, False),
        (asks_for("en" + ",x" * 10_000), {"content_language": "de"}, {}, True),
    ],
)
def test_the_language_of_a_response(
    arguments: tuple[str, ...], headers: dict[str, str], response: Any, differs: bool
) -> None:
    payload = {**meta(), "results": [ITEM], **response}
    expected = {"language-honoured": "info"} if differs else {}
    assert whole(payload, *arguments, **headers) == expected
