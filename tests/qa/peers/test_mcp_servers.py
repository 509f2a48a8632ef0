"""MCP servers made with fastmcp and with version 1 of the official package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from playground.models import Run
from tests.qa.peers import serving
from tests.qa.peers.conftest import Actions, text_of, tool_call

pytestmark = pytest.mark.django_db(transaction=True)

Call = Callable[..., Awaitable[Run]]
FORMS = [(), ("json",), ("stateless",), ("stateless", "json")]


@pytest.mark.parametrize("form", FORMS)
async def test_fastmcp(mcp: Call, form: tuple[str, ...]) -> None:
    with serving("fastmcp", *form) as origin:
        baked = await mcp(f"{origin}/mcp", "bake", loaves=3)
        picture = await mcp(f"{origin}/mcp", "picture")
        burnt = await mcp(f"{origin}/mcp", "burn")
    assert (baked.state, baked.outcome) == ("completed", "answer")
    assert "loaves" in await text_of(baked)
    assert (picture.state, picture.outcome) == ("completed", "answer")
    assert "image/png" in await text_of(picture)
    assert (burnt.state, burnt.outcome) == ("completed", "failure")


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_fastmcp_asks(actions: Actions, action: str) -> None:
    with serving("fastmcp") as origin:
        run = await actions.start(tool_call("book"), server_url=f"{origin}/mcp")
        answered = await actions.answer(run, action=action, q0="Friday", q1="4")
    assert (answered.state, answered.outcome) == ("completed", "answer")
    expected = "Booked for 4 on Friday." if action == "accept" else "Not booked: decline."
    assert expected in await text_of(answered)


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_fastmcp_asks_in_a_session(actions: Actions, action: str) -> None:
    with serving("fastmcp") as origin:
        fields = {"server_url": f"{origin}/mcp", "mcp_version": "2025-11-25"}
        run = await actions.start(tool_call("book_in_session"), **fields)
        answered = await actions.answer(run, action=action, q0="Friday", q1="4")
    assert (answered.state, answered.outcome) == ("completed", "answer")
    expected = "Booked for 4 on Friday." if action == "accept" else "Not booked: decline."
    assert expected in await text_of(answered)


@pytest.mark.parametrize("form", FORMS)
async def test_mcp_version_1(mcp: Call, form: tuple[str, ...]) -> None:
    with serving("mcp_v1", *form) as origin:
        run = await mcp(f"{origin}/mcp", "ask", query={"text": "leek"})
    assert (run.state, run.outcome) == ("completed", "answer")
    assert "Soup with leek" in await text_of(run)


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_mcp_version_1_asks(actions: Actions, action: str) -> None:
    with serving("mcp_v1") as origin:
        run = await actions.start(tool_call("book"), server_url=f"{origin}/mcp")
        answered = await actions.answer(run, action=action, q0="vegan", q1="4")
    assert (answered.state, answered.outcome) == ("completed", "answer")
    expected = "Booked: vegan, 4." if action == "accept" else "Not booked: decline."
    assert expected in await text_of(answered)
