"""Inputs rebuilt from public bug reports on other clients, servers and importers.

Each case names its report, as repository and number, and the kind of defect.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from playground.models import Agent, SavedRequest
from tests.cases import Answer, ask, page_text
from tests.cases.specification import body_of, text_of
from tests.qa.peers.conftest import Actions
from tests.support.commands import run_command
from tests.support.servers import LAST_CHUNK, Script, chunk, head, reply, serve

_META = {"response_type": "answer", "version": "0.55"}
_ANSWER = {"_meta": _META, "results": [{"@type": "Recipe", "name": "Crème brûlée"}]}
_START = (
    b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55", '
    b'"streaming": true}}\n\n'
)
_RESULT = (
    'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Crème brûlée"}}\n\n'
).encode()
_COMPLETE = b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
_WHOLE = _START + _RESULT + _COMPLETE
_CUT = _WHOLE.index("è".encode()) + 1

#: Cases that other changes make right.
_ANSWERED, _FAILED = ("completed", "answer", 0), ("completed", "failure", 1)


# --- event streams ----------------------------------------------------------------------------


def _stream(*pieces: bytes, content_type: str = "text/event-stream", arguments: Any = ()) -> Answer:
    start = head(content_type=content_type, transfer_encoding="chunked")
    return ask(start, *map(chunk, pieces), LAST_CHUNK, arguments=arguments)


@pytest.mark.parametrize(
    ("pieces", "findings"),
    [
        # a2aproject/a2a-python 1259, rexxars/eventsource-parser 41: a byte order mark in two chunks
        # cost the first event its name.
        pytest.param([b"\xef", b"\xbb\xbf" + _WHOLE], {"stream-bom": "info"}, id="a2a-python-1259"),
        # praxis-proxy/praxis 739: a character, and then CR LF, in two chunks; no space after
        # `data:`.
        pytest.param(
            [
                _WHOLE[:_CUT].replace(b"data: ", b"data:"),
                _WHOLE[_CUT:-1].replace(b"\n", b"\r\n") + b"\r",
                b"\n",
            ],
            {},
            id="praxis-739",
        ),
        # pydantic/httpx2 1046: a carriage return ends the last line, and nothing the event.
        pytest.param([_WHOLE[:-2] + b"\r"], {"stream-closed": "should"}, id="httpx2-1046"),
    ],
)
def test_framing(pieces: list[bytes], findings: dict[str, str]) -> None:
    answer = _stream(*pieces)
    assert answer.ending == _ANSWERED
    assert [line["type"] for line in answer.lines] == ["started", "result", "completed", "end"]
    assert answer.findings == findings
    assert "Crème brûlée" in answer.page


@pytest.mark.parametrize(
    "content_type",
    [
        # elysiajs/elysia 1066: browsers close a stream with this charset.
        "text/event-stream; charset=utf8",
        # overcat/requests-sse 14, Azure/fetch-event-source 1: only the bare type was accepted.
        "Text/Event-Stream;charset=UTF-8",
    ],
)
def test_content_type(content_type: str) -> None:
    answer = _stream(_WHOLE, content_type=content_type)
    assert (answer.ending, answer.findings) == (_ANSWERED, {})


def test_an_error_in_a_stream_with_status_200() -> None:
    """apache/rocketmq-dashboard 2178: taken for an event without text."""
    answer = _stream(b'data: {"error":{"message":"quota exceeded"}}\n\ndata: [DONE]\n\n')
    assert answer.ending == _FAILED
    assert answer.of("failure")[0]["message"] == "quota exceeded"
    assert "quota exceeded" in answer.page


def test_an_error_as_bare_text() -> None:
    """EricLBuehler/mistral.rs 1874: the event is shown, though it is not JSON."""
    answer = _stream(b"data: Number of choices must be greater than 0.\n\n")
    assert answer.ending == ("failed", "none", 3)
    assert "Number of choices must be greater than 0." in answer.page


@pytest.mark.parametrize(
    "block",
    [
        b'{"code":"workflow_error","message":"The oven is cold."}\n\n',
        b'event: error\n{"code":"workflow_error","message":"The oven is cold."}\n\n',
        b"The oven is cold.\n\n",
    ],
)
def test_an_error_without_the_framing_of_an_event(block: bytes) -> None:
    """NVIDIA/NeMo-Agent-Toolkit 1594: such lines are no fields, and clients drop them."""
    answer = _stream(_START + _RESULT, block)
    assert "stream-data-json" in answer.findings
    assert "Crème brûlée" in answer.page
    assert "The oven is cold." in answer.page


def test_a_stream_whose_members_are_null() -> None:
    """chaosxingxc-orion/spring-ai-ascend 148: `"error": null` was taken for an error."""
    message = {"object": "message", "id": "m", "type": "message", "role": "assistant"}
    content = {"object": "content", "type": "text", "index": 0, "msg_id": "m", "delta": True}
    objects: list[dict[str, Any]] = [
        {"object": "response", "id": "r", "status": "created", "output": None},
        {**message, "status": "created", "content": None},
        {**content, "status": "in_progress", "text": "So"},
        {**content, "status": "in_progress", "text": None},
        {**content, "status": "completed", "text": "Soup", "delta": None},
        {**message, "status": "completed", "content": None},
        {"object": "response", "id": "r", "status": "completed", "output": None},
    ]
    events = (f"data: {json.dumps({**each, 'error': None})}\n\n".encode() for each in objects)
    answer = _stream(*events, arguments=("--protocol", "agent-api"))
    assert answer.ending == _ANSWERED
    assert answer.of("failure") == []
    assert "Assistant Completed Soup" in answer.page


# --- JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "value", "shown", "findings"),
    [
        # Liquid4All/ifstruct 3: Python converts no integer of more than 4300 digits, and one of
        # 8122 made the whole response an error.
        pytest.param("gtin", "9" * 8122, "9" * 8122, {}, id="ifstruct-3"),
        # NousResearch/hermes-agent 84281: half of a surrogate pair ended the stream.
        pytest.param(
            "gtin", r'"a \ud83d b"', "a \ufffd b", {"json-surrogates": "info"}, id="hermes-84281"
        ),
        # node-fetch/node-fetch 806: NaN is no JSON.
        pytest.param("gtin", "NaN", "NaN", {"json-numbers": "must"}, id="node-fetch-806"),
    ],
)
def test_json(member: str, value: str, shown: str, findings: dict[str, str]) -> None:
    item = f'{{"@type": "Recipe", "name": "Crème brûlée", "{member}": {value}}}'
    events = _START + b'event: result\ndata: {"index": 0, "item": ' + item.encode() + b"}\n\n"
    answer = _stream(events + _COMPLETE)
    assert answer.ending == _ANSWERED
    assert answer.of("result")[0]["item"][member] == shown
    assert answer.findings == findings


# --- MCP --------------------------------------------------------------------------------------


@dataclass
class _Server:
    """An MCP server that does one thing wrong."""

    #: The response to `tools/call`: a result, or what a function of the message returns.
    call: Any = field(default_factory=lambda: {"content": [_text(json.dumps(_ANSWER))]})
    #: The id of a response.
    id_of: Callable[[Any], Any] = lambda given: given
    #: The response to a notification.
    notified: bytes = reply(b"", status="202 Accepted")
    #: The result of `tools/list` by the cursor.
    tools: Callable[[str | None], dict[str, Any]] = lambda _: {"tools": _tools()}
    version: str = "2025-06-18"
    headers: bytes = b""

    def ask(self) -> Answer:
        """Send a query to it."""
        return ask(
            answer=self._answer, arguments=("--binding", "mcp", "--mcp-version", self.version)
        )

    def _answer(self, raw: bytes) -> Script:
        if not raw.startswith(b"POST"):
            return [reply(b"", status="405 Method Not Allowed")]
        message = body_of(raw)
        if "id" not in message:
            return [self.notified]
        method = message["method"]
        if method == "tools/call" and callable(self.call):
            return [self.call(message)]
        result = {
            "server/discover": {"supportedVersions": [self.version], "capabilities": {}},
            "initialize": {"protocolVersion": self.version, "capabilities": {"tools": {}},
                           "serverInfo": {"name": "recipes", "version": "1"}},
            "tools/list": self.tools(message.get("params", {}).get("cursor")),
            "tools/call": self.call,
        }[method]  # fmt: skip
        found = {"jsonrpc": "2.0", "id": self.id_of(message["id"]), "result": result}
        response = reply(json.dumps(found).encode())
        return [response.replace(b"\r\n", b"\r\n" + self.headers, 1)]


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _tools() -> list[Any]:
    return [json.loads(text_of(f"mcp-0.55/tool-{name}.json")) for name in ("ask", "await")]


def _pages(cursor: str | None) -> dict[str, Any]:
    """The tool `await` on a page whose cursor is empty."""
    ask_tool, await_tool = _tools()
    return {"tools": [await_tool]} if cursor == "" else {"tools": [ask_tool], "nextCursor": ""}


def _error(code: Any, **ids: Any) -> Callable[[Any], bytes]:
    error = {"code": code, "message": "The oven is cold."}

    def call(message: Any) -> bytes:
        found = {"jsonrpc": "2.0", "id": message["id"], **ids, "error": error}
        return reply(json.dumps(found).encode())

    return call


@pytest.mark.parametrize(
    ("server", "findings"),
    [
        # modelcontextprotocol/python-sdk 1720: the id comes back as text, which is told apart.
        pytest.param(_Server(id_of=str), {}, id="python-sdk-1720"),
        # radareorg/radare2-mcp 68: every response has the id 0.
        pytest.param(_Server(id_of=lambda _: 0), {"mcp.response-id": "must"}, id="radare2-mcp-68"),
        # helidon-io/helidon-mcp 175: a notification is answered with 200 and nothing.
        pytest.param(_Server(notified=reply(b"")), {"mcp.accepted": "must"}, id="helidon-mcp-175"),
        # awslabs/mcp 3324: with null.
        pytest.param(
            _Server(notified=reply(b"null")),
            {"mcp.accepted": "must", "mcp.json-rpc": "must"},
            id="awslabs-mcp-3324",
        ),
        # oramasearch/oramacore 335: with a response without a result.
        pytest.param(
            _Server(notified=reply(b'{"jsonrpc":"2.0","id":null}')),
            {"mcp.accepted": "must", "mcp.json-rpc": "must"},
            id="oramacore-335",
        ),
        # metorial/metorial-platform 444: with 204.
        pytest.param(
            _Server(notified=head("204 No Content")), {"mcp.accepted": "must"}, id="metorial-444"
        ),
        # DeusData/codebase-memory-mcp 1247: the cursor of the last page leads to the same page.
        pytest.param(
            _Server(tools=lambda _: {"tools": _tools(), "nextCursor": "8"}),
            {"mcp.tools-cursor": "must", "mcp.tool-names": "should"},
            id="codebase-memory-mcp-1247",
        ),
        # modelcontextprotocol/java-sdk 575: an empty cursor ends a list, before 2026-07-28.
        pytest.param(
            _Server(tools=lambda _: {"tools": _tools(), "nextCursor": ""}), {}, id="java-sdk-575"
        ),
    ],
)
def test_mcp_server(server: _Server, findings: dict[str, str]) -> None:
    answer = server.ask()
    assert answer.ending == _ANSWERED
    assert answer.findings == findings
    assert len(answer.requests) < 10
    assert "Crème brûlée" in answer.page


def test_an_empty_cursor_since_2026_07_28() -> None:
    """MCPJam/inspector 4462: read as the end of the list, it hid all other tools."""
    answer = _Server(tools=_pages, version="2026-07-28").ask()
    (listed,) = answer.of("tools")
    assert [tool["name"] for tool in listed["tools"]] == ["ask", "await"]
    assert not {"mcp.tool-await", "mcp.tools-cursor"} & {*answer.findings}


def test_a_session_that_has_expired() -> None:
    """modelcontextprotocol/python-sdk 1676: HTTP 404 was final. The header's case is odd, too."""
    left = [reply(b"Session not found", "text/plain", "404 Not Found")]
    proper = _Server()

    def call(message: Any) -> bytes:
        found = {"jsonrpc": "2.0", "id": message["id"], "result": proper.call}
        return left.pop() if left else reply(json.dumps(found).encode())

    answer = _Server(call=call, headers=b"mCP-sESSION-iD: one\r\n").ask()
    assert answer.ending == _ANSWERED
    methods = [body_of(raw)["method"] for raw in answer.requests if raw.startswith(b"POST")]
    assert methods.count("initialize") == methods.count("tools/call") == 2


