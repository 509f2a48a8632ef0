"""Cases of MCP's rules.

For one call and a single response: the call is frame 1, its head 2, the body 3, the end 4. For a
stream: the messages are frames 3, 4, ...
"""

from __future__ import annotations

from typing import Any

from playground.protocols.frames import FrameKind
from playground.protocols.mcp.handshake import MAX_PAGES, MAX_TOOLS
from tests.conformance.case import Case, ExpectedLocation, at, case
from tests.conformance.mcp.scripts import (
    ANSWER,
    ASK,
    AWAIT,
    AWAIT_SCHEMA,
    DISCOVERED,
    FORM,
    INITIALIZED,
    MODERN,
    SCHEMA,
    ask,
    ask_schema,
    asked,
    await_schema,
    block,
    call,
    content,
    error,
    identified,
    listed,
    modern,
    nothing,
    notification,
    opened,
    paged,
    question,
    reply,
    response,
    result,
    resumed,
    run,
    said,
    streamed,
    told,
)
from tests.conformance.scripts import ScriptedResponse, without

GOOD = asked(result())
STREAMED = run(ask(), told(response(result())))
TAKEN = run(call("notifications/initialized", None), nothing())
REFUSED = run(ask(), said(error(data=reply("failure", error={"code": "E", "message": "M"}))))
#: Results that are no reply of NLWeb, and some that are no result of a tool either.
ODD: tuple[Any, ...] = (result("Here are five recipes."), None, {}, [], "Recipes", 7)


def here(*pointers: str, seq: int = 4) -> tuple[ExpectedLocation, ...]:
    """Places in the message of a whole reply."""
    return at(*pointers, seq=seq)


WIRE = (
    case("mcp.content-type must", GOOD,
         (asked(result(), media_type="text/plain"), here("", seq=2)),
         (run(ask(), told(response(result()), media_type=None)), here("", seq=2)),
         (run(ask(), streamed(block("id: 1\ndata:")), resumed("1"), said(response(result()))),
          here("", seq=6))),
    case("mcp.accepted must", TAKEN,
         (run(call("notifications/initialized", None), nothing(200)), here("", seq=2)),
         (run(call("notifications/initialized", None), said({"ok": True}, status=202)), here(""))),
    case("mcp.stream-closed should", STREAMED,
         (run(ask(), told(response(result()))[:-1], (FrameKind.TAIL, b"data: {"),
              (FrameKind.END, b"")), here("", seq=4))),
    case("mcp.session-id must", opened(INITIALIZED, extra="Mcp-Session-Id: a-1\r\n"),
         (opened(INITIALIZED, extra="Mcp-Session-Id: a b\r\n"), here("", seq=2))),
    case("mcp.session-kept should",
         run(ask(session="a"), said(response(result()), extra="Mcp-Session-Id: a\r\n")),
         (run(ask(session="a"), said(response(result()), extra="Mcp-Session-Id: b\r\n")),
          here("", seq=2))),
    case("mcp.event-id-unique must",
         run(ask(), streamed(block("id: 1\ndata:"), identified("2", response(result())))),
         (run(ask(), streamed(block("id: 1\ndata:"), identified("1", response(result())))),
          here("", seq=4)),
         (run(call("tools/list"), streamed(identified("1", response({"tools": []}))), ask(2),
              streamed(identified("1", response(result(), 2)))), here("", seq=7))),
    case("mcp.session-modern should", modern(result()),
         (modern(result(), extra="Mcp-Session-Id: a\r\n"), here("", seq=2))),
    case("mcp.login must", run(ask(), nothing(401, extra="WWW-Authenticate: Bearer\r\n")),
         (run(ask(), nothing(401)), here("", seq=2))),
)  # fmt: skip

