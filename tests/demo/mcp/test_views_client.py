"""The MCP server, driven by the official client in both generations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.types import ElicitResult, LoggingMessageNotificationParams

from tests.support.playground_server import PlaygroundServer

GENERATIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
SURPRISE = {"query": {"text": "surprise me, but ask first"}}


@dataclass
class Caller:
    """A connected client, with the notifications and elicitations that it received."""

    client: Client
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    logs: list[LoggingMessageNotificationParams] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        async def reported(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            self.progress.append((progress, total, message))

        return await self.client.call_tool(tool, arguments, progress_callback=reported)

    async def ask(self, text: str, **prefer: Any) -> dict[str, Any]:
        result = await self.call("ask", {"query": {"text": text}, "prefer": prefer})
        document: dict[str, Any] = json.loads(result.content[0].text)
        assert document == result.structured_content
        return document


@asynccontextmanager
async def connected(
    url: str, mode: str, answer: ElicitResult | None = None, **options: Any
) -> AsyncIterator[Caller]:
    """A client of that generation; without an `answer` it cannot be asked."""

    async def asked(_: Any, params: Any) -> ElicitResult:
        caller.asked.append(params)
        assert answer
        return answer

    async def logged(params: LoggingMessageNotificationParams) -> None:
        caller.logs.append(params)

    callback: Any = asked if answer else None
    client = Client(
        url, mode=mode, logging_callback=logged, elicitation_callback=callback, **options
    )
    async with client:
        caller = Caller(client)
        yield caller


@pytest.fixture(params=GENERATIONS)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(playground: PlaygroundServer) -> str:
    return f"{playground.url}/demo/mcp?pace=0"


async def test_the_generation_is_agreed_on(url: str, mode: str) -> None:
    async with connected(url, mode) as caller:
        assert caller.client.protocol_version == GENERATIONS[mode]
        assert caller.client.server_info
        assert caller.client.server_info.name == "nlweb-demo"


@pytest.mark.parametrize(
    ("path", "version"), [("older", "2025-11-25"), ("newer", "2026-07-28"), ("", "2026-07-28")]
)
async def test_an_address_may_speak_one_only(
    playground: PlaygroundServer, path: str, version: str
) -> None:
    async with connected(f"{playground.url}/demo/mcp/{path}".rstrip("/"), "auto") as caller:
        assert caller.client.protocol_version == version
        assert (await caller.ask("tiramisu"))["results"]


async def test_tools_come_in_pages(url: str, mode: str) -> None:
    async with connected(url, mode) as caller:
        first = await caller.client.list_tools()
        assert first.next_cursor
        second = await caller.client.list_tools(cursor=first.next_cursor)
        assert second.next_cursor is None
        names = [tool.name for tool in (*first.tools, *second.tools)]
        assert names == ["ask", "await", "cart_add", "shopping_list", "scale_recipe"]
        with pytest.raises(MCPError) as refused:
            await caller.client.list_tools(cursor="elsewhere")
        assert refused.value.error.code == -32602


@pytest.mark.parametrize("text", ["tiramisu", "pasta", "recipes from planet Mars", "my cart"])
async def test_it_says_what_http_says(
    playground: PlaygroundServer, url: str, mode: str, text: str
) -> None:
    request = {"query": {"text": text}, "meta": {"session_context": {"conversation_id": "c"}}}
    plain = httpx.post(f"{playground.url}/demo/ask", json=request).json()
    async with connected(url, mode) as caller:
        result = await caller.call("ask", request)
    document = json.loads(result.content[0].text)
    for each in (plain, document):
        each["_meta"].pop("processing_time_ms", None)
    assert document == plain


async def test_streaming_reports_progress(url: str, mode: str) -> None:
    async with connected(url, mode, log_level="info") as caller:
        document = await caller.ask("tomato soup", streaming=True)
        names = [item["name"] for item in document["results"]]
        total = float(len(names))
        assert caller.progress == [
            (float(number), total, f"Found {name}") for number, name in enumerate(names, 1)
        ]
        assert [log.level for log in caller.logs] == ["info"]
        await caller.ask("tomato soup", streaming=False)
        assert len(caller.progress) == len(names)


async def test_failures(url: str, mode: str) -> None:
    async with connected(url, mode) as caller:
        with pytest.raises(MCPError) as refused:
            await caller.ask("???")
        assert refused.value.error.code == -32602
        assert refused.value.error.data["error"]["code"] == "INVALID_QUERY"
        broken = await caller.call("ask", {"query": {"text": "fail INTERNAL_ERROR"}})
        assert broken.is_error
        assert broken.structured_content["error"]["code"] == "INTERNAL_ERROR"
        nothing = await caller.call("ask", {"query": {"text": "recipes from planet Mars"}})
        assert not nothing.is_error
        with pytest.raises(MCPError) as unknown:
            await caller.call("nothing", {})
        assert unknown.value.error.code == -32602


async def test_the_cart_is_filled_and_read(url: str, mode: str) -> None:
    async with connected(url, mode) as caller:
        listed = await caller.client.list_tools()
        await caller.client.list_tools(cursor=listed.next_cursor)
        added = await caller.call("cart_add", {"items": [f"salt for {mode}", "pepper"]})
        assert "Added 2 items to the cart" in added.content[0].text
        shown = await caller.call("shopping_list", {})
        assert {f"salt for {mode}", "pepper"} <= set(shown.structured_content["items"])
        for items in ([], "x" * 201, [1], None):
            with pytest.raises(MCPError):
                await caller.call("cart_add", {"items": items})


async def test_a_recipe_is_scaled(url: str, mode: str) -> None:
    async with connected(url, mode) as caller:
        found = (await caller.ask("tiramisu"))["results"][0]
        (scale,) = [action for action in found["actions"] if action["name"] == "scale_recipe"]
        scaled = await caller.call(scale["tool"], {**scale["arguments"], "servings": 1})
        assert scaled.content[0].text.startswith("Tiramisu, for 1 serving:\n- ")
        assert (await caller.call("scale_recipe", {"url": "http://elsewhere"})).is_error


class TestAskingBack:
    async def test_an_answer(self, url: str, mode: str) -> None:
        content: Any = {"dietary_restrictions": ["vegan"], "cooking_time": "under 20 minutes"}
        async with connected(url, mode, ElicitResult(action="accept", content=content)) as caller:
            result = await caller.call("ask", SURPRISE)
        (asked,) = caller.asked
        assert set(asked.requested_schema["properties"]) == set(content)
        items = result.structured_content["results"]
        assert items
        assert all("https://schema.org/VeganDiet" in item["suitableForDiet"] for item in items)

    @pytest.mark.parametrize("action", ["decline", "cancel"])
    async def test_no_answer(self, url: str, mode: str, action: Any) -> None:
        async with connected(url, mode, ElicitResult(action=action)) as caller:
            result = await caller.call("ask", SURPRISE)
        assert result.structured_content["error"]["code"] == "NO_RESULTS"

    async def test_an_answer_that_does_not_fit(self, url: str, mode: str) -> None:
        answer = ElicitResult(action="accept", content={"cooking_time": "never"})
        async with connected(url, mode, answer) as caller:
            with pytest.raises(MCPError) as refused:
                await caller.call("ask", SURPRISE)
        assert refused.value.error.data["error"]["code"] == "INVALID_QUERY"

    async def test_who_cannot_be_asked_gets_the_questions(self, url: str, mode: str) -> None:
        async with connected(url, mode) as caller:
            result = await caller.call("ask", SURPRISE)
        assert result.structured_content["_meta"]["response_type"] == "elicitation"
