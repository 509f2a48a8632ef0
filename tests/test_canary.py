"""Canaries: secrets that go to an agent which sends them back, searched for in every artefact.

One is the credential of a saved agent, or a variable of an environment; it goes along in every
way there is (a header, the document, the query of the address, Basic). Others are typed into
headers. The agent sends them back in every way it can. What is made of such a run is looked
through: pages, fragments, downloads, shares, the websocket, the database's own files, a dump of
it, the log, and what the command line prints. Whoever adds a page or an export adds it to `PAGES`,
`OTHERS`, `POSTS`, `ARTEFACTS` or `OUTPUTS`.
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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
    chunk,
    closing,
    head,
    reply,
    serve,
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
PAGES = [
    "", "response/", "next/", "turn/", "session/", "results/", "events/", "events/?order=index",
    "timeline/", "sequence/", "sequence.svg", "sequence.mmd", "wire/", "wire.txt",
    "standard-client/", "conformance/", "conformance.json",
    "conformance/count/", "checks/", "document/", "pane/", "code/", "run.har",
]  # fmt: skip
#: Pages that show runs, environments, or what was saved.
OTHERS = [
    "/", "/runs/", "/history/", "/agents/", "/environments/", "/environments/canary/",
    "/collections/", "/collections/kept/", "/collections/kept/requests/canary/",
    "/collections/kept/export/", "/collections/kept/postman/", "/sidebar/", "/shares/",
    "/collections/search/?q=canary", "/compare/", "/nowhere-at-all/",
]  # fmt: skip
#: A request of the Agent API.
AGENT_API = {
    "input": [{"role": "user", "type": "message", "content": [{"type": "text", "text": "a"}]}],
    "stream": True,
}
#: Saved agents, by the kind of their credential.
AGENTS = {
    "bearer": {"auth": "bearer"},
    "basic": {"auth": "basic", "auth_user": "ada"},
    "key": {"auth": "api_key", "auth_header": "X-API-Key"},
    "shop": {"auth": "api_key", "auth_header": "X-Shop"},
}
#: What is asked for with the composer's form.
POSTS = ["/compose/preview/", "/compose/code/", "/twins/choices/"]


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


class Site:
    """A playground with agents, or an environment, that hold the canary."""

    def __init__(self, server: PlaygroundServer) -> None:
        self.server = server
        self.http = httpx.Client(base_url=server.url, timeout=30)
        self.http.get("/")
        self.http.headers["X-CSRFToken"] = self.http.cookies[settings.CSRF_COOKIE_NAME]

    def keep_secret(self, origin: str) -> None:
        """Make the environment anew, with the canary bound to this origin."""
        self.http.post("/environments/canary/deletion/")
        assert self.http.post("/environments/", data={"name": "Canary"}).status_code == 302
        rows = [("token", "secret", SECRET, origin), ("city", "text", "Paris", ""),
                ("number", "json", "[7]", "")]  # fmt: skip
        fields = {"variables-TOTAL_FORMS": "3", "variables-INITIAL_FORMS": "0"}
        for number, row in enumerate(rows):
            for name, value in zip(("name", "kind", "value", "allowed_origins"), row, strict=True):
                fields[f"variables-{number}-{name}"] = value
        saved = self.http.post("/environments/canary/", data=fields)
        assert saved.status_code == 302, saved.text

    def add(self, slug: str, url: str, **auth: str) -> None:
        """Save an agent with a credential."""
        fields = {"name": slug, "url": url, "version": "0.55", "headers": "[]",
                  "auth_secret": SECRET, **auth}  # fmt: skip
        assert self.http.post("/agents/", data=fields).status_code == 302

    def remove(self, *slugs: str) -> None:
        for slug in slugs:
            self.http.post(f"/agents/{slug}/deletion/")

    def fields_of(self, slug: str) -> dict[str, str]:
        """A request to a saved agent, with other secrets typed into its headers."""
        headers = [["Authorization", f"Token {HEADER}"], ["X-Session-Token", CUSTOM]]
        if AGENTS[slug]["auth"] != "api_key":
            headers = headers[1:]
        return {"agent": slug, "document": '{"query": {"text": "a"}}',
                "headers": json.dumps(headers)}  # fmt: skip

    def fields(self, address: str, auth: str) -> dict[str, str]:
        """A request to an address, with variables of the environment everywhere."""
        headers = [*HEADERS, *([] if auth else [["Authorization", "Bearer {{token}}"]])]
        return {
            "agent": "", "address": f"{address}?key={{{{token}}}}", "protocol": "nlweb",
            "document": json.dumps(TEMPLATE), "headers": json.dumps(headers), "auth": auth,
            "environment": "canary", "expectations": "[]", "captures": "{}",
        }  # fmt: skip

    def send(self, fields: dict[str, str]) -> str:
        sent = self.http.post("/runs/", data=fields)
        assert sent.status_code == 302, sent.text
        return str(sent.headers["Location"])

    def keep_request(self, fields: dict[str, str]) -> None:
        saved = self.http.post(
            "/saved-requests/", data={**fields, "name": "Canary", "collection": "Kept"}
        )
        assert saved.status_code < 400, saved.text

    def wait(self, url: str) -> None:
        while "data-final" not in self.http.get(f"{url}response/").text:
            time.sleep(0.1)

    def look_everywhere(self, url: str, fields: dict[str, str]) -> int:
        """Look through every page there is; returns how many frames the run has."""
        for path in PAGES:
            answer = self.http.get(url + path)
            assert answer.status_code < 500, path
            assert_clean(f"{url}{path}", answer.content)
        wire = self.http.get(f"{url}wire.txt").text
        last = re.search(r'data-last="(\d+)"', self.http.get(url).text)
        assert last
        for number in range(1, int(last[1]) + 1):
            for path in (f"events/{number}/", f"items/{number}/0/"):
                assert_clean(path, self.http.get(url + path).content)
        own = [f"/agents/{fields['agent']}/", f"/?agent={fields['agent']}"]
        for path in [*OTHERS, *(own if fields["agent"] else [])]:
            assert_clean(path, self.http.get(path).content)
        for path in POSTS:
            assert_clean(path, self.http.post(path, data=fields).content)
        self._share(url)
        # It did come back: what stood there are dots.
        assert "••••••" in wire
        assert "••••••" in self.http.get(f"{url}wire/").text
        return int(last[1])

    def _share(self, url: str) -> None:
        pk = urlsplit(url).path.split("/")[2]
        made = self.http.post("/shares/", data={"run": pk, "expires": ""}, follow_redirects=True)
        assert_clean("the page of a share", made.content)
        for path in set(re.findall(r"/s/[\w-]+/", made.text)):
            assert_clean("a share", self.http.get(path).content)
            assert_clean("the file of a share", self.http.get(f"{path}fixture.json").content)

    def search_files(self) -> None:
        """Look through everything that is on the disk but the static files, and in the log."""
        static = self.server.data / "static"
        files = [path for path in self.server.data.rglob("*") if static not in path.parents]
        assert any(path.name == "playground.sqlite3" for path in files)
        for path in filter(Path.is_file, files):
            assert_clean(path.name, path.read_bytes())
        assert_clean("the log", "".join(self.server.log))

    async def watch(self, url: str) -> AsyncIterator[str]:
        address = f"{self.server.url.replace('http', 'ws')}/ws{url}"
        async with connect(address, origin=self.server.url) as socket:  # type: ignore[arg-type]
            async for message in socket:
                yield str(message)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("canary")
    with PlaygroundServer(data, PLAYGROUND_LOG_LEVEL="DEBUG") as server:
        yield Site(server)


@pytest.mark.parametrize(
    ("slug", "answer"),
    [("bearer", stream), ("basic", broken), ("key", broken), ("shop", stream), ("basic", stream)],
)
async def test_a_secret_of_an_agent_is_nowhere(site: Site, slug: str, answer: object) -> None:
    async with serve(answer=answer) as agent:  # type: ignore[arg-type]
        site.add(slug, agent.url, **AGENTS[slug])
        try:
            fields = site.fields_of(slug)
            url = await asyncio.to_thread(site.send, fields)
            messages = [message async for message in site.watch(url)]
            frames = await asyncio.to_thread(site.look_everywhere, url, fields)
        finally:
            site.remove(slug)
    (request,) = agent.requests
    assert CUSTOM.encode() in request
    assert (SECRET if slug != "basic" else PAIR) in request.decode("latin-1")
    assert frames > 4
    assert "data-final" in messages[-1]
    assert_clean("the websocket", "".join(messages))
    site.search_files()


@pytest.mark.parametrize("auth", ["", BASIC], ids=["bearer", "basic"])
@pytest.mark.parametrize("answer", [stream, broken, unframed, moved])
async def test_a_secret_of_an_environment_is_nowhere(site: Site, answer: object, auth: str) -> None:
    async with serve(answer=answer) as agent:  # type: ignore[arg-type]
        await asyncio.to_thread(site.keep_secret, agent.url)
        fields = site.fields(f"{agent.url}/{answer.__name__}", auth)  # type: ignore[attr-defined]
        url = await asyncio.to_thread(site.send, fields)
        messages = [message async for message in site.watch(url)]
        assert_clean("the websocket", "".join(messages))
        await asyncio.to_thread(site.keep_request, fields)
        await asyncio.to_thread(site.look_everywhere, url, fields)
        # Once more, and on from there: nothing of it comes into what is kept then.
        for path, data in (("repetition/", {}), ("next/", {"text": "and then"})):
            sent = await asyncio.to_thread(site.http.post, url + path, data=data)
            if sent.status_code == 302:
                await asyncio.to_thread(site.wait, sent.headers["Location"])
                assert_clean(path, site.http.get(sent.headers["Location"]).content)
    first, again, *_ = agent.requests
    for request in (first, again):
        line, _, rest = request.partition(b"\r\n")
        assert f"key={quote(SECRET, safe='')}".encode() in line
        assert b"X-API-Key: " + SECRET.encode() in rest
        assert b"Paris" in rest
        assert (f"Basic {PAIR}" if auth else f"Bearer {SECRET}").encode() in rest
        assert json.dumps(f"what is {SECRET}").encode() in rest
        assert b'"n": [7]' in rest
    site.search_files()


async def test_what_is_found_out_of_a_server_tells_no_secret(site: Site) -> None:
    """Its tools, what the doctor sees of it, and two replies side by side."""
    async with serve(answer=echo_rpc) as agent:
        site.add("bearer", f"{agent.url}/mcp", binding="mcp", **AGENTS["bearer"])
        try:
            url = await asyncio.to_thread(site.send, site.fields_of("bearer"))
            assert_clean("the websocket", "".join([each async for each in site.watch(url)]))
            await asyncio.to_thread(site.look_everywhere, url, site.fields_of("bearer"))
            await asyncio.to_thread(_look_at_what_was_found, site)
        finally:
            site.remove("bearer")
    asked = [each for each in agent.requests if b"agent-card" not in each]
    assert len(asked) > 10
    for request in asked:
        assert f"Bearer {SECRET}".encode() in request
    site.search_files()


def _look_at_what_was_found(site: Site) -> None:
    own = "/agents/bearer/"
    tools = site.http.post(f"{own}tools/", headers={"HX-Request": "true"})
    assert "••••••" in tools.text
    assert site.http.post(f"{own}doctor/").status_code == 302
    while 'aria-busy="true"' in (report := site.http.get(f"{own}doctor/report/").text):
        time.sleep(0.1)
    assert "Found: NLWeb" in report
    fields = {"agent": "bearer", "document": '{"query": {"text": "a"}}', "other": "binding:http"}
    sent = site.http.post("/twins/", data=fields)
    assert sent.status_code == 302, sent.text
    twin = sent.headers["Location"]
    while "Waiting for both replies" in (difference := site.http.get(f"{twin}difference/").text):
        time.sleep(0.1)
    seen = {"tools": tools.text, "report": report, "difference": difference}
    for path in (own, f"{own}doctor/", twin, "/agents/"):
        seen[path] = site.http.get(path).text
    for name, text in seen.items():
        assert_clean(name, text)
        assert SESSION not in text, f"the session in {name}"


async def test_a_secret_goes_to_its_agent_only(site: Site) -> None:
    """Another agent, and a redirect to elsewhere, get nothing of it."""
    async with serve(STREAM_HEAD, LAST_CHUNK) as elsewhere:
        away = head("307 Temporary Redirect", location=f"{elsewhere.url}/ask", content_length="0")
        async with serve(away) as agent:
            site.add("bearer", agent.url, **AGENTS["bearer"])
            site.add("other", elsewhere.url, auth="none")
            try:
                url = await asyncio.to_thread(site.send, site.fields_of("bearer"))
                assert [m async for m in site.watch(url)]
                assert elsewhere.requests == []
                fields = {"agent": "other", "document": '{"query": {"text": "a"}}'}
                sent = await asyncio.to_thread(site.http.post, "/runs/", data=fields)
                assert [m async for m in site.watch(sent.headers["Location"])]
            finally:
                site.remove("bearer", "other")
    assert len(elsewhere.requests) == 1
    assert_clean("another agent's request", elsewhere.requests[0])
    cookie = site.http.cookies[settings.CSRF_COOKIE_NAME].encode()
    for request in (*elsewhere.requests, *agent.requests):
        assert cookie not in request


async def test_a_secret_goes_to_its_origins_only(site: Site) -> None:
    async with serve(answer=stream) as agent:
        await asyncio.to_thread(site.keep_secret, "https://allowed.example")
        fields = site.fields(agent.url, BASIC)
        refused = await asyncio.to_thread(site.http.post, "/runs/", data=fields)
        shown = await asyncio.to_thread(site.http.post, "/compose/preview/", data=fields)
    assert refused.status_code == 422
    for text in (refused.text, shown.text):
        assert "The secret “token” may be sent to https://allowed.example" in text
        assert agent.url in text
        assert_clean("the refusal", text)
    assert agent.requests == []


async def test_a_dump_of_the_database_tells_no_secret(site: Site) -> None:
    async with serve(answer=stream) as agent:
        await asyncio.to_thread(site.keep_secret, agent.url)
        fields = site.fields(agent.url, "")
        site.add("basic", agent.url, **AGENTS["basic"])
        try:
            for sent in (fields, site.fields_of("basic")):
                await asyncio.to_thread(site.wait, await asyncio.to_thread(site.send, sent))
            await asyncio.to_thread(site.keep_request, fields)
            dump = await asyncio.to_thread(site.server.manage, "dumpdata", "playground")
        finally:
            site.remove("basic")
    assert '"token"' in dump.stdout
    assert '"basic"' in dump.stdout
    assert_clean("dumpdata", dump.stdout)


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_the_command_line_prints_no_secret() -> None:
    for output in ("jsonl", "text"):
        for answer in (stream, broken):
            with serving(answer=answer) as agent:
                done = run_command(
                    "send", agent.url, "--text", "a", "--output", output,
                    "--header", f"Authorization: Bearer {HEADER}",
                    "--header", f"X-API-Key: {SECRET}",
                )  # fmt: skip
            assert HEADER.encode() in agent.requests[0]
            assert "echo" in done.stdout or done.returncode == 3
            assert_clean("the output", done.stdout + done.stderr)
    database = Path(connection.settings_dict["NAME"])
    files = list(database.parent.glob(f"{database.name}*"))
    assert database in files
    assert any(agent.url.encode() in path.read_bytes() for path in files)
    for path in files:
        assert_clean(path.name, path.read_bytes())


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
        results = [{**task_of(call), "kind": "task", "status": {"state": "working"}}]
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


def task_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return a task of A2A."""
    return {"id": "t", "contextId": "c", "metadata": {"of": str(call.get("method"))}}


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


