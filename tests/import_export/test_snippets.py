"""Code snippets of calls: each runs, and sends the request that the playground would send.

Snippets of curl and Python are sent to a server that records the bytes; all of them are sent to the
demo agent of a running playground.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any
from unittest import mock

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.import_export.snippets import (
    WRITERS,
    SnippetCall,
    snippet_body,
    snippet_call,
    snippet_call_from_frame,
    to_curl,
    to_fetch,
    to_httpx,
    to_jsonrpc,
)
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.transport.redaction import MASK
from tests.support.json_values import TEXTS, values
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import reply, serving

CANARY = "canary-9f1b7c"
EGGS = {"query": {"text": "eggs"}}
AGENT_API = registry.of("agent-api").versions[-1].name
STREAM = {**EGGS, "prefer": {"streaming": True}}
#: Kinds of code, and the commands that run them; Python runs in this process.
RUN: dict[str, Sequence[str]] = {
    "curl": ("bash", "-c"),
    "fetch": ("node", "--input-type=module", "-e"),
}
KINDS = [pytest.param(kind, marks=[pytest.mark.process] if kind in RUN else []) for kind in WRITERS]


def run(kind: str, code: str, **environment: str) -> str:
    """Run code; return its output."""
    if kind == "httpx":
        return run_here(code, NO_PROXY="127.0.0.1", **environment)
    done = subprocess.run(
        [*RUN[kind], code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "NO_PROXY": "127.0.0.1", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_here(code: str, **environment: str) -> str:
    """Run Python code; return its output."""
    printed = io.StringIO()
    with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    return printed.getvalue()


def call_of(url: str, document: Any = EGGS, **target: Any) -> HttpCall:
    call = registry.preview(Target(url, **target), document)
    assert call
    return call


@pytest.fixture
def demo(playground: PlaygroundServer) -> str:
    return f"{playground.url}/demo"


#: Requests of each kind, and a text of the response.
SENT: dict[str, tuple[str, Any, dict[str, Any], str]] = {
    "document": ("", EGGS, {}, '"response_type"'),
    "stream": ("/ask?pace=0.05", STREAM, {}, "result {"),
    "mcp": ("/mcp", EGGS, {"binding": "mcp"}, '"jsonrpc"'),
    "mcp stream": ("/mcp?pace=0.05", STREAM, {"binding": "mcp"}, '"jsonrpc"'),
    "agent api": (
        "/agent-api?pace=0.05", registry.of("agent-api").new_request(AGENT_API, "eggs"),
        {"protocol": "agent-api", "version": AGENT_API}, "completed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SENT)
def test_each_snippet_runs_against_the_demo_agent(demo: str, name: str, kind: str) -> None:
    path, document, target, expected = SENT[name]
    call = call_of(demo + path, document, **target)
    out = run(kind, WRITERS[kind][1](snippet_call(call)))
    if kind == "curl":
        expected = expected.replace("result {", "event: result")
    assert expected in out


def test_the_json_rpc_call_is_answered(demo: str) -> None:
    body = to_jsonrpc("ask", EGGS)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "ask",
    }
    answer = httpx.post(f"{demo}/mcp", content=body, headers=headers, trust_env=False)
    assert answer.json()["result"]["structuredContent"]


def bytes_sent_by(kind: str, sketch: SnippetCall, url: str, **environment: str) -> bytes:
    """Return the request as received by a server."""
    with serving(reply(b"{}")) as server:
        run(kind, WRITERS[kind][1](sketch).replace(url, server.url), **environment)
        return server.requests[0]


def split_request(data: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first, {name.lower(): value.strip() for name, _, value in pairs}, body


ODD = {"query": {"text": 'it\'s "odd" \\ $HOME `id` !x \n\t–𝄞', "n": [1, 1.5, None, True, -0.0]}}
SAME: dict[str, HttpCall] = {
    "json": call_of("http://agent.example", ODD),
    "get": call_of("http://agent.example/a[1]?x={y}", STREAM, version="legacy"),
    "mcp": call_of("http://agent.example/mcp", ODD, binding="mcp"),
    "half a character": call_of("http://agent.example", {"query": {"text": "\ud834 alone"}}),
    "huge number": call_of("http://agent.example", {"query": {"text": "x", "n": 10**25}}),
    "names": call_of("http://agent.example", {"query": {"2": 1, "1": 2, "__proto__": {"a": 1}}}),
    "no json": HttpCall("POST", "http://agent.example/x", (("X-Odd", 'a "b" $c'),), b"a\nb 'c'"),
    "bytes": HttpCall("POST", "http://agent.example/x", (), bytes(range(1, 256))),
    "zero": HttpCall("POST", "http://agent.example/x", (), b"a\0\xffb%'\\"),
    "method": HttpCall("PUT", "http://agent.example/x", (("X-Empty", ""),), b""),
    "twice": HttpCall("POST", "http://agent.example/x", (("X-A", "1"), ("X-A", "2")), b"{}"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAME)
def test_each_snippet_sends_the_same_request(name: str, kind: str) -> None:
    call = SAME[name]
    first, headers, body = split_request(
        bytes_sent_by(kind, snippet_call(call), "http://agent.example")
    )
    path = call.url.removeprefix("http://agent.example")
    method, target, _ = first.split(" ")
    assert method == call.method
    # Some clients escape characters that a URL may not contain.
    assert target.replace("%7B", "{").replace("%7D", "}") in (path, path or "/")
    try:
        assert json.loads(body) == json.loads(call.body)
    except (ValueError, UnicodeDecodeError):
        assert body == call.body
    for name_, value in call.headers:
        if name_.lower() != "user-agent" and name != "twice":
            assert headers[name_.lower()] == value, name_


@pytest.mark.parametrize("kind", KINDS)
def test_secrets_come_from_the_environment(kind: str) -> None:
    headers = (
        ("Authorization", f"Bearer {CANARY}"), ("X-API-Key", "ab"), ("X-Own", f"a {CANARY} b"),
        ("X-Named", "v1 {{own-key}}"),
    )  # fmt: skip
    document = {"query": {"text": f"my {CANARY}", "key": "{{own-key}}2", "kept": "{{other}}"}}
    call = call_of(f"http://agent.example/?k={CANARY}", document, headers=headers)
    sketch = snippet_call(call, [CANARY, "ab"], ["own-key"])
    assert sorted(sketch.variables) == ["OWN_KEY", "SECRET", "TOKEN", "X_API_KEY", "X_OWN"]
    code = WRITERS[kind][1](sketch)
    assert CANARY not in code
    assert '"ab"' not in code
    values = {"OWN_KEY": "o", "SECRET": "s's", "TOKEN": "t", "X_API_KEY": "k", "X_OWN": "x"}
    _, sent, body = split_request(bytes_sent_by(kind, sketch, "http://agent.example", **values))
    assert (sent["authorization"], sent["x-api-key"]) == ("Bearer t", "k")
    assert (sent["x-own"], sent["x-named"]) == ("a x b", "v1 o")
    assert json.loads(body)["query"] == {"text": "my s's", "key": "o2", "kept": "{{other}}"}


@pytest.mark.parametrize("kind", WRITERS)
def test_no_header_of_a_stored_call_makes_curl_read_a_file(kind: str) -> None:
    data = b"POST /ask HTTP/1.1\r\n@/etc/passwd:\r\n@key: 1\r\nX-Own: @kept\r\n\r\n{}"
    code = WRITERS[kind][1](snippet_call_from_frame(data, "http://a.example/"))
    assert "passwd" not in code
    assert "@key" not in code
    assert "@kept" in code


def test_a_login_is_not_taken_for_its_password() -> None:
    call = call_of("http://agent.example", headers=(("Authorization", "Basic {{password}}"),))
    assert '"Authorization: Basic $CREDENTIALS"' in to_curl(snippet_call(call, (), ["password"]))


def test_a_stored_call_is_as_good_as_one_that_is_about_to_be_made() -> None:
    frame = (
        "POST /ask?k=1 HTTP/1.1\r\nHost: agent.example:8080\r\nAccept: text/event-stream\r\n"
        f"Authorization: {MASK}\r\nX-Own: {MASK} b\r\nUser-Agent: me\r\nContent-Length: 2\r\n\r\n"
        f'{{"a": "{MASK}"}}'
    ).encode()
    sketch = snippet_call_from_frame(frame, "https://elsewhere.example/base")
    assert sketch.streaming
    text = to_curl(sketch)
    assert text.startswith("curl -N --url 'https://agent.example:8080/ask?k=1'")
    assert '-H "Authorization: $AUTHORIZATION"' in text
    assert '-H "X-Own: $X_OWN b"' in text
    assert "User-Agent" not in text
    assert "Content-Length" not in text
    assert "process.env.SECRET" in to_fetch(sketch)
    assert 'os.environ["SECRET"]' in to_httpx(sketch)


@pytest.mark.parametrize(
    ("data", "url"),
    [
        (b"", ":///"),
        (b"POST", "http://a.example/"),
        (b"GET http://b.example/x HTTP/1.1\r\n\r\n", "http://b.example/x"),
        (b"\xff\xfe\r\n:\r\n\r\n\xff", "http://a.example/"),
    ],
)
def test_broken_calls_are_shown_as_they_stand(data: bytes, url: str) -> None:
    sketch = snippet_call_from_frame(data, "http://a.example/x" if data else "")
    assert sketch.url == (url,)
    for _, write in WRITERS.values():
        assert write(sketch)


def test_the_method_of_a_call_from_a_file_is_a_text_and_no_code() -> None:
    method = 'GET",print("run"),"'
    sketch = snippet_call_from_frame(
        f"{method} /ask HTTP/1.1\r\n\r\n".encode(), "http://a.example/"
    )
    calls = [each for each in ast.walk(ast.parse(to_httpx(sketch))) if isinstance(each, ast.Call)]
    (request,) = (each for each in calls if ast.unparse(each.func) == "httpx.request")
    assert [ast.unparse(each) for each in request.args] == [repr(method), "url"]
    assert f"  method: {json.dumps(method)},\n" in to_fetch(sketch)
    assert f"-X '{method}'" in to_curl(sketch)


def test_a_document_has_placeholders_for_its_secrets() -> None:
    document = snippet_body({"q": f"{CANARY} {{{{token}}}} {{{{plain}}}}"}, [CANARY], ["token"])
    message = json.loads(to_jsonrpc("ask", document))
    assert message["params"]["arguments"] == {"q": "{{SECRET}} {{TOKEN}} {{plain}}"}


def test_the_code_is_easy_on_the_eye() -> None:
    call = call_of("http://agent.example", headers=(("X-Own", "1"),))
    assert to_curl(snippet_call(call)) == (
        "curl --url http://agent.example/ask \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        "  -H 'Accept: application/json' \\\n"
        "  -H 'X-Own: 1' \\\n"
        """  --data-raw '{"query": {"text": "eggs"}}'\n"""
    )
    assert to_httpx(snippet_call(call)) == (
        "import httpx\n"
        "\n"
        'url = "http://agent.example/ask"\n'
        "headers = {\n"
        '    "Content-Type": "application/json",\n'
        '    "Accept": "application/json",\n'
        '    "X-Own": "1"\n'
        "}\n"
        'body = {"query": {"text": "eggs"}}\n'
        "\n"
        'response = httpx.request("POST", url, headers=headers, json=body, timeout=60)\n'
        "print(response.status_code, response.reason_phrase)\n"
        "print(response.text)\n"
    )


@given(values(["a", "__proto__", "1"], ["it's", '"', "\\", MASK]), TEXTS)
def test_python_code_says_the_same_value(value: Any, text: str) -> None:
    call = HttpCall("POST", "http://agent.example/", (), json.dumps({text: value}).encode())
    code = to_httpx(snippet_call(call)).partition("\nresponse")[0].replace("import httpx", "")
    found: dict[str, Any] = {}
    exec(code, {"os": os, "__builtins__": {"__import__": __import__}}, found)
    body = found["body"]
    read = json.loads(body) if isinstance(body, str | bytes) else body
    assert json.dumps(read) == json.dumps({text: value}) or MASK in json.dumps(
        {text: value}, ensure_ascii=False
    )


@given(st.binary(max_size=30))
def test_any_bytes_have_code(data: bytes) -> None:
    sketch = snippet_call(HttpCall("POST", "http://agent.example/", (("X-A", "é\x01"),), data))
    assert all(write(sketch) for _, write in WRITERS.values())


@pytest.mark.process
@given(st.binary(min_size=1, max_size=40).filter(lambda data: b"\0" not in data))
def test_a_shell_reads_any_bytes_as_they_are(data: bytes) -> None:
    sketch = snippet_call(HttpCall("POST", "http://agent.example/", (), data))
    word = to_curl(sketch).partition("--data-raw ")[2].strip("\n")
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout == data
