"""Downloads of a file, and probes of a server before a run."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from playground.engine import calls
from playground.engine.calls import MAX_DOWNLOADS, MAX_PROBES, FetchError, fetch, probe
from playground.protocols import mcp
from playground.protocols.exchange import Target
from tests.support.servers import HOLD, RESET, Script, chunk, free_port, head, reply, serve


async def refused(url: str, owner: int | None = None) -> str:
    with pytest.raises(FetchError) as error:
        await fetch(url, owner=owner)
    return str(error.value)


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


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ([reply(b"", status="500 Broken")], "The URL returned HTTP 500"),
        ([reply(b"", status="304 Not Modified")], "The URL returned HTTP 304"),
        (
            [head("301 Moved", location="http://127.0.0.1:1/b", content_length="0")],
            "The URL redirects (HTTP 301) to http://127.0.0.1:1/b Redirects",
        ),
        ([head(content_length="10") + b"[", RESET], "The connection was lost"),
    ],
    ids=["status", "unmodified", "redirect", "reset"],
)
async def test_what_is_no_file(script: Script, wanted: str) -> None:
    async with serve(*script) as server:
        assert (await refused(server.url)).startswith(wanted)
        assert len(server.requests) == 1


async def test_nobody_listens() -> None:
    assert "connection was refused" in await refused(f"http://127.0.0.1:{free_port()}/")


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0/"])
async def test_addresses_that_are_never_called(url: str) -> None:
    assert (await refused(url)).startswith("The outbound policy denies")


async def test_private_addresses_are_refused_in_hosted_mode(settings: Any) -> None:
    settings.HOSTED = True
    async with serve(reply(b"[]")) as server:
        assert (await refused(server.url)).startswith("The outbound policy denies")
        assert not server.requests


async def test_a_file_may_be_so_large_and_take_so_long(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RUN_LIMITS = dataclasses.replace(settings.RUN_LIMITS, max_bytes=100)
    async with serve(reply(b" " * 101)) as server:
        assert (await refused(server.url)) == "The file is larger than 100 bytes."
    monkeypatch.setitem(calls.DOWNLOAD, "total_timeout", 0.2)
    async with serve(head(content_type="application/json", content_length="9"), HOLD) as server:
        assert "longer than 0.2 seconds" in await refused(server.url)


async def test_one_user_fetches_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as server:
        files = [asyncio.create_task(fetch(server.url, owner=1)) for _ in range(MAX_DOWNLOADS)]
        await server.asked.wait()
        assert "Too many downloads" in await refused(server.url, owner=1)
        nowhere = f"http://127.0.0.1:{free_port()}/"
        assert "connection was refused" in await refused(nowhere, owner=2)
        for file in files:
            file.cancel()
        await asyncio.gather(*files, return_exceptions=True)
        assert "connection was refused" in await refused(nowhere, owner=1)


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
