"""Dialogue of a command: stopped between two runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.cli.dialogue import Dialogue, SendOptions
from playground.cli.output import Printer
from playground.engine import runs, tasks
from playground.engine.request import request_to
from playground.models import Agent, Run
from tests.commands.test_send_dialogue import PROMISE
from tests.support.servers import HOLD, serve

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dialogue(transactional_db: None) -> Callable[..., Dialogue]:
    """Return a factory of dialogues with a saved agent, in this process: (address, options)."""

    def talk_to(url: str, **options: Any) -> Dialogue:
        agent = Agent.objects.create(name="scripted", url=url)
        prepared = request_to(agent, {"query": {"text": "soup"}})
        return Dialogue(prepared, Printer(as_json=True), SendOptions(**options))

    return talk_to


async def test_stopped_before_the_first_check(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = tasks.send_here

    async def stopped(*arguments: Any, **options: Any) -> None:
        await send(*arguments, **options)
        held.stop()

    monkeypatch.setattr(tasks, "send_here", stopped)
    async with serve(PROMISE) as server:
        held = await sync_to_async(dialogue)(server.url, poll_promises=True)
        await held.run()
    assert (len(held.runs), held.last.outcome, held.timed_out) == (1, "promise", True)


async def test_stopped_while_the_run_was_recorded(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = runs.create_run

    def stopped(*arguments: Any) -> Run:
        run = record(*arguments)
        held.stop()
        return run

    monkeypatch.setattr("playground.cli.dialogue.create_run", stopped)
    async with serve(HOLD) as server:
        held = await sync_to_async(dialogue)(server.url)
        async with asyncio.timeout(20):
            await held.run()
    assert held.last.state == "cancelled"