@pytest.mark.parametrize(
    ("call", "code"),
    [
        # helidon-io/helidon-mcp 65: an error without the id of its request.
        pytest.param(_error(-32000, id=None), "-32000", id="helidon-mcp-65"),
        # The code is a text.
        pytest.param(_error("ECOLD"), "ECOLD", id="text-as-code"),
        # actionhero/keryx 503: a lost session as an event without JSON-RPC, under HTTP 200.
        pytest.param(
            lambda _: reply(
                b'event: message\ndata: {"error":"The oven is cold."}\n\n', "text/event-stream"
            ),
            "",
            id="keryx-503",
        ),
    ],
)
def test_mcp_error(call: Callable[[Any], bytes], code: str) -> None:
    answer = _Server(call=call).ask()
    assert answer.ending == _FAILED
    (failure,) = answer.of("failure")
    assert (failure["code"], failure["message"]) == (code, "The oven is cold.")
    assert "The oven is cold." in answer.page


def test_a_bare_error_is_no_sign_of_another_protocol() -> None:
    """actionhero/keryx 503: the server has just answered `initialize`."""
    body = b'event: message\ndata: {"error":"Session not found"}\n\n'
    answer = _Server(call=lambda _: reply(body, "text/event-stream")).ask()
    assert "Session not found" in answer.page
    assert "Agent API" not in answer.page


