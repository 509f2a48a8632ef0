"""Sessions of the older generation, and the questions asked in them. In the database."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any

from playground.demo import state_store
from playground.demo.responses import Document

_SESSIONS, _QUESTIONS = "mcp-session", "mcp-question"
#: Seconds without a request after which a session is forgotten.
LIFETIME = 3600.0
#: Seconds that an answer is waited for, and between two looks whether it has come.
PATIENCE = 120.0
_LOOK = 0.2


async def open_session(state: Mapping[str, Any]) -> str:
    """Begin a session; its id."""
    session = secrets.token_hex(16)
    await state_store.save(_SESSIONS, session, state)
    return session


async def session(key: str) -> dict[str, Any] | None:
    """What is known of a session, which counts as used; None if it is forgotten."""
    if (state := await state_store.load(_SESSIONS, key, LIFETIME)) is not None:
        await state_store.touch(_SESSIONS, key)
    return state


async def update(key: str, state: Mapping[str, Any]) -> None:
    """Put `state` in the place of what was known of a session."""
    await state_store.save(_SESSIONS, key, state)


async def close(key: str) -> bool:
    """End a session; whether there was one."""
    return await state_store.delete(_SESSIONS, key)


async def ask(key: str) -> str:
    """Note that a question is asked in a session; the id for its request."""
    number = f"ask-{secrets.token_hex(6)}"
    await state_store.save(_QUESTIONS, f"{key}:{number}", {})
    return number


async def answered(key: str, number: str, answer: Mapping[str, Any]) -> None:
    """Keep the answer to an open question; an answer to any other is dropped."""
    if await state_store.load(_QUESTIONS, f"{key}:{number}", PATIENCE) == {}:
        await state_store.save(_QUESTIONS, f"{key}:{number}", {"answer": dict(answer)})


async def answer(key: str, number: str) -> Document | None:
    """The answer to a question, which may come to another process; None if none comes."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = await state_store.load(_QUESTIONS, f"{key}:{number}", 2 * PATIENCE)
        if found is None:
            break
        if "answer" in found:
            await state_store.delete(_QUESTIONS, f"{key}:{number}")
            answer: Document = found["answer"]
            return answer
        await asyncio.sleep(_LOOK)
    await state_store.delete(_QUESTIONS, f"{key}:{number}")
    return None