ENVELOPE = (
    case("mcp.json-rpc must", GOOD,
         (run(ask(), said({"id": 1, "result": result()})), here("/jsonrpc")),
         (run(ask(), said({**response(result()), "jsonrpc": 2})), here("/jsonrpc")),
         (run(ask(), said([7])), here("/0")),
         (run(ask(), said({"jsonrpc": "2.0", "id": 1})), here("")),
         (run(ask(), said(b"<html>")), here("")),
         (run(ask(), told(response(result()), "oops")), here("", seq=4)),
         (run(ask(), told({"jsonrpc": "2.0", "method": 4})), here("/method", seq=3)),
         (run(ask(), told({"jsonrpc": "2.0", "method": "a", "params": 4})),
          here("/params", seq=3))),
    case("mcp.no-batch must", GOOD,
         (run(ask(), said([response(result())])), here("")),
         (run(ask(), said([])), here(""))),
    case("mcp.response-id must", GOOD,
         (run(ask(), said(response(result(), "1"))), here("/id")),
         (run(ask(), said(response(result(), True))), here("/id")),
         (run(ask(), said(response(result(), None))), here("/id")),
         (run(ask(), said(without(response(result()), "id"))), here("/id")),
         (run(ask(), said([response(result()), response({}, 9)])), here("/1/id")),
         (run(ask(), said(error(number=None))), here("/id"))),
    case("mcp.request-id must",
         run(ask(), told(question(), notification("notifications/own"), response(result()))),
         (run(ask(), told(question(1.5), response(result()))), here("/id", seq=3)),
         (run(ask(), told(question([]), response(result()))), here("/id", seq=3)),
         (run(ask(), told({**notification("ping"), "id": None}, response(result()))),
          here("/id", seq=3))),
    case("mcp.one-response must", GOOD,
         (run(ask(), told(response(result()), response(result()))), here("", seq=4)),
         (run(ask(), told(notification("notifications/message", level="info", data=1))),
          here("", seq=3)),
         (run(ask(), nothing(202)), here("", seq=2))),
    case("mcp.result-or-error must", GOOD,
         (run(ask(), said({**response(result()), **error()})), here("/error")),
         (run(ask(), said(response(result(), method="x"))), here("/method")),
         (run(ask(), said({**response(result()), "error": None})), here("/error")),
         (run(ask(), said({**error(), "result": None})), here("/error"))),
    case("mcp.error-object must", REFUSED,
         (run(ask(), said({"jsonrpc": "2.0", "id": 1, "error": "no"})), here("/error")),
         (run(ask(), said(error("E"))), here("/error/code")),
         (run(ask(), said(error(1.5))), here("/error/code")),
         (run(ask(), said(error(message=None))), here("/error"))),
    case("mcp.error-code should", REFUSED,
         (run(ask(), said(error(-32500))), here("/error/code")),
         (run(ask(), said(error(-32768))), here("/error/code"))),
    case("mcp.error-code-modern must", run(ask(version=MODERN), said(error(-32021), status=400)),
         (run(ask(version=MODERN), said(error(-32050))), here("/error/code")),
         (run(ask(version=MODERN), said(error(-32002))), here("/error/code"))),
    case("mcp.error-failure info", REFUSED, (run(ask(), said(error())), here("/error/data"))),
)  # fmt: skip

OPENING = (
    case("mcp.initialize must", opened(INITIALIZED),
         (opened({}),
          here("/result/protocolVersion", "/result/capabilities", "/result/serverInfo",
               "/result/serverInfo")),
         (opened({**INITIALIZED, "serverInfo": {"name": "s"}}),
          here("/result/serverInfo/version"))),
    case("mcp.discover must", opened(DISCOVERED, "server/discover"),
         (opened({**DISCOVERED, "supportedVersions": [], "capabilities": 1}, "server/discover"),
          here("/result/supportedVersions", "/result/capabilities"))),
    case("mcp.version-agreed must", opened(INITIALIZED),
         (opened({**INITIALIZED, "protocolVersion": MODERN}), here("/result/protocolVersion")),
         (opened({**INITIALIZED, "protocolVersion": "1.0"}), here("/result/protocolVersion"))),
    case("mcp.version-current info", opened(INITIALIZED),
         (opened({**INITIALIZED, "protocolVersion": "2024-11-05"}),
          here("/result/protocolVersion"))),
    case("mcp.result-type must", modern(result()),
         (run(ask(version=MODERN), said(response(result()))), here("/result/resultType"))),
    case("mcp.server-named should", modern(result()),
         (modern(result(_meta={})), here("/result/_meta"))),
    case("mcp.cache-hints must", opened(DISCOVERED, "server/discover"),
         (opened(without(DISCOVERED, "ttlMs", "cacheScope"), "server/discover"),
          here("/result/ttlMs", "/result/cacheScope")),
         (run(call("tools/list", version=MODERN),
              said(response({"tools": [], "ttlMs": -1, "cacheScope": "shared"}))),
          here("/result/ttlMs", "/result/cacheScope"))),
)  # fmt: skip

