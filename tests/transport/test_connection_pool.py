"""Connections: lookup, policy and TLS of each; which are reused between requests, which never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Stage
from playground.transport import ConnectionPool, OutboundPolicy, Transport, connection_pool
from playground.transport.backend import Connection, resolve
from tests.support.certificates import DAY, NOW, THIS_HOST, Certificate
from tests.support.servers import (
    CLOSE,
    HOLD,
    RESET,
    STREAM_HEAD,
    Action,
    Script,
    Server,
    chunk,
    head,
    reply,
    serve,
)
from tests.transport.conftest import Recording, is_gone, record, sending

OK = reply(b"{}")


@pytest.fixture
async def pool() -> AsyncIterator[ConnectionPool]:
    async with ConnectionPool(2) as connections:
        yield connections


def transport_of(pool: ConnectionPool, **options: Any) -> Transport:
    limits = options.pop("limits", RunLimits())
    return Transport(OutboundPolicy(), limits, connections=pool, **options)


async def call(
    pool: ConnectionPool, url: str, headers: Sequence[tuple[str, str]] = (), **options: Any
) -> Recording:
    """The frames of one request of a run of its own."""
    request = HttpCall("GET", url, tuple(headers))
    return await record(url, call=request, transport=transport_of(pool, **options))


def is_reused(frames: Recording) -> bool:
    (opened,) = frames.of(FrameKind.OPEN)
    return bool(json.loads(opened).get("reused", False))


def in_turn(*scripts: Script) -> Callable[[bytes], Script]:
    """Scripts of the requests in turn, the last one again and again."""
    remaining = chain(scripts, repeat(scripts[-1]))
    return lambda request: next(remaining)


async def until_closed(server: Server) -> None:
    async with asyncio.timeout(5):
        while server.open_connections:
            await asyncio.sleep(0)


class TestReuse:
    async def test_the_same_origin_credentials_and_address(self, pool: ConnectionPool) -> None:
        headers = [("Authorization", "Bearer 12345678")]
        async with serve(OK, keep=True) as server:
            calls = [await call(pool, f"{server.url}/{n}", headers) for n in range(3)]
        assert [is_reused(frames) for frames in calls] == [False, True, True]
        assert all(frames.kinds == ["CALL", "OPEN", "HEAD", "BODY", "END"] for frames in calls)
        assert (server.connections, len(server.requests)) == (1, 3)
        opened = json.loads(calls[1][1].data)
        assert opened == {"tls": None, "peer": f"127.0.0.1:{server.port}", "reused": True}

    async def test_tls(self, pool: ConnectionPool, tmp_path: Path) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        async with serve(OK, keep=True, tls=certificate.server) as server:
            calls = [
                await call(pool, server.url, ssl_context=certificate.trusting) for _ in range(2)
            ]
        assert [is_reused(frames) for frames in calls] == [False, True]
        assert json.loads(calls[1][1].data)["tls"] == "TLSv1.3"
        assert server.connections == 1


BEARER = [("Authorization", "Bearer one")]
#: Two requests to one server, as (path, headers, secrets), and whether they share a connection.
PAIRS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...], bool]] = {
    "other credentials": (("", BEARER), ("", [("Authorization", "Bearer two")]), False),
    "none": (("", BEARER), ("",), False),
    "a key": (("",), ("", [("X-Api-Key", "one")]), False),
    "another cookie": (("", [("Cookie", "s=one")]), ("", [("Cookie", "s=two")]), False),
    "another header": (("", [("X-Api-Key", "one")]), ("", [("X-Auth-Token", "one")]), False),
    "a key in the URL": (("/?api_key=1&q=a",), ("/?api_key=2",), False),
    "no key in the URL": (("/?api_key=1",), ("/?q=b",), False),
    "another secret anywhere": (("", [], ["alice"]), ("", [], ["mallory"]), False),
    "other headers": (("", [("X-Number", "1")]), ("", [("X-Number", "2")]), True),
}


@pytest.mark.parametrize(("first", "second", "is_shared"), PAIRS.values(), ids=PAIRS)
async def test_callers_share_none(
    pool: ConnectionPool, first: tuple[Any, ...], second: tuple[Any, ...], is_shared: bool
) -> None:
    async with serve(OK, keep=True) as server:
        calls = []
        for given in (first, second):
            path, headers, redact = (*given, *("", [], [])[len(given) :])
            calls.append(await call(pool, server.url + path, headers, redact=redact))
    assert [is_reused(frames) for frames in calls] == [False, is_shared]


async def test_origins_share_none(pool: ConnectionPool, resolver: Any) -> None:
    """Another port, and another name for the same address."""
    resolver(*[["127.0.0.1"]] * 4)
    async with serve(OK, keep=True) as one, serve(OK, keep=True) as two:
        urls = [one.url, two.url, *(f"http://{name}.example:{one.port}/" for name in "ab")]
        calls = [await call(pool, url) for url in urls]
    assert not any(is_reused(frames) for frames in calls)


class TestAddress:
    async def test_each_request_is_looked_up(self, pool: ConnectionPool, resolver: Any) -> None:
        asked = resolver(["127.0.0.1"], ["127.0.0.1"])
        async with serve(OK, keep=True) as server:
            url = f"http://agent.example:{server.port}/"
            calls = [await call(pool, url) for _ in range(2)]
        assert [is_reused(frames) for frames in calls] == [False, True]
        assert asked == ["agent.example"] * 2

    async def test_another_address(self, pool: ConnectionPool, resolver: Any) -> None:
        resolver(["127.0.0.1"], ["127.0.0.2"])
        async with serve(OK, keep=True) as server:
            url = f"http://agent.example:{server.port}/"
            await call(pool, url)
            frames = await call(pool, url)
        assert frames.problem.stage is Stage.CONNECT  # The server listens on the first one only.
        assert len(server.requests) == 1

    async def test_the_policy_is_asked_again(self, pool: ConnectionPool, resolver: Any) -> None:
        resolver(["127.0.0.1"], ["169.254.169.254"])
        async with serve(OK, keep=True) as server:
            url = f"http://agent.example:{server.port}/"
            await call(pool, url)
            frames = await call(pool, url)
        assert frames.kinds == ["CALL", "ERROR"]
        assert (frames.problem.state, frames.problem.stage) == ("refused", Stage.POLICY)
        assert len(server.requests) == 1


class TestNotKept:
    @pytest.mark.parametrize(
        "script",
        [
            (head(content_length="2", connection="close") + b"{}",),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",),
            (OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond",),
            (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",),
            (head(content_length="3", content_encoding="gzip") + b"\x1f\x8b\x08",),
            (b"nonsense\r\n\r\n",),
        ],
        ids=["close", "HTTP 1.0", "more than a response", "upgrade", "cut gzip", "no HTTP"],
    )
    async def test_the_server_does_not_keep_it(self, pool: ConnectionPool, script: Script) -> None:
        async with serve(answer=in_turn((*script,), (OK,)), keep=True) as server:
            await call(pool, server.url, limits=RunLimits(idle_timeout=0.5))
            frames = await call(pool, server.url)
        assert not is_reused(frames)
        assert (frames.body, server.connections) == (b"{}", 2)

    async def test_more_than_a_response_over_tls(
        self, pool: ConnectionPool, tmp_path: Path
    ) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        # Two records of TLS, of which the client has to read the first one only.
        extra = reply(b"x" * 20_000)
        async with serve(OK, extra, tls=certificate.server, keep=True) as server:
            calls = [
                await call(pool, server.url, ssl_context=certificate.trusting) for _ in range(2)
            ]
        assert not any(is_reused(frames) for frames in calls)
        assert [frames.body for frames in calls] == [b"{}", b"{}"]

    async def test_the_response_is_not_read_to_its_end(self, pool: ConnectionPool) -> None:
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD, keep=True) as server:
            sent = sending(server.url, transport_of(pool))
            async with aclosing(sent) as batches:
                async for batch in batches:
                    if batch[-1].kind is FrameKind.EVENT:
                        break
            await until_closed(server)
        assert server.connections == 1


class TestClosedByTheServer:
    @pytest.mark.parametrize("end", [RESET, CLOSE])
    async def test_a_request_is_never_sent_twice(self, pool: ConnectionPool, end: Action) -> None:
        async with serve(answer=in_turn((OK,), (end,)), keep=True) as server:
            await call(pool, server.url)
            frames = await call(pool, server.url)
        assert frames.kinds == ["CALL", "OPEN", "ERROR"]
        assert is_reused(frames)
        problem = frames.problem
        assert (problem.state, problem.stage) == ("failed", Stage.HEADERS)
        assert "kept from an earlier request" in problem.cause
        assert len(server.requests) == 2

    async def test_nothing_is_kept_once_the_server_has_closed_one_on_a_request(
        self, pool: ConnectionPool
    ) -> None:
        async with serve(answer=in_turn((OK,), (CLOSE,), (OK,)), keep=True) as server:
            calls = [await call(pool, server.url) for _ in range(4)]
        assert [is_reused(frames) for frames in calls] == [False, True, False, False]


class TestLimits:
    async def test_the_idle_limit_of_a_reused_connection(self, pool: ConnectionPool) -> None:
        async with serve(answer=in_turn((OK,), (HOLD,)), keep=True) as server:
            await call(pool, server.url)
            frames = await call(pool, server.url, limits=RunLimits(idle_timeout=0.1))
            await until_closed(server)
        assert (frames.problem.stage, frames.problem.limit) == (Stage.HEADERS, "idle_timeout")


class TestPool:
    async def test_its_end_closes_the_connections(self) -> None:
        async with serve(OK, keep=True) as server:
            async with ConnectionPool(2) as pool:
                await call(pool, server.url)
                assert server.open_connections == 1
            await until_closed(server)

    async def test_a_request_that_outlives_it_closes_its_connection(self) -> None:
        async with ConnectionPool(2) as pool:
            pass
        async with serve(OK, keep=True) as server:
            assert (await call(pool, server.url)).kinds[-1] == "END"
            await until_closed(server)

    async def test_the_oldest_is_closed_where_there_are_too_many(
        self, pool: ConnectionPool
    ) -> None:
        async with serve(OK, keep=True) as server:
            for key in ("one", "two", "three"):
                await call(pool, server.url, [("X-Api-Key", key)])
            async with asyncio.timeout(5):
                while server.open_connections > 2:
                    await asyncio.sleep(0)
            calls = [await call(pool, server.url, [("X-Api-Key", key)]) for key in ("three", "one")]
        assert [is_reused(frames) for frames in calls] == [True, False]

    async def test_one_that_was_idle_for_too_long_is_closed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connection_pool, "CLEANUP_INTERVAL", 0.001)
        async with serve(OK, keep=True) as server, ConnectionPool(2) as pool:
            await call(pool, server.url)
            monkeypatch.setattr(Connection, "has_expired", lambda connection: True)
            await until_closed(server)
            monkeypatch.undo()
            assert not is_reused(await call(pool, server.url))

    async def test_two_requests_at_once_share_none(self, pool: ConnectionPool) -> None:
        released = asyncio.Event()

        async with serve(released, OK, keep=True) as server:
            waiting = [asyncio.ensure_future(call(pool, server.url)) for _ in range(2)]
            async with asyncio.timeout(5):
                while len(server.requests) < 2:
                    await asyncio.sleep(0)
            released.set()
            calls = await asyncio.gather(*waiting)
            assert not any(is_reused(frames) for frames in calls)
            assert is_reused(await call(pool, server.url))
        assert server.connections == 2


OTHER_HOST = x509.DNSName("other.example")
HOSTED = OutboundPolicy.from_settings(True)


class TestPolicy:
    @pytest.mark.parametrize(
        "host",
        ["127.0.0.1", "[::1]", "localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"],
    )
    async def test_a_hosted_playground_calls_no_private_address(self, host: str) -> None:
        async with serve(OK) as server:
            transport = Transport(HOSTED, RunLimits())
            frames = await record(f"http://{host}:{server.port}/", transport=transport)
        assert frames.kinds == ["CALL", "ERROR"]
        assert (frames.problem.state, frames.problem.stage) == ("refused", Stage.POLICY)
        assert "loopback" in frames.problem.cause
        assert server.requests == []

    async def test_metadata_is_refused_locally_too(self, resolver) -> None:  # type: ignore[no-untyped-def]
        resolver(["169.254.169.254"])
        frames = await record("http://agent.example/")
        assert (frames.problem.state, frames.problem.stage) == ("refused", Stage.POLICY)
        assert "metadata" in frames.problem.cause

    async def test_the_address_behind_a_name_stays_unsaid(self, resolver) -> None:  # type: ignore[no-untyped-def]
        resolver(["10.20.30.40"])
        frames = await record("http://agent.example/", transport=Transport(HOSTED, RunLimits()))
        assert frames.problem.stage is Stage.POLICY
        assert b"10.20" not in b"".join(frame.data for frame in frames)

    async def test_an_allowed_name(self, resolver) -> None:  # type: ignore[no-untyped-def]
        resolver(["127.0.0.1"])
        policy = OutboundPolicy.from_settings(True, ["agent.internal"])
        async with serve(OK) as server:
            frames = await record(
                f"http://agent.internal:{server.port}/", transport=Transport(policy, RunLimits())
            )
        assert frames[-1].kind is FrameKind.END

    @pytest.mark.parametrize(
        "addresses",
        [
            ["169.254.169.254", "fe80::1", "127.0.0.1"],  # Refused ones are left out.
            ["127.0.0.2", "::1", "127.0.0.1"],  # The next one is tried.
        ],
    )
    async def test_a_name_with_several_addresses(self, resolver, addresses: list[str]) -> None:  # type: ignore[no-untyped-def]
        asked = resolver(addresses, ["169.254.169.254"])
        async with serve(OK) as server:
            frames = await record(f"http://agent.example:{server.port}/")
        assert frames[-1].kind is FrameKind.END
        assert asked == ["agent.example"]  # A name that is bound anew is not asked twice.


async def test_the_system_resolves_names() -> None:
    assert await resolve("127.0.0.1", 80) == ["127.0.0.1"]
    assert set(await resolve("localhost", 80)) <= {"127.0.0.1", "::1"}


async def test_resolving_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr("playground.transport.backend.resolve", never)
    frames = await record("http://agent.example/", limits=RunLimits(connect_timeout=0.2))
    problem = frames.problem
    assert (problem.state, problem.stage, problem.limit) == (
        "failed",
        Stage.RESOLVE,
        "connect_timeout",
    )


class TestTLS:
    async def test_a_trusted_server(self, tmp_path: Path) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        transport = Transport(OutboundPolicy(), RunLimits(), ssl_context=certificate.trusting)
        async with serve(OK, tls=certificate.server) as server:
            frames = await record(f"{server.url}/ask", transport=transport)
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "BODY", "END"]
        opened = json.loads(frames[1].data)
        assert opened == {"tls": "TLSv1.3", "peer": f"127.0.0.1:{server.port}"}
        assert frames.of(FrameKind.CALL) == server.requests

    async def test_the_name_and_not_the_address_is_verified(self, tmp_path: Path, resolver) -> None:  # type: ignore[no-untyped-def]
        certificate = Certificate(tmp_path, [x509.DNSName("agent.example")])
        transport = Transport(OutboundPolicy(), RunLimits(), ssl_context=certificate.trusting)
        resolver(["127.0.0.1"])
        async with serve(OK, tls=certificate.server) as server:
            url = f"https://agent.example:{server.port}/"
            frames = await record(url, transport=transport)
        assert frames[-1].kind is FrameKind.END

    @pytest.mark.parametrize(
        ("host", "names", "days", "is_trusted", "words"),
        [
            ("127.0.0.1", [THIS_HOST], 1, False, "self-signed"),
            ("127.0.0.1", [THIS_HOST], -1, True, "expired"),
            ("127.0.0.1", [OTHER_HOST], 1, True, "a different address"),
            ("agent.example", [OTHER_HOST], 1, True, "a different host name"),
        ],
        ids=["self-signed", "expired", "another address", "another name"],
    )
    async def test_certificates_that_are_refused(
        self, tmp_path: Path, resolver, host: str, names: list[x509.GeneralName], days: int,
        is_trusted: bool, words: str,
    ) -> None:  # type: ignore[no-untyped-def]  # fmt: skip
        certificate = Certificate(tmp_path, names, until=NOW + days * DAY)
        context = certificate.trusting if is_trusted else None
        if host == "agent.example":
            resolver(["127.0.0.1"])
        async with serve(OK, tls=certificate.server, read=False) as server:
            transport = Transport(OutboundPolicy(), RunLimits(), ssl_context=context)
            frames = await record(f"https://{host}:{server.port}/", transport=transport)
        self.refused(frames, words)

    @pytest.mark.parametrize(
        ("script", "words"),
        [
            ((b"HTTP/1.1 400 Bad Request\r\n\r\n", HOLD), "does not speak TLS"),
            ((), "closed the connection during"),
            ((RESET,), "closed the connection during"),
            ((HOLD,), ""),
        ],
        ids=["plain text", "closed", "reset", "silent"],
    )
    async def test_not_tls(self, script: tuple[bytes, ...], words: str) -> None:
        async with serve(*script, read=False) as server:
            url = f"https://127.0.0.1:{server.port}/"
            frames = await record(url, limits=RunLimits(connect_timeout=0.5))
        self.refused(frames, words)
        assert frames.problem.limit == ("connect_timeout" if not words else None)

    def refused(self, frames: Recording, words: str) -> None:
        assert frames.kinds == ["CALL", "ERROR"]
        assert (frames.problem.state, frames.problem.stage) == ("failed", Stage.TLS)
        assert words in frames.problem.cause

    async def test_cancelling_closes_the_connection(self, tmp_path: Path) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        transport = Transport(OutboundPolicy(), RunLimits(), ssl_context=certificate.trusting)
        async with serve(HOLD, tls=certificate.server) as server:
            frames = sending(server.url, transport)
            async for batch in frames:
                if batch[-1].kind is FrameKind.OPEN:
                    break
            await server.asked.wait()
            await frames.aclose()
            await is_gone(server)
