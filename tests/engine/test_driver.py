"""Runs from sending to what is stored: state, outcome, counts, frames and metrics."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import DataError

from playground.engine import driver, tasks
from playground.models import FrameBatch, Run
from playground.models.frames import Flush
from playground.notifications import notifier
from playground.protocols.frames import FrameKind
from tests.engine.conftest import COMPLETE, RESULT, START, Begin, Send, frames_of, until
from tests.support.agent_api_examples import REQUEST
from tests.support.metrics import Growth, value
from tests.support.outages import Outage
from tests.support.replay import CAPTURES, reply_bytes
from tests.support.servers import (
    CLOSE,
    HOLD,
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    Script,
    Step,
    chunk,
    free_port,
    head,
    reply,
    serve,
)

pytestmark = pytest.mark.database

FAILURE = {
    "_meta": {"response_type": "failure", "version": "0.55"},
    "error": {"code": "NO_RESULTS"},
}


async def kinds(run: Run) -> list[str]:
    return [frame.kind.name for frame in await frames_of(run)]


async def test_a_stream_is_stored_counted_and_completed(send: Send) -> None:
    growth = Growth()
    async with serve(
        STREAM_HEAD, chunk(START), chunk(RESULT), chunk(COMPLETE), LAST_CHUNK
    ) as server:
        run = await send(server.url)
    assert (run.state, run.outcome, run.status) == ("completed", "answer", 200)
    assert (run.frames, run.events, run.results) == (7, 3, 1)
    assert run.bytes == len(START + RESULT + COMPLETE)
    assert run.session_context == {"conversation_id": "c1"}
    assert 0 < run.headers_us <= run.first_event_us <= run.ended_us
    assert await kinds(run) == ["CALL", "OPEN", "HEAD", "EVENT", "EVENT", "EVENT", "END"]
    assert growth.of("playground_runs_ended_total", state="completed") == 1
    assert growth.of("playground_stored_frames_total") == run.frames
    assert growth.of("playground_stored_events_total") == run.events
    size = sum(len(frame.data) for frame in await frames_of(run))
    assert growth.of("playground_stored_bytes_total") == size
    assert value("playground_runs_in_progress") == 0


SCRIPTS: dict[str, tuple[tuple[Step, ...], str, str, str | None]] = {
    "a failure of the agent": (
        (reply(json.dumps(FAILURE).encode()),), "completed", "failure", None,
    ),
    "a failure with an HTTP status": (
        (reply(json.dumps(FAILURE).encode(), status="400 Bad Request"),),
        "completed", "failure", None,
    ),
    "an HTML page": ((reply(b"<html>oops</html>", "text/html"),), "failed", "none", "decode"),
    "an empty body": ((reply(b""),), "failed", "none", "decode"),
    "broken JSON": ((reply(b'{"_meta": '),), "failed", "none", "decode"),
    "JSON nested too deep": ((reply(b"[" * 5000 + b"]" * 5000),), "refused", "none", "limit"),
    "a body that breaks off": (
        (STREAM_HEAD, chunk(START), chunk(RESULT), RESET), "truncated", "answer", "body",
    ),
    "a stream that stops in the middle of an event": (
        (STREAM_HEAD, chunk(START), chunk(RESULT[:30]), LAST_CHUNK), "truncated", "none", "body",
    ),
    "no response at all": ((RESET,), "failed", "none", "headers"),
    "a redirect": (
        (head("307 Temporary Redirect", location="http://127.0.0.1:1/", content_length="0"),),
        "failed", "none", "decode",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("script", "state", "outcome", "stage"), SCRIPTS.values(), ids=SCRIPTS.keys()
)
async def test_every_ending_has_its_state(
    send: Send, script: tuple[Step, ...], state: str, outcome: str, stage: str | None
) -> None:
    growth = Growth()
    async with serve(*script) as server:
        run = await send(server.url)
    assert (run.state, run.outcome) == (state, outcome)
    assert (run.problem or {}).get("stage") == stage
    assert growth.of("playground_runs_ended_total", state=state) == 1
    if run.problem:
        assert run.problem["cause"]
        assert run.problem["fix"]


#: What real agents sent, by file: state, outcome, results, entries and failures of the run.
CAPTURED = {
    "ask_agent/ask_json": ("completed", "answer", 6, 6, 0),
    "ask_agent/ask_stream": ("completed", "answer", 6, 6, 0),
    "ask_agent/ask_stream_elicitation": ("completed", "elicitation", 0, 1, 0),
    "ask_agent/rawsocket_stream_failure_midstream": ("truncated", "none", 0, 0, 0),
    "nlweb/get_stream": ("completed", "answer", 4, 4, 0),
    "agentscope/text": ("completed", "answer", 0, 1, 0),
    "agentscope/plugin_call": ("completed", "answer", 0, 4, 0),
    "agentscope/error_midstream": ("completed", "failure", 0, 2, 1),
    "agentscope/bad_request_no_input": ("completed", "failure", 0, 1, 1),
    "mcp/raw_json_tools_call": ("completed", "answer", 2, 2, 0),
    "mcp/raw_modern_call": ("completed", "answer", 2, 2, 0),
    "mcp/raw_sse_tools_call": ("completed", "answer", 2, 2, 0),
}


def test_every_capture_has_its_row() -> None:
    paths = [path for path in CAPTURES.rglob("*.txt") if not path.name.endswith(".req.txt")]
    kept = [path for path in paths if path.parent.name not in ("a2a", "mcp")]
    kept += CAPTURES.glob("mcp/raw_*_call.txt")
    assert {f"{path.parent.name}/{path.stem}" for path in kept} == set(CAPTURED)


@pytest.mark.parametrize("name", CAPTURED)
async def test_a_captured_response(send: Send, name: str) -> None:
    folder, captured = Path(name).parent.name, reply_bytes(CAPTURES / f"{name}.txt")

    def answer(request: bytes) -> Script:
        message = json.loads(request.partition(b"\r\n\r\n")[2])
        if folder != "mcp" or message["method"] == "tools/call":
            return [captured]
        error = {"code": -32601, "message": "No."}
        return [reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode())]

    agent = {
        "agentscope": {"protocol": "agent-api", "version": "1"}, "mcp": {"binding": "mcp"},
    }.get(folder, {})  # fmt: skip
    async with serve(answer=answer) as server:
        document = REQUEST if folder == "agentscope" else None
        run = await send(f"{server.url}/process", document, agent=agent)
    assert (run.state, run.outcome, run.results, run.entries, run.failures) == CAPTURED[name]
    if run.state == "truncated":  # The agent writes a second response head into the body.
        assert "EVENT" in await kinds(run)
        assert "HTTP/1.1 200 OK" in run.problem["detail"]


async def test_in_progress_and_refused_beyond_the_limit(begin: Begin, settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=1)
    async with serve(STREAM_HEAD, HOLD) as server:
        run, _ = await begin(server.url)
        late, task = await begin(server.url)
        await task
        await late.arefresh_from_db()
        assert (late.state, late.problem["limit"]) == ("refused", "max_runs")
        await server.asked.wait()
        assert value("playground_runs_in_progress") == 1
        await tasks.cancel(run)
    assert len(server.requests) == 1
    assert value("playground_runs_in_progress") == 0
    assert not await tasks.cancel(run)  # It has ended.


@pytest.mark.parametrize(
    ("limit", "most", "state"),
    [("max_bytes", 200, "refused"), ("max_frames", 5, "refused"), ("total_timeout", 0.3, "failed"),
     ("idle_timeout", 0.3, "failed")],
)  # fmt: skip
async def test_crossing_a_limit_names_it(
    send: Send, settings: Any, limit: str, most: float, state: str
) -> None:
    growth = Growth()
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, **{limit: most})
    script = (STREAM_HEAD, chunk(b": hello\n\n"), *[chunk(RESULT)] * 10, HOLD)
    async with serve(*script) as server:
        run = await send(server.url)
    assert (run.state, run.problem["limit"]) == (state, limit)
    assert "COMMENT" in await kinds(run)
    assert growth.of("playground_limits_exceeded_total", limit=limit) == 1


class TestStop:
    async def test_it_closes_the_connection_and_keeps_what_came(self, begin: Begin) -> None:
        """Also an event that had not ended."""
        async with serve(STREAM_HEAD, chunk(START), chunk(RESULT + RESULT[:30]), HOLD) as server:
            run, task = await begin(server.url)
            await until(Run.objects.filter(pk=run.pk, results=1).aexists)
            assert await tasks.cancel(run)
            await asyncio.wait_for(server.gone.wait(), 20)
            assert task.done()
        await run.arefresh_from_db()
        assert (run.state, run.results, run.problem) == ("cancelled", 1, None)
        assert run.bytes == len(START + RESULT) + 30
        assert (await kinds(run))[-1] == "TAIL"

    @pytest.mark.parametrize("body", ["stream", "document"])
    @pytest.mark.parametrize("turns", [0, 1, 10, 100, 1000])
    async def test_at_any_moment_and_twice_leaves_no_gap(
        self, begin: Begin, body: str, turns: int
    ) -> None:
        """Also while much of what was received is parsed in a thread."""
        data = large_answer(1_200_000)[0]
        script = [reply(data)] if body == "document" else [STREAM_HEAD, chunk(RESULT * 5000), HOLD]
        async with serve(*script) as server:
            run, task = await begin(server.url)
            await server.asked.wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            for _ in range(2):
                tasks.stop(run)
                await asyncio.sleep(0)
            await asyncio.wait({task})
        await run.arefresh_from_db()
        assert run.state in ("cancelled", "completed")
        assert len(await frames_of(run)) == run.frames

    async def test_before_the_first_step(self, begin: Begin) -> None:
        async with serve(STREAM_HEAD, HOLD) as server:
            run, task = await begin(server.url)
            tasks.stop(run)
            await asyncio.wait({task})
        await run.arefresh_from_db()
        assert run.state == "cancelled"
        assert not server.requests


async def stored_frames(run: Run) -> None:
    """Wait until all frames are stored that a server sends before it waits."""
    await until(Run.objects.filter(pk=run.pk, frames=4).aexists)


class TestDatabase:
    """That fails, or is away: nothing is lost within the patience, and what is lost is said."""

    async def test_away_for_a_moment(self, begin: Begin, outage: Outage) -> None:
        async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
            run, task = await begin(server.url)
            outage.begin(times=20)
            await task
        await run.arefresh_from_db()
        assert (run.state, run.problem, run.frames) == ("completed", None, 6)
        assert outage.failures == 20

    @pytest.mark.parametrize(
        ("error", "cause"),
        [
            (
                None,
                r"The playground’s database was unavailable for more than 0 seconds:"
                r" [1-6] received frames? (was|were) not stored\.$",
            ),
            (RuntimeError("disk full"), ""),
        ],
        ids=["away", "for good"],
    )
    async def test_nobody_waits_for_ever(
        self, begin: Begin, outage: Outage, settings: Any, error: Exception | None, cause: str
    ) -> None:
        settings.DATABASE_PATIENCE = 0
        async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
            run, task = await begin(server.url)
            outage.begin(times=30 if error is None else 1, error=error)
            await task
        await run.arefresh_from_db()
        assert (run.state, run.problem["stage"], run.frames) == ("failed", "internal", 0)
        assert re.match(cause, run.problem["cause"])

    @pytest.mark.parametrize("failures", [1, 20])
    async def test_lost_frames_end_the_call_to_a_silent_agent(
        self, begin: Begin, outage: Outage, settings: Any, failures: int
    ) -> None:
        """The run says so, however long the database is away then."""
        settings.DATABASE_PATIENCE = 0
        go_on = asyncio.Event()
        async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT), HOLD) as server:
            run, task = await begin(server.url)
            await stored_frames(run)
            outage.begin(times=failures)
            go_on.set()
            await asyncio.wait_for(task, 20)
            await server.gone.wait()
        await run.arefresh_from_db()
        assert run.state == "failed"
        assert "1 received frame was not stored" in run.problem["cause"]

    async def test_away_when_a_run_is_stopped(
        self, begin: Begin, outage: Outage, settings: Any
    ) -> None:
        settings.DATABASE_PATIENCE = 0
        go_on = asyncio.Event()
        async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT[:30]), HOLD) as server:
            run, task = await begin(server.url)
            await stored_frames(run)
            go_on.set()
            outage.begin(times=1, error=RuntimeError("disk full"))
            tasks.stop(run)
            await asyncio.wait({task})
        await run.arefresh_from_db()
        assert (run.state, run.problem["stage"]) == ("failed", "internal")

    async def test_away_when_it_has_stored_the_end(
        self, begin: Begin, outage: Outage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer is lost, so the end is stored once more; viewers hear of it all the same."""
        plain = driver.write_until_stored

        async def write_twice(*call: Any, **options: Any) -> Any:
            await plain(*call, **options)
            return await plain(*call, **options)

        monkeypatch.setattr(driver, "write_until_stored", write_twice)
        heard: list[Flush | None] = []
        go_on = asyncio.Event()
        async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT), HOLD) as server:
            run, task = await begin(server.url)
            await stored_frames(run)
            await notifier().subscribe(run.group, heard.append)
            outage.begin("framebatch", times=1, error=DataError("not accepted"))
            go_on.set()
            await asyncio.wait_for(task, 20)
        await run.arefresh_from_db()
        assert run.state == "failed"
        assert heard[-1] is None
        notifier().unsubscribe(run.group, heard.append)

    async def test_what_an_interrupted_run_received_afterwards(self, begin: Begin) -> None:
        """Another process took this one for dead: its driver could not reach the database."""
        go_on = asyncio.Event()
        async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT * 2), HOLD) as server:
            run, task = await begin(server.url)
            await stored_frames(run)
            await Run.objects.filter(pk=run.pk).aupdate(state="interrupted")
            go_on.set()
            await asyncio.wait_for(task, 20)
            await server.gone.wait()
        await run.arefresh_from_db()
        assert run.state == "interrupted"
        assert "2 received frames were not stored" in run.problem["cause"]

    async def test_text_that_it_refuses(self, send: Send) -> None:
        document = {"query": {"text": "nul \0 and half a pair \ud800"}}
        async with serve(reply(b'{"a": "\\u0000 \\ud800"}')) as server:
            run = await send(server.url, document)
        assert run.request == document
        assert run.state == "failed"

    async def test_a_flood_is_stored_in_few_rows(self, send: Send) -> None:
        async with serve(
            STREAM_HEAD, chunk(START), *[chunk(RESULT * 100)] * 50, chunk(COMPLETE), LAST_CHUNK
        ) as server:
            run = await send(server.url)
        assert (run.results, run.frames) == (5000, 5000 + 6)
        assert len(await frames_of(run)) == run.frames
        assert await FrameBatch.objects.acount() < run.frames / 20


