"""Canaries: secrets that go to an agent which sends them back, searched for in every artefact.

One is the credential of a saved agent, or a variable of an environment; it goes along in every
way there is (a header, the document, the query of the address, Basic). Others are typed into
headers. The agent sends them back in every way it can. What is made of such a run is looked
through: pages, fragments, downloads, shares, the websocket, the database's own files, a dump of
it, the log, and what the command line prints. Whoever adds a page or an export adds it to `PAGES`,
`OTHERS` or `POSTS`.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus, urlsplit

import httpx
import pytest
from django.conf import settings
from django.db import connection
from websockets.asyncio.client import connect

import playground.transport as transport
from tests.support.commands import run_command
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, Script, chunk, head, serve, serving

SECRET = 'canary/env+s3"cr\\3t&0815=='
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
    "timeline/", "wire/", "wire.txt", "standard-client/", "conformance/", "conformance.json",
    "conformance/count/", "checks/", "document/", "pane/", "code/", "run.har",
]  # fmt: skip
#: Pages that show runs, environments, or what was saved.
OTHERS = [
    "/", "/runs/", "/history/", "/agents/", "/environments/", "/environments/canary/",
    "/collections/", "/collections/kept/", "/collections/kept/requests/canary/",
    "/collections/kept/export/", "/collections/kept/postman/", "/sidebar/", "/shares/",
    "/collections/search/?q=canary", "/compare/", "/nowhere-at-all/",
]  # fmt: skip
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


@pytest.mark.parametrize("answer", [stream, broken])
@pytest.mark.parametrize("slug", AGENTS)
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


async def test_no_static_file_holds_a_secret(site: Site) -> None:
    async with serve(answer=stream) as agent:
        await asyncio.to_thread(site.keep_secret, agent.url)
        url = await asyncio.to_thread(site.send, site.fields(agent.url, ""))
        await asyncio.to_thread(site.wait, url)
    files = [path for path in (site.server.data / "static").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert_clean(path.name, path.read_bytes())


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
