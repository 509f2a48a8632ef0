"""Requests to scenarios through the test client of Django."""

from __future__ import annotations

import json
from typing import Any

from django.test import AsyncClient

from playground.demo.scenarios import GROUPS
from tests.demo.conftest import Reply, read_events

ELICITATION_SLUGS = [row.slug for row in GROUPS["Elicitation"]]
PROMISE_SLUGS = [row.slug for row in GROUPS["Promises"]]


async def post(path: str, body: Any, **headers: str) -> Reply:
    """Post to a scenario; `path` is its slug and operation."""
    reply = await AsyncClient().post(
        f"/demo/scenarios/{path}", json.dumps(body), content_type="application/json",
        headers=headers,
    )  # fmt: skip
    if not reply.streaming:
        return Reply(reply.status_code, dict(reply.headers), reply.content)
    data = b"".join([chunk async for chunk in reply])
    return Reply(reply.status_code, dict(reply.headers), data, read_events(data))


async def ask(slug: str, parameters: str = "", **sections: Any) -> Reply:
    request = {"query": {"text": "soup"}, "prefer": {"streaming": False}, **sections}
    return await post(f"{slug}/ask{parameters}", request)


async def items(slug: str) -> list[Any]:
    reply = await ask(slug)
    return reply.document["results"]
