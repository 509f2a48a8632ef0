"""Opening a server: its generation, transport, session and tools; and what is sent to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from playground.protocols import mcp
from playground.protocols.events import Failure, Note, Outcome, Tools, Unknown
from playground.protocols.exchange import Target
from playground.protocols.frames import FrameKind
from playground.protocols.http import encode
from playground.protocols.mcp import handshake, messages
from playground.protocols.mcp.handshake import MAX_PAGES
from playground.protocols.mcp.versions import (
    OFFERED_VERSION,
    STATEFUL_VERSIONS,
    STATELESS_VERSION,
    VERSIONS,
)
from playground.protocols.problems import Problem, Stage
from tests.protocols.mcp.talk import (
    MODERN,
    OLDER,
    SESSION,
    TOOLS,
    URL,
    Talk,
    head,
    known,
    new_exchange,
    rpc,
)
from tests.support.playbook import EXAMPLES

DISCOVERED = {
    "supportedVersions": ["2025-11-25", "2026-07-28"],
    "instructions": "Ask for recipes.",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "recipes"}},
}
INITIALIZED = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "recipes"}}
REPLY = {"results": [{"name": "Soup"}]}
NO = {"code": -32601, "message": "Method not found"}
#: What servers of the older generation say to server/discover.
OLDER_SAY: list[tuple[int, Any]] = [
    (200, rpc(error=NO)),
    (404, rpc(error=NO)),
    (400, rpc("server-error", error={"code": -32600, "message": "Unsupported"})),
    (400, rpc(error={"code": -32022, "message": "", "data": {"supported": ["2025-11-25"]}})),
    (200, rpc(result={"supportedVersions": ["2025-11-25"]})),
    (200, rpc(result={"supportedVersions": []})),
    (200, rpc(result={"odd": True})),
    (200, rpc(result=5)),
    (404, b"Not Found"),
    (400, b"<html>Bad Request</html>"),
    (405, b""),
    (200, b""),
    (500, b"Traceback"),
    (200, []),
    (404, {"detail": "Not Found"}),
    (400, {"error": "bad_request"}),
]


def test_the_newer_generation_is_asked_what_it_is() -> None:
    talk = Talk().json(rpc(result=DISCOVERED))
    talk.json(rpc(2, result={"tools": TOOLS})).json(rpc(3, result=REPLY))
    assert talk.methods == ["server/discover", "tools/list", "tools/call"]
    assert talk.exchange.next_call() is None
    assert talk.exchange.outcome is Outcome.ANSWER
    assert talk.exchange.handshake is not None
    assert talk.exchange.handshake["generation"] == "discover"
    assert talk.exchange.handshake["server"] == {"name": "recipes"}
    assert talk.exchange.handshake["instructions"] == "Ask for recipes."
    [tools] = talk.of(Tools)
    assert (list(tools.tools), tools.more) == (TOOLS, False)
    for message in talk.sent:
        assert "io.modelcontextprotocol/clientInfo" in message["params"]["_meta"]


def test_who_wants_credentials_says_which() -> None:
    wanted = {"www_authenticate": 'Bearer error="invalid_token", scope="recipes"'}
    fix = Talk().json({"error": "invalid_token"}, 401, **wanted).problem.fix
    assert "bearer token" in fix
    assert "recipes" in fix


@pytest.mark.parametrize("status", [404, 405, 406, 500])
def test_who_does_not_initialize_either_is_no_mcp_server(status: int) -> None:
    talk = Talk().json(b"No.", status).json(b"No.", status)
    if status in (404, 405):  # It may have the older transport.
        talk.json(b"No.", 405)
    assert talk.exchange.next_call() is None
    assert "/ask" not in talk.problem.fix


class TestTools:
    def opened(self, *pages: Any) -> Talk:
        talk = Talk().json(rpc(result=DISCOVERED))
        for number, page in enumerate(pages):
            talk.json(rpc(number + 2, result=page))
        return talk

    def test_pages_are_read_one_after_another(self) -> None:
        talk = self.opened({"tools": TOOLS[:1], "nextCursor": "a"}, {"tools": TOOLS[1:]})
        assert talk.sent[2]["params"]["cursor"] == "a"
        [tools] = talk.of(Tools)
        assert (list(tools.tools), tools.more) == (TOOLS, False)
        assert talk.exchange.next_call() is not None

    @pytest.mark.parametrize("cursors", [["a", "a"], ["a", "b", "a"]])
    def test_a_cursor_that_comes_again_ends_the_list(self, cursors: list[str]) -> None:
        pages = [{"tools": TOOLS[:1], "nextCursor": cursor} for cursor in cursors]
        talk = self.opened(*pages)
        assert talk.methods.count("tools/list") == len(cursors)
        assert talk.of(Tools)[0].more
        assert talk.call().methods[-1] == "tools/call"

    def test_a_list_without_end_is_cut(self) -> None:
        talk = self.opened(*({"tools": [], "nextCursor": str(n)} for n in range(MAX_PAGES)))
        assert talk.of(Tools)[0].more
        assert talk.call().methods[-1] == "tools/call"

    def test_a_page_without_end_is_cut(self) -> None:
        talk = self.opened({"tools": TOOLS * 600, "nextCursor": "more"})
        assert (len(talk.of(Tools)[0].tools), talk.of(Tools)[0].more) == (1000, True)
        assert talk.call().methods[-1] == "tools/call"

    @pytest.mark.parametrize(
        "page", [{}, {"tools": "all"}, {"tools": [1, None, {"name": 5}]}, [], "x", None]
    )
    def test_whatever_a_list_is_the_tool_is_called(self, page: Any) -> None:
        talk = self.opened(page).json(rpc(3, result=REPLY))
        assert talk.sent[2]["params"]["name"] == "ask"
        assert talk.exchange.outcome is Outcome.ANSWER

    def test_the_tools_alone_can_be_asked_for(self) -> None:
        talk = Talk(mcp.list_tools(Target(URL, handshake=MODERN)))
        talk.json(rpc(result=DISCOVERED)).json(rpc(2, result={"tools": TOOLS}))
        assert talk.exchange.next_call() is None
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)
        assert talk.exchange.handshake is not None
        assert [tool["name"] for tool in talk.exchange.handshake["tools"]] == ["ask", "await"]

    def test_a_server_that_hides_its_tools_says_so(self) -> None:
        talk = Talk(mcp.list_tools(Target(URL))).json(rpc(result=DISCOVERED))
        talk.json(rpc(2, error={"code": -32001, "message": "Log in."}))
        assert talk.exchange.next_call() is None
        assert [event.message for event in talk.of(Failure)] == ["Log in."]
        assert talk.exchange.outcome is Outcome.FAILURE

    @pytest.mark.parametrize(
        ("tools", "wanted", "operation", "name"),
        [
            ([], ("", ""), "ask", "ask"),
            (TOOLS, ("", ""), "await", "await"),
            (TOOLS, ("find", "look"), "ask", "find"),
            (TOOLS, ("find", "look"), "await", "look"),
            ([{"name": "f", "inputSchema": {"properties": {"query": {}}}}], ("", ""), "ask", "f"),
            ([{"name": "find", "inputSchema": {"properties": {"q": {}}}}], ("", ""), "ask", "ask"),
            ([{"name": "find"}, {"name": 5}, {"name": []}, 7], ("", ""), "ask", "ask"),
            ([{"name": "find"}, {"name": ["ask"]}, {"name": {}}], ("", ""), "ask", "ask"),
        ],
    )  # fmt: skip
    def test_the_tool_for_an_operation(
        self, tools: list[Any], wanted: tuple[str, str], operation: str, name: str
    ) -> None:
        session = handshake.Session("discover", tools=tuple(tools))
        assert session.tool_for(operation, wanted) == name

    def test_the_best_fit_is_the_one_with_most_of_the_attributes(self) -> None:
        found = [
            {"name": "search", "inputSchema": {"properties": {"query": {}, "page": {}}}},
            {"name": "nlweb", "inputSchema": {"properties": {"query": {}, "prefer": {}}}},
        ]
        assert handshake.Session("discover", tools=tuple(found)).tool_for("ask") == "nlweb"


class _Endless(list[int]):
    def __iter__(self) -> Iterator[int]:
        return count()


class TestRemembered:
    def test_of_a_long_schema_no_more_is_written_than_tells_that_it_is_long(self) -> None:
        schemas = [{"enum": _Endless([1])}, {"enum": [1]}]
        tools = [{"name": f"t{number}", "inputSchema": each} for number, each in enumerate(schemas)]
        session = handshake.Session("discover", server=_Endless([1]), tools=tuple(tools))
        kept = session.to_json("http://a.example/mcp")
        assert kept["tools"] == [{"name": "t0"}, {"name": "t1", "inputSchema": {"enum": [1]}}]
        assert kept["server"] is None

    @pytest.mark.parametrize(
        "opening",
        [
            {**MODERN, "url": "http://other.example.com/mcp"},
            {**MODERN, "generation": "telepathy"},
            {**MODERN, "version": None},
            {"url": URL},
            {},
            None,
        ],
    )
    def test_what_was_known_of_another_server_does_not_count(self, opening: Any) -> None:
        assert Talk(handshake=opening).call().methods == ["server/discover"]

    def test_entries_that_are_no_tools_are_counted(self) -> None:
        listed = [None, 3, "x", {"name": None}, {"name": "ask"}]
        talk = Talk().json(rpc(result=DISCOVERED)).json(rpc(2, result={"tools": listed}))
        kept = talk.exchange.handshake
        assert kept is not None
        assert (kept["odd"], kept["tools"]) == (4, [{"name": "ask"}])
        found = handshake.session_from_json(kept, URL)
        assert found is not None
        assert found.invalid_tools == 4

    def test_what_is_remembered_is_small(self) -> None:
        tool = {"name": "t", "description": "d" * 5000, "inputSchema": {"x": "y" * 20_000}}
        session = handshake.Session(
            "discover", "2026-07-28", tools=(tool,) * 500, server="s" * 9000
        )
        kept = session.to_json(URL)
        assert len(json.dumps(kept)) < 2 * handshake.MAX_STORED
        assert kept["more"]
        assert kept["server"] is None
        assert set(kept["tools"][0]) == {"name", "description"}
        assert handshake.session_from_json(kept, URL) is not None


class Reply(NamedTuple):
    """A response to the next message; without an id it gets that of the message."""

    payload: Any
    status: int = 200
    session: str = ""

    @classmethod
    def verbatim(cls, status: int, payload: Any) -> Reply:
        return cls(payload if isinstance(payload, bytes) else json.dumps(payload).encode(), status)


def error(code: int, status: int = 200, message: str = "", **more: Any) -> Reply:
    return Reply({"error": {"code": code, "message": message, **more}}, status)


def supported(*versions: str) -> dict[str, Any]:
    return {"data": {"supported": versions}}


STATELESS, STATEFUL = Reply({"result": DISCOVERED}), Reply({"result": {"supportedVersions": []}})
OPENED, TAKEN = Reply({"result": INITIALIZED}, session="s9"), Reply(b"", 202)
LISTED, SAID = Reply({"result": {"tools": TOOLS}}), Reply({"result": REPLY})
UNKNOWN, FULL, SILENT = error(-32601), error(-32603, message="Full."), Reply(b"", 500)
LOST, GONE = error(-32001, 400, "Session expired"), Reply(b"Gone", 404)
#: An error beside a result that is no object.
BOTH = Reply({"result": 5, "error": {"code": -32603, "message": "Full."}})

NEW, STATELESS_SET = {"handshake": OLDER}, {"mcp_version": STATELESS_VERSION}
IN_SESSION: dict[str, Any] = {"handshake": OLDER, "session": SESSION}
OTHERS = "only other versions of MCP: 2031-01-01"
SHORT = {
    "discover": "server/discover", "init": "initialize", "ready": "notifications/initialized",
    "list": "tools/list", "call": "tools/call",
}  # fmt: skip

#: The target, the responses, the methods that are called, and words of the problem or the failure
#: that it ends with; "" for an answer, None if more is to be called.
PATHS: dict[str, tuple[dict[str, Any], list[Reply], str, str | None]] = {
    "stateless": ({}, [STATELESS, LISTED, SAID], "discover list call", ""),
    **{
        f"with a session, after {status} {payload}": (
            {}, [Reply.verbatim(status, payload), OPENED, TAKEN, LISTED, SAID],
            "discover init ready list call", "")
        for status, payload in OLDER_SAY
    },
    **{
        f"refused with {status}": (
            {}, [Reply(b"No.", status)], "discover", f"HTTP {status}")
        for status in (401, 403, 421, 429, 302, 503)
    },
    "neither": ({}, [UNKNOWN, UNKNOWN, UNKNOWN, SAID], "discover init list call", ""),
    "silent at first": (
        {}, [SILENT, UNKNOWN, STATELESS, LISTED], "discover init discover list", None),
    "silent at first, then neither": (
        {}, [SILENT, UNKNOWN, UNKNOWN, UNKNOWN, LISTED], "discover init discover init list", None),
    "silent twice": (
        {}, [SILENT, UNKNOWN, SILENT, UNKNOWN, LISTED], "discover init discover init list", None),
    # Two answers say that it is of neither generation, so there is no third server/discover.
    "silent at first, then of the other generation, and neither": (
        {}, [SILENT, UNKNOWN, STATEFUL, UNKNOWN, LISTED, SAID],
        "discover init discover init list call", ""),
    "stateless, which only initialize says": (
        {}, [SILENT, error(-32022, 400, **supported(STATELESS_VERSION)), LISTED, SAID],
        "discover init list call", ""),
    "the list never comes": ({}, [STATELESS, SILENT, SAID], "discover list call", ""),
    "a refusal of initialize": ({}, [UNKNOWN, FULL], "discover init", "Full."),
    "a refusal beside a result": (
        {}, [UNKNOWN, BOTH], "discover init", "contains no response to the call"),
    "from the future": (
        {}, [Reply({"result": {"supportedVersions": ["2031-01-01"]}})], "discover", OTHERS),
    "from the future, as an error": (
        {}, [error(-32022, 400, **supported("2031-01-01"))], "discover", OTHERS),
    "from the future, as initialize says": (
        {}, [UNKNOWN, error(-32022, 400, **supported("2031-01-01"))], "discover init", OTHERS),
    # A version that is set has its generation, whatever the server would offer first.
    **{
        f"{version} is set, {name}": (
            {"mcp_version": version, "handshake": stored}, [OPENED, TAKEN, LISTED, SAID],
            "init ready list call", "")
        for version in ("2024-11-05", "2025-11-25")
        for name, stored in (("nothing known", None), ("known as stateless", MODERN))
    },
    "stateless is set, known with a session": (
        {**STATELESS_SET, **IN_SESSION}, [STATELESS, LISTED, SAID], "discover list call", ""),
    **{
        f"stateless is set, {name}": (
            STATELESS_SET, [reply], "discover", "does not support MCP 2026-07-28")
        for name, reply in (("unknown", UNKNOWN), ("other", STATEFUL), ("silent", Reply(b"")))
    },
    "stateless is set and known": (
        {**STATELESS_SET, "handshake": MODERN}, [SAID], "call", ""),
    "a version is set and known": ({"mcp_version": "2025-06-18", **IN_SESSION}, [SAID], "call", ""),
    # What is known about the server does not include the session in use.
    "known as stateless": ({"handshake": MODERN}, [SAID], "call", ""),
    "known, in a session": (IN_SESSION, [SAID], "call", ""),
    "known, without a session": (NEW, [OPENED, TAKEN, SAID], "init ready call", ""),
    "known with a stored id of before": ({"handshake": {**OLDER, "session": "s1"}}, [], "", None),
    **{
        f"known, of the other generation by now, {name}": (
            NEW, [reply, STATELESS, LISTED, SAID], "init discover list call", "")
        for name, reply in (
            ("unknown", UNKNOWN), ("gone", GONE), ("both", BOTH),
            ("named", error(-32022, 400, **supported(STATELESS_VERSION))))
    },
    "known, and refuses": (NEW, [FULL], "init", "Full."),
    "in a session, nothing known": ({"session": SESSION}, [LISTED, SAID], "list call", ""),
    # A session that is lost is opened again, once.
    **{
        f"lost, {name}": (
            IN_SESSION, [reply, OPENED, TAKEN, reply], "call init ready call", words)
        for name, reply, words in (
            ("expired", LOST, "Session expired"), ("gone", GONE, "HTTP 404"),
            ("in words", Reply(b"No such session", 400), "HTTP 400"),
            ("without an id", Reply(rpc("server-error", error={"code": -32600, "message": "No."}),
                                    404), "No."))
    },
    **{
        f"not lost, {name}": (fields, [error(-32602, status, "No tool")], "call", "No tool")
        for name, status, fields in (
            ("200", 200, IN_SESSION), ("400", 400, IN_SESSION),
            ("stateless", 400, {"handshake": MODERN}))
    },
    **{
        f"another server by now, {name}": (
            {"handshake": MODERN}, [reply, UNKNOWN, OPENED], "call discover init", None)
        for name, reply in (
            ("version", error(-32022, 400, **supported())), ("gone", GONE),
            ("session", Reply(rpc("x", error={"code": -32600, "message": "Missing"}), 400)))
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PATHS)
def test_the_way_of_a_handshake(name: str) -> None:
    fields, replies, methods, end = PATHS[name]
    talk = Talk(**fields)
    for payload, status, session in replies:
        talk.call()
        if isinstance(payload, dict):
            payload = rpc(talk.sent[-1].get("id"), **payload) if "id" not in payload else payload
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        headers = {"mcp_session_id": session} if session else {}
        talk.frame(FrameKind.HEAD, head(status, **headers)).body(body).end()
    assert talk.methods == [SHORT[method] for method in methods.split()]
    failures = [event.message for event in talk.of(Failure)]
    if end is None:
        assert talk.exchange.next_call() is not None
        return
    assert talk.exchange.next_call() is None
    if end:
        assert end in (failures[-1] if failures else talk.problem.cause)
        assert talk.exchange.handshake is None or "call" in methods
    else:
        assert (talk.exchange.outcome, talk.exchange.problem, failures) == (
            Outcome.ANSWER, None, [],
        )  # fmt: skip
        assert not [event for event in talk.events if isinstance(event, Unknown)]


@pytest.mark.parametrize(("version", "offered"), [("", "2025-11-25"), ("2024-11-05",) * 2])
def test_the_messages_of_a_session_have_its_id_and_its_version(version: str, offered: str) -> None:
    talk = Talk(mcp_version=version)
    if not version:
        talk.json(b"", 405)
    talk.call()
    talk.frame(FrameKind.HEAD, head(mcp_session_id="s1"))
    talk.body(json.dumps(rpc(talk.sent[-1]["id"], result=INITIALIZED)).encode()).end()
    talk.json(b"", 202).result({"tools": TOOLS}).result(REPLY)
    first, *others = talk.calls[-4:]
    assert json.loads(first.body)["params"]["protocolVersion"] == offered
    assert "MCP-Protocol-Version" not in dict(first.headers)
    for call in others:
        assert dict(call.headers)["Mcp-Session-Id"] == "s1"
        assert dict(call.headers)["MCP-Protocol-Version"] == "2025-06-18"
    assert talk.exchange.session == ("2025-06-18", "s1")
    kept = talk.exchange.handshake
    assert kept is not None
    assert (kept["session"], kept["version"]) == (True, "2025-06-18")


def test_the_session_that_was_lost_is_not_used_again() -> None:
    talk = (
        known(handshake=OLDER).json(b"", 404).json(rpc(2, result=INITIALIZED), mcp_session_id="s2")
    )
    assert talk.of(Note)[0].name == "mcp session lost"
    assert dict(talk.json(b"", 202).call().calls[-1].headers)["Mcp-Session-Id"] == "s2"


def test_in_a_session_a_tool_that_is_named_is_called_at_once() -> None:
    target = Target(URL, binding="mcp", session=SESSION)
    talk = Talk(mcp.call_tool(target, "order", {})).json(rpc(result={"content": []}))
    assert talk.methods == ["tools/call"]
    assert dict(talk.calls[0].headers)["Mcp-Session-Id"] == "s1"


def test_the_table_is_ordered_and_holds_both_generations() -> None:
    assert list(VERSIONS) == sorted(VERSIONS) == [*STATEFUL_VERSIONS, STATELESS_VERSION]
    assert OFFERED_VERSION == "2025-11-25"


@pytest.mark.parametrize(
    ("version", "stateless", "header"),
    [
        ("2024-11-05", False, False),
        ("2025-03-26", False, False),
        ("2025-06-18", False, True),
        ("2025-11-25", False, True),
        ("2026-07-28", True, True),
        # Versions that are not in the table belong to the generation of their date.
        ("", False, False),
        ("2025-06-01", False, False),
        ("2026-01-01", False, True),
        ("2027-01-01", True, True),
    ],
)
def test_generation_and_header_of_a_version(version: str, stateless: bool, header: bool) -> None:
    headers = headers_of(handshake={**OLDER, "version": version})
    assert ("Mcp-Method" in headers, "MCP-Protocol-Version" in headers) == (stateless, header)


REQUESTS = sorted(
    path
    for version in ("0.54", "0.55")
    for kind in ("ask", "await")
    for path in (EXAMPLES / f"mcp-{version}").glob(f"{kind}-*.json")
)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_example_of_the_specification_comes_out_to_the_byte(path: Path) -> None:
    example = json.loads(path.read_text("utf-8"))
    params = example["params"]
    message = messages.call_tool(example["id"], params["name"], params["arguments"])
    assert encode(message) == encode(example)
    # The exchange says the same, and asks to be told of progress.
    operation = "await" if "promise_token" in params["arguments"] else "ask"
    call = new_exchange(params["arguments"], operation, handshake=OLDER).tool_call()
    sent = json.loads(call.body)
    assert sent["params"].pop("_meta") == {"progressToken": 1}
    assert encode({**sent, "id": example["id"]}) == encode(example)


def test_there_are_examples() -> None:
    assert len(REQUESTS) == 12


def headers_of(**fields: Any) -> dict[str, str]:
    call = new_exchange(**fields).tool_call()
    assert (call.method, call.url) == ("POST", URL)
    return dict(call.headers)


def test_the_newer_generation_says_in_headers_what_is_in_the_body() -> None:
    headers = headers_of(handshake=MODERN)
    assert headers["MCP-Protocol-Version"] == "2026-07-28"
    assert (headers["Mcp-Method"], headers["Mcp-Name"]) == ("tools/call", "ask")
    assert headers["Accept"] == "application/json, text/event-stream"
    assert "Mcp-Session-Id" not in headers
    meta = json.loads(new_exchange(handshake=MODERN).tool_call().body)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"] == {
        "form": {}, "url": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("find recipes", "find recipes"),
        ("Rezepte für alle", "=?base64?UmV6ZXB0ZSBmw7xyIGFsbGU=?="),
        (" ask", "=?base64?IGFzaw==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ],
)
def test_a_name_that_no_header_can_carry_is_encoded(name: str, value: str) -> None:
    assert headers_of(handshake=MODERN, tools=(name, ""))["Mcp-Name"] == value


def test_own_headers_take_the_place_of_the_defaults() -> None:
    headers = headers_of(handshake=MODERN, headers=(("accept", "*/*"), ("X-Key", "k")))
    assert headers["accept"] == "*/*"
    assert headers["X-Key"] == "k"
    assert "Accept" not in headers


def test_ids_are_marked_so_that_runs_of_one_session_do_not_share_them() -> None:
    first, second = (
        new_exchange(handshake=OLDER, request_id_prefix=mark).tool_call() for mark in ("a", "b")
    )
    assert json.loads(first.body)["id"] == "a-1"
    assert json.loads(second.body)["params"]["_meta"] == {"progressToken": "b-1"}


def test_any_tool_can_be_called() -> None:
    call = mcp.call_tool(Target(URL, handshake=OLDER), "add", {"a": 1}).tool_call()
    assert json.loads(call.body)["params"]["arguments"] == {"a": 1}


ENDPOINT = b"event: endpoint\r\ndata: /messages/?session_id=5\r\n\r\n"


def refused(status: int, **fields: Any) -> Talk:
    """A server that accepts no POST request."""
    return Talk(**fields).json(b"No.", status).json(b"No.", status)


@pytest.mark.parametrize("status", [400, 404, 405])
def test_the_older_transport_is_found_by_get_and_named(status: int) -> None:
    talk = refused(status).call()
    assert (talk.calls[-1].method, talk.calls[-1].body) == ("GET", b"")
    assert dict(talk.calls[-1].headers)["Accept"] == "text/event-stream"
    talk.frame(FrameKind.HEAD, head(200, "text/event-stream"))
    assert not talk.exchange.has_enough
    talk.frame(FrameKind.COMMENT, b": hello\n\n")
    assert not talk.exchange.has_enough
    # The stream stays open.
    talk.frame(FrameKind.EVENT, ENDPOINT)
    assert talk.exchange.has_enough
    assert talk.exchange.next_call() is None
    assert "HTTP+SSE transport of MCP 2024-11-05" in talk.problem.cause
    assert "/mcp" in talk.problem.fix
    assert (talk.exchange.outcome, [event.name for event in talk.events]) == (
        Outcome.NONE,
        ["mcp discovery"],
    )


@pytest.mark.parametrize(
    ("status", "media_type", "body"),
    [
        (405, "application/json", b""),
        (200, "text/html", b"<html>"),
        (404, "application/json", b'{"jsonrpc": "2.0", "id": 2, "error": {"code": 5}}'),
        (200, "text/event-stream", b"event: message\ndata: {}\n\n"),
        (200, "text/event-stream", b""),
    ],
)
def test_another_server_is_refused_as_before(status: int, media_type: str, body: bytes) -> None:
    talk = refused(404).call()
    talk.frame(FrameKind.HEAD, head(status, media_type))
    if body:
        stream = media_type == "text/event-stream"
        talk.frame(FrameKind.EVENT if stream else FrameKind.BODY, body)
    talk.frame(FrameKind.END)
    assert talk.exchange.next_call() is None
    assert "HTTP 404" in talk.problem.cause
    assert talk.exchange.outcome is Outcome.NONE


def test_an_error_of_the_search_for_the_older_transport_leaves_the_refusal() -> None:
    talk = refused(404).call()
    talk.frame(FrameKind.ERROR, Problem("failed", Stage.BODY, "No data for 60 s.", "").to_bytes())
    assert talk.exchange.tolerates_error
    assert talk.exchange.next_call() is None
    assert "HTTP 404" in talk.problem.cause


@pytest.mark.parametrize("status", [401, 406, 500, 503])
def test_the_older_transport_is_not_looked_for_after_other_statuses(status: int) -> None:
    talk = Talk(mcp_version="2025-11-25").json(b"No.", status)
    assert talk.exchange.next_call() is None
