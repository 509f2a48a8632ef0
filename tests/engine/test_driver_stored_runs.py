"""Response documents of the demo agent: the same as a stream, as a body, and over MCP."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.expectations import RunFacts
from playground.models import Run
from playground.stored_runs import run_facts
from tests.engine.conftest import Send
from tests.support.playground_server import PlaygroundServer

pytestmark = pytest.mark.django_db(transaction=True)


async def facts_of(run: Run) -> RunFacts:
    return await sync_to_async(run_facts)(run)


def ask(text: str, streaming: bool, **more: Any) -> dict[str, Any]:
    meta = {"version": "0.55"}
    return {"query": {"text": text}, "prefer": {"streaming": streaming}, "meta": meta, **more}


def without_transport_fields(document: Any) -> Any:
    """Without what says how it travelled, and what is made anew for every reply."""
    meta = dict(document["_meta"])
    for name in ("streaming", "session_context", "processing_time_ms"):
        meta.pop(name, None)
    promise = {**document["promise"], "token": ""} if "promise" in document else None
    return {**document, "_meta": meta} | ({"promise": promise} if promise else {})


@pytest.mark.parametrize(
    "text", ["soup", "what should I cook?", "a meal plan for a month", "zzzz qqqq"]
)
async def test_one_document_however_it_travelled(
    send: Send, playground: PlaygroundServer, text: str
) -> None:
    address = f"{playground.url}/demo"
    over_mcp = {"binding": "mcp"}
    runs = [
        await send(address, ask(text, streaming=True)),
        await send(address, ask(text, streaming=False)),
        await send(f"{address}/mcp", ask(text, streaming=True), agent=over_mcp),
        await send(f"{address}/mcp", ask(text, streaming=False), agent=over_mcp),
    ]
    found = [await facts_of(run) for run in runs]
    assert found[0].document is not None
    for each in found[1:]:
        assert without_transport_fields(each.document) == without_transport_fields(
            found[0].document
        )
        assert (each.outcome, each.results) == (found[0].outcome, found[0].results)
    assert len(found[0].document.get("results", [])) == found[0].results


async def test_an_agent_api_response_and_its_stream(
    send: Send, playground: PlaygroundServer
) -> None:
    def asked(stream: bool) -> dict[str, Any]:
        content = [{"type": "text", "text": "soup"}]
        message = {"role": "user", "type": "message", "content": content}
        return {"input": [message], "stream": stream}

    address = f"{playground.url}/demo/agent-api"
    spoken = {"protocol": "agent-api", "version": "1"}
    documents = [
        (await facts_of(await send(address, asked(stream), agent=spoken))).document
        for stream in (True, False)
    ]
    for document in documents:
        assert document["status"] == "completed"
        assert document["output"][-1]["role"] == "assistant"
        assert document["output"][-1]["content"][0]["text"]
    shapes = [
        [
            (m["type"], m["role"], m["status"], [p["type"] for p in m["content"]])
            for m in d["output"]
        ]
        for d in documents
    ]
    assert shapes[0] == shapes[1]
    texts = [[m["content"] for m in d["output"] if m["type"] == "message"] for d in documents]
    assert texts[0] == texts[1]
