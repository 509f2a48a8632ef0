"""Calls beside those of runs: downloads of a file and of pictures, and probes of a server."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from playground.base.limits import MIB
from playground.engine import calls
from playground.engine.calls import (
    MAX_DOWNLOADS,
    MAX_PICTURES,
    MAX_PROBES,
    MAX_REDIRECTS,
    PICTURE,
    FetchError,
    PictureError,
    fetch,
    fetch_picture,
    probe,
)
from playground.protocols import mcp
from playground.protocols.exchange import Target
from playground.transport import policy
from playground.transport.policy import Address, NetworkRule, rule_for
from tests.engine.conftest import until
from tests.support.metrics import value
from tests.support.pictures import OTHERS, PNG, RASTER
from tests.support.servers import (
    HOLD,
    RESET,
    Script,
    Server,
    chunk,
    free_port,
    head,
    reply,
    serve,
)

Get = Callable[..., Awaitable[Any]]

png = partial(reply, content_type="image/png")


async def refused(get: Get, url: str, owner: int | None = None) -> tuple[str, str]:
    """Return the label, which only a picture has, and the reason."""
    with pytest.raises((FetchError, PictureError)) as error:
        await get(url, owner=owner)
    return getattr(error.value, "label", ""), str(error.value)


def location(url: str, status: str = "302 Found") -> bytes:
    return head(status, location=url, content_length="0")


BROKEN_OFF = [head(content_length="10") + b"[", RESET]
#: Files and pictures that are not there: script, label and the beginning of the reason.
REFUSED: dict[str, tuple[Get, Script, str, str]] = {
    "file, status": (fetch, [reply(b"", status="500 X")], "", "The URL returned HTTP 500"),
    "file, unmodified": (fetch, [head("304 X")], "", "The URL returned HTTP 304"),
    "file, redirect": (
        fetch, [location("http://127.0.0.1:1/b", "301 Moved")], "",
        "The URL redirects (HTTP 301) to http://127.0.0.1:1/b Redirects",
    ),
    "file, reset": (fetch, BROKEN_OFF, "", "The connection was lost"),
    "picture, status": (
        fetch_picture, [png(PNG, status="500 X")], "HTTP 500", "The server returned HTTP 500.",
    ),
    "picture, unmodified": (
        fetch_picture, [head("304 X")], "HTTP 304", "The server returned HTTP 304.",
    ),
    "picture, no URL": (
        fetch_picture, [location("http://[")], "HTTP 302", "The server returned HTTP 302.",
    ),
    "picture, reset": (fetch_picture, BROKEN_OFF, "Not loaded", "The connection was lost"),
}  # fmt: skip


@pytest.mark.parametrize(("get", "script", "label", "reason"), REFUSED.values(), ids=REFUSED)
async def test_responses_without_it(get: Get, script: Script, label: str, reason: str) -> None:
    async with serve(*script) as server:
        found = await refused(get, server.url)
        assert len(server.requests) == 1
    assert found[0] == label
    assert found[1].startswith(reason)


@pytest.mark.parametrize(
    ("get", "label"), [(fetch, ""), (fetch_picture, "Unreachable")], ids=["file", "picture"]
)
async def test_nobody_listens(get: Get, label: str) -> None:
    found = await refused(get, f"http://127.0.0.1:{free_port()}/")
    assert found[0] == label
    assert "connection was refused" in found[1]


@pytest.mark.parametrize(
    ("get", "label"), [(fetch, ""), (fetch_picture, "Denied")], ids=["file", "picture"]
)
class TestPolicy:
    @pytest.mark.parametrize(
        "url", ["http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0/"]
    )
    async def test_addresses_that_are_never_called(self, get: Get, label: str, url: str) -> None:
        found = await refused(get, url)
        assert found[0] == label
        assert found[1].startswith("The outbound policy denies")

    async def test_private_addresses_are_denied_in_hosted_mode(
        self, get: Get, label: str, settings: Any
    ) -> None:
        settings.HOSTED = True
        async with serve(reply(b"[]")) as server:
            found = await refused(get, server.url)
        assert found[0] == label
        assert found[1].startswith("The outbound policy denies")
        assert not server.connections


# Files


@pytest.mark.parametrize(
    "script",
    [
        [reply(b'[{"a": 1}]')],
        [reply(b'[{"a": 1}]', "application/octet-stream")],
        [
            head(content_type="application/json", transfer_encoding="chunked"),
            chunk(b'[{"a"'), chunk(b": 1}]"), b"0\r\n\r\n",
        ],
    ],
    ids=["json", "other", "chunked"],
)  # fmt: skip
async def test_the_bytes_as_they_are(script: Script) -> None:
    async with serve(*script) as server:
        assert await fetch(f"{server.url}/a.json?b=c") == b'[{"a": 1}]'
    (request,) = server.requests
    assert request.startswith(b"GET /a.json?b=c HTTP/1.1\r\n")
    assert b"cookie" not in request.lower()
    assert b"authorization" not in request.lower()


async def test_a_file_may_be_so_large_and_take_so_long(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RUN_LIMITS = dataclasses.replace(settings.RUN_LIMITS, max_bytes=100)
    async with serve(reply(b" " * 101)) as server:
        assert (await refused(fetch, server.url))[1] == "The file is larger than 100 bytes."
    monkeypatch.setitem(calls.DOWNLOAD, "total_timeout", 0.2)
    async with serve(head(content_type="application/json", content_length="9"), HOLD) as server:
        assert "longer than 0.2 seconds" in (await refused(fetch, server.url))[1]


async def test_one_user_fetches_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as server:
        files = [asyncio.create_task(fetch(server.url, owner=1)) for _ in range(MAX_DOWNLOADS)]
        await server.asked.wait()
        assert "Too many downloads" in (await refused(fetch, server.url, owner=1))[1]
        nowhere = f"http://127.0.0.1:{free_port()}/"
        assert "connection was refused" in (await refused(fetch, nowhere, owner=2))[1]
        for file in files:
            file.cancel()
        await asyncio.gather(*files, return_exceptions=True)
        assert "connection was refused" in (await refused(fetch, nowhere, owner=1))[1]


# Pictures: raster types by their bytes


@contextlib.asynccontextmanager
async def redirecting(**targets: str) -> AsyncIterator[Server]:
    """A server that redirects some paths, and has a picture at all others."""

    def answer(request: bytes) -> Script:
        target = targets.get(request.split()[1].decode().strip("/"))
        return [location(target) if target is not None else png(PNG)]

    async with serve(answer=answer) as server:
        yield server


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 127.0.0.1 a public address, and the others of this machine those of a network."""
    loopback = ip_network("127.0.0.0/8")

    def rule(address: Address) -> NetworkRule | None:
        if address.version != 4 or address not in loopback:
            return rule_for(address)
        return None if str(address) == "127.0.0.1" else rule_for(ip_address("10.0.0.1"))

    monkeypatch.setattr(policy, "rule_for", rule)


