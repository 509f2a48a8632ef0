"""Requests that are wrong on purpose: sent anyway, and raw."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from playground.engine import tasks
from playground.models import Agent, Environment, Run, SavedRequest
from tests.cases import ask, mcp_server, page_text
from tests.support.collection_files import collection_items
from tests.support.commands import run_command
from tests.support.servers import Script, head, reply, serving
from tests.views.conftest import form

ANSWER = reply(
    json.dumps(
        {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [{"name": "Soup"}]}
    ).encode()
)
REFUSED = reply(
    json.dumps(
        {
            "_meta": {"response_type": "failure", "version": "0.55"},
            "error": {"code": "INVALID_QUERY", "message": "No text."},
        }
    ).encode(),
    status="400 Bad Request",
)
NOT_ALLOWED = reply(b"Method Not Allowed", "text/plain", "405 Method Not Allowed")


def sent(data: bytes) -> tuple[str, dict[str, str], bytes]:
    """Request line, headers and body of a request, as the agent received it."""
    start, _, body = data.partition(b"\r\n\r\n")
    line, *lines = start.decode().split("\r\n")
    pairs = (each.partition(": ") for each in lines)
    return line.removesuffix(" HTTP/1.1"), {name: value for name, _, value in pairs}, body


ANY = [
    (("-X", "PATCH", "--path", "/who", "--content-type", "text/plain", "-d", "hi"),
     "PATCH /who", "text/plain", b"hi"),
    (("-X", "GET", "--path", "who?page=2&q=a b"), "GET /who?page=2&q=a%20b", None, b""),
    (("-X", "GET", "-d", "{}"), "GET /ask", "application/json", b"{}"),
    (("-X", "GET", "--text", "x"), "GET /ask", None, b""),
    (("-d", "{", "--content-type", ""), "POST /ask", None, b"{"),
    (("--path", ""), "POST /", None, b""),
    (("-X", "PUT", "--request", "{file}"),
     "PUT /ask", "application/json", b'{"query": {"text": "x"}}'),
    # Nothing in a path leads to another origin, or ends the line of the request.
    (("-X", "patch", "--path", "/a/../%2e%2E"), "patch /%2e%2E", None, b""),
    (("--path", "//evil.example/x"), "POST //evil.example/x", None, b""),
    (("--path", "@evil.example"), "POST /@evil.example", None, b""),
    (("--path", "\\\\evil.example\r\nX: y#z"),
     "POST /%5C%5Cevil.example%0D%0AX:%20y%23z", None, b""),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "line", "kind", "body"), ANY)
def test_any_method_path_content_type_and_body(
    tmp_path: Path, arguments: tuple[str, ...], line: str, kind: str | None, body: bytes
) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"query": {"text": "x"}}')
    given = tuple(each.replace("{file}", str(file)) for each in arguments)
    found = ask(ANSWER, arguments=given)
    assert found.ending == ("completed", "answer", 0)
    actual, headers, received = sent(found.requests[0])
    assert (actual, headers.get("Content-Type"), received) == (line, kind, body)
    assert headers["Host"].startswith("127.0.0.1:")
    assert page_text(f"/runs/{found.end['run']}/").startswith(line.partition(" ")[0])


REFUSALS = [
    (("-X", "GET /x"), "not an HTTP method"),
    (("-X", "GET\r\nX: y"), "not an HTTP method"),
    (("-X", ""), "not an HTTP method"),
    (("-X", "CONNECT"), "“CONNECT” is not an HTTP method that can be sent"),
    (("-X", "{{secret}}"), "not an HTTP method"),
    (("-d", "x", "--content-type", "a/b\r\nX: y"), "control character"),
    (("-d", "{{none}}"), "{{none}} is not defined"),
    (("-X", "GET", "--set", "raw={{r}}", "--var", 'r={"method": "CONNECT"}'), "“CONNECT” is not"),
    (("-d", "x", "--content-type", "{{r}}", "--var", 'r="a\\nb: c"'), "control character"),
    (("-d", "x", "-H", "Host: evil.example"), "Host is set by the playground"),
    (("-d", "x", "-H", "Content-Length: 5"), "Content-Length is set"),
    (("-d", "x", "-H", "Transfer-Encoding: chunked"), "Transfer-Encoding is set"),
    (("-X", "GET", "--set", "raw.mehtod=PUT"), "Unknown member “mehtod”"),
    (("-X", "GET", "--set", "raw.encoding=base64", "--set", "raw.body=?"), "must be base64"),
    (("-d", "@/nowhere"), "No such file"),
]


@pytest.mark.parametrize("anyway", [(), ("--anyway",)])
@pytest.mark.parametrize(("arguments", "reason"), REFUSALS)
def test_what_frames_a_message_is_not_the_users(
    arguments: tuple[str, ...], reason: str, anyway: tuple[str, ...]
) -> None:
    done = run_command("send", "http://127.0.0.1:9", *arguments, *anyway)
    assert (done.returncode, Run.objects.count()) == (2, 0)
    assert reason in done.stderr


NO_BODY = [
    ("HEAD", head("200 OK", content_type="text/event-stream", content_length="900")),
    ("HEAD", head("200 OK", content_encoding="gzip", content_length="9")),
    ("OPTIONS", head("204 No Content", allow="POST")),
    ("GET", head("304 Not Modified", content_length="7")),
    ("DELETE", reply(b"")),
]


@pytest.mark.parametrize(("method", "response"), NO_BODY)
def test_a_response_without_a_body_is_no_failed_transfer(method: str, response: bytes) -> None:
    found = ask(response, arguments=("-X", method))
    assert found.ending == ("completed", "none", 0)
    assert found.findings == {}
    assert not found.of("error")
    option = "-I" if method == "HEAD" else f"-X {method}"
    assert (option in page_text(f"/runs/{found.end['run']}/code/")) is (method != "GET")


def test_a_refused_method_is_shown_and_blames_no_agent() -> None:
    found = ask(NOT_ALLOWED, arguments=("-X", "GET", "--path", "/ask"))
    assert found.ending == ("failed", "none", 3)
    assert "http-method" not in found.findings
    assert "405" in found.page
    assert "http-method" in ask(NOT_ALLOWED).findings


MESSAGE = {"role": "assistant", "type": "message", "content": [{"type": "text", "text": "x"}]}
AGENT_API = {"object": "response", "status": "completed", "output": [MESSAGE]}
OLDER = '{"query": {"text": "x"}, "meta": {"version": "0.54"}}'
JUDGED = [
    # The document is the request of the protocol, as a text too.
    (("-d", OLDER), ANSWER, "version-asked", True),
    (("-X", "POST", "--text", "x", "--set", 'meta.version="0.54"'), ANSWER, "version-asked", True),
    (("-X", "PUT", "-d", OLDER), ANSWER, "version-asked", False),
    (("-d", "{"), ANSWER, "version-asked", False),
    # Of a response, all is judged that needs no request.
    (("-X", "GET"), ANSWER.replace(b"application/json", b"text/html"), "http-content-type", True),
    (("--text", "x", "--protocol", "agent-api"), reply(json.dumps(AGENT_API).encode()),
     "agent-api.stream-honoured", True),
    (("-X", "GET", "--protocol", "agent-api"), reply(json.dumps(AGENT_API).encode()),
     "agent-api.stream-honoured", False),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "response", "rule", "is_found"), JUDGED)
def test_rules_about_the_request_need_one_of_the_protocol(
    arguments: tuple[str, ...], response: bytes, rule: str, is_found: bool
) -> None:
    assert (rule in ask(response, arguments=arguments).findings) is is_found


def test_the_body_is_a_file_of_bytes_or_the_standard_input(tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000
    (tmp_path / "bytes").write_bytes(data)
    found = ask(ANSWER, arguments=("-d", f"@{tmp_path / 'bytes'}"))
    assert sent(found.requests[0])[2] == data
    with serving(REFUSED) as server:
        done = run_command("send", server.url, "-d", "@-", stdin="<x>\r\n")
    assert (sent(server.requests[0])[2], done.returncode) == (b"<x>\r\n", 1)


#: Documents that no agent could handle, and texts that are no document.
WRONG = [
    '{"query": {"text": ""}}', '{"query": 5}', "{}", "[1, 2]", '"x"', "{", "",
    '{"a": 1, "a": NaN}', "\r\nno JSON \u2028\x1b[31m ::error::<script>", "[" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["nlweb", "agent-api"])
@pytest.mark.parametrize("text", WRONG)
def test_what_is_invalid_is_sent_anyway_as_it_is(tmp_path: Path, text: str, protocol: str) -> None:
    file = tmp_path / "request.json"
    file.write_text(text, "utf-8", newline="")
    arguments = ("--request", str(file), "--protocol", protocol)
    with serving(REFUSED) as server:
        refused = run_command("send", server.url, *arguments)
        assert (refused.returncode, server.requests) == (2, [])
        found = run_command("send", server.url, *arguments, "--anyway", "--output", "jsonl")
    line, headers, body = sent(server.requests[0])
    assert line == ("POST /ask" if protocol == "nlweb" else "POST /")
    assert headers.get("Content-Type", "application/json") == "application/json"
    assert body.decode() == text
    assert found.returncode == 1
    assert page_text(f"/runs/{found.json_lines[-1]['run']}/")


def test_over_mcp_invalid_arguments_reach_the_tool_and_raw_bodies_the_endpoint(
    tmp_path: Path,
) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"query": 5}')
    over_mcp = ("--binding", "mcp", "--output", "jsonl")
    with serving(answer=mcp_server(_called)) as server:
        given = ("--request", str(file), "--anyway")
        done = run_command("send", server.url, *over_mcp, *given)
        called = json.loads(sent(server.requests[-1])[2])
        assert called["params"]["arguments"] == {"query": 5}, done.stderr
        server.requests.clear()
        message = '{"jsonrpc": "2.0", "id": 1, "method": "nope"}'
        done = run_command("send", server.url, *over_mcp, "-d", message)
    # No handshake goes before it.
    assert [sent(each)[0] for each in server.requests] == ["POST /"]
    assert sent(server.requests[0])[2].decode() == message
    assert page_text(f"/runs/{done.json_lines[-1]['run']}/")


def _called(number: Any) -> Script:
    result = {"isError": True, "content": [{"type": "text", "text": "no"}]}
    return [reply(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())]


RAW = {"method": "PATCH", "path": "/who", "content_type": "text/plain", "body": "hi"}


def collection(tmp_path: Path, url: str, *documents: Any, status: Any = 405) -> str:
    """A file with a request for each document, which expects a status."""
    expectations = [{"type": "status", "equals": status}]
    items = collection_items(
        "Raw",
        ({"address": url, "document": each, "expectations": expectations} for each in documents),
    )
    file = tmp_path / "raw.json"
    file.write_text(json.dumps(items), "utf-8")
    return str(file)


def test_raw_requests_of_a_collection_are_imported_run_and_exported(tmp_path: Path) -> None:
    with serving(NOT_ALLOWED) as server:
        file = collection(
            tmp_path, server.url, {"raw": RAW}, {"raw": {"method": "PUT", "path": "{{id}}"}},
            {"raw": {}, "query": {"text": ""}},
        )  # fmt: skip
        assert run_command("import_collection", file).returncode == 0
        rows = tmp_path / "rows.csv"
        rows.write_text("id\n5\n/a b?c\n")
        done = run_command("run_collection", "raw", "--data", str(rows))
    assert done.returncode == 0, done.stdout + done.stderr
    once = ["PATCH /who", "PUT /5", "POST /ask"]
    assert [sent(each)[0] for each in server.requests] == [*once, once[0], "PUT /a%20b?c", once[2]]
    assert sent(server.requests[2])[2] == b'{"query": {"text": ""}}'
    # The export is the file; so is what an import of it would change.
    exported = run_command("export_collection", "raw").stdout
    assert '"method": "PATCH"' in exported
    changed = tmp_path / "changed.json"
    changed.write_text(exported.replace("/who", "/sites"))
    again = run_command("import_collection", str(changed))
    assert "~ request request-1 (Request 1): document" in again.stdout
    assert SavedRequest.objects.get(slug="request-1").document["raw"] == {**RAW, "path": "/sites"}
    # As a Postman collection, it is the HTTP request.
    postman = Client().get("/collections/raw/postman/")
    item = json.loads(b"".join(postman))["item"][0]["request"]
    assert (item["method"], item["body"]["raw"]) == ("PATCH", "hi")


def test_a_missed_expectation_and_an_invalid_request_fail_a_collection(tmp_path: Path) -> None:
    with serving(ANSWER) as server:
        file = collection(tmp_path, server.url, {"raw": RAW}, {"query": {"text": ""}})
        assert run_command("import_collection", file).returncode == 0
        done = run_command("run_collection", "raw")
    assert done.returncode == 1
    assert len(server.requests) == 1


BAD_RAW = [
    ({"method": "A B"}, "/document/raw/method"), ({"method": "CONNECT"}, "/document/raw/method"),
    ({"Method": "PUT"}, "/document/raw/Method"),
    ({"content_type": "a\r\nb: c"}, "/document/raw/content_type"),
    ({"encoding": "hex"}, "/document/raw/encoding"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "pointer"), BAD_RAW)
def test_an_invalid_raw_request_is_not_imported(
    tmp_path: Path, raw: dict[str, Any], pointer: str
) -> None:
    done = run_command("import_collection", collection(tmp_path, "http://x.example", {"raw": raw}))
    assert (done.returncode, SavedRequest.objects.count()) == (1, 0), done.stdout
    assert pointer in done.stderr


def test_secrets_go_to_their_origins_only_and_into_no_record() -> None:
    environment = Environment.objects.create(name="Test", slug="test")
    secret = environment.variables.create(name="token", kind="secret", secret="s3cret/wörd 7")
    raw = (
        "-X", "PUT", "--path", "/a/{{token}}?k={{token}}", "-d", "body {{token}}",
        "--content-type", "text/x; a={{other}}", "--environment", "test", "--var", "other=1",
    )  # fmt: skip
    with serving(ANSWER) as server:
        refused = run_command("send", server.url, *raw)
        assert (refused.returncode, server.requests) == (2, [])
        assert "token" in refused.stderr
        secret.allowed_origins = [server.url]
        secret.save()
        done = run_command("send", server.url, *raw, "--output", "jsonl")
    line, headers, body = sent(server.requests[0])
    assert line == "PUT /a/s3cret/w%C3%B6rd%207?k=s3cret/w%C3%B6rd%207"
    assert (headers["Content-Type"], body.decode()) == ("text/x; a=1", "body s3cret/wörd 7")
    key = done.json_lines[-1]["run"]
    for path in ("", "run.har", "code/", "wire/"):
        found = Client().get(f"/runs/{key}/{path}")
        assert found.status_code == 200, path
        assert not re.search(rb"s3cret|rd%207", b"".join(found)), path
    assert "s3cret" not in json.dumps(Run.objects.values().get(), default=str)


def test_a_raw_run_is_shown_copied_and_repeated() -> None:
    with serving(ANSWER) as server:
        arguments = ("-X", "PATCH", "--path", "/who", "-d", "<b>hi</b>", "--output", "jsonl")
        done = run_command("send", server.url, *arguments)
        key = done.json_lines[-1]["run"]
        assert "PATCH /who" in page_text(f"/runs/{key}/", "response")
        assert "-X PATCH" in page_text(f"/runs/{key}/code/")
        assert "MCP JSON-RPC" not in page_text(f"/runs/{key}/code/")
        har = json.loads(b"".join(Client().get(f"/runs/{key}/run.har")))
        request = har["log"]["entries"][0]["request"]
        assert (request["method"], request["postData"]["text"]) == ("PATCH", "<b>hi</b>")
        follow_up = run_command("send", server.url, "--conversation", key, "--text", "next")
        assert follow_up.returncode == 0
    assert [sent(each)[0] for each in server.requests] == ["PATCH /who", "POST /ask"]
    assert "raw" not in json.loads(sent(server.requests[1])[2])


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that the engine was to drive, instead of driving them."""
    found: list[Run] = []

    async def send(run: Run, _: Any) -> None:
        found.append(run)

    monkeypatch.setattr(tasks, "send", send)
    return found


