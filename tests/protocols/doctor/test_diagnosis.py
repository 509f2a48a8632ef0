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
    cause_of,
    detect_protocol,
    evidence_of,
)
from playground.protocols.doctor.causes import Remedy
from playground.protocols.doctor.detection import AGENT_SCOPE, ASK_AGENT
from playground.protocols.doctor.diagnosis import Diagnosis, announce
from playground.protocols.doctor.probes import END_SESSION, PROBES, kind_of_call
from playground.protocols.exchange import Target
from playground.protocols.mcp.responses import OLD_TRANSPORT
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
LEGACY_TARGET = replace(NLWEB, version="legacy")
MCP_TARGET = Target("http://agent.example.com/mcp", binding="mcp")
PROCESS = Target("http://agent.example.com/process", protocol="agent-api", version="1")
ROOT = replace(NLWEB, url="http://agent.example.com")
AT_MCP = replace(MCP_TARGET, binding="http")

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
HTML = response(b"<!doctype html><p>Hi", media_type="text/html")


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


def at(**answers: Response | Server) -> Server:
    """A server that answers a path, written `_api_ask`, and 404 else."""

    def answer(call: HttpCall) -> Response:
        found = answers.get(urlsplit(call.url).path.replace("/", "_"), NOT_FOUND)
        return found(call) if callable(found) else found

    return answer


def mcp(*names: str, **more: Any) -> Server:
    """An MCP server with these tools."""
    return server(server_discover=DISCOVERED, tools_list=tools(*names, **more))


def old_transport(event: bytes, first: bytes = b": hello\n\n") -> Server:
    body = first + b"event: " + event + b"\ndata: /messages?session_id=5\n\n"

    def answer(call: HttpCall) -> Response:
        is_get = call.method == "GET" and call.url == MCP_TARGET.url
        return response(body, media_type="text/event-stream") if is_get else NOT_FOUND

    return answer


def schemes(url: str, answer: Response, other: Response) -> Server:
    """A server that answers calls of the scheme of `url`, and others."""
    scheme = urlsplit(url).scheme
    return lambda call: answer if urlsplit(call.url).scheme == scheme else other


def problem(stage: Stage, limit: str | None = None, fix: str = "Mend it.") -> Problem:
    return Problem("failed", stage, f"It broke at {stage}.", fix, limit=limit)


def named(tool: str) -> Target:
    return replace(MCP_TARGET, tools=(tool, ""))


def always(answer: Response) -> Server:
    return lambda _: answer


SELF_SIGNED = Problem("failed", Stage.TLS, "The certificate of a is self-signed.", "f")
HTTP_TARGET, HTTPS_TARGET = Target("http://a.example/x"), Target("https://a.example:8443/x")
PLAIN = response(b"hello", media_type="text/plain")
SLOW = problem(Stage.HEADERS, "idle_timeout")
FAILED = response(b"oops", 500, "text/plain")
WANTS_TLS = "The server speaks TLS on this port."
METADATA = "http://agent.example.com/.well-known/oauth-protected-resource"

FOUND = f"NLWeb 0.55 at {AGENT}"
FOUND_MCP = f"NLWeb 0.55 over MCP 2026-07-28 at {MCP_TARGET.url}"
FOUND_API = f"Agent API at {PROCESS.url}"
NO_TOOL = "MCP server without a tool for queries at /mcp. edit"
NO_AGENT = f"No agent found at {AGENT}. edit"
NO_JSON = "json dialect ask"
NO_PROMISE = {"await": "Only agents with promises"}