def test_a_list_as_structured_content() -> None:
    """NovasPlace/CSM 28: the items of a list that MCP does not allow there are results."""
    result = {"content": [], "structuredContent": _ANSWER["results"]}
    answer = _Server(call=result).ask()
    assert answer.of("result")[0]["item"]["name"] == "Crème brûlée"
    assert answer.findings["mcp.structured-object"] == "must"
    assert "mcp.nlweb-reply" not in answer.findings
    assert "Crème brûlée" in answer.page


@pytest.mark.parametrize(
    "content",
    [json.dumps(_ANSWER), [json.dumps(_ANSWER)], _text(json.dumps(_ANSWER))],
    ids=["text", "texts", "part"],
)
def test_content_of_another_shape(content: Any) -> None:
    """ElliotPadfield/unpaywall-mcp 4 and others: what is read is not called missing."""
    answer = _Server(call={"content": content}).ask()
    assert answer.ending == _ANSWERED
    assert "must" in answer.findings.values()
    assert "mcp.nlweb-reply" not in answer.findings


def test_a_server_without_mcp() -> None:
    """nlweb-ai/NLWeb 255: an error of the server's own, with status 400, for every message."""
    body = b'{"type": "function_response", "status": "error", "error": "Unknown function: None"}'
    answer = ask(reply(body, status="400 Bad Request"), arguments=("--binding", "mcp"))
    assert answer.ending == _FAILED
    (failure,) = answer.of("failure")
    assert failure["message"] == "Unknown function: None"
    assert failure["code"] != "function_response"
    assert "Unknown function: None" in answer.page


