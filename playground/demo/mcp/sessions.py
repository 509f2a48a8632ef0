"""Sessions of the stateful generation, and the elicitations in them, in the database."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any

from playground.demo import state_store
from playground.demo.responses import Document

_SESSIONS, _QUESTIONS = "mcp-session", "mcp-question"
#: Seconds without a request after which a session expires.
LIFETIME = 3600.0
#: Seconds to wait for an answer, and between two polls of the database.
PATIENCE = 120.0
_POLL_INTERVAL = 0.2


async def open_session(state: Mapping[str, Any]) -> str:
    key = secrets.token_hex(16)
    await state_store.save(_SESSIONS, key, state)
    return key


async def session(key: str) -> dict[str, Any] | None:
    """Return the state of a session and mark it as used; None if it has expired."""
    if (state := await state_store.load(_SESSIONS, key, LIFETIME)) is not None:
        await state_store.touch(_SESSIONS, key)
    return state


async def update(key: str, state: Mapping[str, Any]) -> None:
    await state_store.save(_SESSIONS, key, state)


async def close(key: str) -> bool:
    """End a session; return True if it existed."""
    return await state_store.delete(_SESSIONS, key)


async def ask(key: str) -> str:
    """Store an open question of a session and return the id of its request."""
    request_id = f"ask-{secrets.token_hex(6)}"
    await state_store.save(_QUESTIONS, f"{key}:{request_id}", {})
    return request_id


async def store_answer(key: str, request_id: str, answer: Mapping[str, Any]) -> None:
    """Store the answer to an open question; drop any other answer."""
    if await state_store.load(_QUESTIONS, f"{key}:{request_id}", PATIENCE) == {}:
        await state_store.save(_QUESTIONS, f"{key}:{request_id}", {"answer": dict(answer)})


async def wait_for_answer(key: str, request_id: str) -> Document | None:
    """Wait for the answer to a question, which may reach another process; None without one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = await state_store.load(_QUESTIONS, f"{key}:{request_id}", 2 * PATIENCE)
        if found is None:
            break
        if "answer" in found:
            await state_store.delete(_QUESTIONS, f"{key}:{request_id}")
            answer: Document = found["answer"]
            return answer
        await asyncio.sleep(_POLL_INTERVAL)
    await state_store.delete(_QUESTIONS, f"{key}:{request_id}")
    return None
