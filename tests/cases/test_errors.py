"""Errors in the forms of other people's frameworks, gateways and SDKs, over every protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.protocols.events import Failure, Outcome
from tests.cases import FILES, Answer, ask, mcp_server
from tests.commands.test_run_collection import fixture
from tests.protocols.a2a import conversation as a2a
from tests.support.commands import run_command
from tests.support.playbook import SSE, Playbook
from tests.support.servers import RESET, Script, reply, serving

API = ("--protocol", "agent-api")
MCP = ("--binding", "mcp")
FAILED = ("completed", "failure", 1)


def whole(body: Any, status: str = "400 Bad Request", kind: str = "application/json") -> bytes:
    return reply(body if isinstance(body, bytes) else json.dumps(body).encode(), kind, status)


def stream(*blocks: str, status: str = "200 OK") -> bytes:
    return reply("".join(f"{block}\n\n" for block in blocks).encode(), "text/event-stream", status)


def over_mcp(call: Callable[[Any], bytes] | bytes) -> Callable[[bytes], Script]:
    """An MCP server whose answer to `tools/call` is made from its id."""
    return mcp_server(lambda number: (call if isinstance(call, bytes) else call(number),))


def rpc(number: Any, **members: Any) -> bytes:
    return whole({"jsonrpc": "2.0", "id": number, **members}, "200 OK")


def send_mcp(**members: Any) -> Answer:
    """What `send` makes of a response to `tools/call` with these members."""
    return ask(answer=over_mcp(lambda number: rpc(number, **members)), arguments=MCP)


PROBLEM = {"title": "Bad Request", "status": 400, "detail": "Query parameter is required"}
FASTAPI = {
    "detail": [
        {"loc": ["body", "query"], "msg": "Field required", "type": "missing"},
        {"loc": ["body", "meta", 0], "msg": "Bad value", "type": "value"},
    ]
}
WORDPRESS = {"code": "rest_no_route", "message": "No route was found", "data": {"status": 404}}

#: Bodies of an HTTP error: code and message of the failure, and what else the page shows.
BODIES: dict[str, tuple[Any, str, str, str]] = {
    "problem details": (PROBLEM, "", "Query parameter is required", "Bad Request"),
    "problem without detail": ({"title": "Out of credit", "status": 403, "type": "https://e.test/p"},
                               "", "Out of credit", "https://e.test/p"),
    "aspnet": ({"type": "https://tools.ietf.org/html/rfc9110", "title": "Validation failed.",
                "status": 400, "errors": {"Query": ["Query is required."], "Top": ["No."]}},
               "", "Validation failed: Query: Query is required. Top: No.", "Top"),
    "aspnet message": ({"Message": "An error has occurred."}, "", "An error has occurred.", ""),
    "fastapi 422": (FASTAPI, "missing", "body.query: Field required. body.meta.0: Bad value.", ""),
    "fastapi detail": ({"detail": "Not authenticated"}, "", "Not authenticated", ""),
    "fastapi detail object": ({"detail": {"code": "E7", "msg": "No"}}, "E7", "No", ""),
    "wordpress": (WORDPRESS, "rest_no_route", "No route was found", "404"),
    "django rest": ({"query": ["Say more."]}, "", "query: Say more.", ""),
    "django rest list": (["Not allowed."], "", "Not allowed.", ""),
    "nest": ({"statusCode": 400, "message": ["text is empty", "site is wrong"],
              "error": "Bad Request"},
             "", "Bad Request: text is empty. site is wrong.", ""),
    "spring": ({"timestamp": "t", "status": 404, "error": "Not Found", "path": "/ask"},
               "", "Not Found", "/ask"),
    "openai": ({"error": {"message": "No key", "type": "invalid_request_error", "code": None}},
               "invalid_request_error", "No key", ""),
    "google": ({"error": {"code": 400, "message": "Bad site", "status": "INVALID_ARGUMENT"}},
               "400", "Bad site", ""),
    "anthropic": ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}},
                  "overloaded_error", "Busy", ""),
    "oauth": ({"error": "invalid_scope", "error_description": "Scope too small"},
              "invalid_scope", "Scope too small", ""),
    "text": ({"error": "Cold kitchen"}, "", "Cold kitchen", ""),
    "flag": ({"error": True, "message": "Cold kitchen"}, "", "Cold kitchen", ""),
    "json api": ({"errors": [{"status": "422", "detail": "Bad site"}]}, "", "Bad site", "422"),
    "errors of texts": ({"errors": ["One", "Two"]}, "", "One. Two.", ""),
    "success": ({"success": False, "message": "Cold kitchen"}, "", "Cold kitchen", ""),
    "nested": ({"error": {"error": {"message": "Deep"}}}, "", "Deep", ""),
    "string": ("Cold kitchen", "", "Cold kitchen", ""),
}  # fmt: skip


#: Bodies that are also tried over the other bindings, where one reader is behind all of them.
OVER_ALL = ("problem details", "problem without detail", "fastapi 422", "wordpress", "django rest")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *((name, ()) for name in BODIES),
        *((name, arguments) for name in OVER_ALL for arguments in (API, MCP)),
    ],
)
def test_the_error_in_the_body_of_an_http_error(name: str, arguments: tuple[str, ...]) -> None:
    body, code, message, shown = BODIES[name]
    if arguments == MCP:
        found = ask(answer=over_mcp(whole(body)), arguments=MCP)
    else:
        found = ask(whole(body), arguments=arguments)
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert (failure["code"], failure["message"]) == (code, message)
    for text in (code, message, shown):
        assert text in found.page
    assert not found.of("error")
    # An error is no content with mistakes.
    assert "agent-api.content-fields" not in found.findings


#: Errors that say so, with a status of 200.
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (PROBLEM, "Query parameter is required"),
        (FASTAPI, "body.query: Field required. body.meta.0: Bad value."),
        (WORDPRESS, "No route was found"),
        ({"error": "Cold kitchen"}, "Cold kitchen"),
        ({"errors": [{"message": "Cold kitchen"}]}, "Cold kitchen"),
        ({"success": False, "message": "Cold kitchen"}, "Cold kitchen"),
        ({"status": "error", "message": "Cold kitchen"}, "Cold kitchen"),
        ({"message_type": "error", "content": "Cold kitchen"}, "Cold kitchen"),
        ({"_meta": {"response_type": "failure"}, "detail": "Cold kitchen"}, "Cold kitchen"),
    ],
)
def test_an_error_that_says_so_with_any_status(body: Any, message: str) -> None:
    for found in (
        ask(whole(body, "200 OK")),
        ask(stream(f"data: {json.dumps(body)}")),
        send_mcp(result={"content": [{"type": "text", "text": json.dumps(body)}]}),
        send_mcp(result={"structuredContent": body, "content": []}),
    ):
        assert found.ending == FAILED
        assert [line["message"] for line in found.of("failure")] == [message]
        assert message in found.page


#: Documents that are no errors: with status 200, and with that of an error.
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"detail": "A long description"}, "200 OK"),
        ({"message": "Hello"}, "200 OK"),
        ({"code": 200, "status": "ok", "message": "Hello"}, "200 OK"),
        ({"errors": [], "items": [1]}, "200 OK"),
        ({"errors": 0, "success": True, "title": "Hello"}, "200 OK"),
        ("Hello", "200 OK"),
        ({"surprise": 1}, "500 Internal Server Error"),
        ([], "404 Not Found"),
        ({}, "404 Not Found"),
    ],
)
def test_an_ordinary_document_is_no_error(body: Any, status: str) -> None:
    found = ask(whole(body, status))
    assert found.ending == ("failed", "none", 3)
    assert not found.of("failure")


@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error"])
@pytest.mark.parametrize("body", [b"<!doctype html><p>Sorry", b"Sorry"])
def test_text_that_a_proxy_may_have_sent_is_no_failure_of_the_agent(
    body: bytes, status: str
) -> None:
    found = ask(whole(body, status, "text/plain"))
    assert found.ending == ("failed", "none", 3)
    assert "Sorry" in found.of("error")[0]["detail"]
    assert "Sorry" in found.page


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        ("The kitchen is cold.", "", "The kitchen is cold."),
        ('"The kitchen is cold."', "", "The kitchen is cold."),
        ('{"error": "Cold"}', "", "Cold"),
        ('{"error": {"code": "E7", "message": "Cold"}}', "E7", "Cold"),
        ('{"error": {"error": {"message": "Cold"}}}', "", "Cold"),
        ('{"error": true, "message": "Cold"}', "", "Cold"),
        ('{"message_type": "error", "content": "Cold"}', "", "Cold"),
        ('{"message_type": "error", "error": {"message": "Cold"}}', "", "Cold"),
        ('{"detail": "Cold"}', "", "Cold"),
        ('{"detail": [{"loc": ["body"], "msg": "Cold", "type": "e"}]}', "e", "body: Cold"),
        ('["Cold", "Dark"]', "", "Cold. Dark."),
        ('[{"code": "E7", "message": "Cold"}]', "E7", "Cold"),
        ('{"title": "Cold", "status": 500}', "", "Cold"),
        ('{"reason": "Cold"}', "", "Cold"),
        ("{broken", "", "{broken"),
    ],
)
@pytest.mark.parametrize("arguments", [(), API])
def test_an_error_event(data: str, code: str, message: str, arguments: tuple[str, ...]) -> None:
    found = ask(stream(f"event: error\ndata: {data}"), arguments=arguments)
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert (failure["code"], failure["message"]) == (code, message)
    assert message in found.page


@pytest.mark.parametrize("data", ["The kitchen is cold.", '{"detail": "The kitchen is cold."}'])
def test_an_error_event_in_a_stream_of_mcp(data: str) -> None:
    found = ask(answer=over_mcp(stream(f"event: error\ndata: {data}")), arguments=MCP)
    assert found.ending == FAILED
    assert found.of("failure")[0]["message"] == "The kitchen is cold."


ITEM = 'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Soup"}}'


def test_results_before_an_error_stay_and_results_after_it_are_an_answer() -> None:
    error = "event: error\ndata: The kitchen is cold."
    found = ask(stream(ITEM, error))
    assert found.ending == FAILED
    assert "Soup" in found.page
    assert "The kitchen is cold." in found.page
    assert ask(stream(error, ITEM)).ending == ("completed", "answer", 0)
    broken = ask(stream(ITEM, error)[:-2] + b"\n\nevent: re", RESET)
    assert broken.end["outcome"] == "failure"
    assert "The kitchen is cold." in broken.page


def test_a_stream_of_the_reference_server_that_ends_with_an_error() -> None:
    start = 'event: start\ndata: {"_meta": {"version": "0.55", "response_type": "answer"}}'
    end = 'event: complete\ndata: {"_meta": {"version": "0.55", "error": true}}'
    assert ask(stream(start, end)).ending == FAILED
    found = ask(stream(start, ITEM, 'data: {"message_type": "error", "message": "Cold"}', end))
    assert found.ending == FAILED
    assert [line["message"] for line in found.of("failure")] == ["Cold"]


@pytest.mark.parametrize(
    ("result", "code", "message", "shown"),
    [
        ({"content": [], "structuredContent": {"code": "RATE_LIMITED", "retry_after": 30}},
         "RATE_LIMITED", "", "retry_after"),
        ({"structuredContent": {"error": {"code": "E7", "message": "Cold"}}}, "E7", "Cold", ""),
        ({"structuredContent": {"result": {"code": "E7", "message": "Cold"}}}, "E7", "Cold", ""),
        ({"structuredContent": {"detail": "Cold"}}, "TOOL_ERROR", "Cold", ""),
        ({"content": [{"type": "text", "text": '{"code": "E7", "msg": "Cold"}'}]},
         "E7", "Cold", ""),
        ({"content": [{"type": "text", "text": "Cold"}],
          "structuredContent": {"code": "E7", "retry_after": 30}}, "E7", "Cold", "retry_after"),
        ({"content": [{"type": "text", "text": "Error calling tool"}],
          "structuredContent": {"message": "Cold"}}, "TOOL_ERROR", "Error calling tool: Cold", ""),
        ({}, "TOOL_ERROR", "", ""),
    ],
)  # fmt: skip
def test_a_result_that_is_marked_as_an_error(
    result: Any, code: str, message: str, shown: str
) -> None:
    found = send_mcp(result={**result, "isError": True})
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert (failure["code"], failure["message"]) == (code, message)
    for text in (code, message, shown):
        assert text in found.page


def test_the_result_of_the_cases_that_is_an_error() -> None:
    result = json.loads((FILES / "mcp-results.json").read_text())["errstructured"]
    found = send_mcp(result=result)
    assert found.ending == FAILED
    assert (found.of("failure")[0]["code"], found.of("failure")[0]["details"]) == (
        "RATE_LIMITED",
        {"retry_after": 30},
    )
    assert found.findings["mcp.error-described"] == "should"


FAILURE = {"_meta": {"response_type": "failure", "version": "0.55"},
           "error": {"code": "NO_RESULTS", "message": "Nothing on Mars"}}  # fmt: skip


@pytest.mark.parametrize(
    ("error", "code", "message", "around"),
    [
        ({"code": -32000, "message": "Ask failed", "data": FAILURE},
         "NO_RESULTS", "Nothing on Mars", "-32000: Ask failed"),
        ({"code": -32000, "message": "Ask failed", "data": "Cold"}, "-32000", "Ask failed", "Cold"),
        ({"code": -32000, "message": "Ask failed", "data": ["Cold"]},
         "-32000", "Ask failed", "Cold"),
        ({"code": -32000, "message": "Ask failed", "data": {"detail": "Cold"}},
         "-32000", "Ask failed", "Cold"),
        ({"code": -32000, "detail": "Cold"}, "-32000", "Cold", ""),
        ({"code": "ECOLD", "message": "Cold"}, "ECOLD", "Cold", ""),
        ({"message": "Cold"}, "", "Cold", ""),
        ("Cold", "", "Cold", ""),
        (["Cold", {"message": "Dark"}], "", "Cold. Dark.", ""),
    ],
)  # fmt: skip
def test_an_error_of_json_rpc(error: Any, code: str, message: str, around: str) -> None:
    found = send_mcp(error=error)
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert (failure["code"], failure["message"]) == (code, message)
    assert around in json.dumps(failure)
    for text in (code, message, around):
        assert text in found.page


def test_a_server_that_is_no_mcp_server_says_why() -> None:
    found = ask(whole({"detail": "Not Found"}, "404 Not Found"), arguments=MCP)
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert failure["message"] == "Not Found"
    unknown = {"type": "function_response", "status": "error", "error": "Unknown function: None"}
    found = ask(answer=lambda _: (whole(unknown),), arguments=MCP)
    assert found.ending == FAILED
    [failure] = found.of("failure")
    assert (failure["code"], failure["message"]) == ("", "Unknown function: None")
    assert "JSON error message" in found.page
    denied = ask(whole({"detail": "Not authenticated"}, "403 Forbidden"), arguments=MCP)
    assert denied.ending == FAILED
    assert "Not authenticated" in denied.page


def test_an_empty_answer_of_an_mcp_server_is_named_so() -> None:
    found = ask(answer=over_mcp(whole(b"", "202 Accepted")), arguments=MCP)
    assert found.ending == ("failed", "none", 3)
    assert "ResponseEmpty" in found.page


def test_a_body_that_is_no_failure_of_nlweb_is_one_finding() -> None:
    """The rule that asks for a failure goes on to say so; no rule judges a response."""
    found = ask((FILES / "09-problem-details.http").read_bytes())
    assert found.ending == FAILED
    assert found.findings == {"http-400-failure": "should"}
    assert "Query parameter is required and cannot be empty" in found.page
    assert "Diagnose" in found.page or "rejected the request (HTTP 400)" in found.page


def test_the_text_is_in_the_output_of_send() -> None:
    with serving(whole({"code": "E7", "title": "Cold", "status": 400})) as server:
        done = run_command("send", server.url, "--text", "x")
    assert done.returncode == 1
    assert "failure E7 · Cold" in done.stdout
    structured = {"isError": True, "structuredContent": {"code": "E7", "wait": 30}}
    with serving(answer=over_mcp(lambda number: rpc(number, result=structured))) as server:
        done = run_command("send", server.url, "--text", "x", *MCP)
    assert 'failure E7 · {"wait": 30}' in done.stdout
    around = {"code": -32000, "message": "Ask failed", "data": FAILURE}
    with serving(answer=over_mcp(lambda number: rpc(number, error=around))) as server:
        done = run_command("send", server.url, "--text", "x", *MCP)
    assert "NO_RESULTS · Nothing on Mars · JSON-RPC error -32000: Ask failed" in done.stdout


def test_the_text_is_in_the_output_of_a_collection_run(tmp_path: Path) -> None:
    expected = [{"type": "outcome", "equals": "answer"}]
    with serving(whole(PROBLEM)) as server:
        file = fixture(tmp_path, {"expectations": expected})
        done = run_command("run_collection", file, "--agent", server.url)
    assert done.returncode == 1
    assert "actual: failure (Query parameter is required)" in done.stdout


HOSTILE = "<script>alert(1)</script>\x1b[31m\r\n::error::x"


@pytest.mark.parametrize(
    "body",
    [
        {"detail": HOSTILE},
        {"errors": {HOSTILE: [HOSTILE]}},
        {"error": [{"message": HOSTILE}] * 10_000},
        {"detail": [{"loc": [HOSTILE] * 10_000, "msg": HOSTILE}]},
        {f"f{number}": [HOSTILE] for number in range(10_000)},
        {"error": "x" * 2_000_000},
    ],
)
def test_hostile_and_large_errors(body: Any) -> None:
    with serving(whole(body)) as server:
        done = run_command("send", server.url, "--text", "x")
    assert done.returncode == 1
    assert not {"\x1b", "\r"} & {*done.stdout}
    found = ask(whole(body))
    assert found.ending == FAILED
    assert found.of("failure")[0]["message"]
    assert found.page


def test_a_nested_error_is_read_to_a_limit() -> None:
    body: Any = {"message": "Deep"}
    for _ in range(40):
        body = {"error": body}
    assert ask(whole({**body, "detail": "Cold"})).ending == FAILED


def failures(played: Playbook) -> list[Failure]:
    return [event for event in played.events if isinstance(event, Failure)]


class TestActions:
    """Errors of what an action calls: over HTTP, of any tool over MCP, and of an A2A agent."""

    @pytest.mark.parametrize("body", [PROBLEM, FASTAPI, WORDPRESS, {"success": False, "msg": "No"}])
    @pytest.mark.parametrize("status", [200, 400])
    def test_over_a2a(self, body: Any, status: int) -> None:
        talk = a2a.Talk().call().answer(a2a.CARD_03).call().answer(body, status)
        assert talk.exchange.next_call() is None
        [failure] = failures(talk)
        assert failure.message
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.FAILURE, None)

    @pytest.mark.parametrize("data", [b"Cold", b'{"detail": "Cold"}', b'["Cold"]'])
    def test_an_error_event_over_a2a(self, data: bytes) -> None:
        talk = a2a.Talk().call().answer(a2a.CARD_03).call()
        talk.head(200, SSE).stream([b"event: error\ndata: %b\n\n" % data]).end()
        assert [each.message for each in failures(talk)] == ["Cold"]
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.FAILURE, None)
