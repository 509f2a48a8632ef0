"""Fixtures for runs through engine, transport and database against scripted servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground import engine
from playground.models import Agent, Run

Send = Callable[..., Awaitable[Run]]


@pytest.fixture
def begin(transactional_db: None) -> Callable[..., Awaitable[Any]]:
    """Start a run of a request to an address: (url, document) to the run and its task."""

    async def start(url: str, document: dict[str, Any] | None = None, **options: Any) -> Any:
        def record() -> tuple[Run, Any, list[str]]:
            agent = Agent(name="scripted", url=url, **options.pop("agent", {}))
            prepared = engine.request_to(agent, document or {"query": {"text": "eggs"}})
            return engine.create_run(prepared), prepared.target, prepared.redact

        run, target, secrets = await sync_to_async(record)()
        return run, engine.start(run, target, redact=secrets, **options)

    return start


@pytest.fixture
def send(begin: Callable[..., Awaitable[Any]]) -> Send:
    """Run a request to its end: (url, document) to the run as it was stored."""

    async def to_end(url: str, document: dict[str, Any] | None = None, **options: Any) -> Run:
        run, task = await begin(url, document, **options)
        await task
        await run.arefresh_from_db()
        return run

    return to_end
