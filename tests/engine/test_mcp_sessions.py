"""Sessions of conversations with MCP servers: opened, used and ended; handshakes of agents."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from playground.engine import mcp_sessions, preparation, tasks
from playground.engine.calls import probe
from playground.engine.mcp_sessions import end_sessions_of
from playground.engine.request import Headers, PreparedRequest, action_request, request_to
from playground.engine.runs import RunParent, create_run
from playground.models import Agent, Conversation, McpSession, Run, RunKind, RunState
from playground.protocols import mcp
from playground.protocols.events import Event
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from tests.engine.conftest import calls_of, finish_run, mcp_server, rpc, until, working
from tests.support.mcp_servers import Recipes, serving
from tests.support.servers import HOLD, STREAM_HEAD, Script, Server, chunk, reply, serve

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
VERSION = "2025-11-25"


def sessions(lost: Callable[[str], bool] = lambda _: False) -> Callable[[bytes], Script]:
    """A server that numbers its sessions, and has lost those that `lost` says."""
    server = mcp_server(
        lambda own_id: [reply(rpc(own_id, result={"results": [{"name": "Soup"}]}))],
        sessions=(f"s{number}" for number in itertools.count(1)),
    )

    def answer(request: bytes) -> Script:
        if request.startswith(b"DELETE "):
            return [reply(b"", status="405 Method Not Allowed")]
        is_lost = lost(session_of(request))
        return [reply(b"", status="404 Not Found")] if is_lost else server(request)

    return answer


def session_of(request: bytes) -> str:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    values = [line.partition(": ")[2] for line in lines if line.startswith("Mcp-Session-Id")]
    return values[0] if values else ""


def seen(server: Server) -> list[tuple[str, str]]:
    """Take the requests of a server: method of the message, or of HTTP, and session id."""
    taken, server.requests[:] = list(server.requests), []
    found = []
    for request in taken:
        method, body = request.split()[0].decode(), request.partition(b"\r\n\r\n")[2]
        found.append((json.loads(body)["method"] if body else method, session_of(request)))
    return found


async def send(agent: Agent, link: RunParent | None = None, headers: Headers = ()) -> Run:
    run = await finish_run(agent, DOCUMENT, link, headers=headers)
    assert run.state == RunState.COMPLETED, run.problem
    return run


async def saved(url: str, **fields: Any) -> Agent:
    return await Agent.objects.acreate(name="soup", url=url, binding="mcp", **fields)


OPENING = [("server/discover", ""), ("initialize", "")]


async def test_a_conversation_keeps_its_session_and_the_agent_does_not() -> None:
    async with serve(answer=sessions()) as server:
        agent = await saved(server.url)
        first = await send(agent)
        assert seen(server) == [
            *OPENING,
            ("notifications/initialized", "s1"),
            ("tools/list", "s1"),
            ("tools/call", "s1"),
        ]
        await agent.arefresh_from_db()
        assert agent.handshake["session"] is True
        assert "s1" not in json.dumps(agent.handshake)
        # The next turn, and a poll after it.
        second = await send(agent, RunParent(parent=first))
        await send(agent, RunParent(RunKind.POLL, second))
        assert seen(server) == [("tools/call", "s1")] * 2
        # Another conversation opens its own; what the server is and offers is known.
        await send(agent)
        assert seen(server) == [
            ("initialize", ""),
            ("notifications/initialized", "s2"),
            ("tools/call", "s2"),
        ]
    assert await McpSession.objects.acount() == 2


async def test_other_credentials_open_another_session() -> None:
    async with serve(answer=sessions()) as server:
        agent = await saved(server.url)
        first = await send(agent, headers=[("Authorization", "Bearer one")])
        seen(server)
        link = RunParent(parent=first)
        await send(agent, link, [("Authorization", "Bearer one"), ("X-Trace", "5")])
        assert seen(server) == [("tools/call", "s1")]
        await send(agent, link, [("Authorization", "Bearer two")])
        assert seen(server)[-1] == ("tools/call", "s2")


async def test_a_session_that_the_server_has_lost_is_opened_again() -> None:
    gone: set[str] = set()
    async with serve(answer=sessions(lambda session: session in gone)) as server:
        agent = await saved(server.url)
        first = await send(agent)
        gone.add("s1")
        seen(server)
        second = await send(agent, RunParent(parent=first))
        assert seen(server) == [
            ("tools/call", "s1"),
            ("initialize", ""),
            ("notifications/initialized", "s2"),
            ("tools/call", "s2"),
        ]
        await send(agent, RunParent(parent=second))
        assert seen(server) == [("tools/call", "s2")]


async def test_a_server_without_session_ids_has_none_to_end() -> None:
    def answer(request: bytes) -> Script:
        [response] = sessions()(request)
        assert isinstance(response, bytes)
        return [response.replace(b"\r\nMcp-Session-Id: s1", b"")]

    async with serve(answer=answer) as server:
        agent = await saved(server.url)
        await send(agent)
        seen(server)
        await send(agent)
        assert seen(server) == [("tools/call", "")]
    assert not await McpSession.objects.aexists()


async def test_the_value_of_a_secret_is_not_stored_with_it() -> None:
    async with serve(answer=sessions()) as server:
        run = await send(await saved(server.url))
        run.secret_names = ["key"]
        target = Target(server.url, headers=(("X-Own", "a-secret"),))
        await sync_to_async(mcp_sessions.store_session)(run, target, (VERSION, "s5"))
    row = await McpSession.objects.afirst()
    assert row is not None
    assert (row.session_id, row.headers) == ("s5", [])


class TestEnd:
    """A session is ended with DELETE."""

    async def test_with_its_conversation(self) -> None:
        async with serve(answer=sessions()) as server:
            agent = await saved(server.url, auth="bearer", auth_secret="a-token")
            run = await send(agent)
            await mcp_sessions.end_unused_sessions()
            assert ("DELETE", "s1") not in seen(server)
            await sync_to_async(Conversation.objects.filter(pk=run.conversation_id).delete)()
            await mcp_sessions.end_unused_sessions()
            [request] = server.requests
            assert request.startswith(b"DELETE / ")
            assert b"\r\nMcp-Session-Id: s1\r\n" in request
            assert f"\r\nMCP-Protocol-Version: {VERSION}\r\n".encode() in request
            assert b"\r\nAuthorization: Bearer a-token\r\n" in request
            await mcp_sessions.end_unused_sessions()
            assert len(server.requests) == 1
        assert not await McpSession.objects.aexists()

    @pytest.mark.parametrize(
        ("minutes", "is_busy", "is_ended"),
        [(29, False, False), (31, False, True), (31, True, False)],
    )
    async def test_when_it_is_idle(self, minutes: int, is_busy: bool, is_ended: bool) -> None:
        async with serve(answer=sessions()) as server:
            run = await send(await saved(server.url))
            used_at = timezone.now() - timedelta(minutes=minutes)
            await McpSession.objects.aupdate(used_at=used_at)
            if is_busy:
                await Run.objects.filter(pk=run.pk).aupdate(state=RunState.STREAMING)
            await mcp_sessions.end_unused_sessions()
            assert (("DELETE", "s1") in seen(server)) is is_ended
        assert await McpSession.objects.aexists() is not is_ended

    async def test_by_the_task_of_a_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mcp_sessions.session_cleanup, "seconds", 0.01)
        async with serve(answer=sessions()) as server:
            await send(await saved(server.url))
            async with working(mcp_sessions.session_cleanup):
                await McpSession.objects.aupdate(used_at=timezone.now() - timedelta(hours=1))
                await until(lambda: ("DELETE", "s1") in seen(server))
        assert not await McpSession.objects.aexists()

    async def test_not_while_another_process_uses_it(self) -> None:
        async with serve(answer=sessions()) as server:
            run = await send(await saved(server.url))
            await Run.objects.filter(pk=run.pk).aupdate(state=RunState.STREAMING)
            await end_sessions_of([run.conversation_id])
            assert ("DELETE", "s1") not in seen(server)

    async def test_however_many_there_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mcp_sessions, "MAX_PER_ROUND", 2)
        async with serve(answer=sessions()) as server:
            agent = await saved(server.url)
            runs = [await send(agent) for _ in range(5)]
            await end_sessions_of([run.conversation_id for run in runs])
            ended = [session for method, session in seen(server) if method == "DELETE"]
        assert sorted(ended) == ["s1", "s2", "s3", "s4", "s5"]
        assert not await McpSession.objects.aexists()

    async def test_of_a_server_that_is_gone_is_no_error(self) -> None:
        async with serve(answer=sessions()) as server:
            run = await send(await saved(server.url))
        await end_sessions_of([run.conversation_id])
        assert not await McpSession.objects.aexists()

    async def test_after_the_tools_were_listed_without_a_run(self) -> None:
        async with serve(answer=sessions()) as server:
            await probe(mcp.list_tools(Target(server.url, binding="mcp")))
            assert seen(server)[-1] == ("DELETE", "s1")


# The handshake that is stored with an agent, and when it is not

KNOWN = {"url": "http://agent.example/mcp", "generation": "discover", "version": "2026-07-28"}


async def run_of(prepared: PreparedRequest, link: RunParent | None = None) -> Run:
    """A run of a request, driven to its end."""
    run = await sync_to_async(create_run)(prepared, link=link)
    await tasks.send_here(run, prepared)
    await run.arefresh_from_db()
    return run


@pytest.mark.database
async def test_the_server_of_an_action_is_not_taken_for_the_agent() -> None:
    agent = await saved(KNOWN["url"], handshake=KNOWN)
    with serving(Recipes()) as url:
        request = {
            "action": "x", "protocol": "MCP", "server": "s", "url": url,
            "tool": "ask", "arguments": {"query": {"text": "eggs"}},
        }  # fmt: skip
        run = await run_of(action_request(agent, request, url, binding="mcp"))
    assert run.state == "completed"
    await agent.arefresh_from_db()
    assert agent.handshake == KNOWN


@pytest.mark.database
@pytest.mark.parametrize(
    ("change", "is_kept"),
    [({}, True), ({"notes": "x"}, True), ({"auth_secret": "another-token"}, False),
     ({"url": "http://other.example/mcp"}, False), ({"headers": [["X-Tenant", "b"]]}, False)],
)  # fmt: skip
async def test_a_session_of_somebody_else_is_not_kept(
    change: dict[str, Any], is_kept: bool
) -> None:
    with serving(Recipes(), generation="initialize") as url:
        own = {"auth": "bearer", "auth_secret": "a-token", "headers": [("X-Tenant", "a")]}
        agent = await saved(url, **own)
        prepared = request_to(agent, DOCUMENT)
        stored = await Agent.objects.aget(pk=agent.pk)
        for name, value in change.items():
            setattr(stored, name, value)
        await stored.asave()
        run = await run_of(prepared)
    assert run.state == "completed"
    await stored.arefresh_from_db()
    assert bool(stored.handshake) is is_kept


@pytest.mark.database
async def test_a_run_that_was_stopped_answers_no_more_requests() -> None:
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    data = chunk(b"data: " + json.dumps(ping).encode() + b"\n\n")
    async with serve(STREAM_HEAD, data, HOLD) as server:
        agent = await saved(server.url, handshake={**KNOWN, "url": server.url})
        prepared = request_to(agent, DOCUMENT)
        run = await sync_to_async(create_run)(prepared)

        def stop(_: Frame, events: Sequence[Event]) -> None:
            if events:
                tasks.stop(run)

        await tasks.send_here(run, prepared, listeners=[stop])
    await run.arefresh_from_db()
    assert run.state == "cancelled"
    assert not await Run.objects.filter(kind=RunKind.CLIENT_RESPONSE).aexists()


@pytest.mark.database
async def test_a_run_to_a_url_keeps_its_own_for_what_follows() -> None:
    server = Recipes()
    with serving(server, generation="initialize") as url:
        agent = Agent(name="recipes", url=url, binding="mcp")
        run = await run_of(await sync_to_async(request_to)(agent, DOCUMENT))
        assert (run.sent_to_url, run.handshake["url"]) == (True, url)
        found = await sync_to_async(preparation.prepare_follow_up)(run, DOCUMENT, [])
        assert found.has_call
        again = await run_of(found, RunParent(parent=run))
    assert (again.state, again.outcome) == ("completed", run.outcome)
    assert not any(b'"initialize"' in call for call in await calls_of(again))