def test_a_call_that_is_only_accepted() -> None:
    """modelcontextprotocol/ruby-sdk 323: HTTP 202 without any response."""
    answer = _Server(call=lambda _: reply(b"", status="202 Accepted")).ask()
    assert answer.ending == ("failed", "none", 3)
    assert answer.findings == {"mcp.one-response": "must"}
    assert "The response (HTTP 202) is empty." in answer.page


# --- A2A --------------------------------------------------------------------------------------


def _state(state: str, **more: Any) -> dict[str, Any]:
    return {"kind": "status-update", "taskId": "t", "status": {"state": state}, **more}


def _artifact(text: str, name: str = "a", **more: Any) -> dict[str, Any]:
    artifact = {"artifactId": name, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t", "artifact": artifact, **more}


def _without_kind(update: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in update.items() if name != "kind"}


_TASK = {"kind": "task", "id": "t", "status": {"state": "working"}}
_DONE = _state("completed", final=True)
_CARD_PATH, _OLD_CARD_PATH = "/.well-known/agent-card.json", "/.well-known/agent.json"


@pytest.mark.parametrize(
    ("results", "card_path"),
    [
        # a2aproject/a2a-inspector 86, google/adk-python 2535: the card is at the old path only.
        pytest.param([_TASK, _artifact("Soup"), _DONE], _OLD_CARD_PATH, id="a2a-inspector-86"),
        # a2aproject/a2a-python 1038: text is appended to artifacts that were never started.
        pytest.param(
            [_TASK, _artifact("So", "1", append=True), _artifact("up", "2", append=True), _DONE],
            _CARD_PATH,
            id="a2a-python-1038",
        ),
        # a2aproject/a2a-python 501: updates without a task before them, which comes last.
        pytest.param(
            [_state("working"), _artifact("Soup"), {**_TASK, "status": {"state": "completed"}}],
            _CARD_PATH,
            id="a2a-python-501",
        ),
        # a2aproject/A2A 1308: no update is marked as the final one.
        pytest.param([_TASK, _artifact("Soup"), _state("completed")], _CARD_PATH, id="a2a-1308"),
        # a2aproject/A2A 1253: updates without `kind`, as in versions before 0.2, which name the
        # task by its `id`.
        pytest.param(
            [
                {"id": "t", "status": {"state": "working"}, "final": False},
                {"id": "t", "artifact": {"parts": [{"type": "text", "text": "Soup"}]}},
                {"id": "t", "status": {"state": "completed"}, "final": True},
            ],
            _CARD_PATH,
            id="a2a-1253",
        ),
        pytest.param(
            [*map(_without_kind, (_TASK, _artifact("Soup"), _DONE))], _CARD_PATH, id="without-kind"
        ),
    ],
)
async def test_a2a(async_client: AsyncClient, results: list[Any], card_path: str) -> None:
    card = {"name": "Cook", "protocolVersion": "0.3.0", "capabilities": {"streaming": True},
            "skills": [{"id": "cook"}]}  # fmt: skip
    methods = []

    def answer(raw: bytes) -> Script:
        if raw.startswith(b"GET"):
            found = raw.split(b" ")[1].decode() == card_path
            body = json.dumps({**card, "url": f"{server.url}/a2a/"}).encode()
            return [reply(body) if found else reply(b"{}", status="404 Not Found")]
        message = body_of(raw)
        methods.append(message["method"])
        rpc = ({"jsonrpc": "2.0", "id": message["id"], "result": each} for each in results)
        events = "".join(f"data: {json.dumps(each)}\r\n\r\n" for each in rpc)
        return [reply(events.encode(), "text/event-stream")]

    agent = await Agent.objects.acreate(name="Shop", url="http://shop.example/")
    async with serve(answer=answer) as server:
        action = {"name": "cook", "protocol": "A2A", "agent_url": server.url, "skill": "cook",
                  "message": "soup"}  # fmt: skip
        run = await Actions(async_client, agent).run(action)
    assert (run.state, run.outcome) == ("completed", "answer")
    assert methods == ["message/stream"]
    page = await sync_to_async(page_text)(f"/runs/{run.parent_id}/", "response")
    assert "Soup" in page.replace("So up", "Soup")


# --- importers --------------------------------------------------------------------------------

_QUERY = '{"query":{"text":"eggs"}}'
_FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "request_members",
    [
        # grafana/har-to-k6 87 and 112: the body has no type, or an empty one.
        pytest.param({"postData": {"text": _QUERY}}, id="har-to-k6-87"),
        pytest.param({"postData": {"mimeType": "", "text": _QUERY}}, id="har-to-k6-148"),
        # request/request 1872: the type has a parameter.
        pytest.param(
            {"postData": {"mimeType": "application/json; charset=UTF-8", "text": _QUERY}},
            id="request-1872",
        ),
        # grafana/har-to-k6 112: a GET request with a body, and a field without a name.
        pytest.param(
            {"method": "GET", "url": "http://agent.example/ask?query=eggs",
             "queryString": [{"name": None, "value": "x"}],
             "postData": {"mimeType": "", "text": ""}},
            id="har-to-k6-112",
        ),
        # lightbody/browsermob-proxy 770: a form with its fields, and without its text.
        pytest.param(
            {"headers": [{"name": "Content-Type", "value": _FORM}],
             "postData": {"mimeType": _FORM, "params": [{"name": "query", "value": "eggs"}]}},
            id="browsermob-proxy-770",
        ),
        pytest.param(
            {"postData": {"mimeType": _FORM, "params": [{"name": "query", "value": "eggs"}]}},
            id="browsermob-proxy-770-without-header",
        ),
    ],
)  # fmt: skip
def test_har(tmp_path: Path, request_members: dict[str, Any]) -> None:
    entry = {"request": {"method": "POST", "url": "http://agent.example/ask", "headers": [],
                         **request_members}}  # fmt: skip
    file = tmp_path / "x.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    run_command("import_collection", str(file))
    assert SavedRequest.objects.get().document["query"]["text"] == "eggs"


