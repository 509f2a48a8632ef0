"""Canaries: secrets that go to an agent which sends them back, searched for in every artefact.

They are credentials of saved agents, variables of an environment, and typed into headers. They go
along in every way there is (a header, the document, the query of the address, Basic). The agent
sends them back as they are and in every encoding, over every protocol. Then everything that was
made of the runs is looked through: pages, fragments, downloads, shares, the websocket, the
database's own files, a dump of it, the log, and what the command line prints. Whoever adds a page
or an export adds it to `RUN_PAGES`, `PAGES`, `POSTS`, `Site.artefacts` or `OUTPUTS`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
import logging
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import httpx
import pytest
from django.conf import settings
from django.db import connection
from websockets.asyncio.client import connect

import playground.transport as transport
from playground.models import Agent, Collection
from tests.support.collections import saved
from tests.support.commands import run_command
from tests.support.encodings import ENCODINGS, readings
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import (
    LAST_CHUNK,
    STREAM_HEAD,
    Script,
    Server,
    chunk,
    closing,
    head,
    reply,
    serving,
)

#: With all that encodings change: its Base64 has other characters in the alphabet for URLs.
SECRET = 'canary>>>?/env+s3"cr\\3t&0815=='
HEADER = "canary-header-0815"
CUSTOM = "canary-custom-2342"
SESSION = "session-of-the-caller"
PAIR = base64.b64encode(f"ada:{SECRET}".encode()).decode()
TEMPLATE = {"query": {"text": "what is {{token}}"}, "meta": {"version": "0.55", "n": "{{number}}"}}
HEADERS = [["X-API-Key", "{{token}}"], ["X-Note", "say {{token}}"], ["X-Plain", "{{city}}"]]
BASIC = json.dumps({"type": "basic", "user": "ada", "secret": "token"})

#: What is made of a run, below its address.
RUN_PAGES = [
    "", "response/", "next/", "turn/", "turns/", "session/", "results/", "events/",
    "events/?order=index", "timeline/", "sequence/", "sequence.svg", "sequence.mmd", "wire/",
    "wire.txt", "request/", "server-log/", "failure/", "standard-client/", "conformance/",
    "conformance.json", "conformance/count/", "checks/", "checks/count/", "document/", "pane/",
    "code/", "run.har",
]  # fmt: skip
#: Pages that show runs, environments, or what was saved.
PAGES = [
    "/", "/runs/", "/history/", "/history/?q=echo", "/agents/", "/environments/",
    "/environments/canary/", "/collections/", "/collections/kept/", "/collections/kept/export/",
    "/collections/kept/postman/", "/collections/search/?q=canary", "/collection-runs/",
    "/sidebar/", "/shares/", "/compare/", "/nowhere-at-all/",
]  # fmt: skip
#: What is asked for with the composer's form.
POSTS = ["/compose/preview/", "/compose/code/", "/twins/choices/"]
BASIC_OF_AGENT = {"auth": "basic", "auth_user": "ada"}
KEY = {"auth": "api_key", "auth_header": "X-API-Key"}
#: Saved agents: the path, which chooses the answer, and the fields of the form.
AGENTS: dict[str, tuple[str, dict[str, str]]] = {
    "bearer": ("stream", {"auth": "bearer"}),
    "shop": ("stream", {"auth": "api_key", "auth_header": "X-Shop"}),
    "basic": ("stream", BASIC_OF_AGENT),
    "basic, unreadable": ("broken", BASIC_OF_AGENT),
    "key, unreadable": ("broken", KEY),
    "server": ("server/mcp", {"auth": "bearer", "binding": "mcp"}),
    "encoded": ("encoded", KEY),
    "failing": ("failing", KEY),
    "agent-api": ("process", {**KEY, "protocol": "agent-api", "version": "1"}),
    "mcp": ("mcp", {**KEY, "binding": "mcp"}),
    "deltas": ("deltas", KEY),
}
#: Requests with variables of the environment, by how they are answered and authenticated.
OF_ENVIRONMENT = {
    f"{answer}, {name}": (answer, auth)
    for answer in ("stream", "broken", "unframed", "moved")
    for name, auth in (("bearer", ""), ("basic", BASIC))
}
#: Runs in which the secret comes in every encoding and divided.
OVER_OTHER_PROTOCOLS = ["agent-api", "mcp", "deltas", "a2a"]
#: All runs in which it comes in other forms than the usual ones.
ENCODED = ["encoded", "failing", *OVER_OTHER_PROTOCOLS]
RUNS = [*AGENTS, *OF_ENVIRONMENT, "a2a"]
#: A request of the Agent API.
AGENT_API = {
    "input": [{"role": "user", "type": "message", "content": [{"type": "text", "text": "a"}]}],
    "stream": True,
}


@functools.cache
def forms() -> list[bytes]:
    """How the secrets may be written."""
    written = {PAIR, base64.b64encode(SECRET.encode()).decode()}
    for secret in (SECRET, HEADER, CUSTOM):
        escaped = json.dumps(secret)[1:-1]
        written |= {secret, escaped, escaped.replace("/", "\\/"), secret.replace("/", "\\/")}
        written |= {quote(secret, safe=""), quote(secret, safe="").lower(), quote_plus(secret)}
        written.add(escape(secret))
    # JSON that is quoted in JSON, as over MCP, is another way to write it.
    written |= {json.dumps(form)[1:-1] for form in written}
    return [form.encode() for form in written]


def assert_clean(where: str, data: bytes | str) -> None:
    text = data.encode() if isinstance(data, str) else data
    for form in forms():
        assert form not in text, f"a secret in {where}"


@functools.cache
def encoded() -> dict[str, str]:
    """The secret in every encoding, by its name."""
    return {encoding: write(SECRET) for encoding, write in ENCODINGS.items()}


@functools.cache
def needles() -> tuple[list[bytes], list[bytes]]:
    """How the secret may be written after all that is usual was decoded: in any case, as it is."""
    data = SECRET.encode()
    inner = [
        base64.b64encode(bytes(at) + data)[-(-8 * at // 6) : 8 * (at + len(data)) // 6]
        for at in range(3)
    ]
    return [data.lower(), data.hex().encode()], inner


def assert_no_encoding(where: str, data: bytes | str) -> None:
    """Assert that the secret is not found, also after decoding what is usual several times."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    assert_clean(where, data)
    for encoding, written in encoded().items():
        assert written not in text, f"{encoding} in {where}"
    folded, exact = needles()
    for reading in map(str.encode, readings(text)):
        standard = reading.translate(bytes.maketrans(b"-_", b"+/"))
        joined = re.sub(rb"(?:\\\\*[rn]|\s)+", b"", standard)
        for needle in exact:
            assert needle not in standard, f"Base64 in {where}"
            assert needle not in joined, f"Base64 in lines in {where}"
        lower = reading.lower()
        bare = re.sub(rb"[\s,:]|0x", b"", lower)
        for needle in folded:
            assert needle not in lower, f"a secret in {where}"
            assert needle not in bare, f"a secret with separators in {where}"


