"""NLWeb over MCP against servers of the official package, through engine and database."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from playground.engine import runs
from playground.models import Agent, Run, RunKind
from playground.protocols.events import Elicitation, Log, Progress, Result, Tools
from playground.protocols.mcp import elicitation
from tests.engine.conftest import (
    Send,
    begin_run,
    calls_of,
    events_of,
    finish_run,
    frames_of,
    mcp_server,
    rpc,
)
from tests.support.mcp_servers import RESULTS, TOKEN, Recipes, serving
from tests.support.servers import (
    HOLD,
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    Script,
    chunk,
    reply,
    serve,
)

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
GENERATIONS = ["", "initialize"]
CALLS = {"": ["server/discover", "tools/list", "tools/call"]}
CALLS["initialize"] = [
    "server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call",
]  # fmt: skip


async def sent_by(run: Run) -> list[dict[str, Any]]:
    """The bodies of the calls that a run made."""
    return [json.loads(call.partition(b"\r\n\r\n")[2]) for call in await calls_of(run)]


@sync_to_async
def saved(url: str, **fields: Any) -> Agent:
    return Agent.objects.create(name="recipes", url=url, binding="mcp", **fields)


ask, begin = partial(finish_run, document=DOCUMENT), partial(begin_run, document=DOCUMENT)


async def elicitation_of(run: Run) -> Elicitation:
    """The question of a run, as soon as it is stored."""
    while True:
        for event in await events_of(run):
            if isinstance(event, Elicitation):
                return event
        assert not (await Run.objects.aget(pk=run.pk)).is_final
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("json_response", [False, True])
async def test_both_generations_answer_in_both_forms(
    send: Send, json_response: bool, generation: str
) -> None:
    with serving(Recipes(), json_response=json_response, generation=generation) as url:
        run = await send(url, DOCUMENT, agent={"binding": "mcp"})
    assert (run.state, run.outcome, run.problem) == ("completed", "answer", None)
    events = await events_of(run)
    assert [event.item for event in events if isinstance(event, Result)] == RESULTS
    assert [call["method"] for call in await sent_by(run)] == CALLS[generation]
    assert len({call.get("id") for call in await sent_by(run)}) == len(CALLS[generation])
    [tools] = [event for event in events if isinstance(event, Tools)]
    assert [tool["name"] for tool in tools.tools] == ["ask", "await", "break"]
    # A document has room for the answer only.
    notified = [event for event in events if isinstance(event, Progress | Log)]
    assert len(notified) == (0 if json_response else 2)
    for event in notified:
        if isinstance(event, Progress):
            said = (event.progress, event.total, event.message)
            assert said == (1, 2, "Looking through the recipes")
        else:
            assert (event.level, event.logger, event.data) == ("info", "kitchen", {"found": 2})


@pytest.mark.parametrize("generation", GENERATIONS)
async def test_what_was_found_out_is_not_asked_again(generation: str) -> None:
    with serving(Recipes(), generation=generation) as url:
        agent = await saved(url)
        first = await ask(agent)
        second = await ask(agent, link=runs.RunParent(parent=first))
    assert [call["method"] for call in await sent_by(second)] == ["tools/call"]
    assert second.outcome == "answer"
    ids = [(await sent_by(run))[-1]["id"] for run in (first, second)]
    assert ids[0] != ids[1]


async def test_a_server_of_another_generation_by_now_is_opened_again() -> None:
    with serving(Recipes()) as url:
        agent = await saved(url)
        await ask(agent)
    port = int(url.rpartition(":")[2].partition("/")[0])
    with serving(Recipes(), generation="initialize", port=port):
        run = await ask(agent)
    assert (run.state, run.outcome) == ("completed", "answer")
    methods = [call["method"] for call in await sent_by(run)]
    assert methods[:3] == ["tools/call", "server/discover", "initialize"]


@pytest.mark.parametrize("generation", GENERATIONS)
async def test_a_token_lets_in_and_is_not_recorded(generation: str) -> None:
    with serving(Recipes(token=TOKEN), generation=generation) as url:
        agent = await saved(url, auth="bearer", auth_secret=TOKEN)
        run = await ask(agent)
    assert (run.state, run.outcome) == ("completed", "answer")
    assert not any(TOKEN.encode() in frame.data for frame in await frames_of(run))


async def test_tools_of_other_names_are_found_by_their_schemas(send: Send) -> None:
    with serving(Recipes(names=("find_recipes", "follow_up"))) as url:
        run = await send(url, DOCUMENT, agent={"binding": "mcp"})
        awaiting = {"promise_token": "x", "action": "cancel"}
        check = await send(url, awaiting, agent={"binding": "mcp"})
    assert (await sent_by(run))[-1]["params"]["name"] == "find_recipes"
    assert (await sent_by(check))[-1]["params"]["name"] == "follow_up"
    assert (run.outcome, check.outcome) == ("answer", "failure")


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_question_in_mid_call_is_answered_while_the_call_waits(action: str) -> None:
    recipes = Recipes(asks=True)
    limits = dataclasses.replace(settings.RUN_LIMITS, idle_timeout=1.0)
    with serving(recipes, generation="initialize") as url:
        agent = await saved(url)
        run, task = await begin(agent, limits=limits)
        event = await elicitation_of(run)
        # Longer than the idle limit: the server is silent because it waits for the user.
        await asyncio.sleep(1.5)
        assert [question.id for question in event.questions] == ["diet", "guests"]
        assert event.resume is not None
        values = {"diet": "vegan", "guests": 4}
        resume = elicitation.resume_of(event.resume, action, values)
        link = runs.RunParent(RunKind.CLIENT_RESPONSE, run, event.seq, 0, values)
        reply_run, reply_task = await begin(agent, link=link, resume=resume)
        await asyncio.wait_for(asyncio.gather(task, reply_task), 20)
        await run.arefresh_from_db()
        await reply_run.arefresh_from_db()
    assert recipes.heard == [(action, values if action == "accept" else None)]
    assert (run.state, run.outcome) == ("completed", "answer")
    assert (reply_run.state, reply_run.outcome, reply_run.status) == ("completed", "none", 202)
    assert [call.get("method") for call in await sent_by(reply_run)] == [None]


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_a_question_instead_of_a_result_is_answered_by_asking_again(action: str) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes) as url:
        agent = await saved(url)
        asked = await ask(agent)
        assert (asked.state, asked.outcome) == ("completed", "elicitation")
        event = await elicitation_of(asked)
        assert event.resume is not None
        values = {"diet": "none", "guests": 2}
        resume = elicitation.resume_of(event.resume, action, values)
        link = runs.RunParent(RunKind.ANSWER, asked, event.seq, 0, values)
        run = await ask(agent, link=link, resume=resume)
    assert recipes.heard == [(action, values if action == "accept" else None)]
    assert (run.state, run.outcome) == ("completed", "answer")
    assert run.resume == resume


def sse(own_id: Any, **members: Any) -> bytes:
    return chunk(b"event: message\r\ndata: " + rpc(own_id, **members) + b"\r\n\r\n")


async def test_what_needs_no_user_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ping, and a wish for a model: both wait for their answers before the call goes on."""
    monkeypatch.setattr(settings, "TRACEPARENT", True)
    answers: list[dict[str, Any]] = []
    answered = asyncio.Event()

    server = mcp_server(
        lambda own_id: [
            STREAM_HEAD,
            sse("p", method="ping"),
            sse("s", method="sampling/createMessage", params={"maxTokens": 5}),
            answered,
            sse(own_id, result={"results": [{"name": "Soup"}]}),
            LAST_CHUNK,
        ]
    )

    def answer(request: bytes) -> Script:
        message = json.loads(request.partition(b"\r\n\r\n")[2] or b'{"method": ""}')
        if "method" in message:
            return server(request)
        answers.append(message)
        if len(answers) == 2:
            answered.set()
        return [reply(b"", status="202 Accepted")]

    async with serve(answer=answer) as serving:
        run = await ask(await saved(serving.url))
        children = [child async for child in Run.objects.filter(parent=run)]
    assert (run.state, run.outcome) == ("completed", "answer")
    by_id = {message["id"]: message for message in answers}
    assert by_id["p"]["result"] == {}
    assert by_id["s"]["error"]["code"] == -32601
    assert {child.kind for child in children} == {RunKind.CLIENT_RESPONSE}
    # The answers belong to the trace of the run.
    assert all(f"traceparent: 00-{run.pk.hex}-".encode() in sent for sent in serving.requests)


