"""Downloads of pictures: raster types by their bytes, within the limits and the outbound policy."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import zlib
from collections.abc import AsyncIterator
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from playground.base.limits import MIB
from playground.engine.calls import (
    MAX_PICTURES,
    MAX_REDIRECTS,
    PICTURE,
    PictureError,
    fetch_picture,
)
from playground.transport import policy
from playground.transport.policy import Address, NetworkRule, rule_for
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

png = partial(reply, content_type="image/png")


async def refused(url: str, owner: int | None = None) -> tuple[str, str]:
    """Return the label and the reason."""
    with pytest.raises(PictureError) as error:
        await fetch_picture(url, owner=owner)
    return error.value.label, str(error.value)


def location(url: str, status: str = "302 Found") -> bytes:
    return head(status, location=url, content_length="0")


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
        assert (await refused(server.url))[0] == "Unsupported"


@pytest.mark.parametrize(
    ("script", "label", "reason"),
    [
        ([png(b"", status="404 Not Found")], "HTTP 404", "The server returned HTTP 404."),
        ([png(PNG, status="500 Broken")], "HTTP 500", "The server returned HTTP 500."),
        ([head("304 Not Modified")], "HTTP 304", "The server returned HTTP 304."),
        ([location("http://[")], "HTTP 302", "The server returned HTTP 302."),
        ([head(content_length="10") + b"[", RESET], "Not loaded", "The connection was lost"),
    ],
    ids=["missing", "broken", "unmodified", "no URL", "reset"],
)
async def test_responses_without_a_picture(script: Script, label: str, reason: str) -> None:
    async with serve(*script) as server:
        found = await refused(server.url)
    assert found[0] == label
    assert found[1].startswith(reason)


async def test_nothing_listens() -> None:
    assert (await refused(f"http://127.0.0.1:{free_port()}/"))[0] == "Unreachable"


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
        found = await refused(server.url)
    assert found == ("Too large", "The picture is larger than 5 MB.")


async def test_a_picture_of_the_maximum_size() -> None:
    data = PNG + bytes(int(PICTURE["max_bytes"]) - len(PNG))
    async with serve(png(data)) as server:
        assert (await fetch_picture(server.url)).data == data


async def test_what_is_downloaded_counts_as_held_by_the_process() -> None:
    data = PNG + bytes(MIB)
    async with serve(head(content_length=str(len(data) + 9)), data, HOLD) as server:
        download = asyncio.create_task(fetch_picture(server.url))
        async with asyncio.timeout(5):
            while value("playground_held_bytes") < len(data):
                await asyncio.sleep(0.01)
        download.cancel()
        await asyncio.wait([download])
    assert value("playground_held_bytes") == 0


@pytest.mark.parametrize("limit", ["total_timeout", "idle_timeout"])
@pytest.mark.parametrize("sent", [b"", head(content_length="9") + PNG[:8]])
async def test_slow_servers_are_given_up(settings: Any, limit: str, sent: bytes) -> None:
    limits = settings.RUN_LIMITS.at_most(**{limit: 0.2})
    settings.RUN_LIMITS = limits
    async with serve(*[sent] * bool(sent), HOLD) as server:
        label, reason = await refused(server.url)
        await server.gone.wait()
    assert label == "Timeout"
    assert "0.2 seconds" in reason


class TestPolicy:
    @pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://[fe80::1]/"])
    async def test_addresses_that_are_never_called(self, url: str) -> None:
        assert (await refused(url))[0] == "Denied"

    async def test_private_addresses_are_denied_in_hosted_mode(self, settings: Any) -> None:
        settings.HOSTED = True
        async with serve(png(PNG)) as server:
            assert (await refused(server.url))[0] == "Denied"
        assert not server.connections


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
            assert (await refused(f"{server.url}/a"))[0] == "Redirects"
            assert len(server.requests) == MAX_REDIRECTS + 1

    @pytest.mark.parametrize(
        "target", ["http://169.254.169.254/latest/", "http://[::ffff:169.254.169.254]/"]
    )
    async def test_each_is_under_the_policy(self, target: str) -> None:
        async with redirecting(a=target) as server:
            assert (await refused(f"{server.url}/a"))[0] == "Denied"

    async def test_into_a_private_network_none_in_hosted_mode(self, settings: Any) -> None:
        """The first server is on the allow-list by its name, the second is not."""
        settings.HOSTED = True
        settings.OUTBOUND_ALLOW = ["localhost"]
        async with redirecting() as inside, redirecting(a=f"{inside.url}/secret.png") as server:
            url = f"http://localhost:{server.port}/a"
            assert (await refused(url))[0] == "Denied"
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
                label, reason = await refused(f"{server.url}/a")
                assert len(server.requests) == hops
        assert label == "Denied"
        assert "private network" in reason

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "data:image/png;base64,AA", "//u@h/"])
    async def test_only_to_urls_that_may_be_called(self, target: str) -> None:
        async with redirecting(a=target) as server:
            await refused(f"{server.url}/a")
            assert len(server.requests) == 1

    async def test_their_time_and_bytes_are_counted_together(self, settings: Any) -> None:
        settings.RUN_LIMITS = dataclasses.replace(settings.RUN_LIMITS, max_bytes=len(PNG) + 50)

        def answer(request: bytes) -> Script:
            if request.split()[1] == b"/a":
                return [location("/b").replace(b": 0", b": 60") + bytes(60)]
            return [png(PNG)]

        async with serve(answer=answer) as server:
            assert (await refused(f"{server.url}/a"))[0] == "Too large"


async def test_one_user_loads_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as slow, serve(png(PNG)) as server:
        held = [asyncio.create_task(fetch_picture(slow.url, owner=1)) for _ in range(20)]
        # They wait behind those that are held, so nothing of theirs is sent.
        behind = asyncio.create_task(fetch_picture(server.url, owner=1))
        assert (await fetch_picture(server.url, owner=2)).data == PNG
        while len(slow.requests) < MAX_PICTURES:
            slow.asked.clear()
            await slow.asked.wait()
        assert (await fetch_picture(server.url)).data == PNG
        assert slow.connections == MAX_PICTURES
        assert not behind.done()
        # Requests that are given up leave the queue.
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        assert (await behind).data == PNG
    assert slow.connections == MAX_PICTURES