def said(request: bytes) -> list[str]:
    """All that the request says, in lines, and the secret by itself."""
    text = request.decode("utf-8", "replace").replace("\r\n", "\n")
    # Where Basic is not spoken, nobody can have made such a pair.
    own = [PAIR] if PAIR in text else []
    return [*text.split("\n"), SECRET, *own, quote(SECRET, safe=""), "{{token}}"]


def stream(request: bytes) -> Script:
    """Back in a header, a comment, events, an error and the session, in pieces."""
    lines = said(request)
    event = {"index": 0, "item": {"name": "echo", "description": json.dumps(lines), "all": lines}}
    shown = b"event: result\ndata: " + json.dumps(event).encode() + b"\n\n"
    meta = {"_meta": {"response_type": "answer", "session_context": {"seen": lines}}}
    values = [line.partition(": ")[2] for line in lines if "canary" in line or "Basic" in line]
    told = " ".join(values)
    return (
        head(content_type="text/event-stream", transfer_encoding="chunked", x_echo=lines[-3],
             x_all=SECRET, x_told=told, set_cookie=f"a={SECRET}"),
        chunk(b": " + SECRET.encode() + b" " + told.encode() + b"\n\n"),
        *[chunk(shown[n : n + 31]) for n in range(0, len(shown), 31)],
        chunk(b"event: error\ndata: " + json.dumps({"error": {"code": SECRET}}).encode() + b"\n\n"),
        chunk(b"event: complete\ndata: " + json.dumps(meta).encode() + b"\n\n"),
        LAST_CHUNK,
    )  # fmt: skip


def broken(request: bytes) -> Script:
    """In a document that cannot be read, so that it is quoted."""
    body = ('{"results": [' + json.dumps("\n".join(said(request))) + "] oops").encode()
    pieces = [chunk(body[n : n + 19]) for n in range(0, len(body), 19)]
    return (head(content_type="application/json", transfer_encoding="chunked"), *pieces, LAST_CHUNK)


