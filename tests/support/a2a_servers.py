"""A2A agents made with the official package, on free ports: what the engine is held against.

    with serving(Waiter(), versions=("1.0",)) as url:
        ...

What the agent does, the words of the message say: see `Waiter`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from a2a.helpers.proto_helpers import (
    get_message_text,
    new_data_part,
    new_task_from_user_message,
    new_text_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette

from tests.support.servers import free_port
from tests.support.uvicorn_server import serving_asgi

REPLY = {
    "_meta": {"response_type": "answer", "version": "0.55"},
    "results": [{"@type": "Recipe", "name": "Crème 🥚"}],
}


@dataclass
class Waiter(AgentExecutor):  # type: ignore[misc]
    """Does what a message says: `hello`, `fail`, `reject`, `ask`, `slow`, `explode`; or a task."""

    #: The messages that came: text, skill, and whether they went on with a task.
    heard: list[tuple[str, Any, bool]] = field(default_factory=list)
    #: Seconds that a slow task takes.
    pause: float = 0.3

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do it."""
        assert context.message is not None
        text = get_message_text(context.message)
        skill = dict(context.metadata).get("skill") if context.metadata else None
        goes_on = context.current_task is not None
        self.heard.append((text, skill, goes_on))
        if text == "explode":
            raise RuntimeError("the kitchen is on fire")
        if text == "hello":
            await event_queue.enqueue_event(
                new_text_message("Hello — crème 🥚", role=Role.ROLE_AGENT)
            )
            return
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await self._work(text, updater, goes_on)

    async def _work(self, text: str, updater: TaskUpdater, goes_on: bool) -> None:
        def said(words: str) -> Any:
            return updater.new_agent_message([new_text_part(words)])

        await updater.start_work(said("Searching..."))
        if text == "slow":
            await asyncio.sleep(self.pause)
        if text == "fail":
            await updater.failed(said("No eggs left."))
        elif text == "reject":
            await updater.reject(said("Not my table."))
        elif text == "ask" and not goes_on:
            await updater.requires_input(said("For how many?"))
        else:
            first, second = (
                [new_text_part("first ")],
                [new_text_part("second"), new_data_part(REPLY)],
            )
            await updater.add_artifact(first, artifact_id="a1", append=False, last_chunk=False)
            await updater.add_artifact(second, artifact_id="a1", append=True, last_chunk=True)
            await updater.complete(said(f"Done: {text}"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing can be called off."""


@contextlib.contextmanager
def serving(
    waiter: Waiter,
    *,
    versions: tuple[str, ...] = ("1.0",),
    streaming: bool = True,
    advertised: str = "",
) -> Iterator[str]:
    """The agent's address; `advertised` is what its card names instead."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/a2a"
    card = AgentCard(
        name="Waiter",
        description="Serves tables",
        version="1.0",
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="serve", name="Serve", description="Serves", tags=["table"])],
        supported_interfaces=[
            AgentInterface(url=advertised or url, protocol_binding="JSONRPC", protocol_version=each)
            for each in versions
        ],
    )
    handler = DefaultRequestHandler(waiter, InMemoryTaskStore(), card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/a2a", enable_v0_3_compat=True),
    ]
    with serving_asgi(Starlette(routes=routes), port):
        yield url