async def test_nobody_listens(send: Send) -> None:
    run = await send(f"http://127.0.0.1:{free_port()}")
    assert (run.state, run.problem["stage"], run.status) == ("failed", "connect", None)


async def test_summaries_beyond_a_few_are_entries_like_all_others(send: Send) -> None:
    summary = b'event: result\ndata: {"item": {"@type": "SearchSummary", "text": "s"}}\n\n'
    async with serve(STREAM_HEAD, chunk(START), chunk(summary * 300), LAST_CHUNK) as server:
        run = await send(server.url)
    pinned = [batch.pinned async for batch in run.frame_batches.all()]
    assert (run.results, run.entries, sum(pinned)) == (300, 300, 10)


@pytest.mark.parametrize("version", ["0.55", "legacy"])
async def test_keys_that_an_older_server_sends_by_mistake_are_not_stored(
    send: Send, version: str
) -> None:
    leak = b'data: {"message_type": "api_key", "key_name": "maps", "key_value": "leaked-7f3"}\n\n'
    async with serve(STREAM_HEAD, chunk(leak), chunk(RESULT), LAST_CHUNK) as server:
        run = await send(server.url, agent={"version": version})
    assert run.state == "completed"
    assert not any(b"leaked-7f3" in frame.data for frame in await frames_of(run))


