"""Dialogue of a command: polling a promise, and being stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground import engine
from playground.cli.dialogue import Dialogue, SendOptions
from playground.cli.output import Printer
from playground.engine import poll_until_settled, promises
from playground.models import Agent
from tests.commands.test_send_dialogue import ANSWER, PROMISE, promise_then
from tests.support.servers import HOLD, serve

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dialogue(transactional_db: None) -> Callable[..., Dialogue]:
    """Return a factory of dialogues with a saved agent, in this process: (address, options)."""

    def talk_to(url: str, **options: Any) -> Dialogue:
        agent = Agent.objects.create(name="scripted", url=url)
        prepared = engine.request_to(agent, {"query": {"text": "soup"}})
        return Dialogue(prepared, Printer(as_json=True), SendOptions(**options))

    return talk_to


async def test_a_server_was_told_the_end_of_the_promise(
    dialogue: Callable[..., Dialogue], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The command and a server poll the promise; the first poll gets the answer."""

    async def elsewhere(pk: int, **_: Any) -> None:
        await poll_until_settled(pk)

    monkeypatch.setattr(promises, "MIN_POLL_INTERVAL", 0.0)
    monkeypatch.setattr(engine, "poll_until_settled", elsewhere)
    async with serve(answer=lambda request: promise_then(request, ANSWER)) as server:
        held = await sync_to_async(dialogue)(server.url, poll_promises=True)
        await held.run()
    assert (held.last.kind, held.last.outcome, held.timed_out) == ("check", "answer", False)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["type"] for line in lines] == [
        "started", "promise", "completed", "run", "started", "result", "completed",
    ]  # fmt: skip


async def test_stopped_before_the_first_check(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Dialogue._send

    async def stopped(held: Dialogue, *arguments: Any) -> None:
        await send(held, *arguments)
        held.stop()

    monkeypatch.setattr(Dialogue, "_send", stopped)
    async with serve(PROMISE) as server:
        held = await sync_to_async(dialogue)(server.url, poll_promises=True)
        await held.run()
    assert (len(held.runs), held.last.outcome, held.timed_out) == (1, "promise", True)


async def test_stopped_while_the_run_was_recorded(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(HOLD) as server:
        held = await sync_to_async(dialogue)(server.url)
        announce = Dialogue._announce

        def stopping(held: Dialogue, run: Any) -> None:
            announce(held, run)
            held.stop()

        monkeypatch.setattr(Dialogue, "_announce", stopping)
        async with asyncio.timeout(20):
            await held.run()
    assert held.last.state == "cancelled"
