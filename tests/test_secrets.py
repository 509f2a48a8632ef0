"""Canaries: secrets that go to an agent which sends them back, searched for everywhere.

Everything that can be seen of such a run is looked through: pages, fragments, downloads, the
websocket, the database's own files, the log, and what the command line prints.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings
from websockets.asyncio.client import connect

from tests.playground_server import PlaygroundServer
from tests.servers import LAST_CHUNK, STREAM_HEAD, Script, chunk, head, serve

pytestmark = pytest.mark.process

SECRET = 'canary/s3"cr\\3t+4711='
HEADER = "canary-header-0815"
CUSTOM = "canary-custom-2342"
SESSION = "session-of-the-caller"


def forms() -> list[bytes]:
    """How the secrets may be written."""
    written: set[str] = set()
    for secret in (SECRET, HEADER, CUSTOM):
        written |= {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}
        written.add(secret.replace("/", "\\/"))
    written.add(base64.b64encode(f"ada:{SECRET}".encode()).decode())
    written.add(base64.b64encode(SECRET.encode()).decode())
    written |= {json.dumps(form)[1:-1] for form in written}
    return [form.encode() for form in written]


def assert_clean(where: str, data: bytes | str) -> None:
    text = data.encode() if isinstance(data, str) else data
    for form in forms():
        assert form not in text, f"a secret in {where}"


def echo(request: bytes) -> Script:
    """Send the request's head back: as a header, in events, in a comment, and in pieces."""
    start = request.partition(b"\r\n\r\n")[0]
    lines = start.decode("latin-1").split("\r\n")
    shown = {"name": "echo", "description": json.dumps(lines), "all": lines}
    event = b"event: result\ndata: " + json.dumps({"index": 0, "item": shown}).encode() + b"\n\n"
    secrets = [line.partition(": ")[2] for line in lines if "canary" in line or "Basic" in line]
    echoed = head(
        content_type="text/event-stream", transfer_encoding="chunked", x_echo=" ".join(secrets)
    )
    context = {"_meta": {"response_type": "answer", "session_context": {"seen": secrets}}}
    return (
        echoed,
        chunk(b": " + " ".join(secrets).encode() + b"\n\n"),
        # A secret may come in two pieces.
        *[chunk(event[n : n + 37]) for n in range(0, len(event), 37)],
        chunk(
            b"event: error\ndata: " + json.dumps({"error": {"code": lines[-1]}}).encode() + b"\n\n"
        ),
        chunk(b"event: complete\ndata: " + json.dumps(context).encode() + b"\n\n"),
        LAST_CHUNK,
    )


def echo_document(request: bytes) -> Script:
    """The same in one document, which comes in pieces; broken, so that it is quoted."""
    start = request.partition(b"\r\n\r\n")[0].decode("latin-1")
    body = ('{"results": [' + json.dumps(start) + "] oops").encode()
    pieces = [chunk(body[n : n + 23]) for n in range(0, len(body), 23)]
    return (head(content_type="application/json", transfer_encoding="chunked"), *pieces, LAST_CHUNK)


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


AGENTS = {
    "bearer": {"auth": "bearer"},
    "basic": {"auth": "basic", "auth_user": "ada"},
    "key": {"auth": "api_key", "auth_header": "X-API-Key"},
    "shop": {"auth": "api_key", "auth_header": "X-Shop"},
}