def unframed(request: bytes) -> Script:
    """Where the framing should be, so that the bytes that broke it are in the error."""
    return (head(transfer_encoding="chunked"), b"5\r\nabcde\r\n" + SECRET.encode() + b"\r\n")


def moved(request: bytes) -> Script:
    """In the address of a redirect."""
    where = f"https://elsewhere.example/{quote(SECRET, safe='')}?k={quote_plus(SECRET)}"
    return (head("302 Found", location=where, content_length="0"),)


def echo_rpc(request: bytes) -> Script:
    """Be an MCP server that tells its caller's head wherever it can tell anything."""
    start, _, body = request.partition(b"\r\n\r\n")
    lines = start.decode("latin-1").split("\r\n")
    said = "\r\n".join(line for line in lines if SESSION not in line)
    try:
        call = json.loads(body)
    except ValueError:  # The request for a card.
        call = {}
    info = {"name": "echo", "title": said, "version": said[-40:]}
    tools = [{"name": "ask", "description": said, "inputSchema": {"title": said}}, {"name": said}]
    result = {
        "protocolVersion": "2025-06-18", "serverInfo": info, "instructions": said, "tools": tools,
        "results": [{"name": "echo", "description": said}], "_meta": {"session_context": [said]},
    }  # fmt: skip
    answer = {"jsonrpc": "2.0", "id": call.get("id"), "result": result}
    if call.get("method") == "server/discover":
        answer = {**answer, "error": {"code": -32601, "message": said, "data": said}}
        del answer["result"]
    data = json.dumps(answer).encode()
    own = head(content_type="application/json", content_length=str(len(data)),
               mcp_session_id=SESSION)  # fmt: skip
    return (own, data)


def echo_encoded(request: bytes) -> Script:
    """Send the secret back in every encoding: in headers, a comment, events, an error, trailers."""
    told = list(encoded().values())
    lines = [text.replace("\n", "") for text in told]
    start = [f"HTTP/1.1 200 {lines[-1]}", *(f"X-Echo-{n}: {line}" for n, line in enumerate(lines))]
    start += ["Content-Type: text/event-stream", "Transfer-Encoding: chunked", "\r\n"]
    items = [
        {"name": f"echo {line}", "description": text}
        for line, text in zip(lines, told, strict=True)
    ]
    meta = {"_meta": {"response_type": "answer", "session_context": {"seen": told}}}
    error = {"error": {"code": lines[3], "message": " ".join(lines)}}
    events = [
        *(f": {line}\n\n" for line in lines),
        *(f"data: {json.dumps({'index': n, 'item': item})}\n\n" for n, item in enumerate(items)),
        f"event: result\ndata: {json.dumps({'index': 99, 'item': {'name': 'all', 'x': told}})}\n\n",
        f"event: error\ndata: {json.dumps(error)}\n\n",
        f"event: complete\ndata: {json.dumps(meta)}\n\n",
    ]
    body = "".join(events).encode()
    pieces = [chunk(body[at : at + 97]) for at in range(0, len(body), 97)]
    end = b"0\r\nX-Trailer: " + lines[4].encode() + b"\r\n\r\n"
    return ("\r\n".join(start).encode(), b"".join(pieces), end)


def broken_encoded(request: bytes) -> Script:
    """Send it back in a document that cannot be read, in pieces, and then break the framing."""
    told = list(encoded().values())
    body = json.dumps({"results": told})[:-1].encode()
    pieces = [chunk(body[at : at + 41]) for at in range(0, len(body), 41)]
    end = SECRET.encode().hex().encode()
    return (
        head(content_type="application/json", transfer_encoding="chunked"),
        *pieces,
        chunk(end[:9]) + chunk(end[9:]) + b"oops\r\n",
    )


def echo_over(request: bytes) -> Script:
    """Be an agent of any protocol; send the secret back in every encoding, and in deltas."""
    start, _, body = request.partition(b"\r\n\r\n")
    line, *headers = start.decode("latin-1").split("\r\n")
    _, path, _ = line.split(" ")
    host = next(each.partition(": ")[2] for each in headers if each.lower().startswith("host"))
    call = json.loads(body) if body else {}
    if "/process" in path:
        return _streamed(agent_api_events())
    if "/mcp" in path:
        return _mcp_script(call)
    if not body:
        return (closing(reply(json.dumps(card_of(host)).encode())),)
    if "/a2a" in path:
        task = {"id": "t", "contextId": "c", "metadata": {"of": str(call.get("method"))}}
        results = [{**task, "kind": "task", "status": {"state": "working"}}]
        results += map(functools.partial(artifact_update, call), told_texts())
        done = {"kind": "status-update", "status": {"state": "completed"}, "final": True}
        results.append({"taskId": "t", "contextId": "c", **done})
        return _streamed({"jsonrpc": "2.0", "id": call["id"], "result": each} for each in results)
    action = {"name": "serve", "description": "Serve", "protocol": "A2A", "skill": "serve",
              "message": "soup", "agent_url": f"http://{host}/a2a"}  # fmt: skip
    content = [{"content": [{"type": "text", "text": text}]} for text in told_texts()]
    item = {"index": 0, "item": {"name": "table", "actions": [action]}}
    return _streamed([item, *content, {"_meta": {"response_type": "answer"}}])