TOOL = "/result/tools/0/inputSchema"
QUERY = f"{TOOL}/properties/query"


def query(schema: Any) -> dict[str, Any]:
    """A schema of ask with this one for the query."""
    return {"type": "object", "properties": {"query": schema}, "required": ["query"]}


def rejecting(name: str, part: str, **schema: Any) -> tuple[Any, tuple[ExpectedLocation, ...]]:
    """A schema of ask with this one for a member, and the part of it that rejects a request."""
    made = ask_schema({"type": "object", "properties": {name: schema}})
    return made, here(f"{TOOL}/properties/{name}/{part}")


TOOLS = (
    case("mcp.tools-list must", listed(ASK, AWAIT),
         (run(call("tools/list"), said(response({}))), here("/result/tools")),
         (listed(4, {"name": 4}, ASK, ASK),
          here("/result/tools/0", "/result/tools/1/name", "/result/tools/1/inputSchema"))),
    case("mcp.tool-names should", listed({**ASK, "name": "a b"}),
         (listed(ASK, ASK, {**ASK, "name": ""}),
          here("/result/tools/1/name", "/result/tools/2/name")),
         (run(call("tools/list", version="2025-11-25"),
              said(response({"tools": [ASK, {**ASK, "name": "a b"}]}))),
          here("/result/tools/1/name"))),
    case("mcp.tools-cursor must", listed(ASK, AWAIT),
         (listed(ASK, nextCursor=4), here("/result/nextCursor")),
         (run(*[call("tools/list"), said(response({"tools": [], "nextCursor": "a"}))] * 2),
          here("/result/nextCursor", seq=8))),
    case("mcp.tools-whole info", paged(MAX_PAGES - 1),
         (paged(MAX_PAGES), here("/result/nextCursor", seq=4 * MAX_PAGES)),
         (listed(*[ASK] * MAX_TOOLS, nextCursor="a"), here("/result/nextCursor"))),
    case("mcp.tool-ask should", listed(ASK, AWAIT), (listed(AWAIT), here("/result/tools"))),
    case("mcp.tool-await info", listed(ASK, AWAIT), (listed(ASK), here("/result/tools"))),
    case("mcp.tool-schema must", listed(ASK, AWAIT),
         (ask_schema({**SCHEMA, "required": "query"}), here(f"{TOOL}/required")),
         (ask_schema(query({"$ref": 4})), here(f"{QUERY}/$ref")),
         (ask_schema(query({"$ref": "#/$defs/Query"})), here(f"{QUERY}/$ref")),
         (ask_schema(query({"$ref": "#/type"})), here(f"{QUERY}/$ref"))),
    case("mcp.tool-schema-references should", listed(ASK, AWAIT),
         (ask_schema(query({"$ref": "https://example.com/a"})), here(f"{QUERY}/$ref")),
         (ask_schema(query({"$ref": "#/properties/query"})), here(f"{QUERY}/$ref"))),
    case("mcp.tool-ask-schema must", ask_schema({"type": "object"}),
         (ask_schema(query({"type": "string"})), here(f"{QUERY}/type")),
         (ask_schema({**SCHEMA, "required": ["query", "context"]}), here(f"{TOOL}/required")),
         (ask_schema(query({"$ref": "#"})), here(f"{TOOL}/required")),
         (ask_schema(query({"type": "object", "properties": {"text": {"type": "string"}},
                            "additionalProperties": False})),
          here(f"{QUERY}/additionalProperties")),
         rejecting("context", "properties/@type/const",
                   properties={"@type": {"const": "ConversationalContext"}}),
         rejecting("context", "required", required=["prev"]),
         rejecting("prefer", "required", required=["mode"]),
         rejecting("query", "properties/site/type", properties={"site": {"type": "integer"}})),
    case("mcp.tool-ask-schema - must", ask_schema({"type": "object"}),
         rejecting("meta", "required", required=["version"]),
         rejecting("meta", "properties/user/type", properties={"user": {"type": "string"}})),
    case("mcp.tool-ask-invalid should", listed(ASK),
         (ask_schema({"type": "object"}), here(f"{TOOL}/required", *[f"{TOOL}/properties"] * 3)),
         (ask_schema(without(SCHEMA, "required")), here(f"{TOOL}/required")),
         (ask_schema(query({"properties": {"text": {}}})),
          here(f"{QUERY}/type", f"{QUERY}/required", f"{QUERY}/properties/text/type"))),
    case("mcp.tool-ask-members should", listed(ASK),
         (listed({**ASK, "inputSchema": {"properties": {"query": {}, "meta": {}}}}),
          here("/result/tools/0/inputSchema/properties/context",
               "/result/tools/0/inputSchema/properties/prefer"))),
    case("mcp.tool-await-schema must", listed(AWAIT),
         (await_schema({**AWAIT_SCHEMA, "required": ["promise_token", "action", "meta"]}),
          here(f"{TOOL}/required")),
         (await_schema({"type": "object", "properties": {"action": {"enum": ["checkin"]}}}),
          here(f"{TOOL}/properties/action/enum"))),
    case("mcp.tool-await-invalid should", listed(AWAIT),
         (await_schema({**AWAIT_SCHEMA, "required": ["action"]}), here(f"{TOOL}/required")),
         (await_schema({"type": "object", "required": ["promise_token", "action"],
                        "properties": {"promise_token": {}, "action": {"type": "string"}}}),
          here(f"{TOOL}/properties/action/enum", f"{TOOL}/properties/promise_token/type"))),
    case("mcp.tool-described should", listed(ASK, AWAIT),
         (listed(without(ASK, "description")), here("/result/tools/0/description"))),
)  # fmt: skip

