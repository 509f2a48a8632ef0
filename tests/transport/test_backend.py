"""Connections: one lookup, the policy on each address, TLS failures as text."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from cryptography import x509

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Stage
from playground.transport import OutboundPolicy, Transport
from playground.transport.backend import resolve
from tests.support.certificates import DAY, NOW, THIS_HOST, Certificate
from tests.support.servers import HOLD, RESET, reply, serve
from tests.transport.conftest import Recording, counter, record

OK = reply(b"{}")
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
            frames = transport.send(HttpCall("GET", server.url), counter())
            async for batch in frames:
                if batch[-1].kind is FrameKind.OPEN:
                    break
            await server.asked.wait()
            await frames.aclose()
            async with asyncio.timeout(20):
                await server.gone.wait()
