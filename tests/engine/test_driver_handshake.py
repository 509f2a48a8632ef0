"""The handshake that is stored with an agent, and when it is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.engine import preparation, runs, tasks
from playground.engine.request import PreparedRequest, action_request, request_to
from playground.models import Agent, Run, RunKind
from playground.protocols.events import Event
from playground.protocols.frames import Frame
from tests.engine.conftest import calls_of
from tests.support.mcp_servers import Recipes, serving
from tests.support.servers import HOLD, STREAM_HEAD, chunk, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
KNOWN = {"url": "http://agent.example/mcp", "generation": "discover", "version": "2026-07-28"}


async def run_of(prepared: PreparedRequest, link: runs.RunParent | None = None) -> Run:
    """A run of a request, driven to its end."""
    run = await sync_to_async(runs.create_run)(prepared, link=link)
    await tasks.send_here(run, prepared)
    await run.arefresh_from_db()
    return run


@sync_to_async
def saved(url: str, **fields: Any) -> Agent:
    return Agent.objects.create(name="recipes", url=url, binding="mcp", **fields)


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


async def test_a_run_that_was_stopped_answers_no_more_requests() -> None:
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    data = chunk(b"data: " + json.dumps(ping).encode() + b"\n\n")
    async with serve(STREAM_HEAD, data, HOLD) as server:
        agent = await saved(server.url, handshake={**KNOWN, "url": server.url})
        prepared = request_to(agent, DOCUMENT)
        run = await sync_to_async(runs.create_run)(prepared)

        def stop(_: Frame, events: Sequence[Event]) -> None:
            if events:
                tasks.stop(run)

        await tasks.send_here(run, prepared, listeners=[stop])
    await run.arefresh_from_db()
    assert run.state == "cancelled"
    assert not await Run.objects.filter(kind=RunKind.CLIENT_RESPONSE).aexists()


async def test_a_run_to_a_url_keeps_its_own_for_what_follows() -> None:
    server = Recipes()
    with serving(server, generation="initialize") as url:
        agent = Agent(name="recipes", url=url, binding="mcp")
        run = await run_of(await sync_to_async(request_to)(agent, DOCUMENT))
        assert (run.sent_to_url, run.handshake["url"]) == (True, url)
        found = await sync_to_async(preparation.prepare_follow_up)(run, DOCUMENT, [])
        assert found.has_call
        again = await run_of(found, runs.RunParent(parent=run))
    assert (again.state, again.outcome) == ("completed", run.outcome)
    assert not any(b'"initialize"' in call for call in await calls_of(again))