@dataclass
class Traces:
    """What was made of runs whose responses had the secret in every encoding."""

    site: Site
    fields: dict[str, str]
    #: Addresses of two runs, the second one failed.
    run: str
    failed: str
    twin: str = ""
    share: str = ""
    shared_collection: str = ""
    collection_run: str = ""
    #: Runs of other protocols, by their names.
    others: dict[str, str] = field(default_factory=dict)
    #: Messages of the websockets of the run and of its share.
    messages: list[str] = field(default_factory=list)
    shared_messages: list[str] = field(default_factory=list)

    def get(self, path: str) -> bytes:
        answer = self.site.http.get(path)
        assert answer.status_code == (404 if "nowhere" in path else 200), path
        return answer.content

    def rows(self, prefix: str) -> str:
        """Return all values of the tables whose names begin so."""
        with contextlib.closing(
            sqlite3.connect(self.site.server.data / "playground.sqlite3")
        ) as database:
            names = database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '% VIRTUAL %'"
            )
            rows = [
                str(value, "utf-8", "replace") if isinstance(value, bytes) else str(value)
                for (name,) in names.fetchall()
                if name.startswith(prefix)
                for row in database.execute(f'SELECT * FROM "{name}"')
                for value in row
            ]
        assert rows
        return "\n".join(rows)