@pytest.mark.parametrize(
    ("body", "document", "remark"),
    [
        # foss42/apidash 1112: the fields of a form were dropped without a word.
        pytest.param(
            {"mode": "urlencoded", "urlencoded": [{"key": "query", "value": "eggs"}]},
            {"query": {"text": "eggs"}, "prefer": {"streaming": False}},
            "legacy NLWeb request",
            id="apidash-1112",
        ),
        # Kong/insomnia 2751: requests with GraphQL arrived without a body. Here they are named.
        pytest.param(
            {"mode": "graphql", "graphql": {"query": "{ a }", "variables": ""}},
            None,
            "Unsupported body mode: graphql",
            id="insomnia-2751",
        ),
    ],
)
def test_postman(tmp_path: Path, body: Any, document: Any, remark: str) -> None:
    schema = "https://schema.getpostman.com/json/collection/v2.0.0/collection.json"
    sent = {"method": "POST", "url": "http://127.0.0.1:9/ask", "body": body}
    file = tmp_path / "collection.json"
    file.write_text(
        json.dumps({"info": {"name": "C", "schema": schema},
                    "item": [{"name": "Eggs", "request": sent}]})
    )  # fmt: skip
    done = run_command("import_collection", str(file))
    assert remark in done.stderr
    documents = list(SavedRequest.objects.values_list("document", flat=True))
    assert documents == ([] if document is None else [document])


