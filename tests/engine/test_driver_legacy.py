"""The legacy public server over a socket: requests and the reading of its responses."""

from __future__ import annotations

import json

from asgiref.sync import sync_to_async

from playground.models import Run
from playground.rendering.server_log import MAX_NOTES, log_lines
from tests.engine.conftest import Send
from tests.support.replay import CAPTURES, reply_bytes
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, chunk, reply, serve

OLDER = {"version": "legacy"}
STREAM = {"query": {"text": "eggs", "site": "a.example"}, "prefer": {"streaming": True}}


async def messages_of(run: Run) -> list[tuple[str, str]]:
    notes, _ = await sync_to_async(log_lines)(run)
    return [(note.name, note.text) for note in notes]


async def test_a_stream_is_read_to_its_end(send: Send) -> None:
    async with serve(reply_bytes(CAPTURES / "nlweb" / "get_stream.txt")) as server:
        run = await send(server.url, STREAM, agent=OLDER)
    assert server.requests[0].startswith(b"GET /ask?query=eggs&site=a.example HTTP/1.1\r\n")
    assert (run.version, run.state, run.outcome, run.results) == (
        "legacy", "completed", "answer", 4,
    )  # fmt: skip
    assert run.session_context is None
    notes = dict(await messages_of(run))
    assert notes["license"].startswith("This data is provided under MIT License")
    assert notes["retrieval_count"].startswith("query: eggs · site: recipes.example · count: 4")


async def test_a_document_is_read_as_well(send: Send) -> None:
    body = {"message_type": "result_batch", "results": [{"name": "Soup"}, {"name": "Bread"}]}
    async with serve(reply(json.dumps(body).encode())) as server:
        run = await send(server.url, agent=OLDER)
    assert server.requests[0].endswith(b'{"query": "eggs", "streaming": "false"}')
    assert (run.state, run.outcome, run.results) == ("completed", "answer", 2)


async def test_a_key_is_stored_nowhere(send: Send) -> None:
    block = b'data: {"message_type": "api_key", "key_name": "maps", "key_value": "s3cr3t"}\n\n'
    async with serve(STREAM_HEAD, chunk(block), LAST_CHUNK) as server:
        run = await send(server.url, STREAM, agent=OLDER)
    frames = await sync_to_async(lambda: list(run.read_frames()))()
    assert not [frame for frame in frames if b"s3cr3t" in frame.data]
    assert await messages_of(run) == [("api_key", "key_name: maps · key_value: ••••••")]


async def test_a_talkative_server_is_cut_short(send: Send) -> None:
    block = b'data: {"message_type": "header", "content": "again"}\n\n' * (MAX_NOTES + 1)
    async with serve(STREAM_HEAD, chunk(block), LAST_CHUNK) as server:
        run = await send(server.url, STREAM, agent=OLDER)
    notes, more = await sync_to_async(log_lines)(run)
    assert (len(notes), more, run.entries) == (MAX_NOTES, True, 0)
