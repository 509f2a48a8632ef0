"""The reference server of MCP: every tool that needs no sampling runs as an action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from playground.models import Run
from tests.qa.peers import serving
from tests.qa.peers.conftest import Actions, text_of, tool_call

pytestmark = pytest.mark.django_db(transaction=True)

Call = Callable[..., Awaitable[Run]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("everything") as origin:
        yield f"{origin}/mcp"


@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        ("echo", {"message": "soup 🍲"}, "soup 🍲"),
        ("get-annotated-message", {"messageType": "success", "includeImage": True}, "image/png"),
        ("get-env", {}, "PATH"),
        ("get-resource-links", {"count": 2}, "demo://resource"),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}, "demo://resource"),
        ("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}, "demo://resource"),
        ("get-structured-content", {"location": "Chicago"}, "temperature"),
        ("get-sum", {"a": 2, "b": 3}, "5"),
        ("get-tiny-image", {}, "image/png"),
        ("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,soup"}, "a.gz"),
        ("toggle-simulated-logging", {}, "logging"),
        ("toggle-subscriber-updates", {}, "updates"),
        ("trigger-long-running-operation", {"duration": 0.5, "steps": 2}, "completed"),
    ],
)
async def test_tools(
    mcp: Call, url: str, tool: str, arguments: dict[str, object], shown: str
) -> None:
    run = await mcp(url, tool, **arguments)
    assert (run.state, run.outcome, run.problem) == ("completed", "answer", None)
    assert shown in await text_of(run)


async def test_a_tool_that_asks(actions: Actions, url: str) -> None:
    run = await actions.start(tool_call("trigger-elicitation-request"), server_url=url)
    answered = await actions.answer(run, action="decline")
    assert (answered.state, answered.outcome) == ("completed", "answer")
    assert "declined" in await text_of(answered)


async def test_a_tool_that_only_runs_as_a_task(mcp: Call, url: str) -> None:
    """Tasks of MCP 2025-11-25 are not spoken: what the server says of it is shown."""
    run = await mcp(url, "simulate-research-query", topic="soup")
    assert (run.state, run.outcome) == ("completed", "failure")
    assert "task" in await text_of(run)