@pytest.mark.parametrize("sent_as", ["image/png", "text/html", "application/json", ""])
async def test_the_type_is_that_of_the_bytes(sent_as: str) -> None:
    async with serve(reply(RASTER["image/gif"], sent_as)) as server:
        found = await fetch_picture(f"{server.url}/a.png?b=c")
    assert (found.media_type, found.data) == ("image/gif", RASTER["image/gif"])
    (request,) = server.requests
    assert request.startswith(b"GET /a.png?b=c HTTP/1.1\r\n")
    for name in (b"cookie", b"authorization", b"referer", b"origin"):
        assert name + b":" not in request.lower()


@pytest.mark.parametrize("name", OTHERS)
async def test_other_files_are_refused_whatever_they_are_sent_as(name: str) -> None:
    async with serve(png(OTHERS[name])) as server:
        assert (await refused(fetch_picture, server.url))[0] == "Unsupported"


LARGE = PNG + bytes(int(PICTURE["max_bytes"]))


@pytest.mark.parametrize(
    "script",
    [
        [png(LARGE)],
        [head(content_type="image/png") + LARGE],
        [head(transfer_encoding="chunked"), chunk(LARGE), b"0\r\n\r\n"],
        [
            head(content_encoding="deflate", connection="close", content_type="image/png"),
            zlib.compress(LARGE),
        ],
    ],
    ids=["length", "no length", "chunked", "compressed"],
)
async def test_large_pictures_are_refused(script: Script) -> None:
    async with serve(*script) as server:
        found = await refused(fetch_picture, server.url)
    assert found == ("Too large", "The picture is larger than 5 MB.")


async def test_a_picture_of_the_maximum_size() -> None:
    data = PNG + bytes(int(PICTURE["max_bytes"]) - len(PNG))
    async with serve(png(data)) as server:
        assert (await fetch_picture(server.url)).data == data


async def test_what_is_downloaded_counts_as_held_by_the_process() -> None:
    data = PNG + bytes(MIB)
    async with serve(head(content_length=str(len(data) + 9)), data, HOLD) as server:
        download = asyncio.create_task(fetch_picture(server.url))
        await until(lambda: value("playground_held_bytes") >= len(data))
        download.cancel()
        await asyncio.wait([download])
    assert value("playground_held_bytes") == 0


@pytest.mark.parametrize("limit", ["total_timeout", "idle_timeout"])
@pytest.mark.parametrize("sent", [b"", head(content_length="9") + PNG[:8]])
async def test_slow_servers_are_given_up(settings: Any, limit: str, sent: bytes) -> None:
    limits = settings.RUN_LIMITS.at_most(**{limit: 0.2})
    settings.RUN_LIMITS = limits
    async with serve(*[sent] * bool(sent), HOLD) as server:
        label, reason = await refused(fetch_picture, server.url)
        await server.gone.wait()
    assert label == "Timeout"
    assert "0.2 seconds" in reason


