"""Actions over A2A through engine and transport, against agents of the official package."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.engine import calls, runs, tasks
from playground.engine.calls import probe
from playground.engine.request import PreparedRequest, action_request
from playground.models import Agent, Run, RunKind, RunState
from playground.protocols.a2a.reader import resume_of
from playground.protocols.actions import servers
from playground.protocols.actions.bindings import plan
from playground.protocols.actions.extract import actions_of
from playground.protocols.actions.plans import ServerInfo
from playground.protocols.events import (
    Content,
    Elicitation,
    Event,
    Failure,
    Outcome,
    Progress,
    Result,
    Text,
)
from playground.protocols.exchange import Exchange
from tests.engine.conftest import calls_of, events_of, of, until
from tests.support.a2a_servers import Waiter, serving
from tests.support.servers import (
    HOLD,
    LAST_CHUNK,
    STREAM_HEAD,
    Script,
    Server,
    chunk,
    head,
    reply,
    serve,
)

pytestmark = pytest.mark.django_db(transaction=True)

WAYS = [
    (("1.0",), True),
    (("1.0",), False),
    (("0.3",), True),
    (("0.3",), False),
    (("0.3", "1.0"), True),
]


def card_at(url: str) -> dict[str, Any]:
    """A card that names this address."""
    return {
        "name": "Scripted", "capabilities": {}, "skills": [{"id": "serve"}], "url": url,
        "protocolVersion": "1.0",
    }  # fmt: skip


@contextlib.asynccontextmanager
async def scripted(*answers: bytes) -> AsyncIterator[Server]:
    """An agent that answers the calls after that for its card in order, the last for ever."""
    left = list(answers)

    def answer(request: bytes) -> list[bytes]:
        if request.startswith(b"GET"):
            return [reply(json.dumps(card_at(f"{server.url}/a2a")).encode())]
        return [left.pop(0) if len(left) > 1 else left[0]]

    async with serve(answer=answer) as server:
        yield server


async def card_of(url: str) -> Any:
    """The card as the desk reads it."""
    exchange = servers.exchange("A2A", url, ())
    _, problem = await probe(exchange)
    assert problem is None, problem
    return servers.description("A2A", exchange.handshake)


async def begin_action(
    url: str, message: Any, *, card: Any = None, skill: str = "serve",
    resume: Mapping[str, Any] | None = None, **options: Any,
) -> tuple[Run, asyncio.Task[None]]:  # fmt: skip
    raw = {"name": "n", "description": "d", "protocol": "A2A", "agent_url": url, "skill": skill,
           "message": message}  # fmt: skip
    (action,) = actions_of({"actions": [raw]})
    peer = ServerInfo(description=card or await card_of(url), message_id="m-1")
    planned = plan(action, url, server_info=peer)
    assert planned.sendable, planned

    def record() -> tuple[Run, PreparedRequest]:
        agent = Agent(name="scripted", url=url)
        prepared = action_request(
            agent, planned.request, planned.url, binding="a2a", resume=resume, **options
        )
        return runs.create_run(prepared, None, runs.RunParent(RunKind.ACTION)), prepared

    run, prepared = await sync_to_async(record)()
    return run, tasks.send_here(run, prepared)


async def run_action(url: str, message: Any, **options: Any) -> tuple[Run, list[Event]]:
    """Run an action to its end; the run as it was stored, and its events read from the frames."""
    run, task = await begin_action(url, message, **options)
    await task
    await run.arefresh_from_db()
    return run, await events_of(run)


#: What the agent does with a message: outcome of the run, and what is said in the end.
DONE = {
    "hello": ("answer", "Hello — crème 🥚"),
    "soup": ("answer", "Done: soup"),
    "fail": ("failure", "TASK_FAILED: No eggs left."),
    "reject": ("failure", "TASK_REJECTED: Not my table."),
}


@pytest.mark.parametrize(("versions", "streaming"), WAYS)
async def test_what_an_agent_does_with_a_message(
    versions: tuple[str, ...], streaming: bool
) -> None:
    waiter = Waiter()
    with serving(waiter, versions=versions, streaming=streaming) as url:
        found = {word: await run_action(url, word) for word in DONE}
        broken, events = await run_action(url, "explode")
    assert (broken.state, broken.outcome) == (RunState.COMPLETED, "failure")
    assert len(of(events, Failure)) == 1
    for word, (outcome, said) in DONE.items():
        run, events = found[word]
        assert (run.state, run.outcome, run.binding) == (RunState.COMPLETED, outcome, "a2a")
        texts = [event.text for event in of(events, Text)]
        texts += [f"{event.code}: {event.message}" for event in of(events, Failure)]
        assert texts[-1] == said
    assert waiter.heard[0] == ("hello", "serve", False)
    _, events = found["soup"]
    grown = [event.value for event in of(events, Content)]
    whole = [event.text for event in of(events, Text)]
    assert "".join([*grown, *whole]).startswith("first second")
    assert [event.item["name"] for event in of(events, Result)] == ["Crème 🥚"]
    if streaming:
        assert "Searching..." in [event.message for event in of(events, Progress)]


@pytest.mark.parametrize(("versions", "streaming"), WAYS[:4])
async def test_a_question_and_its_answer(versions: tuple[str, ...], streaming: bool) -> None:
    waiter = Waiter()
    with serving(waiter, versions=versions, streaming=streaming) as url:
        run, events = await run_action(url, "ask")
        assert (run.state, run.outcome) == (RunState.COMPLETED, "elicitation")
        (asked,) = of(events, Elicitation)
        assert asked.text == "For how many?"
        resume = resume_of(asked.resume, {"answer": "two"}, "m-2")
        run, events = await run_action(url, "ask", resume=resume)
    assert run.outcome == "answer"
    assert run.resume == resume
    assert of(events, Text)[-1].text == "Done: two"
    assert waiter.heard == [("ask", "serve", False), ("two", "serve", True)]


@pytest.mark.slow
async def test_a_task_is_looked_after_until_it_ends() -> None:
    answers = [
        result({"task": {"id": "t", "status": {"state": "TASK_STATE_SUBMITTED"}}}),
        result({"id": "t", "status": {"state": "TASK_STATE_WORKING"}}, 2),
        result({"id": "t", "status": {"state": "TASK_STATE_COMPLETED"},
                "artifacts": [{"artifactId": "a", "parts": [{"text": "soup"}]}]}, 3),
    ]  # fmt: skip
    async with scripted(*answers) as server:
        run, events = await run_action(f"{server.url}/a2a", "x", card=card_at(f"{server.url}/a2a"))
    assert (run.state, run.outcome) == (RunState.COMPLETED, "answer")
    assert [event.text for event in of(events, Text)] == ["soup"]
    assert len(await calls_of(run)) == len(server.requests) == 4
    assert b"GetTask" in server.requests[-1]


async def test_a_run_can_be_stopped_between_two_looks() -> None:
    working = result({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}})
    async with scripted(working) as server:
        url = f"{server.url}/a2a"
        run, task = await begin_action(url, "x", card=card_at(url))
        await until(lambda: len(server.requests) >= 3)
        tasks.stop(run)
        await task
    await run.arefresh_from_db()
    assert run.state == RunState.CANCELLED


class TestCards:
    async def test_an_agent_that_has_moved_since_is_not_followed(self) -> None:
        with serving(Waiter(), advertised="http://127.0.0.1:9/elsewhere") as url:
            run, _ = await run_action(url, "hello", card=card_at(url))
        assert (run.state, run.outcome) == (RunState.REFUSED, "none")
        assert run.problem["stage"] == "policy"
        assert "http://127.0.0.1:9/elsewhere" in run.problem["cause"]

    async def test_no_secret_goes_along_with_the_request_for_a_card_elsewhere(self) -> None:
        with serving(Waiter()) as there:
            async with serve(reply(json.dumps(card_at(there)).encode())) as server:
                asked = f"{server.url}/a2a"
                headers = [("X-Api-Key", "canary")]
                run, _ = await run_action(asked, "hello", card=card_at(there), headers=headers)
        assert server.requests
        assert not any(b"canary" in request for request in server.requests)
        assert run.state == RunState.COMPLETED

    async def test_a_card_of_fifty_megabytes(self) -> None:
        big = chunk(b" " * 1_000_000)
        async with serve(
            STREAM_HEAD.replace(b"event-stream", b"json"), *[big] * 50, LAST_CHUNK
        ) as server:
            exchange = servers.exchange("A2A", server.url, ())
            _, problem = await probe(exchange)
            run, _ = await run_action(server.url, "x", card=card_at(f"{server.url}/a2a"))
        assert problem is not None
        assert (problem.state, problem.cause) == ("failed", "No agent card was found.")
        assert problem.detail.count("exceeds the limit of 1,000,000 bytes") == 2
        assert (run.state, run.problem["cause"]) == (RunState.FAILED, problem.cause)
        assert run.bytes < 10_000_000

    async def test_a_card_without_end_at_the_origin_and_one_below_the_path(self) -> None:
        done = {"jsonrpc": "2.0", "id": 1, "result": {"message": {"parts": [{"text": "hi"}]}}}

        def answer(request: bytes) -> Script:
            if request.startswith(b"GET /.well-known"):
                return [head(content_type="application/json"), b" " * 1_200_000, HOLD]
            card = card_at(f"{server.url}/a2a")
            body = card if request.startswith(b"GET /a2a/.well-known") else done
            return [reply(json.dumps(body).encode())]

        async with serve(answer=answer) as server:
            run, events = await run_action(f"{server.url}/a2a", "x")
        assert (run.state, run.outcome) == (RunState.COMPLETED, "answer")
        assert [event.text for event in of(events, Text)] == ["hi"]

    async def test_a_card_that_never_comes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(calls.PROBE, "total_timeout", 0.3)
        async with serve(HOLD) as server:
            _, problem = await probe(servers.exchange("A2A", server.url, ()))
        assert problem is not None
        assert problem.limit == "total_timeout"

    @pytest.mark.parametrize("url", ["http://10.0.0.1/a2a", "http://169.254.169.254/"])
    async def test_a_card_that_leads_inside(self, url: str, settings: Any) -> None:
        card = card_at(url)
        async with serve(reply(json.dumps(card).encode())) as server:
            settings.HOSTED, settings.OUTBOUND_ALLOW = True, ["127.0.0.1"]
            run, _ = await run_action(f"{server.url}/a2a", "x", card=card)
        assert (run.state, run.problem["stage"]) == (RunState.REFUSED, "policy")
        assert len(server.requests) == 2

    async def test_an_exchange_that_never_ends_does(self) -> None:
        class Endless(Exchange):
            """Always has another call."""

            problem, outcome = None, Outcome.NONE
            calls = 0

            def next_call(self) -> Any:
                self.calls += 1
                return servers.exchange("A2A", server.url, ()).next_call()

            def receive(self, frame: Any) -> tuple[()]:
                return ()

        endless = Endless()
        async with serve(reply(b"{}")) as server:
            _, problem = await probe(endless)
        assert problem is None
        assert endless.calls == len(server.requests) == calls.MAX_PROBE_CALLS


async def test_an_error_to_a_stream_as_a_document() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "No streams"}}
    async with scripted(reply(json.dumps(error).encode())) as server:
        run, events = await run_action(f"{server.url}/a2a", "x", card=card_at(f"{server.url}/a2a"))
    assert (run.state, run.outcome) == (RunState.COMPLETED, "failure")
    assert of(events, Failure)[0].code == "-32004"


def result(value: Any, number: int = 1) -> bytes:
    return reply(json.dumps({"jsonrpc": "2.0", "id": number, "result": value}).encode())
