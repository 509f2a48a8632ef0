"""Requests to scenarios through the test client of Django."""

from __future__ import annotations

from typing import Any

from playground.demo.scenarios import GROUPS
from tests.demo.client import Reply, reply_to

ELICITATION_SLUGS = [row.slug for row in GROUPS["Elicitation"]]
PROMISE_SLUGS = [row.slug for row in GROUPS["Promises"]]


async def post(path: str, body: Any, **headers: str) -> Reply:
    """Post to a scenario; `path` is its slug and operation."""
    return await reply_to(f"scenarios/{path}", body, **headers)


async def ask(slug: str, parameters: str = "", **sections: Any) -> Reply:
    request = {"query": {"text": "soup"}, "prefer": {"streaming": False}, **sections}
    return await post(f"{slug}/ask{parameters}", request)


async def items(slug: str) -> list[Any]:
    reply = await ask(slug)
    return reply.document["results"]