RESULTS = (
    case("mcp.nlweb-reply must", GOOD, *[(asked(odd), here("/result")) for odd in ODD]),
    case("mcp.reply-shape info", GOOD,
         (asked(ANSWER), here("/result")),
         (asked({"content": content("Words."), "_meta": ANSWER["_meta"]}), here("/result")),
         (asked({"content": [], "structuredContent": ANSWER}), here("/result/structuredContent"))),
    case("mcp.result-content info must", GOOD,
         (asked(ANSWER), here("/result/content")),
         (asked({**ANSWER, "content": "words"}), here("/result/content"))),
    case("mcp.content-parts info must", GOOD,
         (asked({"content": ["a", {"type": "instruction"}, {"type": "text"}, {"type": "image"}]}),
          here("/result/content/0", "/result/content/1/type", "/result/content/2/text",
               "/result/content/3/data", "/result/content/3/mimeType")),
         (asked({"content": [{"type": "resource"}, {"type": "resource", "resource": {}}]}),
          here("/result/content/0/resource", "/result/content/1/resource/uri",
               "/result/content/1/resource/text"))),
    case("mcp.is-error must", GOOD, (asked(result(isError="no")), here("/result/isError"))),
    case("mcp.error-described should", asked(result("ValueError: no", isError=True)),
         (asked({"content": [], "isError": True}), here("/result/content"))),
    case("mcp.error-agrees should", GOOD, (asked(result(isError=True)), here("/result/isError"))),
    case("mcp.error-explained info",
         asked(result(reply("failure", error={"code": "E", "message": "M"}), isError=True)),
         (asked(result("ValueError: no", isError=True)), here("/result/content"))),
    case("mcp.structured-object must", asked(result(structuredContent=ANSWER)),
         (asked(result(structuredContent=[ANSWER])), here("/result/structuredContent"))),
    case("mcp.structured-agrees should", asked(result(structuredContent=ANSWER)),
         (asked(result(structuredContent={**ANSWER, "results": []})),
          here("/result/structuredContent")),
         (asked({"content": [], "structuredContent": ANSWER}), here("/result/content"))),
)  # fmt: skip

PROGRESS = "notifications/progress"
LOG = "notifications/message"


def during(*messages: object) -> ScriptedResponse:
    """Messages before the answer; the first is frame 3."""
    return run(ask(), told(*messages, response(result())))