def _of_run(path: str) -> Callable[[Traces], bytes]:
    return lambda traces: traces.get(traces.run + path)


def _page(path: str) -> Callable[[Traces], bytes]:
    return lambda traces: traces.get(path)


def _posted(path: str) -> Callable[[Traces], bytes]:
    return lambda traces: traces.site.http.post(path, data=traces.fields).raise_for_status().content


#: Agents of other protocols than NLWeb over HTTP, and NLWeb with deltas and an action over A2A.
OTHER_PROTOCOLS: dict[str, dict[str, str]] = {
    "Agent API": {"path": "/process", "protocol": "agent-api", "version": "1"},
    "MCP": {"path": "/mcp", "binding": "mcp"},
    "deltas": {"path": "/ask"},
    "A2A": {},
}
#: All that is looked through, besides the outputs of commands.
ARTEFACTS: dict[str, Callable[[Traces], bytes | str]] = {
    **{f"run: {path}": _of_run(path) for path in PAGES},
    **{
        f"run: {path}": _of_run(path)
        for path in (
            "events/7/", "items/80/0/", "checks/count/", "failure/", "turns/", "request/",
            "server-log/",
        )
    },
    **{path: _page(path) for path in (*OTHERS, "/collection-runs/")},
    "agent": _page("/agents/encoded/"),
    "workbench of the agent": _page("/?agent=encoded"),
    **{path: _posted(path) for path in POSTS},
    "search of the history": _page("/history/?q=echo"),
    "failed run": lambda traces: traces.get(traces.failed),
    "failed run: response": lambda traces: traces.get(f"{traces.failed}response/"),
    "failed run: wire": lambda traces: traces.get(f"{traces.failed}wire.txt"),
    "failed run: HAR": lambda traces: traces.get(f"{traces.failed}run.har"),
    "comparison of both": lambda traces: traces.get(
        "/compare/?left={}&right={}".format(*(
            url.split("/")[2] for url in (traces.run, traces.failed)
        ))
    ),
    "twin": lambda traces: traces.get(traces.twin),
    "twin: difference": lambda traces: traces.get(f"{traces.twin}difference/"),
    "doctor": _page("/agents/encoded/doctor/"),
    "doctor: report": _page("/agents/encoded/doctor/report/"),
    "share": lambda traces: traces.get(traces.share),
    "share of a collection": lambda traces: traces.get(traces.shared_collection),
    "share of a collection: fixture": lambda traces: traces.get(
        f"{traces.shared_collection}fixture.json"
    ),
    "share: websocket": lambda traces: "".join(traces.shared_messages),
    "websocket": lambda traces: "".join(traces.messages),
    "collection run": lambda traces: traces.get(traces.collection_run),
    **{
        f"collection run: {kind}": lambda traces, kind=kind: traces.get(
            f"{traces.collection_run}report.{kind}"
        )
        for kind in ("junit", "json", "html")
    },
    **{
        f"{protocol}: {path}": lambda traces, protocol=protocol, path=path: traces.get(
            traces.others[protocol] + path
        )
        for protocol in OTHER_PROTOCOLS
        for path in ("", "response/", "results/", "events/", "wire.txt", "document/", "run.har")
    },
    **{
        f"{protocol}: {kind}": lambda traces, key=f"{protocol}: {kind}": traces.others[key]
        for protocol in OTHER_PROTOCOLS
        for kind in ("websocket", "share")
    },
    "log": lambda traces: "".join(traces.site.server.log),
    "tables of the database": lambda traces: traces.rows("playground_"),
    "index of the search": lambda traces: traces.rows("playground_run_words"),
    "files of the database": lambda traces: b"".join(
        path.read_bytes() for path in traces.site.server.data.glob("playground.sqlite3*")
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def traces(site: Site) -> Traces:
    """Send a request to an agent with each of the answers, and make of it what can be made."""
    fields = {"agent": "encoded", "document": '{"query": {"text": "a"}}', "headers": "[]"}
    with serving(answer=broken_encoded) as agent:
        site.add("encoded", agent.url, **AGENTS["key"])
        failed = site.send(fields)
        site.wait(failed)
    site.remove("encoded")
    with serving(answer=echo_encoded) as agent:
        site.add("encoded", agent.url, **AGENTS["key"])
        made = Traces(site, fields, site.send(fields), failed)
        made.messages = asyncio.run(_messages(site, made.run))
        site.keep_secret(agent.url)
        site.keep_request(fields)
        made.share = _shared(site, run=urlsplit(made.run).path.split("/")[2])
        made.shared_collection = _shared(site, collection="kept")
        made.shared_messages = asyncio.run(_messages(site, made.share.replace("/s/", "/shares/")))
        site.http.post("/agents/encoded/tools/", headers={"HX-Request": "true"})
        twin = site.http.post("/twins/", data={**fields, "other": "version:0.54"})
        made.twin = twin.headers["Location"]
        doctor = site.http.post("/agents/encoded/doctor/")
        started = site.http.post("/collection-runs/", data={"collection": "kept", "parallel": "1"})
        made.collection_run = started.headers["Location"]
        assert doctor.status_code == 302
        for path, unfinished in (
            (f"{made.twin}difference/", "Waiting for both"),
            ("/agents/encoded/doctor/report/", 'aria-busy="true"'),
            (made.collection_run, "data-cancel"),
        ):
            while unfinished in site.http.get(path).text:
                time.sleep(0.1)
    assert SECRET.encode() in agent.requests[0]
    _send_to_others(site, made)
    return made


def _send_to_others(site: Site, made: Traces) -> None:
    """Send requests to agents of other protocols; the last of them offers an action over A2A."""
    with serving(answer=echo_over) as agent:
        for protocol, (fields, document) in {
            protocol: (
                dict(fields),
                AGENT_API if protocol == "Agent API" else {"query": {"text": "a"}},
            )
            for protocol, fields in OTHER_PROTOCOLS.items()
            if fields
        }.items():
            site.add("others", agent.url + fields.pop("path"), **{**AGENTS["key"], **fields})
            sent = {"agent": "others", "document": json.dumps(document), "headers": "[]"}
            _note(site, made, protocol, site.send(sent))
            if protocol != "deltas":
                site.remove("others")
        entry = re.search(r"/actions/\d+/\d+/0/", made.get(made.others["deltas"]).decode())
        assert entry
        path = made.others["deltas"].rstrip("/") + entry[0]
        assert site.http.post(f"{path}server/").status_code == 200
        sent = {"confirmed": "1", "as_agent": "1"}
        html = site.http.post(path, data=sent, headers={"HX-Request": "true"}).text
        child = re.search(r'id="child-([\w-]+)"', html)
        assert child, html
        _note(site, made, "A2A", f"/runs/{child[1]}/")
        site.remove("others")
    calls = [request for request in agent.requests if b"agent-card" not in request]
    assert all(SECRET.encode() in request for request in calls)


def _note(site: Site, made: Traces, protocol: str, url: str) -> None:
    """Keep what is made of a run."""
    made.others[protocol] = url
    made.others[f"{protocol}: websocket"] = "".join(asyncio.run(_messages(site, url)))
    share = _shared(site, run=urlsplit(url).path.split("/")[2])
    made.others[f"{protocol}: share"] = made.get(share).decode()


async def _messages(site: Site, path: str) -> list[str]:
    return [message async for message in site.watch(path)]


def _shared(site: Site, **subject: str) -> str:
    """Share a run or a collection; return the path of the share."""
    made = site.http.post("/shares/", data={**subject, "expires": ""}, follow_redirects=True)
    found = re.search(r"/s/[\w-]+/", made.text)
    assert found
    return found[0]


@pytest.mark.parametrize("artefact", ARTEFACTS)
def test_no_encoding_is_in_any_artefact(traces: Traces, artefact: str) -> None:
    data = ARTEFACTS[artefact](traces)
    assert data
    assert_no_encoding(artefact, data)


def test_the_secret_was_echoed(traces: Traces) -> None:
    """As often as there are encodings, in a head, and in more than one way in the events."""
    wire = traces.get(f"{traces.run}wire.txt").decode()
    start, _, body = wire.partition("event: result")
    assert start.count("X-Echo") == start.count("X-Echo-") == len(ENCODINGS)
    assert start.count("••••••") >= 4 * len(ENCODINGS)
    assert body.count("••••••") >= len(ENCODINGS)
    assert "••••••" in traces.get(f"{traces.failed}wire.txt").decode()


#: What commands print, by their arguments.
OUTPUTS = {
    "send: text": ("send", "canary", "--text", "a"),
    "send: jsonl": ("send", "canary", "--text", "a", "--output", "jsonl"),
    "twin: text": ("twin", "canary", "canary", "--text", "a"),
    "twin: json": ("twin", "canary", "canary", "--text", "a", "--output", "json"),
    "doctor: text": ("doctor", "canary"),
    "doctor: json": ("doctor", "canary", "--output", "json"),
    "run_collection: text": ("run_collection", "kept", "--reporter", "text"),
    "run_collection: junit": ("run_collection", "kept", "--reporter", "junit"),
    "run_collection: json": ("run_collection", "kept", "--reporter", "json"),
    "run_collection: html": ("run_collection", "kept", "--reporter", "html"),
    "export_collection": ("export_collection", "kept"),
}


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_no_encoding_is_in_any_output() -> None:
    """On both streams of commands, and in what they store."""
    with connection.cursor() as cursor:  # Free pages have what large tests have stored.
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with serving(answer=echo_encoded) as agent:
        Agent.objects.create(
            name="Canary", url=agent.url, auth="api_key", auth_header="X-K", auth_secret=SECRET
        )
        saved(Collection.objects.create(name="Kept"), "echo", agent="canary")
        for output, (command, *arguments) in OUTPUTS.items():
            done = run_command(command, *arguments)
            assert done.stdout, (output, done.stderr)
            assert_no_encoding(output, done.stdout)
            assert_no_encoding(f"{output}, standard error", done.stderr)
    assert SECRET.encode() in agent.requests[0]
    database = Path(connection.settings_dict["NAME"])
    for path in database.parent.glob(f"{database.name}*"):
        assert_no_encoding(path.name, path.read_bytes())


@pytest.mark.parametrize("protocol", OTHER_PROTOCOLS)
def test_the_secret_was_echoed_over_other_protocols(traces: Traces, protocol: str) -> None:
    """In every encoding, and divided: what is said behind that has a mask before it."""
    wire = traces.get(f"{traces.others[protocol]}wire.txt").decode()
    masks = wire.count("••••••") + wire.count("\\u2022" * 6)
    assert masks > len(ENCODINGS)
    assert SECRET[-4:] not in wire.partition(" so ")[2]


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