@dataclass
class Site:
    server: PlaygroundServer
    http: httpx.Client

    def add(self, slug: str, url: str, **auth: str) -> None:
        fields = {"name": slug, "url": url, "version": "0.55", "headers": "[]",
                  "auth_secret": SECRET, **auth}  # fmt: skip
        assert self.http.post("/agents/", data=fields).status_code == 302

    def send(self, slug: str) -> str:
        headers = [["Authorization", f"Token {HEADER}"], ["X-Session-Token", CUSTOM]]
        if AGENTS[slug]["auth"] != "api_key":
            headers = headers[1:]
        fields = {"agent": slug, "document": '{"query": {"text": "a"}}',
                  "headers": json.dumps(headers)}  # fmt: skip
        assert_clean("the preview", self.http.post("/compose/preview/", data=fields).text)
        sent = self.http.post("/runs/", data=fields)
        assert sent.status_code == 302, sent.text
        return str(sent.headers["Location"])

    def look_everywhere(self, url: str, slug: str) -> int:
        """Look through all that can be seen of a run; how many frames it has."""
        page = self.http.get(url).text
        assert_clean("the page", page)
        found = re.search(r'data-last="(\d+)"', page)
        assert found
        paths = ["results/", "events/", "events/?order=index", "timeline/", "wire/", "wire.txt",
                 "standard-client/"]  # fmt: skip
        for seq in range(1, int(found[1]) + 1):
            paths += [f"events/{seq}/", f"items/{seq}/0/"]
        for path in paths:
            assert_clean(path, self.http.get(url + path).content)
        for path in ("/", "/runs/", "/agents/", f"/agents/{slug}/", f"/?agent={slug}"):
            assert_clean(path, self.http.get(path).text)
        return int(found[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("canary")
    with PlaygroundServer(data, PLAYGROUND_LOG_LEVEL="DEBUG") as server:
        http = httpx.Client(base_url=server.url, timeout=20)
        http.get("/")
        http.headers["X-CSRFToken"] = http.cookies[settings.CSRF_COOKIE_NAME]
        yield Site(server, http)


async def watch(site: Site, url: str) -> AsyncIterator[str]:
    """All that a viewer of a run is told, to its end."""
    address = f"{site.server.url.replace('http', 'ws')}/ws{url}"
    async with connect(address, origin=site.server.url) as socket:  # type: ignore[arg-type]
        async for message in socket:
            yield str(message)


def search_files(site: Site) -> None:
    files = [path for path in site.server.data.rglob("*") if path.is_file()]
    assert any(path.name == "playground.sqlite3" for path in files)
    for path in files:
        assert_clean(path.name, path.read_bytes())
    assert_clean("the log", "".join(site.server.log))


@pytest.mark.parametrize("answer", [echo, echo_document])
@pytest.mark.parametrize("slug", AGENTS)
async def test_a_secret_that_comes_back_is_nowhere(site: Site, slug: str, answer: object) -> None:
    async with serve(answer=answer) as agent:  # type: ignore[arg-type]
        site.add(f"{slug}", agent.url, **AGENTS[slug])
        try:
            url = await asyncio.to_thread(site.send, slug)
            messages = [message async for message in watch(site, url)]
            frames = await asyncio.to_thread(site.look_everywhere, url, slug)
        finally:
            site.http.post(f"/agents/{slug}/deletion/")
    (request,) = agent.requests
    assert CUSTOM.encode() in request
    assert (SECRET if slug != "basic" else base64.b64encode(f"ada:{SECRET}".encode()).decode()) in (
        request.decode("latin-1")
    )
    assert frames > 4
    assert "data-final" in messages[-1]
    assert_clean("the websocket", "".join(messages))
    # It did come back: what stood there are dots.
    assert "••••••" in site.http.get(f"{url}wire/").text
    search_files(site)


async def test_what_is_found_out_of_a_server_tells_no_secret(site: Site) -> None:
    """Its tools, what the doctor sees of it, and two replies side by side."""
    async with serve(answer=echo_rpc) as agent:
        site.add("bearer", f"{agent.url}/mcp", binding="mcp", **AGENTS["bearer"])
        try:
            url = await asyncio.to_thread(site.send, "bearer")
            assert_clean("the websocket", "".join([each async for each in watch(site, url)]))
            await asyncio.to_thread(site.look_everywhere, url, "bearer")
            await asyncio.to_thread(_look_at_what_was_found, site)
        finally:
            site.http.post("/agents/bearer/deletion/")
    asked = [each for each in agent.requests if b"agent-card" not in each]
    assert len(asked) > 10
    for request in asked:
        assert f"Bearer {SECRET}".encode() in request
    search_files(site)


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


async def test_the_command_line_prints_no_secret(tmp_path: Path) -> None:
    server = PlaygroundServer(tmp_path)
    await asyncio.to_thread(server.manage, "migrate", "-v", "0")
    for output in ("jsonl", "text"):
        for answer in (echo, echo_document):
            async with serve(answer=answer) as agent:
                done = await asyncio.to_thread(
                    server.manage, "send", agent.url, "--text", "a", "--output", output,
                    "--header", f"Authorization: Bearer {HEADER}",
                    "--header", f"X-API-Key: {SECRET}",
                )  # fmt: skip
            assert HEADER.encode() in agent.requests[0]
            assert "echo" in done.stdout or done.returncode == 3
            assert_clean("the output", done.stdout + done.stderr)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert_clean(path.name, path.read_bytes())


async def test_a_secret_goes_to_its_agent_only(site: Site) -> None:
    """Another agent, and a redirect to elsewhere, get nothing of it."""
    async with serve(STREAM_HEAD, LAST_CHUNK) as elsewhere:
        moved = head("307 Temporary Redirect", location=f"{elsewhere.url}/ask", content_length="0")
        async with serve(moved) as agent:
            site.add("bearer", agent.url, **AGENTS["bearer"])
            site.add("other", elsewhere.url, auth="none")
            try:
                url = await asyncio.to_thread(site.send, "bearer")
                assert [m async for m in watch(site, url)]
                assert elsewhere.requests == []
                fields = {"agent": "other", "document": '{"query": {"text": "a"}}'}
                sent = await asyncio.to_thread(site.http.post, "/runs/", data=fields)
                assert [m async for m in watch(site, sent.headers["Location"])]
            finally:
                for slug in ("bearer", "other"):
                    site.http.post(f"/agents/{slug}/deletion/")
    assert len(elsewhere.requests) == 1
    assert_clean("another agent's request", elsewhere.requests[0])
    cookie = site.http.cookies[settings.CSRF_COOKIE_NAME].encode()
    for request in (*elsewhere.requests, *agent.requests):
        assert cookie not in request