class TestRedirects:
    async def test_a_few_are_followed(self) -> None:
        async with redirecting(a="/b", b="c?d=e", c="x") as server:
            assert (await fetch_picture(f"{server.url}/a")).data == PNG
            paths = [request.split()[1] for request in server.requests]
        assert paths == [b"/a", b"/b", b"/c?d=e"]

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_of_each_kind(self, status: int) -> None:
        async with redirecting() as target, serve(location(target.url, f"{status} X")) as server:
            assert (await fetch_picture(server.url)).data == PNG

    async def test_of_a_loop_no_more_than_the_maximum(self) -> None:
        async with redirecting(a="/a") as server:
            assert (await refused(fetch_picture, f"{server.url}/a"))[0] == "Redirects"
            assert len(server.requests) == MAX_REDIRECTS + 1

    @pytest.mark.parametrize(
        "target", ["http://169.254.169.254/latest/", "http://[::ffff:169.254.169.254]/"]
    )
    async def test_each_is_under_the_policy(self, target: str) -> None:
        async with redirecting(a=target) as server:
            assert (await refused(fetch_picture, f"{server.url}/a"))[0] == "Denied"

    async def test_into_a_private_network_none_in_hosted_mode(self, settings: Any) -> None:
        """The first server is on the allow-list by its name, the second is not."""
        settings.HOSTED = True
        settings.OUTBOUND_ALLOW = ["localhost"]
        async with redirecting() as inside, redirecting(a=f"{inside.url}/secret.png") as server:
            url = f"http://localhost:{server.port}/a"
            assert (await refused(fetch_picture, url))[0] == "Denied"
            assert len(server.requests) == 1
            assert not inside.connections

    @pytest.mark.parametrize("hops", [1, 2])
    async def test_from_a_public_address_none_into_a_private_network(
        self, public: None, hops: int
    ) -> None:
        async with redirecting() as inside:
            target = f"http://127.0.0.2:{inside.port}/secret.png"
            paths = {"a": "/b", "b": target} if hops == 2 else {"a": target}
            async with redirecting(**paths) as server:
                label, reason = await refused(fetch_picture, f"{server.url}/a")
                assert len(server.requests) == hops
        assert label == "Denied"
        assert "private network" in reason

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "data:image/png;base64,AA", "//u@h/"])
    async def test_only_to_urls_that_may_be_called(self, target: str) -> None:
        async with redirecting(a=target) as server:
            await refused(fetch_picture, f"{server.url}/a")
            assert len(server.requests) == 1

    async def test_their_time_and_bytes_are_counted_together(self, settings: Any) -> None:
        settings.RUN_LIMITS = dataclasses.replace(settings.RUN_LIMITS, max_bytes=len(PNG) + 50)

        def answer(request: bytes) -> Script:
            if request.split()[1] == b"/a":
                return [location("/b").replace(b": 0", b": 60") + bytes(60)]
            return [png(PNG)]

        async with serve(answer=answer) as server:
            assert (await refused(fetch_picture, f"{server.url}/a"))[0] == "Too large"


async def test_one_user_loads_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as slow, serve(png(PNG)) as server:
        held = [asyncio.create_task(fetch_picture(slow.url, owner=1)) for _ in range(20)]
        # They wait behind those that are held, so nothing of theirs is sent.
        behind = asyncio.create_task(fetch_picture(server.url, owner=1))
        assert (await fetch_picture(server.url, owner=2)).data == PNG
        await until(lambda: len(slow.requests) == MAX_PICTURES)
        assert (await fetch_picture(server.url)).data == PNG
        assert slow.connections == MAX_PICTURES
        assert not behind.done()
        # Requests that are given up leave the queue.
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        assert (await behind).data == PNG
    assert slow.connections == MAX_PICTURES


# Probes of a server before a run


async def test_one_user_has_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as server:
        looks = [
            asyncio.create_task(probe(mcp.list_tools(Target(server.url)), owner=1))
            for _ in range(MAX_PROBES)
        ]
        await server.asked.wait()
        _, refused = await probe(mcp.list_tools(Target(server.url)), owner=1)
        assert refused
        assert (refused.state, refused.stage) == ("refused", "limit")
        _, other = await probe(mcp.list_tools(Target("http://127.0.0.1:1/mcp")), owner=2)
        assert other
        assert other.stage == "connect"
        for look in looks:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)
        _, again = await probe(mcp.list_tools(Target("http://127.0.0.1:1/mcp")), owner=1)
        assert again
        assert again.stage == "connect"