#: Target and server; the steps that fail; words of steps, "cause fix"; what was found with its URL,
#: or the headline and the remedy where nothing was.
DIAGNOSES: dict[str, tuple[Target, Server, str, dict[str, str], str]] = {
    "nlweb": (NLWEB, server(post_ask=ANSWER, **{"await": FAILURE}), "",
              {"await": "/api/await responds (HTTP 400).", "tls": "Not needed"}, FOUND),
    "without promises": (NLWEB, server(post_ask=ANSWER), "", NO_PROMISE, FOUND),
    "await is broken": (NLWEB, server(post_ask=ANSWER, **{"await": FAILED}), "await",
                        {"await": "does not respond as NLWeb (HTTP 500). It should"}, FOUND),
    "query is refused": (NLWEB, server(post_ask=FAILURE), "", {"ask": "/api/ask is NLWeb"}, FOUND),
    "ask at the host": (
        NLWEB, at(_ask=ANSWER), "ask",
        {"ask": "/api/ask was not found; /ask is NLWeb 0.55. Set the path of the URL to /."},
        "NLWeb 0.55 at http://agent.example.com",
    ),
    "ask at another path": (
        NLWEB, at(_nlweb_ask=ANSWER), "ask", {"ask": "Set the path of the URL to /nlweb."},
        "NLWeb 0.55 at http://agent.example.com/nlweb",
    ),
    "a legacy server": (
        NLWEB, server(get_ask=OLDER, post_ask=response({"detail": "x"}, 422)), "ask",
        {"ask": "Set the version to legacy.", "await": "legacy NLWeb has no promises"},
        f"NLWeb, legacy server at {AGENT}",
    ),
    "known as a legacy server": (LEGACY_TARGET, server(get_ask=OLDER), "", {},
                                 f"NLWeb, legacy server at {AGENT}"),
    "number and https": (
        Target("https://127.0.0.1/api"), server(post_ask=ANSWER), "",
        {"name": "is an IP address", "tls": "is trusted"}, "NLWeb 0.55 at https://127.0.0.1/api",
    ),
    "slow, and an MCP server": (
        AT_MCP, lambda call: SLOW if call.url.endswith("/ask") else mcp("ask")(call), "http ask",
        {"http": "runs have a longer timeout", "mcp": "MCP 2026-07-28"}, FOUND_MCP,
    ),
    "mcp": (MCP_TARGET, mcp("ask", "await"), "", {"tools": "Tools: ask, await."}, FOUND_MCP),
    "no tool for queries": (MCP_TARGET, mcp("weather"), "tools",
                            {"tools": "No tool accepts queries. Tools: weather."}, NO_TOOL),
    "tool by name": (named("weather"), mcp("weather"), "", {"tools": "weather accepts"}, FOUND_MCP),
    "tool by a long name": (named("w" * 100), mcp("w" * 100), "",
                            {"tools": f"The tool {'w' * 80} accepts"}, FOUND_MCP),
    "tool that is gone": (named("gone"), mcp("weather"), "tools",
                          {"tools": "No tool is named gone."}, NO_TOOL),
    "tools on further pages": (MCP_TARGET, mcp("ask", nextCursor="2"), "",
                               {"tools": "Tools: ask and more on further pages."}, FOUND_MCP),
    "tool on a further page": (
        MCP_TARGET, mcp("weather", nextCursor="2"), "",
        {"tools": "on the first page of the list. Tools: weather and more on further"}, NO_TOOL,
    ),
    **{f"cursor {cursor!r}": (MCP_TARGET, mcp("ask", nextCursor=cursor), "",
                              {"tools": "Tools: ask."}, FOUND_MCP) for cursor in (None, "", 7)},
    "many tools": (MCP_TARGET, mcp("ask", *(f"t{n}" for n in range(10))), "",
                   {"tools": "t6 and 3 more."}, FOUND_MCP),
    "no list of tools": (
        MCP_TARGET, server(server_discover=DISCOVERED, tools_list=NO_METHOD), "tools",
        {"tools": "tools/list did not return an array of tools (HTTP 400)."}, NO_TOOL,
    ),
    "no mcp": (MCP_TARGET, always(NOT_FOUND), "mcp", {"mcp": "most MCP servers are at /mcp"},
               "Nothing found at /mcp (HTTP 404). diagnose"),
    "old transport": (MCP_TARGET, old_transport(b"endpoint"), "mcp", {"mcp": OLD_TRANSPORT.cause},
                      f"{OLD_TRANSPORT.cause} edit"),
    "another stream": (MCP_TARGET, old_transport(b"message"), "mcp", {"mcp": "most MCP servers"},
                       "Nothing found at /mcp (HTTP 404). diagnose"),
    # The first event decides, also for a run.
    "another first event": (
        MCP_TARGET, old_transport(b"endpoint", b"retry: 5\n\n"), "mcp",
        {"mcp": "most MCP servers"}, "Nothing found at /mcp (HTTP 404). diagnose",
    ),
    "mcp in place of nlweb": (AT_MCP, mcp("ask"), "ask", {"ask": "Set the binding to MCP."},
                              FOUND_MCP),
    "mcp at another path than /mcp": (
        replace(NLWEB, url="http://agent.example.com/rpc"), at(_rpc=mcp("ask")), "ask",
        {"ask": "Set the binding to MCP."},
        "NLWeb 0.55 over MCP 2026-07-28 at http://agent.example.com/rpc",
    ),
    "agent api": (PROCESS, server(process=COMPLETED), "",
                  {"agent-api": "completed its response"}, FOUND_API),
    "agent api, failed": (
        PROCESS, server(process=stream({"object": "response", "status": "failed"})), "agent-api",
        {"agent-api": "its response ended as failed"}, FOUND_API,
    ),
    "agent api, not completed": (
        PROCESS, server(process=stream({"object": "response", "status": "queued"})), "agent-api",
        {"agent-api": "ended the stream while its response was queued"}, FOUND_API,
    ),
    "agent api, rejected": (
        PROCESS, server(process=stream({"error": "input: Field required"})), "agent-api",
        {"agent-api": "rejected the message"}, f"Agent API (AgentScope Runtime) at {PROCESS.url}",
    ),
    "agent api in place of nlweb": (ROOT, server(process=COMPLETED), "ask",
                                    {"ask": "Set the protocol to Agent API."}, FOUND_API),
    "agent api at the very URL": (
        replace(NLWEB, url="http://agent.example.com/api/process"), server(process=COMPLETED),
        "ask", {}, "Agent API at http://agent.example.com/api/process",
    ),
    "nlweb in place of the agent api": (
        PROCESS, server(process=response({"detail": "x"}, 404), ask=ANSWER), "agent-api",
        {"agent-api": "Set the protocol to NLWeb and the binding to HTTP."},
        f"NLWeb 0.55 at {PROCESS.url}",
    ),
    "with a card": (
        NLWEB, server(post_ask=ANSWER, agent_card=CARD), "",
        {"card": "Chef: A2A 0.3. Skills: ask. Its URL is http://b.example."}, FOUND,
    ),
    "a2a alone": (NLWEB, server(agent_card=CARD), "ask", {"ask": "A2A agents support actions only"},
                  "A2A agent at /.well-known/agent-card.json. edit"),
    **{
        f"broken at {stage}": (NLWEB, always(problem(stage)), step,
                               {step: f"It broke at {stage}. Mend it."},
                               f"It broke at {stage}. {remedy}")
        for stage, step, remedy in [
            (Stage.RESOLVE, "name", "edit"), (Stage.POLICY, "policy", "edit"),
            (Stage.CONNECT, "tcp", "retry"), (Stage.SEND, "http", "retry"),
        ]
    },
    "http in place of https": (
        HTTPS_TARGET, schemes(HTTPS_TARGET.url, problem(Stage.TLS), PLAIN), "tls",
        {"tls": "It broke at tls. Use http:// instead of https://."},
        "The server does not speak TLS on this port. switch",
    ),
    "https in place of http": (
        HTTP_TARGET, schemes(HTTP_TARGET.url, problem(Stage.HEADERS), PLAIN), "http",
        {"http": "It broke at headers. Use https:// instead of http://."}, f"{WANTS_TLS} switch",
    ),
    "https with an untrusted certificate": (
        HTTP_TARGET, schemes(HTTP_TARGET.url, problem(Stage.HEADERS), SELF_SIGNED), "http",
        {"http": "Use https:// instead of http://."}, f"{WANTS_TLS} switch",
    ),
    "no scheme": (HTTPS_TARGET, always(problem(Stage.TLS)), "tls",
                  {"tls": "It broke at tls. Mend it."}, "It broke at tls. retry"),
    "silent": (NLWEB, always(SLOW), "http ask", {"http": "Check the agent’s log"},
               "The server accepts connections but does not respond. retry"),
    "too long": (NLWEB, always(problem(Stage.LIMIT, "max_bytes")), "http ask",
                 {"http": "runs have higher limits than diagnoses"}, "It broke at limit. retry"),
    "html": (
        NLWEB, always(HTML), "content-type json dialect ask",
        {"content-type": "The response is an HTML page (text/html). Enter the URL of the agent"},
        "This URL serves a web page, not an agent. diagnose",
    ),
    "html as json": (NLWEB, always(response(b"<html>")), NO_JSON,
                     {"json": "The response is not valid JSON. Enter the URL of the agent"},
                     "This URL serves a web page, not an agent. diagnose"),
    "no json": (NLWEB, always(response(b"{'a'")), NO_JSON,
                {"json": "The response is not valid JSON. Configure the agent"}, NO_AGENT),
    "empty": (NLWEB, always(response(b"")), NO_JSON,
              {"json": "The response is empty. Check the agent’s log"}, NO_AGENT),
    "other json": (NLWEB, always(response({"hello": "world"})), "dialect ask",
                   {"dialect": "not match any known protocol. Compare the response"}, NO_AGENT),
    "wrong content type": (
        NLWEB, always(response({"_meta": {"response_type": "answer"}}, media_type="text/plain")),
        "content-type", {"content-type": "JSON, but its content type is text/plain. Configure"},
        f"NLWeb at {AGENT}",
    ),
    **{
        f"denied: {cause}": (NLWEB, always(response({}, status, **headers)), "http dialect ask"
                             if status == 503 else "http ask",
                             {"http": f"{cause} {fix}", "ask": cause}, f"{cause} {remedy}")
        for status, headers, cause, fix, remedy in [
            (401, {"www_authenticate": 'Bearer realm="a"'},
             "Authentication required (HTTP 401): Bearer, realm “a”.", "Add a bearer token",
             "authenticate"),
            (403, {}, "Authentication required, or access denied (HTTP 403).", "Check the agent’s",
             "authenticate"),
            (421, {}, "The server does not serve this host (HTTP 421).", "Check", "diagnose"),
            (429, {"retry_after": "7"}, "Rate limit exceeded (HTTP 429).",
             "Wait before sending again: the agent limits the request rate. Retry-After: 7.",
             "retry"),
            (302, {"location": "https://b.example/"},
             "The agent redirects to https://b.example/ (HTTP 302).", "Redirects", "switch"),
            (503, {}, "The server failed (HTTP 503).", "Retry later", "retry"),
        ]
    },
    "plain http at a port of TLS": (
        NLWEB, always(response(b"The plain HTTP request was sent to HTTPS port", 400, "text/html")),
        "http content-type json dialect ask", {"http": f"{WANTS_TLS} Use https://"},
        f"{WANTS_TLS} switch",
    ),
    "nothing": (
        NLWEB, always(NOT_FOUND), "ask",
        {"ask": "/api/ask does not respond as NLWeb over HTTP (HTTP 404). Check the path"},
        "Nothing found at /api/ask (HTTP 404). diagnose",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIAGNOSES)
def test_diagnosis(name: str) -> None:
    target, answer, failed_steps, words, outcome = DIAGNOSES[name]
    seen = FullDiagnosis(target, answer)
    found, cause = seen.report["found"], seen.report["cause"]
    assert seen.failed == failed_steps.split()
    for step_name, expected in words.items():
        step = seen.step(step_name)
        assert expected in f"{step['cause']} {step['fix']}"
    if found:
        assert f"{found['label']} at {found['url']}" == outcome
        assert cause is None
    else:
        assert f"{cause['headline']} {cause['remedy']}" == outcome
        assert cause["fix"]


class TestCalls:
    def test_of_a_query_as_it_would_be_sent(self) -> None:
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
            f"POST {AGENT}",
            "GET http://agent.example.com/.well-known/agent-card.json",
        ]
        assert json.loads(seen.calls[0].body) == {
            "query": {"text": "hello"},
            "prefer": {"streaming": False},
            "meta": {"version": "0.55"},
        }
        assert [KEY in call.headers for call in seen.calls] == [True] * 9 + [False]
        legacy = FullDiagnosis(LEGACY_TARGET, server(get_ask=OLDER))
        assert legacy.urls[0] == f"GET {AGENT}/ask?query=hello"

    @pytest.mark.parametrize("stage", [Stage.RESOLVE, Stage.POLICY, Stage.CONNECT, Stage.SEND])
    def test_end_with_a_connection_that_failed(self, stage: Stage) -> None:
        seen = FullDiagnosis(NLWEB, always(problem(stage)))
        assert len(seen.calls) == 1
        after = list(seen.statuses)[list(seen.statuses).index(seen.failed[0]) + 1 :]
        assert {seen.statuses[name] for name in after} == {"skipped"}

    def test_are_not_made_to_a_url_that_is_none(self) -> None:
        seen = FullDiagnosis(Target("nonsense"), always(NOT_FOUND), url_error="It has no scheme.")
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
    def test_in_the_other_scheme_have_no_credentials(
        self, url: str, stage: Stage, other: str
    ) -> None:
        seen = FullDiagnosis(Target(url, headers=(KEY,)), schemes(url, problem(stage), PLAIN))
        assert seen.urls[1] == f"GET {other}"
        assert KEY not in seen.calls[1].headers

    def test_to_a_slow_server_stay_in_its_scheme(self) -> None:
        seen = FullDiagnosis(NLWEB, always(SLOW))
        assert not [url for url in seen.urls if url.startswith("GET https")]

    def test_of_a_session(self) -> None:
        accepted = response(b"", 202)
        seen = FullDiagnosis(
            MCP_TARGET,
            server(
                server_discover=NO_METHOD,
                initialize=OPENED,
                notifications_initialized=accepted,
                tools_list=tools("ask"),
            ),
        )
        assert seen.failed == []
        assert [method_of(call) for call in seen.calls][:4] == [
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
        assert (end.method, end.url) == ("DELETE", MCP_TARGET.url)
        assert dict(end.headers)["Mcp-Session-Id"] == "session-of-mine"

    def test_without_a_session_to_end(self) -> None:
        opened = response({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
        for answer in (mcp("ask"), server(initialize=opened, tools_list=tools("ask"))):
            seen = FullDiagnosis(MCP_TARGET, answer)
            assert "DELETE" not in {call.method for call in seen.calls}

    def test_for_tools_read_one_page(self) -> None:
        seen = FullDiagnosis(MCP_TARGET, mcp("ask", nextCursor="2"))
        assert [method_of(call) for call in seen.calls].count("tools/list") == 1

    def test_are_not_made_below_the_very_url(self) -> None:
        for name in ("agent api at the very URL", "mcp at another path than /mcp"):
            urls = FullDiagnosis(*DIAGNOSES[name][:2]).urls
            assert not [url for url in urls if url.endswith(("/process/process", "/rpc/mcp"))]

    def test_of_a_brief_diagnosis_end_at_the_very_url(self) -> None:
        def calls_of(url: str, answer: Server) -> list[str]:
            diagnosis = Diagnosis(replace(NLWEB, url=url), is_brief=True)
            made = []
            while call := diagnosis.next_call():
                made.append(call.url.removeprefix("http://agent.example.com"))
                diagnosis.add(frames_of(answer(call), call))
            assert diagnosis.report()["found"]["url"] == url
            return made

        assert calls_of(AGENT, server(post_ask=ANSWER)) == ["/api/ask"]
        made = calls_of("http://agent.example.com/rpc", mcp("ask"))
        assert made[-1] == "/rpc"
        assert "/rpc/mcp" not in made


def test_the_settings_that_were_found() -> None:
    assert FullDiagnosis(MCP_TARGET, mcp("ask")).report["found"] == {
        "protocol": "nlweb", "version": "0.55", "binding": "mcp",
        "generation": "2026-07-28", "dialect": "",
        "label": "NLWeb 0.55 over MCP 2026-07-28", "url": MCP_TARGET.url,
    }  # fmt: skip


def test_one_protocol_beside_another() -> None:
    both = at(_ask=ANSWER, _mcp=mcp("ask"))
    seen = FullDiagnosis(AT_MCP, both)
    assert seen.step("ask")["fix"] == "Set the binding to MCP."
    assert seen.report["also"] == ["NLWeb 0.55 at http://agent.example.com"]
    seen = FullDiagnosis(Target("http://agent.example.com"), both)
    assert seen.failed == []
    assert seen.report["also"] == [f"NLWeb 0.55 over MCP 2026-07-28 at {MCP_TARGET.url}"]


def test_a_response_that_goes_on_when_the_diagnosis_ends() -> None:
    diagnosis = Diagnosis(PROCESS)
    call = diagnosis.next_call()
    frames = frames_of(stream({"object": "response", "status": "in_progress"}), call)
    diagnosis.add([*frames[:-1], *frames_of(problem(Stage.BODY, "total_timeout"))])
    diagnosis.give_up()
    steps = {step["name"]: step for step in diagnosis.report()["steps"]}
    assert steps["agent-api"]["status"] == "passed"
    assert steps["ask"]["cause"] == "Skipped: the time limit of the diagnosis was reached."


@pytest.mark.parametrize("path", ["/api", "/api/mcp"])
def test_the_facts_of_a_denial_at_whatever_path(path: str) -> None:
    challenge = f'Bearer realm="kitchen", scope="ask", resource_metadata="{METADATA}"'
    denied = response({"error": "invalid_token"}, 401, www_authenticate=challenge)

    def answer(call: HttpCall) -> Response:
        # The message of the Agent API is sent to the URL of the agent as well.
        is_there = urlsplit(call.url).path == path and b"jsonrpc" in call.body
        return denied if is_there else NOT_FOUND

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
        "Resource metadata": METADATA,
    }


def test_the_url_in_the_other_scheme() -> None:
    cause = FullDiagnosis(*DIAGNOSES["http in place of https"][:2]).report["cause"]
    assert cause["url"] == "http://a.example:8443/x"


class TestAnnouncement:
    TARGETS = (NLWEB, MCP_TARGET, PROCESS, LEGACY_TARGET)

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
        assert kind_of_call(END_SESSION.name) is None
        names = [probe.name for probes in PROBES.values() for probe in probes]
        assert len(names) == len(set(names))


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


HTTP = Target(AGENT, version="0.55")
MCP = replace(HTTP, binding="mcp")
API = Target(AGENT, protocol="agent-api", version="1")

NO_SESSION = response(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Missing session ID"}}, 400
)
MESSAGE = stream({"object": "response", "status": "created", "id": "r"})
DECODE = Problem("failed", Stage.DECODE, "It is not JSON.", "Look.")


#: What `DIAGNOSES` have as well, connections that failed for one, is not here.
@pytest.mark.parametrize(
    ("answer", "target", "headline", "remedy", "url"),
    [
        (NO_SESSION, HTTP, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, API, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, MCP, "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (ANSWER, MCP, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (ANSWER, API, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (MESSAGE, HTTP, "This is an Agent API agent.", Remedy.SWITCH, ""),
        (OLDER, HTTP, "This is a legacy NLWeb server.", Remedy.SWITCH, ""),
        (ANSWER, replace(HTTP, version="legacy"), "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (response({"name": "Chef", "url": AGENT, "skills": []}), HTTP, "This is an A2A agent.",
         Remedy.DIAGNOSE, ""),
        (response({"error": "x"}, 401, www_authenticate='Basic realm="a"'), HTTP,
         "Authentication required (HTTP 401): Basic, realm “a”.", Remedy.AUTHENTICATE, ""),
        (response(b"<html>", 403, "text/html"), HTTP,
         "Authentication required, or access denied (HTTP 403).", Remedy.AUTHENTICATE, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/mcp/"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an MCP server.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/api/process"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an Agent API agent.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(MCP, url="http://a.example/mcp"),
         "Nothing found at this URL (HTTP 404).", Remedy.DIAGNOSE, ""),
        (NO_SESSION, Target(AGENT, protocol="action"),
         "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (response({}, 405), MCP, "this URL does not accept POST requests (HTTP 405).",
         Remedy.DIAGNOSE, ""),
        (response(b"<html>", 400, "text/html"), HTTP,
         "This URL serves a web page, not an agent (HTTP 400).", Remedy.DIAGNOSE, ""),
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
        (problem(Stage.TLS, fix=USE_HTTP), replace(HTTP, url="https://a.example/x"),
         "It broke at tls.", Remedy.SWITCH, "http://a.example/x"),
        (problem(Stage.HEADERS, fix=USE_HTTPS), HTTP, "It broke at headers.", Remedy.SWITCH,
         "https://agent.example.com/api"),
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
    [(ANSWER, HTTP), (MESSAGE, API), (OLDER, replace(HTTP, version="legacy"))],
)
def test_a_response_as_expected_has_no_cause(answer: Response, target: Target) -> None:
    assert cause_of(evidence_of(frames_of(answer)), target) is None


@pytest.mark.parametrize(
    ("later", "remedy"),
    [(DECODE, Remedy.DIAGNOSE), (problem(Stage.BODY), Remedy.RETRY)],
)
def test_the_cause_of_a_problem_that_came_later(later: Problem, remedy: Remedy) -> None:
    cause = cause_of(evidence_of(frames_of(response({"hello": 1}))), HTTP, later)
    assert cause
    assert (cause.headline, cause.fix, cause.remedy) == (later.cause, later.fix, remedy)


@given(st.binary(max_size=60), st.sampled_from([0, 200, 301, 401, 404, 500]), st.text(max_size=40))
def test_no_response_makes_the_cause_raise(body: bytes, status: int, header: str) -> None:
    header = "".join(each for each in header if each.isprintable())
    answer: Response = problem(Stage.BODY)
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