def told_texts() -> list[str]:
    """Return the secret in every encoding, and then divided."""
    return [*encoded().values(), " so ", *(SECRET[at : at + 4] for at in range(0, len(SECRET), 4))]


def agent_api_events() -> list[dict[str, Any]]:
    """Return a response of the Agent API with deltas."""
    message = {"object": "message", "id": "m", "type": "message", "role": "assistant"}
    delta = {"object": "content", "type": "text", "index": 0, "delta": True, "msg_id": "m"}
    return [
        {"object": "response", "id": "r", "status": "created"},
        {**message, "status": "created"},
        *({**delta, "text": text, "status": "in_progress"} for text in told_texts()),
        {"object": "message", "id": "m", "status": "completed"},
        {"object": "response", "id": "r", "status": "completed"},
    ]


def card_of(host: str) -> dict[str, Any]:
    """Return the card of an A2A agent."""
    return {
        "name": "Echo", "description": " ".join(encoded().values()), "url": f"http://{host}/a2a",
        "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True}, "skills": [{"id": "serve", "name": SECRET}],
    }  # fmt: skip


def artifact_update(call: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a delta of an artifact of A2A."""
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": True,
            "lastChunk": False, "artifact": artifact}  # fmt: skip


def _mcp_script(call: dict[str, Any]) -> Script:
    """Return the response of an MCP server; a tool sends the secret in log messages as well."""
    method, told = call.get("method"), list(encoded().values())
    answer = {"jsonrpc": "2.0", "id": call.get("id")}
    if method != "tools/call":
        info = {"name": "echo", "title": told[3], "version": "1"}
        tools = [{"name": "ask", "description": " ".join(told), "inputSchema": {"type": "object"}}]
        result = {"protocolVersion": "2025-06-18", "serverInfo": info, "tools": tools,
                  "capabilities": {}, "instructions": " ".join(told)}  # fmt: skip
        error = {"code": -32601, "message": told[4]}
        more = {"error": error} if method == "server/discover" else {"result": result}
        return (closing(reply(json.dumps({**answer, **more}).encode())),)
    logged = [
        {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "info", "data": each},
        }
        for each in told_texts()
    ]
    results = [{"name": f"echo {number}", "description": each} for number, each in enumerate(told)]
    found = {"_meta": {"response_type": "answer"}, "results": results}
    content = [{"type": "text", "text": json.dumps(found)}]
    return _streamed(
        [*logged, {**answer, "result": {"content": content, "structuredContent": found}}]
    )


def _streamed(documents: Iterable[dict[str, Any]]) -> Script:
    events = [chunk(b"data: " + json.dumps(each).encode() + b"\n\n") for each in documents]
    return (STREAM_HEAD, *events, LAST_CHUNK)


ANSWERS: dict[str, Callable[[bytes], Script]] = {
    "stream": stream,
    "broken": broken,
    "unframed": unframed,
    "moved": moved,
    "server": echo_rpc,
    "encoded": echo_encoded,
    "failing": broken_encoded,
}


def answer_by_path(request: bytes) -> Script:
    """Answer as the first part of the path says; without one, over any protocol."""
    found = re.match(rb"\w+ /(\w+)", request)
    return ANSWERS.get(found[1].decode() if found else "", echo_over)(request)


@dataclass
class EchoedRun:
    """A run whose response has the secrets."""

    #: Of the composer's form; none of an action.
    fields: dict[str, str]
    url: str
    #: What was sent, and what the websocket pushed.
    requests: list[bytes]
    messages: str
    #: Path of the shared run.
    share: str


class Site:
    """A playground with agents, or an environment, that hold the canary."""

    def __init__(self, server: PlaygroundServer) -> None:
        self.server = server
        #: Number of saved requests.
        self.kept = 0
        self.http = httpx.Client(base_url=server.url, timeout=30)
        self.http.get("/")
        self.http.headers["X-CSRFToken"] = self.http.cookies[settings.CSRF_COOKIE_NAME]

    def add_environment(self, slug: str, origin: str) -> None:
        """Make an environment with the canary bound to this origin."""
        assert self.http.post("/environments/", data={"name": slug}).status_code == 302
        rows = [("token", "secret", SECRET, origin), ("city", "text", "Paris", ""),
                ("number", "json", "[7]", "")]  # fmt: skip
        fields = {"variables-TOTAL_FORMS": "3", "variables-INITIAL_FORMS": "0"}
        for number, row in enumerate(rows):
            for name, value in zip(("name", "kind", "value", "allowed_origins"), row, strict=True):
                fields[f"variables-{number}-{name}"] = value
        saved = self.http.post(f"/environments/{slug}/", data=fields)
        assert saved.status_code == 302, saved.text

    def add_agent(self, name: str, url: str, **auth: str) -> str:
        """Save an agent with a credential; return its slug."""
        fields = {"name": name, "url": url, "version": "0.55", "headers": "[]",
                  "auth_secret": SECRET, **auth}  # fmt: skip
        assert self.http.post("/agents/", data=fields).status_code == 302
        return name.replace(", ", "-")

    def send(self, fields: dict[str, str], path: str = "/runs/") -> str:
        """Post a form that makes something; return the address of that."""
        sent = self.http.post(path, data=fields)
        assert sent.status_code == 302, sent.text
        return str(sent.headers["Location"])

    def keep_request(self, name: str, fields: dict[str, str]) -> None:
        place = {"place": "kept"} if self.kept else {"collection": "Kept"}
        saved = self.http.post("/saved-requests/", data={**fields, "name": name, **place})
        self.kept += 1
        assert saved.status_code < 400, saved.text

    def wait(self, path: str, unfinished: str) -> None:
        while unfinished in self.http.get(path).text:
            time.sleep(0.1)

    def share(self, **subject: str) -> str:
        """Share a run or a collection; return the path of the share."""
        made = self.http.post("/shares/", data={**subject, "expires": ""}, follow_redirects=True)
        assert_clean("the page of a share", made.content)
        found = re.search(r"/s/[\w-]+/", made.text)
        assert found
        return found[0]

    def watch(self, path: str) -> str:
        """Return all that the websocket pushes until the run has ended."""

        async def messages() -> list[str]:
            address = f"{self.server.url.replace('http', 'ws')}/ws{path}"
            async with connect(address, origin=self.server.url) as socket:  # type: ignore[arg-type]
                return [str(message) async for message in socket]

        *_, last = received = asyncio.run(messages())
        assert "data-final" in last
        return "".join(received)

    def get(self, path: str) -> bytes:
        answer = self.http.get(path)
        assert answer.status_code == (404 if "nowhere" in path else 200), path
        return answer.content

    def rows(self, prefix: str) -> str:
        """Return all values of the tables whose names begin so."""
        with contextlib.closing(
            sqlite3.connect(self.server.data / "playground.sqlite3")
        ) as database:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            rows = [
                str(value, "utf-8", "replace") if isinstance(value, bytes) else str(value)
                for (name,) in names.fetchall()
                if name.startswith(prefix)
                for row in database.execute(f'SELECT * FROM "{name}"')
                for value in row
            ]
        assert rows
        return "\n".join(rows)


def fields_for_agent(name: str, slug: str) -> dict[str, str]:
    """Return a request to a saved agent, with other secrets typed into its headers."""
    headers = [["X-Session-Token", CUSTOM]]
    if AGENTS[name][1]["auth"] == "api_key":
        headers.insert(0, ["Authorization", f"Token {HEADER}"])
    document = AGENT_API if name == "agent-api" else {"query": {"text": "a"}}
    return {"agent": slug, "document": json.dumps(document), "headers": json.dumps(headers)}


def fields_for_address(address: str, auth: str, environment: str = "canary") -> dict[str, str]:
    """Return a request to an address, with variables of the environment everywhere."""
    headers = [*HEADERS, *([] if auth else [["Authorization", "Bearer {{token}}"]])]
    return {
        "agent": "", "address": f"{address}?key={{{{token}}}}", "protocol": "nlweb",
        "document": json.dumps(TEMPLATE), "headers": json.dumps(headers), "auth": auth,
        "environment": environment, "expectations": "[]", "captures": "{}",
    }  # fmt: skip


class Traces:
    """Everything that was made of runs whose responses had the secrets."""

    def __init__(self, site: Site, agent: Server) -> None:
        self.site = site
        self.agent = agent
        self.runs: dict[str, EchoedRun] = {}
        #: Pages with what was found out of servers.
        self.found: dict[str, str] = {}
        site.add_environment("canary", agent.url)
        for name, (path, fields) in AGENTS.items():
            slug = site.add_agent(name, f"{agent.url}/{path}", **fields)
            self._run(name, fields_for_agent(name, slug))
        for name, (answer, auth) in OF_ENVIRONMENT.items():
            self._run(name, fields_for_address(f"{agent.url}/{answer}", auth))
        self._take_action()
        for name in ("stream, bearer", "stream, basic", "encoded"):
            site.keep_request(f"Canary {name}", self.runs[name].fields)
        self.collection = site.share(collection="kept")
        self.follow_ups = [
            site.send(data, self.runs[name].url + path)
            for name in OF_ENVIRONMENT
            for path, data in (("repetition/", {}), ("next/", {"text": "and then"}))
            if path == "repetition/" or name.startswith("stream")
        ]
        for url in self.follow_ups:
            site.watch(url)
        first = len(agent.requests)
        self._find_out("server", "binding:http")
        #: What was sent to find that out.
        self.asked = [each for each in agent.requests[first:] if b"agent-card" not in each]
        self._find_out("encoded", "version:0.54")
        subject = {"collection": "kept", "parallel": "1"}
        self.collection_run = site.send(subject, "/collection-runs/")
        site.wait(self.collection_run, "data-cancel")

    def _run(self, name: str, fields: dict[str, str], url: str = "") -> None:
        first = len(self.agent.requests)
        url = url or self.site.send(fields)
        messages = self.site.watch(url)
        share = self.site.share(run=urlsplit(url).path.split("/")[2])
        requests = self.agent.requests[first:]
        self.runs[name] = EchoedRun(fields, url, requests, messages, share)

    def _take_action(self) -> None:
        """Take the action over A2A that a response with deltas has offered."""
        offered = self.runs["deltas"]
        entry = re.search(rb"/actions/\d+/\d+/0/", self.site.get(offered.url))
        assert entry
        path = offered.url.rstrip("/") + entry[0].decode()
        assert self.site.http.post(f"{path}server/").status_code == 200
        sent = {"confirmed": "1", "as_agent": "1"}
        html = self.site.http.post(path, data=sent, headers={"HX-Request": "true"}).text
        child = re.search(r'id="child-([\w-]+)"', html)
        assert child, html
        self._run("a2a", {}, f"/runs/{child[1]}/")

    def _find_out(self, slug: str, other: str) -> None:
        """Fetch the tools of an agent, examine it, and compare two responses of it."""
        site, own = self.site, f"/agents/{slug}/"
        tools = site.http.post(f"{own}tools/", headers={"HX-Request": "true"})
        site.send({}, f"{own}doctor/")
        site.wait(f"{own}doctor/report/", 'aria-busy="true"')
        twin = site.send({**self.runs[slug].fields, "headers": "[]", "other": other}, "/twins/")
        site.wait(f"{twin}difference/", "Waiting for both")
        self.found[f"tools of {slug}"] = tools.text
        for path in (own, f"{own}doctor/", f"{own}doctor/report/", twin, f"{twin}difference/"):
            self.found[path] = site.get(path).decode()

    def of_run(self, run: EchoedRun) -> Iterator[tuple[str, bytes | str]]:
        """Yield what is made of a run."""
        yield "websocket", run.messages
        for path in RUN_PAGES:
            yield path, self.site.get(run.url + path)
        last = re.search(rb'data-last="(\d+)"', self.site.get(run.url))
        assert last
        frames = int(last[1])
        assert frames > 2
        for number in range(1, frames + 1, max(1, frames // 12)):
            for path in (f"events/{number}/", f"items/{number}/0/"):
                yield path, self.site.http.get(run.url + path).content
        yield "share", self.site.get(run.share)
        yield "share, websocket", self.site.watch(run.share.replace("/s/", "/shares/"))
        for path in POSTS if run.fields else []:
            yield path, self.site.http.post(path, data=run.fields).raise_for_status().content

    def artefacts(self) -> Iterator[tuple[str, bytes | str]]:
        """Yield all other artefacts."""
        yield from self.found.items()
        compared = [self.runs[name].url.split("/")[2] for name in ("encoded", "failing")]
        slugs = [slug for run in self.runs.values() if (slug := run.fields.get("agent"))]
        requests = re.findall(r"/collections/kept/requests/[\w-]+/",
                              self.site.get("/collections/kept/").decode())  # fmt: skip
        assert len(set(requests)) == self.site.kept
        for path in (
            *PAGES, *self.follow_ups, *set(requests), self.collection,
            f"{self.collection}fixture.json", self.collection_run,
            *(f"{self.collection_run}report.{kind}" for kind in ("junit", "json", "html")),
            *(page.format(slug) for slug in slugs for page in ("/agents/{}/", "/?agent={}")),
            "/compare/?left={}&right={}".format(*compared),
        ):  # fmt: skip
            yield path, self.site.get(path)
        dump = self.site.server.manage("dumpdata", "playground").stdout
        assert '"token"' in dump
        assert '"basic"' in dump
        yield "a dump of the database", dump
        yield "tables of the database", self.site.rows("playground_")
        yield "the log", "".join(self.site.server.log)
        static = self.site.server.data / "static"
        files = [path for path in self.site.server.data.rglob("*") if static not in path.parents]
        assert any(path.name == "playground.sqlite3" for path in files)
        yield from ((path.name, path.read_bytes()) for path in files if path.is_file())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("canary")
    with PlaygroundServer(data, PLAYGROUND_LOG_LEVEL="DEBUG") as server:
        yield Site(server)


@pytest.fixture(scope="module")
def traces(site: Site) -> Iterator[Traces]:
    with serving(answer=answer_by_path) as agent:
        yield Traces(site, agent)


def test_a_secret_goes_to_its_agent_only(site: Site) -> None:
    """Another agent, and a redirect to elsewhere, get nothing of it."""
    with serving(STREAM_HEAD, LAST_CHUNK) as elsewhere:
        away = head("307 Temporary Redirect", location=f"{elsewhere.url}/ask", content_length="0")
        with serving(away) as agent:
            fields = {"document": '{"query": {"text": "a"}}'}
            slug = site.add_agent("leaving", agent.url, auth="bearer")
            site.watch(site.send({**fields, "agent": slug}))
            assert elsewhere.requests == []
            slug = site.add_agent("other", elsewhere.url, auth="none")
            site.watch(site.send({**fields, "agent": slug}))
    assert len(elsewhere.requests) == 1
    assert_clean("another agent's request", elsewhere.requests[0])
    cookie = site.http.cookies[settings.CSRF_COOKIE_NAME].encode()
    for request in (*elsewhere.requests, *agent.requests):
        assert cookie not in request


def test_a_secret_goes_to_its_origins_only(site: Site) -> None:
    with serving(answer=stream) as agent:
        site.add_environment("elsewhere", "https://allowed.example")
        fields = fields_for_address(agent.url, BASIC, "elsewhere")
        refused = site.http.post("/runs/", data=fields)
        shown = site.http.post("/compose/preview/", data=fields)
    assert refused.status_code == 422
    for text in (refused.text, shown.text):
        assert "The secret “token” may be sent to https://allowed.example" in text
        assert agent.url in text
        assert_clean("the refusal", text)
    assert agent.requests == []


def test_secrets_of_agents_were_sent(traces: Traces) -> None:
    for name, (_, fields) in AGENTS.items():
        calls = [each for each in traces.runs[name].requests if b"agent-card" not in each]
        assert calls
        for request in calls:
            assert (PAIR if fields["auth"] == "basic" else SECRET).encode() in request
            assert CUSTOM.encode() in request


def test_secrets_of_an_environment_were_sent(traces: Traces) -> None:
    for name, (_, auth) in OF_ENVIRONMENT.items():
        (request,) = traces.runs[name].requests
        line, _, rest = request.partition(b"\r\n")
        assert f"key={quote(SECRET, safe='')}".encode() in line
        assert b"X-API-Key: " + SECRET.encode() in rest
        assert b"Paris" in rest
        assert (f"Basic {PAIR}" if auth else f"Bearer {SECRET}").encode() in rest
        assert json.dumps(f"what is {SECRET}").encode() in rest
        assert b'"n": [7]' in rest


def test_what_is_found_out_of_a_server(traces: Traces) -> None:
    """All calls of the doctor have the credential; no page has the session."""
    assert len(traces.asked) > 10
    for request in traces.asked:
        assert f"Bearer {SECRET}".encode() in request
    assert "••••••" in traces.found["tools of server"]
    assert "Found: NLWeb" in traces.found["/agents/server/doctor/report/"]
    for path, text in traces.found.items():
        assert SESSION not in text, path


@pytest.mark.parametrize("name", RUNS)
def test_no_secret_is_in_what_is_made_of_a_run(traces: Traces, name: str) -> None:
    check = assert_no_encoding if name in ENCODED else assert_clean
    for path, data in traces.of_run(traces.runs[name]):
        check(f"{name}: {path}", data)
    # It did come back: what stood there are dots.
    for path in ("wire.txt", "wire/"):
        assert "••••••" in traces.site.get(traces.runs[name].url + path).decode()


def test_no_secret_is_in_any_other_artefact(traces: Traces) -> None:
    for where, data in traces.artefacts():
        assert data, where
        assert_no_encoding(where, data)


def test_the_secret_was_echoed_in_every_encoding(traces: Traces) -> None:
    """As often as there are encodings, in a head, and in more than one way in the events."""
    wire = traces.site.get(f"{traces.runs['encoded'].url}wire.txt").decode()
    start, _, body = wire.partition("event: result")
    assert start.count("X-Echo") == start.count("X-Echo-") == len(ENCODINGS)
    assert start.count("••••••") >= 4 * len(ENCODINGS)
    assert body.count("••••••") >= len(ENCODINGS)


@pytest.mark.parametrize("name", OVER_OTHER_PROTOCOLS)
def test_the_secret_was_echoed_over_other_protocols(traces: Traces, name: str) -> None:
    """In every encoding, and divided: what is said behind that has a mask before it."""
    wire = traces.site.get(f"{traces.runs[name].url}wire.txt").decode()
    masks = wire.count("••••••") + wire.count("\\u2022" * 6)
    assert masks > len(ENCODINGS)
    assert SECRET[-4:] not in wire.partition(" so ")[2]


#: What commands print, by their arguments; `canary` is the agent, `kept` the collection.
OUTPUTS = {
    "send: text": "send canary --text a",
    "send: jsonl": "send canary --text a --output jsonl",
    "twin: text": "twin canary canary --text a",
    "twin: json": "twin canary canary --text a --output json",
    "doctor: text": "doctor canary",
    "doctor: json": "doctor canary --output json",
    "run_collection: text": "run_collection kept --reporter text",
    "run_collection: junit": "run_collection kept --reporter junit",
    "run_collection: json": "run_collection kept --reporter json",
    "run_collection: html": "run_collection kept --reporter html",
    "export_collection": "export_collection kept",
}


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_no_secret_is_in_any_output() -> None:
    """On both streams of commands, and in what they store."""
    with connection.cursor() as cursor:  # Free pages have what large tests have stored.
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    outputs = {name: command.split() for name, command in OUTPUTS.items()}
    with serving(answer=answer_by_path) as agent:
        for answer in ("stream", "broken"):
            for output in ("text", "jsonl"):
                outputs[f"{answer}: {output}"] = [
                    "send", f"{agent.url}/{answer}", "--text", "a", "--output", output,
                    "--header", f"Authorization: Bearer {HEADER}", "--header", f"X-Key: {SECRET}",
                ]  # fmt: skip
        url = f"{agent.url}/encoded"
        key = {"auth": "api_key", "auth_header": "X-K", "auth_secret": SECRET}
        Agent.objects.create(name="Canary", url=url, **key)
        saved(Collection.objects.create(name="Kept"), "echo", agent="canary")
        for output, arguments in outputs.items():
            done = run_command(*arguments)
            assert done.stdout, (output, done.stderr)
            assert_no_encoding(output, done.stdout)
            assert_no_encoding(f"{output}, standard error", done.stderr)
    assert SECRET.encode() in agent.requests[0]
    assert HEADER.encode() in agent.requests[-1]
    database = Path(connection.settings_dict["NAME"])
    files = list(database.parent.glob(f"{database.name}*"))
    assert any(agent.url.encode() in path.read_bytes() for path in files)
    for path in files:
        assert_no_encoding(path.name, path.read_bytes())


@pytest.mark.django_db(transaction=True)
def test_an_error_of_the_command_line_shows_no_value() -> None:
    done = run_command("send", "http://127.0.0.1:9", "--text", "{{no}}", "--var", f"b c={SECRET}")
    assert done.returncode == 2
    assert_clean("the complaint", done.stdout + done.stderr)


@pytest.mark.parametrize("name", ["connection", "http11", "http2", "proxy", "socks"])
def test_the_library_beneath_logs_no_heads_of_replies(name: str) -> None:
    assert transport.Transport
    logger = logging.getLogger(f"httpcore.{name}")
    assert not logger.isEnabledFor(logging.DEBUG)