@pytest.mark.parametrize(
    ("command", "text"),
    [
        # hoppscotch/hoppscotch 5828, httpie/desktop 49: escapes of $'…'.
        pytest.param(r"""$'{"query":{"text":"it\'s \u00e8 \x21 \101 \\n"}}'""", "it's è ! A \n",
                     id="hoppscotch-5828"),
        # postmanlabs/postman-app-support 8953: escapes of JSON lost their backslash.
        pytest.param(r"""'{"query":{"text":"\u4f60"}}'""", "你", id="postman-8953"),
        # luckymarmot/Paw-cURLImporter 9: an apostrophe of typography within the quotation marks.
        pytest.param("""'{"query":{"text":"Ain’t this"}}'""", "Ain’t this",
                     id="Paw-cURLImporter-9"),
        # Orange-OpenSource/hurl 3812: quotation marks within the text.
        pytest.param(r"""$'{"query":{"text":"say \\"eggs\\""}}'""", 'say "eggs"', id="hurl-3812"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("option", ["--data-raw", "--data-binary", "--json"])
def test_curl(client: Client, option: str, command: str, text: str) -> None:
    whole = f"curl 'http://127.0.0.1:9/ask' \\\n  -X POST {option} {command}"
    found = client.post("/formats/curl/", {"command": whole}).json()
    assert found["refusals"] == []
    assert found["address"] == "http://127.0.0.1:9/ask"
    assert found["document"] == {"query": {"text": text}}


def test_curl_without_a_body(client: Client) -> None:
    """postmanlabs/postman-app-support 4018: an empty body was an invalid format."""
    command = 'curl "http://127.0.0.1:9/ask" --data ""'
    found = client.post("/formats/curl/", {"command": command}).json()
    assert found["refusals"] == ["No body and no query parameters."]


@pytest.mark.parametrize(
    "command",
    [
        # luckymarmot/Paw-cURLImporter 7: typographic quotation marks, which a shell takes for text.
        f"curl “http://127.0.0.1:9/ask” -d '{_QUERY}'",
        f"curl 'http://127.0.0.1:9/ask' -d “{_QUERY}”",
    ],
)
def test_curl_with_typographic_quotation_marks(client: Client, command: str) -> None:
    found = client.post("/formats/curl/", {"command": command}).json()
    assert found["refusals"] or found["remarks"]
    assert "“" not in found["address"]
