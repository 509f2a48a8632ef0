"""Collection runs through engine, transport and database against scripted servers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.utils import timezone

from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import CollectionRunOptions, plan_run, record
from playground.engine.collection_runs.runner import NOT_STORED
from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Environment,
    Run,
    RunKind,
    SavedRequest,
    Step,
)
from playground.models.collection_runs import end_interrupted
from playground.models.columns import storable
from playground.models.driving import HEARTBEAT_TIMEOUT, mark_interrupted
from playground.protocols import registry
from playground.protocols.frames import FrameKind
from tests.engine.conftest import until
from tests.support.collection_runs import (
    OK,
    CollectionBuilder,
    answer,
    new_collection,
    request,
    run_to_end,
    sent_documents,
    start,
    steps_of,
    texts,
    verdicts,
)
from tests.support.mcp_servers import Recipes, serving
from tests.support.outages import Outage
from tests.support.servers import CLOSE, HOLD, STREAM_HEAD, Server, free_port, reply, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


async def start_two(server: Server) -> tuple[CollectionRun, asyncio.Task[None]]:
    """Start a collection run of two requests, and wait until the server has received the first."""
    found = await new_collection(server.url, request("a"), request("b"))
    run, task = await start(found)
    await asyncio.wait_for(server.asked.wait(), 10)
    return run, task


async def test_everything_is_sent_in_order_and_judged() -> None:
    async with serve(answer()) as server:
        found = await new_collection(
            server.url,
            request("second", "A", expectations=OK),
            request("third", "A", expectations=[{"type": "status", "equals": 404}]),
            request("first", expectations=OK),
            request("fourth", "B"),
        )
        run = await run_to_end(found)
        assert texts(server.requests) == ["first", "second", "third", "fourth"]
    assert (run.state, run.planned) == ("completed", 4)
    assert run.ended_at is not None
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "met", "unmet", "met"]
    assert [step.folder for step in steps] == ["", "A", "A", "B"]
    assert [step.run.saved_request_id for step in steps] == [s.saved_request_id for s in steps]
    assert all(step.duration_ms > 0 for step in steps)
    (check,) = steps[2].checks
    assert (check["met"], check["actual"]) == (False, "200")
    # One that expects nothing is expected to complete.
    assert steps[3].checks[0]["expectation"] == {"type": "state", "equals": "completed"}


async def test_the_requests_of_a_run_share_a_connection() -> None:
    async with serve(answer(keep=True), keep=True) as server:
        found = await new_collection(server.url, *map(request, ("first", "second", "third")))
        steps = await steps_of(await run_to_end(found))
        assert (server.connections, len(server.requests)) == (1, 3)
        await asyncio.wait_for(server.gone.wait(), 5)  # Closed at the end.
        assert server.open_connections == 0
        await run_to_end(found)
        assert (server.connections, len(server.requests)) == (2, 6)
    opened = [await sync_to_async(opened_connections)(step.run) for step in steps]
    assert [[facts.get("reused") for facts in each] for each in opened] == [[None], [True], [True]]


async def test_requests_with_other_credentials_share_none() -> None:
    async with serve(answer(keep=True), keep=True) as server:
        keys = ("one", "two", "one")
        requests = [request(key, headers=[["X-Api-Key", f"secret-key-{key}"]]) for key in keys]
        await run_to_end(await new_collection(server.url, *requests))
        assert len(server.requests) == server.connections == 3


async def test_a_request_on_a_closed_connection_fails_and_the_next_one_connects() -> None:
    async with serve(
        answer=lambda request: [CLOSE] if b"second" in request else [answer(keep=True)], keep=True
    ) as server:
        found = await new_collection(server.url, *map(request, ("first", "second", "third")))
        run = await run_to_end(found)
        assert texts(server.requests) == ["first", "second", "third"]
        assert server.connections == 2
    assert await verdicts(run) == ["met", "unmet", "met"]


def opened_connections(run: Run) -> list[dict[str, Any]]:
    return [json.loads(each.data) for each in run.read_frames() if each.kind is FrameKind.OPEN]


async def test_what_cannot_be_reached_and_what_cannot_be_sent() -> None:
    found = await new_collection(
        f"http://127.0.0.1:{free_port()}",
        request("nobody"),
        request("as expected", expectations=[{"type": "state", "equals": "failed"}]),
        request("{{city}} and {{day}}"),
        request("nowhere", address=""),
    )
    steps = await steps_of(await run_to_end(found))
    assert [step.verdict for step in steps] == ["unmet", "met", "unsent", "unsent"]
    assert "{{city}} is not defined" in steps[2].reason
    assert "{{day}} is not defined" in steps[2].reason
    assert steps[2].run is None
    assert steps[2].duration_ms is None


async def test_values_are_captured_and_win_over_rows_variables_and_the_environment() -> None:
    async with serve(answer()) as server:
        every = "{{url}}|{{row}}|{{var}}|{{env}}"
        capturing = request(every, captures={"url": "$.results[0].url"})
        found = await new_collection(server.url, capturing, request(every))
        environment = await Environment.objects.acreate(name="E")
        for name in ("url", "row", "var", "env"):
            await environment.variables.acreate(name=name, value=f"{name} of env")
        run = await run_to_end(
            found,
            environment=environment,
            variables={"url": "url of var", "row": "row of var", "var": "var of var"},
            rows=[{"url": "1", "row": "row 1"}, {"url": "2", "row": "row 2"}],
        )
        assert texts(server.requests) == [
            "1|row 1|var of var|env of env",
            "https://a.example|row 1|var of var|env of env",
            # What one iteration captures is not there in the next.
            "2|row 2|var of var|env of env",
            "https://a.example|row 2|var of var|env of env",
        ]
    assert await verdicts(run) == ["met"] * 4
    assert [step.iteration for step in await steps_of(run)] == [1, 1, 2, 2]


async def test_a_capture_that_finds_nothing_is_not_met() -> None:
    async with serve(answer()) as server:
        capturing = request("a", expectations=OK, captures={"id": "$.nowhere"})
        found = await new_collection(server.url, capturing, request("{{id}}"))
        steps = await steps_of(await run_to_end(found))
    assert [step.verdict for step in steps] == ["unmet", "unsent"]
    assert steps[0].checks[1]["expectation"] == {"capture": "id"}
    assert steps[1].reason == "{{id}} is not defined: “a” did not capture it."


async def test_the_session_context_is_carried_within_a_folder() -> None:
    context = {"@type": "SessionContext", "conversation_id": "c {{env}}"}
    async with serve(answer(session_context=context)) as server:
        own = {"query": {"text": "three"}, "meta": {"session_context": {}}}
        found = await new_collection(
            server.url,
            request("one", "A"),
            request("two", "A"),
            request("three", "A", document=own),
            request("four", "B"),
        )
        steps = await steps_of(await run_to_end(found))
        sent = [
            document.get("meta", {}).get("session_context")
            for document in sent_documents(server.requests)
        ]
    # What an agent says is data: names in it stay as they are.
    assert sent == [None, context, {}, None]
    one, two, three, four = (step.run for step in steps)
    assert two.parent_id == one.pk
    assert two.conversation_id == one.conversation_id
    assert [three.parent_id, four.parent_id] == [None, None]
    assert len({run.conversation_id for run in (one, three, four)}) == 3


async def test_another_agent_stands_in_for_those_that_speak_its_protocol() -> None:
    async with serve(answer()) as ours, serve(answer()) as other:
        document = registry.of("agent-api").new_request("1", "b")
        chat = request("b", protocol="agent-api", version="1", document=document)
        found = await new_collection(ours.url, request("a"), chat)
        agent = await Agent.objects.acreate(name="Other", url=other.url)
        run = await run_to_end(found, agent=agent)
        assert (len(ours.requests), len(other.requests)) == (1, 1)
        assert texts(other.requests) == ["a"]
    steps = await steps_of(run)
    place = ours.url.removeprefix("http://")
    assert [step.run.agent_name for step in steps] == ["Other", place]
    assert run.options["agent"] == "other"


async def test_a_question_in_mid_call_is_cancelled() -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation="initialize") as url:
        found = await new_collection(url, request("soup", binding="mcp"))
        run = await run_to_end(found)
    (step,) = await steps_of(run)
    assert recipes.heard == [("cancel", None)]
    assert (run.state, step.run.state) == ("completed", "completed")
    replies = Run.objects.filter(parent=step.run, kind=RunKind.CLIENT_RESPONSE)
    assert await replies.acount() == 1


async def test_stop_stops_what_is_under_way_and_skips_the_rest() -> None:
    async with serve(STREAM_HEAD, HOLD) as server:
        run, task = await start_two(server)
        assert await runner.cancel(run)
        assert task.done()
        await asyncio.wait_for(server.gone.wait(), 10)
    await run.arefresh_from_db()
    steps = await steps_of(run)
    assert run.state == "stopped"
    assert [step.verdict for step in steps] == ["stopped", "skipped"]
    assert steps[0].run.state == "cancelled"
    assert [step.reason for step in steps] == [
        "Not completed: it was stopped.", "Not started: the run was stopped.",
    ]  # fmt: skip


async def test_iterations_at_once_and_requests_of_one_in_order() -> None:
    both = asyncio.Event()
    waiting: list[str] = []

    def script(request: bytes) -> Any:
        text = texts([request])[0]
        if not text.endswith("first"):
            return [answer()]
        waiting.append(text)
        if len(waiting) == 2:
            both.set()
        # Neither is answered before both are here.
        return [both, answer()]

    async with serve(answer=script) as server:
        first = request("{{n}} first", captures={"url": "$.results[0].url"})
        found = await new_collection(server.url, first, request("{{n}} second"))
        run = await asyncio.wait_for(
            run_to_end(found, rows=[{"n": "1"}, {"n": "2"}], parallel=2), 20
        )
        order = texts(server.requests)
    assert await verdicts(run) == ["met"] * 4
    for n in ("1", "2"):
        assert order.index(f"{n} first") < order.index(f"{n} second")


async def test_folders_at_once_where_nothing_is_captured() -> None:
    both = asyncio.Event()
    seen: list[str] = []

    def script(request: bytes) -> Any:
        seen.append(texts([request])[0])
        if len(seen) == 2:
            both.set()
        return [both, answer()]

    async with serve(answer=script) as server:
        found = await new_collection(server.url, request("a", "A"), request("b", "B"))
        run = await asyncio.wait_for(run_to_end(found, parallel=2), 20)
    assert await verdicts(run) == ["met", "met"]


async def test_a_step_waits_for_room_instead_of_being_refused(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=1)
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a"), request("b"))
        other = await Run.objects.acreate(
            agent_name="x", url=server.url, protocol="nlweb", binding="http", version="0.55",
            request={}, driver="elsewhere:1:1", heartbeat_at=timezone.now(),
        )  # fmt: skip
        run, task = await start(found, parallel=5)
        await asyncio.sleep(0.6)
        assert not server.requests
        await Run.objects.filter(pk=other.pk).aupdate(state="completed")
        await asyncio.wait_for(task, 10)
        assert len(server.requests) == 2
    assert await verdicts(run) == ["met", "met"]


@pytest.mark.parametrize(
    "path",
    [
        "$.results[?count($..*) > 1]",
        "$.results[?search('a', @.name)]",
        "$.results[?@.n == 1 || $.results[2000].text == $.results[2000].other]",
    ],
    ids=["everything for each", "one pattern after another", "long texts"],
)
async def test_what_would_take_for_ever_does_not(path: str) -> None:
    expectation = {"type": "json", "path": path, "exists": True}
    items: list[Any] = [{"name": f"\\pL{{40}}[a-z]{{50}}{at}", "n": [1]} for at in range(2000)]
    body = {"results": [*items, {"text": "x" * 600_000, "other": "x" * 600_000}]}
    async with serve(reply(json.dumps(body).encode())) as server:
        found = await new_collection(server.url, request("a", expectations=[expectation]))
        steps = await steps_of(await asyncio.wait_for(run_to_end(found), 60))
    assert steps[0].verdict == "unmet"
    assert steps[0].checks[0]["met"] is None
    assert "too " in steps[0].checks[0]["actual"]


async def test_secrets_are_in_no_row() -> None:
    secret = "canary-5fe1c0ffee"
    async with serve(reply(json.dumps({"results": [{"name": secret}]}).encode())) as server:
        environment = await Environment.objects.acreate(name="E")
        await environment.variables.acreate(
            name="key", kind="secret", secret=secret, allowed_origins=[server.url]
        )
        wanted = {"type": "json", "path": "$.results[0].name", "equals": secret[:-1]}
        asked = request("a", headers=[["X-Key", "{{key}}"]], expectations=[wanted])
        found = await new_collection(server.url, asked)
        run = await run_to_end(found, environment=environment)
        assert secret.encode() in server.requests[0]
    (step,) = await steps_of(run)
    assert step.verdict == "unmet"
    rows = [run.options, step.checks, step.reason, step.run.expectations, step.run.headers]
    assert secret not in json.dumps(rows)


@pytest.mark.usefixtures("heartbeats_count")
def test_a_run_whose_process_died_is_interrupted() -> None:
    found = CollectionBuilder("http://127.0.0.1:1")
    for name in "ab":
        found.ask(name)
    run = record(found.plan())
    Step.objects.filter(collection_run=run, number=1).update(verdict="running")
    CollectionRun.objects.filter(pk=run.pk).update(
        heartbeat_at=timezone.now() - 2 * HEARTBEAT_TIMEOUT
    )
    mark_interrupted()
    run.refresh_from_db()
    assert run.state == "interrupted"
    assert run.ended_at == run.heartbeat_at
    assert list(run.steps.values_list("verdict", "reason")) == [
        ("stopped", "Not completed: the playground stopped."),
        ("skipped", "Not started: the playground stopped."),
    ]


async def interrupt(run: CollectionRun) -> None:
    """End it as another process does that has missed its heartbeats, once a step is in progress."""
    while "running" not in await verdicts(run):
        await asyncio.sleep(0.01)
    await sync_to_async(end_interrupted)(CollectionRun.objects.filter(pk=run.pk))


async def test_one_that_was_interrupted_sends_and_changes_nothing_more() -> None:
    """Also before its driver is told."""
    interrupted = asyncio.Event()
    async with serve(interrupted, answer()) as server:
        run, task = await start_two(server)
        await interrupt(run)
        interrupted.set()
        await asyncio.wait_for(task, 10)
        assert len(server.requests) == 1
    await run.arefresh_from_db()
    assert (run.state, await verdicts(run)) == ("interrupted", ["stopped", "skipped"])
    # The response itself is stored: its run was not interrupted.
    assert (await Run.objects.aget()).state == "completed"


async def test_one_that_was_deleted_sends_nothing_more() -> None:
    deleted = asyncio.Event()
    async with serve(deleted, answer()) as server:
        _, task = await start_two(server)
        await CollectionRun.objects.all().adelete()
        deleted.set()
        await asyncio.wait_for(task, 10)
        assert len(server.requests) == 1
    assert not await CollectionRun.objects.aexists()
    assert not await Step.objects.aexists()


async def test_the_collection_may_go_while_it_runs() -> None:
    async with serve(STREAM_HEAD, HOLD) as server:
        run, task = await start_two(server)
        await Collection.objects.all().adelete()
        runner.stop(run)
        await asyncio.wait_for(task, 10)
    await run.arefresh_from_db()
    assert (run.state, run.collection_id) == ("stopped", None)


# Rows of steps where the database fails or refuses a row


async def test_a_reason_that_no_database_takes_costs_only_itself() -> None:
    async with serve(answer()) as server:
        # Two names of an object that are one once the variable has its value.
        document = {"query": {"text": "b"}, "\ud800{{x}}": {"b": 1, "{{x}}": 2}}
        found = await new_collection(
            server.url,
            request("a", expectations=OK),
            request("b", document=document),
            request("c", expectations=OK),
        )
        run = await run_to_end(found, variables={"x": "b"})
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "unsent", "met"]
    assert "duplicate name after variable substitution" in steps[1].reason
    assert [step.run is None for step in steps] == [False, True, False]


async def test_names_that_no_database_takes() -> None:
    """As a file may hold them, whose collection was is not saved."""
    saved = SavedRequest(collection=Collection(name="x"), name="a\0\ud800", document={})
    planned = plan_run("x\ud800", [saved], CollectionRunOptions())
    run = await sync_to_async(record)(planned)
    await runner.start(run, planned)
    (step,) = await steps_of(run)
    assert (step.name, step.verdict) == (storable("a\0\ud800"), "unsent")
    assert (await CollectionRun.objects.aget(pk=run.pk)).name == storable("x\ud800")


async def test_a_row_that_is_refused_keeps_its_verdict_and_takes_no_other_along(
    outage: Outage,
) -> None:
    wanted = [{"type": "json", "path": "$.refused", "exists": False}]
    async with serve(answer()) as server:
        asked = (request("a", expectations=OK), request("b", expectations=wanted))
        found = await new_collection(server.url, *asked)
        run, task = await start(found)
        outage.begin("playground_step", "$.refused", error=ValueError("no such text"))
        await task
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "met"]
    assert [(len(step.checks), step.reason) for step in steps] == [(1, ""), (0, NOT_STORED)]


async def test_a_database_that_is_busy_loses_nothing(outage: Outage) -> None:
    """Neither at the end, nor while a step hangs."""
    go_on = asyncio.Event()
    async with serve(go_on, answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        run, task = await start(found)
        outage.begin("playground_step", "running", times=3)
        running = Step.objects.filter(verdict="running", run__isnull=False)
        await until(running.aexists)
        assert outage.failures == 3
        outage.begin("playground_step", "met", times=3)
        go_on.set()
        await task
    assert outage.failures == 6
    await run.arefresh_from_db()
    assert run.state == "completed"
    assert [(step.verdict, step.reason) for step in await steps_of(run)] == [("met", "")]


async def test_what_can_never_be_stored_is_not_called_skipped(
    outage: Outage, settings: Any
) -> None:
    settings.DATABASE_PATIENCE = 0.1
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        run, task = await start(found)
        outage.begin("playground_step", "met")
        with pytest.raises(OperationalError):
            await task
        outage.end()
    await run.arefresh_from_db()
    # It is left as it is, and shows as interrupted before long.
    assert run.state == "running"
    assert [step.verdict for step in await steps_of(run)] != ["skipped"]
