"""Actions over A2A through engine and transport, against agents of the official package."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground import engine
from playground.engine import server_probe
from playground.models import Agent, Run, RunKind, RunState
from playground.protocols.a2a import resume_of
from playground.protocols.actions import ServerInfo, actions_of, plan, servers
from playground.protocols.events import (
    Content,
    Elicitation,
    Event,
    Failure,
    Log,
    Progress,
    Result,
    Text,
)
from playground.protocols.frames import FrameKind
from playground.stored_runs import read_events
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
    _, problem = await engine.probe(exchange)
    assert problem is None, problem
    return servers.description("A2A", exchange.handshake)


async def run_action(
    url: str, message: Any, *, card: Any = None, skill: str = "serve",
    resume: Mapping[str, Any] | None = None, **options: Any,
) -> tuple[Run, list[Event]]:  # fmt: skip
    """Run an action to its end; the run as it was stored, and its events read from the frames."""
    raw = {"name": "n", "description": "d", "protocol": "A2A", "agent_url": url, "skill": skill,
           "message": message}  # fmt: skip
    (action,) = actions_of({"actions": [raw]})
    peer = ServerInfo(description=card or await card_of(url), message_id="m-1")
    planned = plan(action, url, server_info=peer)
    assert planned.sendable, planned

    def record() -> tuple[Run, engine.PreparedRequest]:
        agent = Agent(name="scripted", url=url)
        prepared = engine.action_request(
            agent, planned.request, planned.url, binding="a2a", resume=resume, **options
        )
        return engine.create_run(prepared, None, engine.RunParent(RunKind.ACTION)), prepared

    run, prepared = await sync_to_async(record)()
    await engine.start(run, prepared.target, redact=prepared.redact)
    await run.arefresh_from_db()
    events = await sync_to_async(
        lambda: [each for _, found in read_events(run) for each in found]
    )()
    return run, events


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(("versions", "streaming"), WAYS)
async def test_a_message(versions: tuple[str, ...], streaming: bool) -> None:
    waiter = Waiter()
    with serving(waiter, versions=versions, streaming=streaming) as url:
        run, events = await run_action(url, "hello")
    assert (run.state, run.outcome, run.binding) == (RunState.COMPLETED, "answer", "a2a")
    assert [event.text for event in of(events, Text)] == ["Hello — crème 🥚"]
    assert waiter.heard == [("hello", "serve", False)]


@pytest.mark.parametrize(("versions", "streaming"), WAYS)
async def test_a_task_with_an_artifact(versions: tuple[str, ...], streaming: bool) -> None:
    with serving(Waiter(), versions=versions, streaming=streaming) as url:
        run, events = await run_action(url, {"text": "soup"})
    assert (run.state, run.outcome) == (RunState.COMPLETED, "answer")
    grown = [event.value for event in of(events, Content)]
    whole = [event.text for event in of(events, Text)]
    assert "".join([*grown, *whole]).startswith("first second")
    assert of(events, Text)[-1].text == "Done: soup"
    assert [event.item["name"] for event in of(events, Result)] == ["Crème 🥚"]
    if streaming:
        assert "Searching..." in [event.message for event in of(events, Progress)]


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [("fail", "TASK_FAILED", "No eggs left."), ("reject", "TASK_REJECTED", "Not my table.")],
)
@pytest.mark.parametrize(("versions", "streaming"), WAYS[:4])
async def test_a_task_that_fails(
    versions: tuple[str, ...], streaming: bool, word: str, code: str, said: str
) -> None:
    with serving(Waiter(), versions=versions, streaming=streaming) as url:
        run, events = await run_action(url, word)
    assert (run.state, run.outcome) == (RunState.COMPLETED, "failure")
    assert [(event.code, event.message) for event in of(events, Failure)] == [(code, said)]


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


async def test_an_agent_that_breaks_down() -> None:
    with serving(Waiter()) as url:
        run, events = await run_action(url, "explode")
    assert (run.state, run.outcome) == (RunState.COMPLETED, "failure")
    assert len(of(events, Failure)) == 1


async def test_a_skill_that_the_card_does_not_have_is_told_of() -> None:
    with serving(Waiter()) as url:
        run, events = await run_action(url, "hello", skill="dance")
    assert of(events, Log)[0].data == "The agent card has no skill “dance”; it has “serve”."
    assert run.outcome == "answer"


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
    calls = [frame for frame in await sync_to_async(lambda: list(run.read_frames()))()
             if frame.kind is FrameKind.CALL]  # fmt: skip
    assert len(calls) == len(server.requests) == 4
    assert b"GetTask" in server.requests[-1]


async def test_a_run_can_be_stopped_between_two_looks() -> None:
    working = result({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}})
    async with scripted(working) as server:
        url = f"{server.url}/a2a"
        prepared = planned_request(url, card_at(url))
        run = await sync_to_async(engine.create_run)(
            prepared, None, engine.RunParent(RunKind.ACTION)
        )
        task = engine.start(run, prepared.target)
        while len(server.requests) < 3:
            await server.asked.wait()
            server.asked.clear()
        engine.stop(run)
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

    @pytest.mark.parametrize(
        ("script", "said"),
        [
            ([reply(b"<!doctype html><p>Hi", "text/html")], "is an HTML page, not JSON"),
            ([head("302 Found", location="/other", content_length="0")], "redirects to /other"),
            ([reply(b"{}", status="404 Not Found")], "returned HTTP 404"),
        ],
    )
    async def test_what_is_no_card(self, script: list[Any], said: str) -> None:
        async with serve(*script) as server:
            exchange = servers.exchange("A2A", server.url, ())
            _, problem = await engine.probe(exchange)
        assert problem is not None
        assert said in problem.detail
        # A redirect is not followed: each place is asked once.
        assert len(server.requests) == 2

    async def test_a_card_of_fifty_megabytes(self) -> None:
        big = chunk(b" " * 1_000_000)
        async with serve(
            STREAM_HEAD.replace(b"event-stream", b"json"), *[big] * 50, LAST_CHUNK
        ) as server:
            exchange = servers.exchange("A2A", server.url, ())
            _, problem = await engine.probe(exchange)
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
        monkeypatch.setattr(server_probe, "TIME", 0.3)
        async with serve(HOLD) as server:
            _, problem = await engine.probe(servers.exchange("A2A", server.url, ()))
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

    async def test_the_policy_holds_for_a_look_too(self, settings: Any) -> None:
        settings.HOSTED = True
        _, problem = await engine.probe(servers.exchange("A2A", "http://127.0.0.1:9/", ()))
        assert problem is not None
        assert (problem.state, problem.stage) == ("refused", "policy")

    async def test_an_exchange_that_never_ends_does(self) -> None:
        class Endless:
            """Always has another call."""

            problem = outcome = opening = session_context = None
            calls = 0

            def next_call(self) -> Any:
                self.calls += 1
                return servers.exchange("A2A", server.url, ()).next_call()

            def receive(self, frame: Any) -> tuple[()]:
                return ()

        endless = Endless()
        async with serve(reply(b"{}")) as server:
            _, problem = await engine.probe(endless)  # type: ignore[arg-type]
        assert problem is None
        assert endless.calls == len(server.requests) == server_probe.MAX_CALLS


async def test_an_error_to_a_stream_as_a_document() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "No streams"}}
    async with scripted(reply(json.dumps(error).encode())) as server:
        run, events = await run_action(f"{server.url}/a2a", "x", card=card_at(f"{server.url}/a2a"))
    assert (run.state, run.outcome) == (RunState.COMPLETED, "failure")
    assert of(events, Failure)[0].code == "-32004"


def result(value: Any, number: int = 1) -> bytes:
    return reply(json.dumps({"jsonrpc": "2.0", "id": number, "result": value}).encode())


def planned_request(url: str, card: Any) -> engine.PreparedRequest:
    raw = {"name": "n", "description": "d", "protocol": "A2A", "agent_url": url, "skill": "serve"}
    (action,) = actions_of({"actions": [raw]})
    planned = plan(action, url, server_info=ServerInfo(description=card, message_id="m-1"))
    agent = Agent(name="scripted", url=url)
    return engine.action_request(agent, planned.request, planned.url, binding="a2a")
