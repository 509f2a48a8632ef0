"""Actions on servers of other packages, as the pages run them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from playground.models import Agent, Run, RunKind
from playground.protocols.events import Elicitation, Event
from playground.stored_runs import read_events
from tests.qa.peers import INSTALLED
from tests.support.background_tasks import wait_for_tasks
from tests.views.test_actions import offering, path

#: Nothing here runs before `make test-peers` has installed the packages.
_IGNORED = {"all": [], "most": ["test_agentscope.py"]}
collect_ignore_glob = _IGNORED.get(os.environ.get(INSTALLED, ""), ["test_*.py"])

HTMX = {"HX-Request": "true"}
_QUESTION_SECONDS = 30


class Actions:
    """Runs actions by requests to the views."""

    def __init__(self, client: AsyncClient, agent: Agent) -> None:
        self._client = client
        self._agent = agent

    async def start(self, action: dict[str, Any], **fields: str) -> Run:
        """Confirm an action; returns its run, which is in progress."""
        run = await sync_to_async(offering)(action, agent=self._agent)
        if action["protocol"] == "A2A":
            await self._post(path(run, 0, "server/"), **fields)
        await self._post(path(run), confirmed="1", **fields)
        return await Run.objects.filter(kind=RunKind.ACTION).alatest("created_at")

    async def run(self, action: dict[str, Any], **fields: str) -> Run:
        """Run an action to its end."""
        run = await self.start(action, **fields)
        await wait_for_tasks()
        await run.arefresh_from_db()
        return run

    async def answer(self, run: Run, **fields: str) -> Run:
        """Answer the question of a run; returns the run that has the result."""
        seq, part = await asyncio.wait_for(_question(run), _QUESTION_SECONDS)
        page = {"seq": str(seq), "part": str(part), **fields}
        await self._post(f"/runs/{run.pk}/answers/", **page)
        await wait_for_tasks()
        return await Run.objects.filter(kind=RunKind.ACTION).alatest("created_at")

    async def _post(self, address: str, **fields: str) -> None:
        response = await self._client.post(address, fields, headers=HTMX)
        assert response.status_code == 200, response.content.decode()


async def events_of(run: Run) -> list[Event]:
    """Return the events of a run."""
    return [event for _, event in await _placed_events(run)]


async def _placed_events(run: Run) -> list[tuple[tuple[int, int], Event]]:
    def read() -> list[tuple[tuple[int, int], Event]]:
        return [
            ((frame.seq, part), event)
            for frame, events in read_events(run)
            for part, event in enumerate(events)
        ]

    return await sync_to_async(read)()


async def _question(run: Run) -> tuple[int, int]:
    """Return the place of the question of a run, as soon as there is one."""
    while True:
        for place, event in await _placed_events(run):
            if isinstance(event, Elicitation):
                return place
        await asyncio.sleep(0.05)


@pytest.fixture
async def actions(async_client: AsyncClient) -> Actions:
    agent = await Agent.objects.acreate(name="Shop", url="http://shop.example/")
    return Actions(async_client, agent)


@pytest.fixture
def mcp(actions: Actions) -> Callable[..., Awaitable[Run]]:
    """Call a tool of an MCP server to the end."""

    async def call(url: str, tool: str, **arguments: Any) -> Run:
        return await actions.run(tool_call(tool, **arguments), server_url=url)

    return call


def tool_call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return an action that calls a tool."""
    return {"name": tool, "protocol": "MCP", "server": "peer", "tool": tool,
            "arguments": arguments}  # fmt: skip


async def text_of(run: Run) -> str:
    """Return all events of a run as text."""
    return "\n".join(str(event) for event in await events_of(run))
