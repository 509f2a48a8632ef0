"""Diagnoses: the calls, and what the steps say; causes of failures; what a response speaks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.calls import HttpCall
from playground.protocols.doctor import (
    DetectedProtocol,
    Diagnosis,
    announce,
    cause_of,
    detect_protocol,
    evidence_of,
)
from playground.protocols.doctor.causes import Remedy
from playground.protocols.doctor.detection import AGENT_SCOPE, ASK_AGENT
from playground.protocols.doctor.probes import END_SESSION, KIND_OF, PROBES
from playground.protocols.exchange import Target
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem, Stage
from tests.protocols.doctor.wire import (
    NOT_FOUND,
    FullDiagnosis,
    Response,
    Server,
    frames_of,
    response,
    stream,
)
from tests.support.json_values import values
from tests.support.playbook import CAPTURES, EXAMPLES

AGENT = "http://agent.example.com/api"
KEY = ("Authorization", "Bearer s3cr3t")
NLWEB = Target(AGENT, version="0.55", headers=(KEY,))

ANSWER = response({"_meta": {"version": "0.55", "response_type": "answer"}, "results": []})
FAILURE = response({"_meta": {"version": "0.55"}, "error": {"code": "INVALID_QUERY"}}, 400)
OLDER = stream({"message_type": "result_batch", "results": []}, {"message_type": "complete"})
DISCOVERED = response({"jsonrpc": "2.0", "id": 1, "result": {"supportedVersions": ["2026-07-28"]}})
NO_METHOD = response({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}, 400)
OPENED = response(
    {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}},
    mcp_session_id="session-of-mine",
)
CARD = response({"name": "Chef", "url": "http://b.example", "skills": [{"id": "ask"}]})
COMPLETED = stream(
    {"object": "response", "status": "created", "id": "r"},
    {"object": "message", "status": "created", "id": "m", "type": "message"},
    {"object": "response", "status": "completed", "id": "r"},
)


def tools(*names: str, **more: Any) -> bytes:
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return response({"jsonrpc": "2.0", "id": 2, "result": {"tools": listed, **more}})


def method_of(call: HttpCall) -> str:
    """The JSON-RPC method of a call, "" for none."""
    try:
        return str(json.loads(call.body).get("method", ""))
    except (ValueError, AttributeError):
        return ""


def server(**answers: Response) -> Server:
    """A server that answers a JSON-RPC method or the last part of a path, and 404 else."""

    def answer(call: HttpCall) -> Response:
        end = urlsplit(call.url).path.rpartition("/")[2]
        name = method_of(call).replace("/", "_") or f"{end}".replace("-", "_").partition(".")[0]
        return answers.get(f"{call.method.lower()}_{name}", answers.get(name, NOT_FOUND))

    return answer


def problem(stage: Stage, limit: str | None = None) -> Problem:
    return Problem("failed", stage, f"It broke at {stage}.", "Mend it.", limit=limit)


class TestAnNLWebAgent:
    def test_that_is_well(self) -> None:
        seen = FullDiagnosis(NLWEB, server(post_ask=ANSWER, await_=FAILURE, **{"await": FAILURE}))
        assert seen.failed == []
        assert seen.passed == [
            "address", "name", "policy", "tcp", "http", "content-type", "json", "dialect",
            "ask", "await",
        ]  # fmt: skip
        assert seen.report["found"]["label"] == "NLWeb 0.55"
        assert seen.report["found"]["url"] == AGENT
        assert seen.report["also"] == []

    def test_is_asked_what_it_would_be_asked(self) -> None:
        seen = FullDiagnosis(NLWEB, server(post_ask=ANSWER))
        assert seen.urls == [
            f"POST {AGENT}/ask",
            f"POST {AGENT}/await",
            f"POST {AGENT}",
            f"POST {AGENT}",
            f"POST {AGENT}/mcp",
            f"POST {AGENT}/mcp",
            f"POST {AGENT}",
            f"POST {AGENT}/process",
            "GET http://agent.example.com/.well-known/agent-card.json",
        ]
        assert json.loads(seen.calls[0].body) == {
            "query": {"text": "hello"},
            "prefer": {"streaming": False},
            "meta": {"version": "0.55"},
        }
        assert [KEY in call.headers for call in seen.calls] == [True] * 8 + [False]

    def test_that_cannot_keep_promises_is_not_ill(self) -> None:
        seen = FullDiagnosis(NLWEB, server(post_ask=ANSWER))
        assert seen.step("await")["status"] == "skipped"
        assert "Only agents with promises" in seen.step("await")["cause"]

    def test_whose_await_is_broken(self) -> None:
        broken = response(b"Internal Server Error", 500, "text/plain")
        seen = FullDiagnosis(NLWEB, server(post_ask=ANSWER, **{"await": broken}))
        assert seen.failed == ["await"]

    def test_that_refuses_the_query_speaks_all_the_same(self) -> None:
        seen = FullDiagnosis(NLWEB, server(post_ask=FAILURE))
        assert seen.failed == []
        assert seen.step("ask")["cause"] == "/api/ask is NLWeb 0.55."

    @pytest.mark.parametrize("path", ["", "/nlweb"])
    def test_whose_ask_is_elsewhere(self, path: str) -> None:
        def answer(call: HttpCall) -> Response:
            return ANSWER if urlsplit(call.url).path == f"{path}/ask" else NOT_FOUND

        seen = FullDiagnosis(NLWEB, answer)
        assert seen.failed == ["ask"]
        step = seen.step("ask")
        assert step["cause"] == f"/api/ask was not found; {path}/ask is NLWeb 0.55."
        assert step["fix"].startswith("Set the path of the URL to ")
        assert seen.report["found"]["url"] == f"http://agent.example.com{path}"

    def test_that_is_an_older_server(self) -> None:
        seen = FullDiagnosis(NLWEB, server(get_ask=OLDER, post_ask=response({"detail": "x"}, 422)))
        assert seen.failed == ["ask"]
        assert seen.step("ask")["fix"] == "Set the version to legacy."
        assert seen.report["found"]["version"] == "legacy"
        assert "legacy NLWeb" in seen.step("await")["cause"]

    def test_that_is_known_to_be_an_older_server(self) -> None:
        seen = FullDiagnosis(replace(NLWEB, version="legacy"), server(get_ask=OLDER))
        assert seen.urls[0] == f"GET {AGENT}/ask?query=hello"
        assert seen.failed == []

    @pytest.mark.parametrize(
        ("answer", "step", "cause", "fix"),
        [
            (response(b"<!doctype html><p>Hi", media_type="text/html"), "content-type",
             "The response is an HTML page (text/html).", "Enter the URL of the agent"),
            (response(b"<html>", media_type="application/json"), "json",
             "The response is not valid JSON.", "Enter the URL of the agent"),
            (response(b"{'a'", media_type="application/json"), "json",
             "The response is not valid JSON.", "Configure the agent to send JSON"),
            (response(b""), "json", "The response is empty.", "Check the agent’s log"),
            (response({"hello": "world"}), "dialect",
             "The response does not match any known protocol.", "Compare the response"),
            (response({"_meta": {"response_type": "answer"}}, media_type="text/plain"),
             "content-type", "JSON, but its content type is text/plain.", "content type"),
            (response({}, 401, www_authenticate='Bearer realm="members"'), "http",
             'Authentication required (HTTP 401): Bearer, realm “members”.', "bearer token"),
            (response({}, 401, www_authenticate="Basic"), "http", "HTTP 401", "user name"),
            (response({}, 401), "http", "Authentication required (HTTP 401).", "authentication"),
            (response({}, 403), "http", "or access denied (HTTP 403)", "credentials"),
            (response({}, 421), "http", "does not serve this host", "does not serve"),
            (response({}, 429, retry_after="7"), "http", "Rate limit exceeded", "Retry-After: 7"),
            (response({}, 302, location="https://b.example/"), "http",
             "redirects to https://b.example/ (HTTP 302)", "Redirects aren’t followed"),
            (response(b"oops", 503, "text/plain"), "http", "The server failed (HTTP 503)", "later"),
            (response(b"The plain HTTP request was sent to HTTPS port", 400, "text/html"), "http",
             "The server speaks TLS on this port.", "Use https://"),
            (NOT_FOUND, "ask", "does not respond as NLWeb over HTTP (HTTP 404)", "Check the path"),
        ],
    )  # fmt: skip
    def test_that_is_ill(self, answer: Response, step: str, cause: str, fix: str) -> None:
        seen = FullDiagnosis(NLWEB, lambda _: answer)
        assert seen.failed[0] == step
        assert cause in seen.step(step)["cause"]
        assert fix in seen.step(step)["fix"]
        assert seen.report["found"] is None or step == "content-type"


class TestTheConnection:
    @pytest.mark.parametrize(
        ("stage", "step"),
        [
            (Stage.RESOLVE, "name"),
            (Stage.POLICY, "policy"),
            (Stage.CONNECT, "tcp"),
            (Stage.SEND, "http"),
        ],
    )
    def test_nothing_is_sent_after_one_that_failed(self, stage: Stage, step: str) -> None:
        seen = FullDiagnosis(NLWEB, lambda _: problem(stage))
        assert seen.failed == [step]
        assert len(seen.calls) == 1
        assert (seen.step(step)["cause"], seen.step(step)["fix"]) == (
            f"It broke at {stage}.", "Mend it.",
        )  # fmt: skip
        after = list(seen.statuses)[list(seen.statuses).index(step) + 1 :]
        assert {seen.statuses[name] for name in after} == {"skipped"}

    def test_an_address_that_is_none(self) -> None:
        seen = FullDiagnosis(Target("nonsense"), lambda _: NOT_FOUND, url_error="It has no scheme.")
        assert (seen.calls, seen.failed) == ([], ["address"])
        assert set(list(seen.statuses.values())[1:]) == {"skipped"}

    @pytest.mark.parametrize(
        ("url", "stage", "other"),
        [
            ("https://a.example:8443/x", Stage.TLS, "http://a.example:8443/x"),
            ("http://a.example/x", Stage.HEADERS, "https://a.example:80/x"),
            ("https://a.example/x", Stage.TLS, "http://a.example:443/x"),
        ],
    )
    @pytest.mark.parametrize("answers", [True, False])
    def test_schemes_that_are_mixed_up(
        self, url: str, stage: Stage, other: str, answers: bool
    ) -> None:
        def answer(call: HttpCall) -> Response:
            if call.url != other:
                return problem(stage)
            if not answers:
                return problem(Stage.TLS)
            return response(b"hello", media_type="text/plain")

        seen = FullDiagnosis(Target(url, headers=(KEY,)), answer)
        assert seen.urls[1] == f"GET {other}"
        assert KEY not in seen.calls[1].headers, "credentials in another scheme"
        (step,) = (seen.step(name) for name in ("tls", "http") if name in seen.failed)
        assert step["fix"].startswith("Use ") is answers

    def test_a_certificate_that_is_not_trusted_is_tls_all_the_same(self) -> None:
        def answer(call: HttpCall) -> Response:
            if call.url.startswith("https://"):
                return Problem("failed", Stage.TLS, "The certificate of a is self-signed.", "f")
            return problem(Stage.HEADERS)

        seen = FullDiagnosis(Target("http://a.example"), answer)
        assert seen.step("http")["fix"].startswith("Use https:// instead of http://")

    def test_a_server_that_is_slow_is_not_taken_for_another(self) -> None:
        slow = problem(Stage.HEADERS, limit="idle_timeout")
        others = server(server_discover=DISCOVERED, tools_list=tools("ask"))
        seen = FullDiagnosis(
            NLWEB, lambda call: slow if call.url.endswith("/ask") else others(call)
        )
        assert seen.failed == ["http", "ask"]
        assert "runs have a longer timeout" in seen.step("http")["fix"]
        assert seen.step("mcp")["status"] == "passed"
        assert not [url for url in seen.urls if url.startswith("GET https")]

    def test_a_number_needs_no_name_and_https_is_told(self) -> None:
        seen = FullDiagnosis(Target("https://127.0.0.1/api"), server(post_ask=ANSWER))
        assert "is an IP address" in seen.step("name")["cause"]
        assert seen.step("tls")["status"] == "passed"
        assert FullDiagnosis(NLWEB, server(post_ask=ANSWER)).step("tls")["status"] == "skipped"


class TestMcp:
    MCP = Target("http://agent.example.com/mcp", binding="mcp")
    WELL = staticmethod(server(server_discover=DISCOVERED, tools_list=tools("ask", "await")))

    def test_of_the_newer_generation(self) -> None:
        seen = FullDiagnosis(self.MCP, self.WELL)
        assert seen.failed == []
        assert [method_of(call) for call in seen.calls][:2] == ["server/discover", "tools/list"]
        assert seen.report["found"] == {
            "protocol": "nlweb", "version": "0.55", "binding": "mcp",
            "generation": "2026-07-28", "dialect": "",
            "label": "NLWeb 0.55 over MCP 2026-07-28", "url": self.MCP.url,
        }  # fmt: skip

    def test_of_the_older_generation(self) -> None:
        answers = {"initialize": OPENED, "tools_list": tools("ask")}
        accepted = response(b"", 202)
        seen = FullDiagnosis(
            self.MCP,
            server(server_discover=NO_METHOD, notifications_initialized=accepted, **answers),
        )
        assert seen.failed == []
        methods = [method_of(call) for call in seen.calls][:4]
        assert methods == [
            "server/discover", "initialize", "notifications/initialized", "tools/list",
        ]  # fmt: skip
        headers = dict(seen.calls[3].headers)
        assert (headers["Mcp-Session-Id"], headers["MCP-Protocol-Version"]) == (
            "session-of-mine", "2025-06-18",
        )  # fmt: skip
        # What is kept with the agent lets nobody into the session.
        assert "session-of-mine" not in json.dumps(seen.report)
        assert "mcp-session-id: (not kept)" in seen.report["calls"]["initialize"]["received"]
        assert "MCP 2025-06-18" in seen.step("mcp")["cause"]
        end = seen.calls[-1]
        assert (end.method, end.url) == ("DELETE", self.MCP.url)
        assert dict(end.headers)["Mcp-Session-Id"] == "session-of-mine"

    def test_without_a_session_to_end(self) -> None:
        stateless = {"server_discover": DISCOVERED, "tools_list": tools("ask")}
        opened = response({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
        for answers in (stateless, {"initialize": opened}):
            seen = FullDiagnosis(self.MCP, server(**answers))
            assert "DELETE" not in {call.method for call in seen.calls}

    def test_without_a_tool_for_queries(self) -> None:
        seen = FullDiagnosis(
            self.MCP, server(server_discover=DISCOVERED, tools_list=tools("weather"))
        )
        assert seen.failed == ["tools"]
        assert "Tools: weather." in seen.step("tools")["cause"]
        assert seen.report["found"] is None

    @pytest.mark.parametrize(
        ("named", "ill"), [("weather", []), ("w" * 100, []), ("gone", ["tools"])]
    )
    def test_whose_tool_the_agent_names(self, named: str, ill: list[str]) -> None:
        answers = {"server_discover": DISCOVERED, "tools_list": tools("weather", "w" * 100)}
        seen = FullDiagnosis(replace(self.MCP, tools=(named, "")), server(**answers))
        assert seen.failed == ill
        assert named[:80] in seen.step("tools")["cause"]

    @pytest.mark.parametrize("cursor", ["2", None, "", 7])
    def test_whose_list_has_further_pages(self, cursor: Any) -> None:
        listed = tools("ask", "await", nextCursor=cursor)
        seen = FullDiagnosis(self.MCP, server(server_discover=DISCOVERED, tools_list=listed))
        assert [method_of(call) for call in seen.calls].count("tools/list") == 1
        more = " and more on further pages" if cursor == "2" else ""
        assert f"Tools: ask, await{more}." in seen.step("tools")["cause"]

    def test_whose_tool_may_be_on_a_further_page(self) -> None:
        listed = tools("weather", nextCursor="2")
        seen = FullDiagnosis(self.MCP, server(server_discover=DISCOVERED, tools_list=listed))
        assert seen.failed == []
        cause = seen.step("tools")["cause"]
        assert "first page" in cause
        assert "Tools: weather and more on further pages." in cause

    def test_with_more_tools_than_are_named(self) -> None:
        listed = tools("ask", *(f"t{n}" for n in range(10)))
        seen = FullDiagnosis(self.MCP, server(server_discover=DISCOVERED, tools_list=listed))
        assert "t6 and 3 more." in seen.step("tools")["cause"]

    def test_whose_list_is_none(self) -> None:
        seen = FullDiagnosis(self.MCP, server(server_discover=DISCOVERED, tools_list=NO_METHOD))
        assert seen.failed == ["tools"]

    def test_that_is_not_there(self) -> None:
        seen = FullDiagnosis(self.MCP, lambda _: NOT_FOUND)
        assert seen.failed == ["mcp"]
        assert "most MCP servers are at /mcp" in seen.step("mcp")["fix"]

    @pytest.mark.parametrize(
        ("event", "is_named"), [(b"endpoint", True), (b"message", False), (b"ping", False)]
    )
    def test_with_the_transport_before_streamable_http(self, event: bytes, is_named: bool) -> None:
        body = b": hello\n\nevent: " + event + b"\ndata: /messages?session_id=5\n\n"

        def old(call: HttpCall) -> Response:
            is_get = call.method == "GET" and call.url == self.MCP.url
            return response(body, media_type="text/event-stream") if is_get else NOT_FOUND

        seen = FullDiagnosis(self.MCP, old)
        assert seen.failed == ["mcp"]
        assert ("HTTP+SSE transport" in seen.step("mcp")["cause"]) is is_named

    def test_where_nlweb_was_expected(self) -> None:
        seen = FullDiagnosis(replace(self.MCP, binding="http"), self.WELL)
        assert seen.failed == ["ask"]
        assert seen.step("ask")["fix"] == "Set the binding to MCP."
        assert (seen.report["found"]["binding"], seen.report["found"]["url"]) == (
            "mcp", self.MCP.url,
        )  # fmt: skip

    def test_where_nlweb_is_as_well(self) -> None:
        def both(call: HttpCall) -> Response:
            if call.url == "http://agent.example.com/ask":
                return ANSWER
            return self.WELL(call) if call.url.endswith("/mcp") else NOT_FOUND

        seen = FullDiagnosis(replace(self.MCP, binding="http"), both)
        assert seen.step("ask")["fix"] == "Set the binding to MCP."
        assert seen.report["also"] == ["NLWeb 0.55 at http://agent.example.com"]
        seen = FullDiagnosis(Target("http://agent.example.com"), both)
        assert seen.failed == []
        assert seen.report["also"] == [
            "NLWeb 0.55 over MCP 2026-07-28 at http://agent.example.com/mcp"
        ]


class TestTheAgentApi:
    API = Target("http://agent.example.com/process", protocol="agent-api", version="1")

    def test_that_completes(self) -> None:
        seen = FullDiagnosis(self.API, server(process=COMPLETED))
        assert seen.failed == []
        assert seen.urls[0] == "POST http://agent.example.com/process"
        assert seen.report["found"]["protocol"] == "agent-api"

    @pytest.mark.parametrize(
        ("payloads", "words"),
        [
            ([{"object": "response", "status": "failed"}], "ended as failed"),
            ([{"object": "response", "status": "in_progress"}], "while its response was in_prog"),
            ([{"error": "input: Field required"}], "rejected the message"),
        ],
    )
    def test_that_does_not(self, payloads: list[Any], words: str) -> None:
        seen = FullDiagnosis(self.API, server(process=stream(*payloads)))
        assert seen.failed == ["agent-api"]
        assert words in seen.step("agent-api")["cause"]

    def test_that_is_still_speaking_when_the_doctor_leaves(self) -> None:
        began = {"object": "response", "status": "in_progress"}
        diagnosis = Diagnosis(self.API)
        call = diagnosis.next_call()
        frames = frames_of(stream(began), call)
        late = problem(Stage.BODY, "total_timeout")
        diagnosis.add([*frames[:-1], *frames_of(late)])
        diagnosis.give_up()
        steps = {step["name"]: step for step in diagnosis.report()["steps"]}
        assert steps["agent-api"]["status"] == "passed"
        assert steps["ask"]["cause"] == "Skipped: the time limit of the diagnosis was reached."

    def test_where_nlweb_was_expected(self) -> None:
        seen = FullDiagnosis(
            replace(NLWEB, url="http://agent.example.com"), server(process=COMPLETED)
        )
        assert seen.step("ask")["fix"] == "Set the protocol to Agent API."
        assert seen.report["found"]["url"] == "http://agent.example.com/process"

    def test_where_nlweb_is_in_its_place(self) -> None:
        seen = FullDiagnosis(self.API, server(process=response({"detail": "x"}, 404), ask=ANSWER))
        assert seen.failed == ["agent-api"]
        assert seen.step("agent-api")["fix"].startswith("Set the protocol to NLWeb")


class TestTheCard:
    def test_is_read(self) -> None:
        seen = FullDiagnosis(NLWEB, server(post_ask=ANSWER, agent_card=CARD))
        cause = seen.step("card")["cause"]
        assert cause.startswith("Chef: A2A 0.3. Skills: ask.")
        assert cause.endswith("Its URL is http://b.example.")

    def test_of_an_agent_that_is_nothing_else(self) -> None:
        seen = FullDiagnosis(NLWEB, server(agent_card=CARD))
        assert seen.failed == ["ask"]
        assert "A2A agent" in seen.step("ask")["fix"]


class TestTheVeryUrl:
    def test_of_an_agent_api_agent(self) -> None:
        seen = FullDiagnosis(
            replace(NLWEB, url="http://agent.example.com/api/process"), server(process=COMPLETED)
        )
        assert seen.report["found"]["url"] == "http://agent.example.com/api/process"
        assert seen.report["found"]["protocol"] == "agent-api"
        assert not any("/process/process" in url for url in seen.urls)

    def test_of_an_mcp_server(self) -> None:
        def answer(call: HttpCall) -> Response:
            return TestMcp.WELL(call) if call.url.endswith("/rpc") else NOT_FOUND

        seen = FullDiagnosis(replace(NLWEB, url="http://agent.example.com/rpc"), answer)
        assert seen.report["found"]["url"] == "http://agent.example.com/rpc"
        assert seen.report["found"]["binding"] == "mcp"
        assert not any(url.endswith("/rpc/mcp") for url in seen.urls)

    def test_ends_a_brief_diagnosis(self) -> None:
        def calls_of(url: str) -> list[str]:
            diagnosis = Diagnosis(replace(NLWEB, url=url), is_brief=True)
            made = []
            while call := diagnosis.next_call():
                made.append(call.url.removeprefix("http://agent.example.com"))
                answers = server(post_ask=ANSWER) if url == AGENT else TestMcp.WELL
                diagnosis.add(frames_of(answers(call), call))
            assert diagnosis.report()["found"]["url"] == url
            return made

        assert calls_of(AGENT) == ["/api/ask"]
        assert calls_of("http://agent.example.com/rpc")[-1] == "/rpc"
        assert "/rpc/mcp" not in calls_of("http://agent.example.com/rpc")


class TestTheCause:
    METADATA = "http://agent.example.com/.well-known/oauth-protected-resource"
    DENIED = response(
        {"error": "invalid_token"}, 401,
        www_authenticate=f'Bearer realm="kitchen", scope="ask", resource_metadata="{METADATA}"',
    )  # fmt: skip

    @pytest.mark.parametrize("path", ["/api", "/api/mcp"])
    def test_is_a_denial_at_whatever_path(self, path: str) -> None:
        def answer(call: HttpCall) -> Response:
            return self.DENIED if urlsplit(call.url).path == path and call.body else NOT_FOUND

        if path == "/api":  # The message of the Agent API is sent there as well.
            rpc = answer
            answer = lambda call: rpc(call) if b"jsonrpc" in call.body else NOT_FOUND  # noqa: E731
        cause = FullDiagnosis(NLWEB, answer).report["cause"]
        assert cause["headline"] == (
            "Authentication required (HTTP 401): Bearer, realm “kitchen”, scope “ask”."
        )
        assert (cause["remedy"], cause["scheme"]) == ("authenticate", "bearer")
        assert dict(cause["facts"]) == {
            "Path": path,
            "Server": "MCP server",
            "Scheme": "Bearer",
            "Realm": "kitchen",
            "Scope": "ask",
            "Resource metadata": self.METADATA,
        }

    @pytest.mark.parametrize(
        ("answer", "headline", "remedy"),
        [
            (NOT_FOUND, "Nothing found at /api/ask (HTTP 404).", "diagnose"),
            (problem(Stage.CONNECT), "It broke at connect.", "retry"),
            (problem(Stage.HEADERS, "idle_timeout"),
             "The server accepts connections but does not respond.", "retry"),
            (problem(Stage.LIMIT, "max_bytes"), "It broke at limit.", "retry"),
            (response({"hello": "world"}), f"No agent found at {AGENT}.", "edit"),
        ],
    )  # fmt: skip
    def test_names_what_was_found(self, answer: Response, headline: str, remedy: str) -> None:
        cause = FullDiagnosis(NLWEB, lambda _: answer).report["cause"]
        assert (cause["headline"], cause["remedy"]) == (headline, remedy)
        assert cause["fix"]

    def test_of_an_mcp_server_without_a_tool_for_queries(self) -> None:
        seen = FullDiagnosis(
            TestMcp.MCP, server(server_discover=DISCOVERED, tools_list=tools("weather"))
        )
        headline = "MCP server without a tool for queries at /mcp."
        assert seen.report["cause"]["headline"] == headline

    def test_of_an_a2a_agent(self) -> None:
        seen = FullDiagnosis(NLWEB, server(agent_card=CARD))
        assert seen.report["cause"]["headline"] == "A2A agent at /.well-known/agent-card.json."

    def test_of_the_wrong_scheme(self) -> None:
        def answer(call: HttpCall) -> Response:
            return NOT_FOUND if call.url.startswith("http://") else problem(Stage.TLS)

        cause = FullDiagnosis(Target("https://a.example:8443/x"), answer).report["cause"]
        assert cause["headline"] == "The server does not speak TLS on this port."
        assert cause["url"] == "http://a.example:8443/x"

    def test_there_is_none_where_an_agent_was_detected(self) -> None:
        assert FullDiagnosis(NLWEB, server(post_ask=ANSWER)).report["cause"] is None


class TestAnnouncement:
    TARGETS = (NLWEB, TestMcp.MCP, TestTheAgentApi.API, replace(NLWEB, version="legacy"))

    @pytest.mark.parametrize("target", TARGETS)
    def test_nothing_is_sent_that_was_not_announced(self, target: Target) -> None:
        announced = {(each.method, each.url): each.with_credentials for each in announce(target)}
        servers: list[Server] = [
            lambda _: NOT_FOUND,
            lambda _: problem(Stage.TLS),
            server(ask=ANSWER, server_discover=DISCOVERED, tools_list=tools("ask")),
            server(initialize=OPENED, tools_list=tools("ask"), process=COMPLETED),
        ]
        for each in servers:
            for call in FullDiagnosis(target, each).calls:
                assert (call.method, call.url) in announced
                if KEY in call.headers:
                    assert announced[call.method, call.url]

    def test_every_call_has_a_name_of_its_own(self) -> None:
        assert END_SESSION.name not in KIND_OF
        assert len(KIND_OF) == sum(map(len, PROBES.values()))


BODIES = st.one_of(
    st.binary(max_size=40),
    values(["jsonrpc", "result", "tools", "name", "_meta", "object", "status", "url"]).map(
        lambda value: json.dumps(value).encode()
    ),
)


@given(
    st.lists(
        st.tuples(
            BODIES,
            st.sampled_from([0, 200, 202, 302, 401, 404, 500]),
            st.sampled_from(["application/json", "text/event-stream", "text/html", ""]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(TestAnnouncement.TARGETS),
)
def test_no_server_makes_it_raise(answers: list[tuple[bytes, int, str]], target: Target) -> None:
    turn = iter(range(1000))

    def answer(_: HttpCall) -> Response:
        body, status, media_type = answers[next(turn) % len(answers)]
        if status:
            return response(body, status, media_type)
        return problem(Stage.BODY)

    seen = FullDiagnosis(target, answer)
    assert set(seen.statuses.values()) <= {"passed", "failed", "skipped"}
    assert all(step["cause"] for step in seen.report["steps"])
    assert all(step["fix"] for step in seen.report["steps"] if step["status"] == "failed")


URL = "http://agent.example.com/api"
HTTP = Target(URL, version="0.55")
MCP = replace(HTTP, binding="mcp")
API = Target(URL, protocol="agent-api", version="1")

NO_SESSION = response(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Missing session ID"}}, 400
)
LEGACY = stream({"message_type": "complete"})
MESSAGE = stream({"object": "response", "status": "created", "id": "r"})
DECODE = Problem("failed", Stage.DECODE, "It is not JSON.", "Look.")


def failed(stage: Stage, fix: str = "Look.", limit: str | None = None) -> Problem:
    return Problem("failed", stage, f"It broke at {stage}.", fix, limit=limit)


@pytest.mark.parametrize(
    ("answer", "target", "headline", "remedy", "url"),
    [
        (NO_SESSION, HTTP, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, API, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, MCP, "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (ANSWER, MCP, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (ANSWER, API, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (MESSAGE, HTTP, "This is an Agent API agent.", Remedy.SWITCH, ""),
        (LEGACY, HTTP, "This is a legacy NLWeb server.", Remedy.SWITCH, ""),
        (ANSWER, replace(HTTP, version="legacy"), "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (response({"name": "Chef", "url": URL, "skills": []}), HTTP, "This is an A2A agent.",
         Remedy.DIAGNOSE, ""),
        (response({"error": "x"}, 401, www_authenticate='Basic realm="a"'), HTTP,
         "Authentication required (HTTP 401): Basic, realm “a”.", Remedy.AUTHENTICATE, ""),
        (response(b"<html>", 403, "text/html"), HTTP,
         "Authentication required, or access denied (HTTP 403).", Remedy.AUTHENTICATE, ""),
        (response({}, 404), HTTP, "Nothing found at this URL (HTTP 404).", Remedy.DIAGNOSE, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/mcp/"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an MCP server.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/api/process"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an Agent API agent.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(MCP, url="http://a.example/mcp"),
         "Nothing found at this URL (HTTP 404).", Remedy.DIAGNOSE, ""),
        (NO_SESSION, Target(URL, protocol="action"),
         "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (response({}, 405), MCP, "this URL does not accept POST requests (HTTP 405).",
         Remedy.DIAGNOSE, ""),
        (response(b"<html>", 400, "text/html"), HTTP,
         "This URL serves a web page, not an agent (HTTP 400).", Remedy.DIAGNOSE, ""),
        (response({}, 429), HTTP, "Rate limit exceeded (HTTP 429).", Remedy.RETRY, ""),
        (response({}, 503), HTTP, "The server failed (HTTP 503).", Remedy.RETRY, ""),
        (response({}, 422), HTTP, "The server rejected the request (HTTP 422).", Remedy.RETRY, ""),
        (response({}, 301, location="/nlweb/ask"), HTTP,
         "The agent redirects to /nlweb/ask (HTTP 301).", Remedy.SWITCH,
         "http://agent.example.com/nlweb"),
        (response({}, 308, location="https://agent.example.com/mcp"), MCP,
         "The agent redirects to https://agent.example.com/mcp (HTTP 308).", Remedy.SWITCH,
         "https://agent.example.com/mcp"),
        (response({}, 302, location="https://u:p@b.example/"), HTTP,
         "The agent redirects to https://u:p@b.example/ (HTTP 302).", Remedy.EDIT, ""),
        (response({}, 302, location="data:,x"), HTTP, "The agent redirects to data:,x (HTTP 302).",
         Remedy.EDIT, ""),
        (failed(Stage.CONNECT), HTTP, "It broke at connect.", Remedy.RETRY, ""),
        (failed(Stage.RESOLVE), HTTP, "It broke at resolve.", Remedy.EDIT, ""),
        (failed(Stage.TLS), HTTP, "It broke at tls.", Remedy.RETRY, ""),
        (failed(Stage.TLS, USE_HTTP), replace(HTTP, url="https://a.example/x"), "It broke at tls.",
         Remedy.SWITCH, "http://a.example/x"),
        (failed(Stage.HEADERS, USE_HTTPS), HTTP, "It broke at headers.", Remedy.SWITCH,
         "https://agent.example.com/api"),
        (response(b"<!doctype html>", media_type="text/html"), HTTP,
         "This URL serves a web page, not an agent.", Remedy.DIAGNOSE, ""),
    ],
)  # fmt: skip
def test_the_response_decides_the_cause(
    answer: Response, target: Target, headline: str, remedy: Remedy, url: str
) -> None:
    cause = cause_of(evidence_of(frames_of(answer)), target)
    assert cause
    assert (cause.headline, cause.remedy, cause.url) == (headline, remedy, url)
    assert cause.fix


@pytest.mark.parametrize(
    ("answer", "target"),
    [(ANSWER, HTTP), (MESSAGE, API), (LEGACY, replace(HTTP, version="legacy"))],
)
def test_a_response_as_expected_has_no_cause(answer: Response, target: Target) -> None:
    assert cause_of(evidence_of(frames_of(answer)), target) is None


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [(DECODE, Remedy.DIAGNOSE), (failed(Stage.BODY), Remedy.RETRY)],
)
def test_the_cause_of_a_problem_that_came_later(problem: Problem, remedy: Remedy) -> None:
    cause = cause_of(evidence_of(frames_of(response({"hello": 1}))), HTTP, problem)
    assert cause
    assert (cause.headline, cause.fix, cause.remedy) == (problem.cause, problem.fix, remedy)


@given(st.binary(max_size=60), st.sampled_from([0, 200, 301, 401, 404, 500]), st.text(max_size=40))
def test_no_response_makes_the_cause_raise(body: bytes, status: int, header: str) -> None:
    header = "".join(each for each in header if each.isprintable())
    answer: Response = failed(Stage.BODY)
    if status:
        answer = response(body, status, location=header, www_authenticate=header)
    for target in (HTTP, MCP, API):
        cause_of(evidence_of(frames_of(answer)), target)


ASK = DetectedProtocol("nlweb", "0.54", dialect=ASK_AGENT)
SCOPE = DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE)

#: Every captured reply, by folder and name.
CAPTURED: dict[str, DetectedProtocol | None] = {
    "a2a/v03_agent_card": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v03_send_message": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v03_stream_task": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v1_agent_card": DetectedProtocol(binding="a2a", generation="1.0"),
    "a2a/v1_send_message": DetectedProtocol(binding="a2a", generation="1.0"),
    "a2a/v1_stream_task": DetectedProtocol(binding="a2a", generation="1.0"),
    "agentscope/bad_request_no_input": DetectedProtocol("agent-api", dialect=AGENT_SCOPE),
    "agentscope/error_midstream": SCOPE,
    "agentscope/plugin_call": SCOPE,
    "agentscope/text": SCOPE,
    "ask_agent/ask_json": ASK,
    "ask_agent/ask_stream": ASK,
    "ask_agent/ask_stream_elicitation": ASK,
    "ask_agent/rawsocket_stream_failure_midstream": ASK,
    "mcp/raw_json_tools_call": DetectedProtocol("nlweb", "0.55", "mcp"),
    "mcp/raw_modern_call": DetectedProtocol("nlweb", "0.55", "mcp", "2026-07-28"),
    "mcp/raw_modern_discover": DetectedProtocol(binding="mcp", generation="2026-07-28"),
    "mcp/raw_sse_initialize": DetectedProtocol(binding="mcp", generation="2025-06-18"),
    "mcp/raw_sse_initialized": None,
    "mcp/raw_sse_tools_call": DetectedProtocol("nlweb", "0.55", "mcp"),
    "mcp/raw_sse_tools_list": DetectedProtocol(binding="mcp"),
    "nlweb/get_stream": DetectedProtocol("nlweb", "legacy"),
}


def captured() -> list[str]:
    found = (path for path in CAPTURES.glob("*/*.txt") if not path.name.endswith(".req.txt"))
    return sorted(f"{path.parent.name}/{path.stem}" for path in found)


def test_every_capture_has_its_row() -> None:
    assert captured() == sorted(CAPTURED)


@pytest.mark.parametrize("name", sorted(CAPTURED))
def test_what_a_capture_speaks(name: str) -> None:
    evidence = evidence_of(frames_of((CAPTURES / f"{name}.txt").read_bytes()))
    assert evidence.detected == CAPTURED[name]


#: Examples that name no version: 0.54 shows some answers without metadata.
UNNAMED = {
    "response-4.1.1-conversational-search", "response-4.1.2-promise", "response-4.1.4-failure",
}  # fmt: skip


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_every_example_of_a_reply_to_nlweb(version: str) -> None:
    folder = EXAMPLES / f"nlweb-{version}"
    documents = sorted(folder.glob("response-*.json"))
    assert documents
    for path in documents:
        speech = evidence_of(frames_of(response(path.read_bytes()))).detected
        unnamed = version == "0.54" and path.stem in UNNAMED
        assert speech == DetectedProtocol("nlweb", "" if unnamed else version), path.name


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("nlweb-*/*.sse")), ids=lambda p: p.stem)
def test_every_example_of_a_stream_of_nlweb(path: Path) -> None:
    raw = response(path.read_bytes(), media_type="text/event-stream")
    version = path.parent.name.removeprefix("nlweb-")
    assert evidence_of(frames_of(raw)).detected == DetectedProtocol("nlweb", version)


@pytest.mark.parametrize(
    ("payload", "speech"),
    [
        ({"results": []}, DetectedProtocol("nlweb")),
        ({"meta": {"version": "0.54"}, "results": []}, DetectedProtocol("nlweb", "0.54")),
        ({"_meta": {"version": "0.99", "response_type": "answer"}}, DetectedProtocol("nlweb")),
        ({"error": {"code": "NO_RESULTS"}}, DetectedProtocol("nlweb")),
        ([{"message_type": "result", "content": []}], DetectedProtocol("nlweb", "legacy")),
        ({"query_id": "q", "nlws": {"answer": "a"}}, DetectedProtocol("nlweb", "legacy")),
        ({"ask_user": {"message": "Where?"}}, DetectedProtocol("nlweb", "legacy")),
        ({"error": {"code": 404, "message": "m"}}, None),
        ({"error": {"code": "NOT_OURS"}}, None),
        ({"error": "Not found"}, None),
        ({"detail": [{"loc": ["body"]}]}, None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}, None),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, None),
        ({"jsonrpc": "2.0", "method": "notifications/progress"}, DetectedProtocol(binding="mcp")),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, DetectedProtocol(binding="mcp")),
        ({"name": "a", "skills": [], "url": "http://a.example"},
         DetectedProtocol(binding="a2a", generation="0.3")),
        ({"object": "response", "status": "created"}, DetectedProtocol("agent-api", "1")),
        (
            {"object": "response", "status": "failed", "error": {
                "code": "500", "message": "Task u:s is already in RUNNING state"}},
            DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE),
        ),
        ({"object": "list", "data": []}, None),
        ({}, None),
        ([], None),
        ("hello", None),
        (None, None),
    ],
)  # fmt: skip
def test_what_a_document_speaks(payload: Any, speech: DetectedProtocol | None) -> None:
    assert detect_protocol([(None, payload)]) == speech


@pytest.mark.parametrize(
    ("speech", "label"),
    [
        (DetectedProtocol("nlweb", "0.55"), "NLWeb 0.55"),
        (DetectedProtocol("nlweb"), "NLWeb"),
        (DetectedProtocol("nlweb", "legacy"), "NLWeb, legacy server"),
        (ASK, "NLWeb 0.54 (public ask agent)"),
        (DetectedProtocol("nlweb", "0.55", "mcp", "2025-06-18"), "NLWeb 0.55 over MCP 2025-06-18"),
        (DetectedProtocol(binding="mcp"), "MCP"),
        (DetectedProtocol(binding="a2a", generation="1.0"), "A2A 1.0"),
        (SCOPE, "Agent API (AgentScope Runtime)"),
    ],
)
def test_labels_of_what_was_detected(speech: DetectedProtocol, label: str) -> None:
    assert speech.label == label


NAMES = (
    "_meta meta response_type version results error code message object status jsonrpc result "
    "tools content kind name skills url supportedInterfaces item elicitation promise text "
    "protocolVersion supportedVersions structuredContent metadata message_type method"
).split()
WORDS = ["0.55", "answer", "Answer", "response", "message", "2.0", "in_progress", '{"results":1}']
EVENTS = st.sampled_from([None, "start", "result", "complete", "message", "odd"])


@given(st.lists(st.tuples(EVENTS, values(NAMES, WORDS)), max_size=4), st.booleans())
def test_anything_can_be_looked_at(messages: list[tuple[str | None, Any]], streamed: bool) -> None:
    speech = detect_protocol(messages, streamed=streamed)
    assert speech is None or speech.label
    raw = response(json.dumps([payload for _, payload in messages]).encode())
    assert evidence_of(frames_of(raw)).status == 200