def post(document: Any, **fields: str) -> Any:
    Agent.objects.get_or_create(name="Recipes", url="http://agent.example/api")
    return Client().post("/runs/", form(document, **fields))


@pytest.mark.parametrize("text", WRONG)
def test_the_page_offers_to_send_anyway_and_does(text: str, submitted: list[Run]) -> None:
    refused = post(text)
    assert refused.status_code == 422
    assert 'name="anyway" value="1"' in refused.content.decode()
    done = post(text, anyway="1")
    assert done.status_code == 302, done.content
    [run] = submitted
    key = run.pk
    document = Run.objects.get(pk=key).request
    assert document == (json.loads(text) if text[:2] in ("{}", '{"') and "NaN" not in text
                        else {"raw": {"body": text}})  # fmt: skip
    assert Client().post(f"/runs/{key}/repetition/").status_code == 302
    assert [each.request for each in Run.objects.all()] == [document, document]


NOT_OFFERED = [
    {"agent": "", "document": "{"},
    {"document": json.dumps({"query": {"text": "{{none}}"}})},
    {"headers": '[["Host", "x"]]'},
    {"document": json.dumps({"raw": {"method": "CONNECT"}})},
]


@pytest.mark.parametrize("fields", NOT_OFFERED)
def test_what_no_call_can_have_is_not_sent_anyway(
    fields: dict[str, str], submitted: list[Run]
) -> None:
    given = {"document": {"query": {"text": "x"}}} | fields
    for more in ({}, {"anyway": "1"}):
        refused = post(**given, **more)  # type: ignore[arg-type]
        assert refused.status_code == 422
        assert "Send anyway" not in refused.content.decode()
    assert not submitted


def test_the_page_shows_the_call_of_a_raw_request_and_sends_it(submitted: list[Run]) -> None:
    document = {"raw": {"method": "PATCH", "path": "/who", "body": "<b>"}}
    assert post(document).status_code == 302
    [run] = submitted
    assert run.text == "PATCH /who"
    shown = Client().post("/compose/preview/", form(document)).content.decode()
    assert "http://agent.example/api/who" in shown
    assert "&lt;b&gt;" in shown
    code = Client().post("/compose/code/", form(document)).content.decode()
    assert "-X PATCH" in code
    assert page_text("/", "composer").count("Raw request") == 1