@pytest.mark.slow
async def test_the_total_limit_holds_while_a_server_waits_for_its_user() -> None:
    question = sse(1, method="elicitation/create", params={"message": "?"})
    answer = mcp_server(lambda _: [STREAM_HEAD, question, HOLD])
    limits = dataclasses.replace(settings.RUN_LIMITS, idle_timeout=0.5, total_timeout=2.0)
    async with serve(answer=answer) as server:
        run = await ask(await saved(server.url), limits=limits)
    assert (run.state, run.outcome) == ("failed", "elicitation")
    assert run.problem is not None
    assert run.problem["limit"] == "total_timeout"


# Resumption of MCP streams through engine and database: every request is a call of the run


RESULT = {"results": [{"name": "Soup"}]}


def priming(event_id: str = "e1", retry: int = 1) -> bytes:
    return chunk(f"id: {event_id}\nretry: {retry}\ndata: \n\n".encode())


def answered(own_id: Any) -> bytes:
    return chunk(b"event: message\nid: e9\ndata: " + rpc(own_id, result=RESULT) + b"\n\n")


async def resumed(run: Run) -> list[bytes]:
    """The `Last-Event-ID` of each resumption of a run."""
    calls = (re.search(rb"^GET .*\r\nLast-Event-ID: (\w+)", c, re.S) for c in await calls_of(run))
    return [found[1] for found in calls if found]


@pytest.mark.parametrize("ending", [LAST_CHUNK, RESET], ids=["closed", "broken"])
async def test_a_stream_without_its_response_is_resumed(send: Send, ending: Any) -> None:
    answer = mcp_server(
        lambda _: [STREAM_HEAD, priming(), ending],
        # The stream stays open: with the response the run is over.
        lambda own_id: [STREAM_HEAD, priming("e2"), answered(own_id), HOLD],
    )
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"})
    assert (run.state, run.outcome, run.problem, run.results) == ("completed", "answer", None, 1)
    assert await resumed(run) == [b"e1"]
    assert len(await calls_of(run)) == 6


async def test_a_server_that_resumes_for_ever_is_left(send: Send) -> None:
    answer = mcp_server(
        lambda _: [STREAM_HEAD, priming(), LAST_CHUNK],
        lambda _: [STREAM_HEAD, priming("e2"), LAST_CHUNK],
    )
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"})
    assert (run.state, run.outcome) == ("truncated", "none")
    assert run.problem is not None
    assert "10 resumptions in a row" in run.problem["cause"]
    assert await resumed(run) == [b"e1"] + [b"e2"] * 9


async def test_waiting_for_a_resumption_ends_with_the_time_of_the_run(send: Send) -> None:
    answer = mcp_server(lambda _: [STREAM_HEAD, priming(retry=50_000), LAST_CHUNK])
    limits = dataclasses.replace(settings.RUN_LIMITS, total_timeout=0.5)
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"}, limits=limits)
    assert run.problem is not None
    assert run.problem["limit"] == "total_timeout"