@pytest.mark.parametrize(
    ("indexes", "out_of_order"),
    [([0, 1, 2], False), ([0, 2, 1], True), ([1, 1], False), ([None, 0, None], False), ([], False)],
)
async def test_it_is_noted_when_results_come_out_of_order(
    send: Send, indexes: list[int | None], out_of_order: bool
) -> None:
    results = [
        chunk(b"event: result\ndata: %b\n\n" % json.dumps({"index": i, "item": {}}).encode())
        for i in indexes
    ]
    async with serve(STREAM_HEAD, chunk(START), *results, chunk(COMPLETE), LAST_CHUNK) as server:
        run = await send(server.url)
    assert run.out_of_order is out_of_order


def large_answer(size: int) -> tuple[bytes, int]:
    """A document of about `size` bytes, and its number of results."""
    item = {"@type": "Recipe", "name": "Eggs", "description": "x" * 1000}
    count = size // 1000
    document = {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [item] * count}
    return json.dumps(document).encode(), count


@pytest.mark.parametrize("kind", ["stream", "document"])
async def test_a_run_goes_on_beyond_the_memory_budget(send: Send, settings: Any, kind: str) -> None:
    """It waits until what it has received is stored."""
    settings.MAX_MEMORY = 1
    body, results = large_answer(1_000_000)
    script = [reply(body)]
    if kind == "stream":
        results = 3000
        script = [
            STREAM_HEAD,
            chunk(START),
            *[chunk(RESULT * 100)] * 30,
            chunk(COMPLETE),
            LAST_CHUNK,
        ]
    async with serve(*script) as server:
        run = await send(server.url)
    assert (run.state, run.results) == ("completed", results)


@pytest.mark.parametrize("missing", [0, 10])
@pytest.mark.parametrize("size", [100_000, 3_000_000])
async def test_a_large_body(send: Send, size: int, missing: int) -> None:
    """It may be complete although the transfer is not."""
    body, results = large_answer(size)
    start = head(content_type="application/json", content_length=str(len(body) + missing))
    async with serve(start, body, CLOSE) as server:
        run = await send(server.url)
    assert (run.state, run.results) == ("truncated" if missing else "completed", results)
    assert (run.outcome, run.bytes, run.failures) == ("answer", len(body), 0)
    kept = [frame.data for frame in await frames_of(run) if frame.kind is FrameKind.BODY]
    assert b"".join(kept) == body