def input_wanted(**members: object) -> ScriptedResponse:
    return modern({"resultType": "input_required", **members})


def field(schema: object) -> ScriptedResponse:
    """A question with one property."""
    form = {"type": "object", "properties": {"a": schema}}
    return during(question(message="Which?", requestedSchema=form))


FIELD = "/params/requestedSchema/properties/a"
QUESTIONS = (
    case("mcp.elicitation must",
         during(question(**FORM),
                question(message="Visit.", mode="url", url="https://example.com",
                         elicitationId="1")),
         (during(question()), here("/params/message", "/params/requestedSchema", seq=3)),
         (during({**question(), "params": None}), here("/params", seq=3)),
         (during(question(message="Visit.", mode="url", url="here")),
          here("/params/url", "/params/elicitationId", seq=3)),
         (during(question(message="Which?", requestedSchema={"type": "object"})),
          here("/params/requestedSchema/properties", seq=3)),
         (input_wanted(inputRequests={"a/b": {"method": "elicitation/create", "params": {}}}),
          here("/result/inputRequests/a~1b/params/message",
               "/result/inputRequests/a~1b/params/requestedSchema"))),
    case("mcp.elicitation-flat must", field({"type": "array", "items": {"enum": ["a"]}}),
         (field({"type": "object"}), here(FIELD, seq=3)),
         (field({"type": "array", "items": {"type": "object"}}), here(FIELD, seq=3)),
         (field(4), here(FIELD, seq=3)),
         (field({}), here(FIELD, seq=3))),
    case("mcp.input-required must",
         input_wanted(inputRequests={"a": {"method": "elicitation/create", "params": FORM}}),
         (input_wanted(), here("/result/inputRequests")),
         (input_wanted(inputRequests=[]), here("/result/inputRequests")),
         (input_wanted(requestState=4), here("/result/requestState")),
         (input_wanted(inputRequests={"a": {}, "b": 4, "c": {"method": "tools/call"}}),
          here("/result/inputRequests/a/method", "/result/inputRequests/b",
               "/result/inputRequests/c/method")),
         (modern({"inputRequests": {"a": {"method": "roots/list"}}}), here("/result/resultType"))),
    case("mcp.progress must",
         during(notification(PROGRESS, progressToken=1, progress=0.5, total=1)),
         (during(notification(PROGRESS, progressToken=9, progress="half", total="all")),
          here("/params/progress", "/params/total", "/params/progressToken", seq=3)),
         (run(call("tools/call"), told(notification(PROGRESS, progressToken=1, progress=1))),
          here("/params/progressToken", seq=3)),
         (run(ask(), told(response(result()), notification(PROGRESS, progressToken=1, progress=1))),
          here("/method", seq=4)),
         (during(notification(PROGRESS, progressToken=1, progress=1, message=4)),
          here("/params/message", seq=3))),
    case("mcp.progress-increasing must",
         during(*(notification(PROGRESS, progressToken=1, progress=n) for n in (1, 2))),
         (during(*(notification(PROGRESS, progressToken=1, progress=n) for n in (2, 1, 2, 3))),
          (*here("/params/progress", seq=4), *here("/params/progress", seq=5)))),
    case("mcp.log must", during(notification(LOG, level="info", data="Looking.")),
         (during(notification(LOG, level="loud")), here("/params/level", "/params/data", seq=3))),
    case("mcp.log-requested must",
         run(call("tools/call", version=MODERN, name="ask", arguments={},
                  _meta={"io.modelcontextprotocol/logLevel": "info"}),
             told(notification(LOG, level="info", data=1), response(result()))),
         (run(ask(version=MODERN),
              told(notification(LOG, level="info", data=1), response(result()))),
          here("/method", seq=3))),
    case("mcp.notification-known info", during(notification(LOG, level="info", data=1)),
         (during(notification("notifications/own")), here("/method", seq=3))),
    case("mcp.request-modern must", modern(result()),
         (run(ask(version=MODERN), told(question(**FORM), response(result()))),
          here("/method", seq=3))),
)  # fmt: skip

CASES: tuple[Case, ...] = (*WIRE, *ENVELOPE, *OPENING, *TOOLS, *RESULTS, *QUESTIONS)
