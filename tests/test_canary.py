"""A canary among the variables: a secret of an environment, searched for in every artefact.

It goes along in every way there is (a header, the document, the query of the address, Basic), to
an agent that sends it back in every way it can. What is made of such a run is looked through:
whoever adds a page or an export adds it to `PAGES` or `POSTS`.
"""

from __future__ import annotations

import asyncio
import base64
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
from websockets.asyncio.client import connect

import playground.transport as transport
from tests.playground_server import PlaygroundServer
from tests.servers import LAST_CHUNK, Script, chunk, head, serve

SECRET = 'canary/env+s3"cr\\3t&0815=='
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
    "/collections/kept/export/", "/collections/kept/postman/", "/library/", "/shares/",
    "/collections/search/?q=canary", "/compare/", "/nowhere-at-all/",
]  # fmt: skip
#: What is asked for with the composer's form.
POSTS = ["/compose/preview/", "/compose/code/", "/twins/choices/"]


def forms() -> list[bytes]:
    """How the secret may be written."""
    escaped = json.dumps(SECRET)[1:-1]
    written = {SECRET, PAIR, escaped, escaped.replace("/", "\\/"), escape(SECRET)}
    written |= {quote(SECRET, safe=""), quote_plus(SECRET), quote(SECRET, safe="").lower()}
    written.add(base64.b64encode(SECRET.encode()).decode())
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
    return (
        head(content_type="text/event-stream", transfer_encoding="chunked", x_echo=lines[-3],
             x_all=SECRET, set_cookie=f"a={SECRET}"),
        chunk(b": " + SECRET.encode() + b"\n\n"),
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


class Site:
    """A playground with an environment that holds the canary."""

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
            for name, value in zip(("name", "kind", "value", "origins"), row, strict=True):
                fields[f"variables-{number}-{name}"] = value
        saved = self.http.post("/environments/canary/", data=fields)
        assert saved.status_code == 302, saved.text

    def fields(self, address: str, auth: str) -> dict[str, str]:
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

    def look_everywhere(self, url: str, fields: dict[str, str]) -> None:
        """Look through every page there is."""
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
        for path in OTHERS:
            assert_clean(path, self.http.get(path).content)
        for path in POSTS:
            assert_clean(path, self.http.post(path, data=fields).content)
        self._share(url)
        assert "••••••" in wire

    def _share(self, url: str) -> None:
        pk = urlsplit(url).path.split("/")[2]
        made = self.http.post("/shares/", data={"run": pk, "expires": ""}, follow_redirects=True)
        assert_clean("the page of a share", made.content)
        for path in set(re.findall(r"/s/[\w-]+/", made.text)):
            assert_clean("a share", self.http.get(path).content)
            assert_clean("the file of a share", self.http.get(f"{path}fixture.json").content)

    def search_files(self) -> None:
        """Look through everything that is on the disk, and in the log."""
        files = [path for path in self.server.data.rglob("*") if path.is_file()]
        assert any(path.name == "playground.sqlite3" for path in files)
        for path in files:
            assert_clean(path.name, path.read_bytes())
        assert_clean("the log", "".join(self.server.log))
        dump = self.server.manage("dumpdata", "playground")
        assert '"token"' in dump.stdout
        assert_clean("dumpdata", dump.stdout)

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


async def test_a_secret_goes_to_its_origins_only(site: Site) -> None:
    async with serve(answer=stream) as agent:
        await asyncio.to_thread(site.keep_secret, "https://allowed.example")
        fields = site.fields(agent.url, BASIC)
        refused = await asyncio.to_thread(site.http.post, "/runs/", data=fields)
        shown = await asyncio.to_thread(site.http.post, "/compose/preview/", data=fields)
    assert refused.status_code == 422
    for text in (refused.text, shown.text):
        assert "The secret “token” may go to https://allowed.example" in text
        assert agent.url in text
        assert_clean("the refusal", text)
    assert agent.requests == []


def test_an_error_of_the_command_line_shows_no_value(tmp_path: Path) -> None:
    server = PlaygroundServer(tmp_path)
    server.manage("migrate", "-v", "0")
    done = server.manage("send", "http://127.0.0.1:9", "--text", "{{no}}", "--var", f"b c={SECRET}")
    assert done.returncode == 2
    assert_clean("the complaint", done.stdout + done.stderr)


@pytest.mark.parametrize("name", ["connection", "http11", "http2", "proxy", "socks"])
def test_the_library_beneath_logs_no_heads_of_replies(name: str) -> None:
    assert transport.Transport
    logger = logging.getLogger(f"httpcore.{name}")
    assert not logger.isEnabledFor(logging.DEBUG)
