"""`send` beyond one request: promises, answers, conversations, findings, and stops in between."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from playground.cli.dialogue import Dialogue, SendOptions
from playground.cli.output import Printer
from playground.engine import promise_polling, promises, runs, tasks
from playground.engine.request import request_to
from playground.models import Agent, Run
from tests.support.commands import Result, run_command
from tests.support.playground_server import ROOT, PlaygroundServer
from tests.support.servers import HOLD, Step, reply, serve, serving

pytestmark = pytest.mark.django_db(transaction=True)

Answer = Callable[[dict[str, Any]], Sequence[Step]]


def document(kind: str, *, session: Any = None, status: str = "200 OK", **content: Any) -> bytes:
    meta: dict[str, Any] = {"response_type": kind, "version": "0.55"}
    if session is not None:
        meta["session_context"] = session
    return reply(json.dumps({"_meta": meta, **content}).encode(), status=status)


ANSWER = document("answer", session={"turn": 1}, results=[{"@type": "Recipe", "name": "Soup"}])
PROMISE = document("promise", promise={"token": "p1", "estimated_time": 1}, status="202 Accepted")
ASKS = document(
    "elicitation",
    elicitation={
        "text": "Tell me more",
        "questions": [
            {"id": "diet", "text": "Which diet?", "type": "single_select",
             "options": ["vegan", "none"]},
            {"id": "guests", "text": "How many?", "type": "number", "default": 4},
        ],
    },
)  # fmt: skip


class Talk:
    """The requests, the output and the exit code of a command."""

    def __init__(self, done: Result, requests: list[dict[str, Any]]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.lines = done.json_lines if done.stdout.startswith("{") else []
        self.requests = requests

    @property
    def end(self) -> dict[str, Any]:
        assert self.lines[-1]["type"] == "end"
        return self.lines[-1]


def talk(answer: Answer, *arguments: str, as_json: bool = True) -> Talk:
    """Run `send` against an agent that answers each document with `answer`."""
    requests: list[dict[str, Any]] = []

    def script(request: bytes) -> Sequence[Step]:
        requests.append(json.loads(request.partition(b"\r\n\r\n")[2]))
        return answer(requests[-1])

    output = ("--output", "jsonl") if as_json else ()
    text = () if "--request" in arguments else ("--text", "soup")
    with serving(answer=script) as server:
        done = run_command("send", server.url, *text, *output, *arguments)
    return Talk(done, requests)


def file(folder: Path, content: Any) -> str:
    path = folder / f"{uuid4()}.json"
    path.write_text(json.dumps(content))
    return str(path)


def promising(then: bytes, checks: int = 1) -> Answer:
    """Return an agent that replies with a promise until the last poll, then with `then`."""
    left = [PROMISE] * checks + [then]
    return lambda _: [left.pop(0) if len(left) > 1 else left[0]]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll promises without a delay."""
    monkeypatch.setattr(promises, "MIN_POLL_INTERVAL", 0.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("who", ["the command", "a server"])
def test_a_promise_is_followed(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """Both poll it, and either may be told the answer."""
    if who == "a server":
        poll = promise_polling.poll_until_settled
        monkeypatch.setattr(promise_polling, "poll_until_settled", lambda pk, **_: poll(pk))
    done = talk(promising(ANSWER), "--follow")
    assert done.code == 0, done.err
    assert [line["type"] for line in done.lines] == [
        "started", "promise", "completed", "run", "started", "result", "completed", "end",
    ]  # fmt: skip
    assert (done.end["outcome"], done.end["results"]) == ("answer", 1)
    assert done.requests[1]["promise_token"] == "p1"


def test_without_follow_a_promise_is_the_end() -> None:
    done = talk(promising(ANSWER))
    assert (done.code, done.end["outcome"], len(done.requests)) == (0, "promise", 1)


@pytest.mark.usefixtures("impatient")
def test_a_promise_that_becomes_a_failure() -> None:
    failure = document("failure", error={"code": "INTERNAL_ERROR"})
    done = talk(promising(failure), "--follow", as_json=False)
    assert done.code == 1
    assert "INTERNAL_ERROR" in done.out


@pytest.mark.slow
def test_a_promise_that_is_not_kept(settings: Any) -> None:
    settings.PROMISE_PATIENCE = 1
    done = talk(lambda _: [PROMISE], "--follow")
    assert (done.code, done.end["outcome"]) == (3, "promise")
    assert "was not fulfilled" in done.err


def test_answers_by_id_and_defaults(tmp_path: Path) -> None:
    answers = file(tmp_path, {"diet": "vegan", "unasked": 1})
    done = talk(
        lambda request: [ANSWER if "diet" in request["query"] else ASKS],
        "--answers", answers,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.requests[1]["query"] == {"text": "soup", "diet": "vegan", "guests": 4}
    assert done.requests[1]["context"]["prev"] == ["soup"]
    (run,) = [line for line in done.lines if line["type"] == "run"]
    assert run["kind"] == "answer"


@pytest.mark.parametrize(("way", "member"), [("text", "vegan"), ("context", "diet")])
def test_answers_in_another_way(tmp_path: Path, way: str, member: str) -> None:
    def answer(request: dict[str, Any]) -> list[Step]:
        return [ANSWER if member in json.dumps(request) else ASKS]

    done = talk(answer, "--answers", file(tmp_path, {"diet": "vegan"}), "--reply", way)
    assert (done.code, len(done.requests)) == (0, 2)


@pytest.mark.parametrize(
    ("answers", "words"),
    [({}, "diet: Choose one"), ({"diet": "fish"}, "not one of"), ({"diet": 7}, "not one of")],
)
def test_answers_that_do_not_fit(tmp_path: Path, answers: Any, words: str) -> None:
    done = talk(lambda _: [ASKS], "--answers", file(tmp_path, answers))
    assert (done.code, len(done.requests)) == (2, 1)
    assert words in done.err
    assert done.end["outcome"] == "elicitation"


def test_a_template_that_makes_no_request(tmp_path: Path) -> None:
    """An agent that is not saved has none."""
    answers = file(tmp_path, {"diet": "none"})
    done = talk(lambda _: [ASKS], "--answers", answers, "--reply", "template")
    assert (done.code, len(done.requests)) == (2, 1)
    assert "The template is empty" in done.err
    assert "Traceback" not in done.err
    assert done.end["outcome"] == "elicitation"


def test_an_answer_that_has_no_utf8(tmp_path: Path) -> None:
    asks = document("elicitation", elicitation={"text": "For whom?"})
    done = talk(
        lambda request: [ANSWER if "answer" in request["query"] else asks],
        "--answers", file(tmp_path, {"answer": "half \ud800"}), "--reply", "filters",
    )  # fmt: skip
    assert done.code == 0, done.err
    (run,) = [line for line in done.lines if line["type"] == "run"]
    assert run["request"]["query"]["answer"] == "half \ud800"


def test_an_agent_that_never_stops_asking(tmp_path: Path) -> None:
    done = talk(lambda _: [ASKS], "--answers", file(tmp_path, {"diet": "none"}))
    assert done.end["outcome"] == "elicitation"
    assert len(done.requests) == 21


def test_a_conversation_is_continued() -> None:
    first = talk(lambda _: [ANSWER])
    for name in ("conversation", "run"):
        then = talk(lambda _: [ANSWER], "--conversation", first.end[name])
        assert then.code == 0, then.err
        (request,) = then.requests
        assert request["context"]["prev"] == ["soup"]
        assert request["meta"]["session_context"] == {"turn": 1}
        assert then.end["conversation"] == first.end["conversation"]
        first = then if name == "conversation" else first


def test_a_conversation_is_continued_in_another_version() -> None:
    first = talk(lambda _: [ANSWER])
    conversation = ("--conversation", first.end["conversation"])
    then = talk(lambda _: [ANSWER], *conversation, "--version", "0.54")
    assert then.code == 0, then.err
    assert then.requests[0]["meta"]["version"] == "0.54"
    same = talk(lambda _: [ANSWER], *conversation)
    assert same.requests[0]["meta"]["version"] == "0.54"
    # Without a version of its own it is sent, and judged, as the turn before.
    assert {finding["rule"] for finding in same.end["findings"]} == {
        finding["rule"] for finding in then.end["findings"]
    }


DIET = {"@type": "UserDiet", "restrictions": ["vegan"]}


def test_a_follow_up_says_what_it_omits(tmp_path: Path) -> None:
    request = {"query": {"text": "soup"}, "context": DIET, "meta": {"version": "0.55"}}
    first = talk(lambda _: [ANSWER], "--request", file(tmp_path, request))
    then = talk(lambda _: [ANSWER], "--conversation", first.end["conversation"], as_json=False)
    assert then.requests[0]["context"] == DIET
    assert "Previous queries are not sent: the context type UserDiet has no prev." in then.out


def test_an_answer_says_what_it_omits(tmp_path: Path) -> None:
    request = {"query": {"text": "soup"}, "context": DIET, "meta": {"version": "0.55"}}
    done = talk(
        lambda asked: [ANSWER if "diet" in asked["query"] else ASKS],
        "--request", file(tmp_path, request), "--answers", file(tmp_path, {"diet": "none"}),
        "--reply", "context", as_json=False,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.requests[1]["context"] == DIET
    assert done.requests[1]["query"] == {"text": "soup", "diet": "none", "guests": 4}
    assert "Answers are sent as filters: the context type UserDiet is not changed." in done.out
    assert "Previous queries are not sent" in done.out


@pytest.mark.usefixtures("impatient")
def test_every_request_has_a_request_id_of_its_own(tmp_path: Path) -> None:
    request = {"query": {"text": "a"}, "meta": {"version": "0.54", "request_id": "req_1"}}
    done = talk(promising(ANSWER, 3), "--request", file(tmp_path, request), "--follow")
    then = talk(lambda _: [ANSWER], "--conversation", done.end["conversation"])
    ids = [each["meta"]["request_id"] for each in (*done.requests, *then.requests)]
    assert ids[0] == "req_1"
    assert len(set(ids)) == 5


@pytest.mark.parametrize("name", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_a_conversation_that_is_not_there(name: str) -> None:
    done = talk(lambda _: [ANSWER], "--conversation", name)
    assert done.code == 2
    assert name in done.err


BROKEN = reply(json.dumps({"_meta": {"response_type": "answer"}, "results": []}).encode())


@pytest.mark.parametrize(
    ("answer", "arguments", "code"),
    [
        (BROKEN, (), 0),
        (BROKEN, ("--fail-on", "must"), 4),
        (BROKEN, ("--fail-on", "should"), 4),
        (ANSWER, ("--fail-on", "must"), 0),
        (document("failure", error={"code": "NO_RESULTS"}), ("--fail-on", "must"), 1),
        (reply(b"<html>", "text/html"), ("--fail-on", "must"), 3),
    ],
)
def test_findings(answer: bytes, arguments: tuple[str, ...], code: int) -> None:
    done = talk(lambda _: [answer], *arguments)
    assert done.code == code, done.out
    for finding in done.end["findings"]:
        assert {"rule", "level", "section", "pointer", "message", "verdict"} <= set(finding)
        assert finding["verdict"] in ("fail", "incomplete")
    failed = {(f["level"], f["pointer"]) for f in done.end["findings"] if f["verdict"] == "fail"}
    assert (("must", "/_meta/version") in failed) == (answer is BROKEN)


def test_an_await_request_is_judged_as_one(tmp_path: Path) -> None:
    """However it was composed: CANCELLED is an error code of await requests only."""
    cancelled = document("failure", error={"code": "CANCELLED", "message": "As you wish."})
    asked = file(tmp_path, {"promise_token": "p1", "action": "cancel", "meta": {"version": "0.55"}})
    judged = talk(lambda _: [cancelled], "--request", asked)
    other = talk(lambda _: [cancelled])
    pointers = [{f["pointer"] for f in done.end["findings"]} for done in (judged, other)]
    assert ["/error/code" in found for found in pointers] == [False, True]


def test_findings_in_words() -> None:
    done = talk(lambda _: [BROKEN], as_json=False)
    assert "must" in done.out
    assert "/_meta/version" in done.out


@pytest.mark.process
async def test_ctrl_c_ends_following(tmp_path: Path) -> None:
    command = PlaygroundServer(tmp_path)
    command.prepare(samples=False)
    asked = asyncio.Event()

    def script(request: bytes) -> Sequence[Step]:
        asked.set()
        return [PROMISE]

    async with serve(answer=script) as server:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "send", server.url, "--text", "a", "--follow"],
            cwd=ROOT, env=command.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout
        assert "promise" in await asyncio.to_thread(process.stdout.readline)
        process.send_signal(signal.SIGINT)
        _, err = await asyncio.to_thread(process.communicate)
    assert process.returncode == 3
    assert "Traceback" not in err


@pytest.fixture
def dialogue(transactional_db: None) -> Callable[..., Dialogue]:
    """Return a factory of dialogues with a saved agent, in this process: (address, options)."""

    def talk_to(url: str, **options: Any) -> Dialogue:
        agent = Agent.objects.create(name="scripted", url=url)
        prepared = request_to(agent, {"query": {"text": "soup"}})
        return Dialogue(prepared, Printer(as_json=True), SendOptions(**options))

    return talk_to


async def test_stopped_before_the_first_check(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    send = tasks.send_here

    async def stopped(*arguments: Any, **options: Any) -> None:
        await send(*arguments, **options)
        held.stop()

    monkeypatch.setattr(tasks, "send_here", stopped)
    async with serve(PROMISE) as server:
        held = await sync_to_async(dialogue)(server.url, poll_promises=True)
        await held.run()
    assert (len(held.runs), held.last.outcome, held.timed_out) == (1, "promise", True)


async def test_stopped_while_the_run_was_recorded(
    dialogue: Callable[..., Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = runs.create_run

    def stopped(*arguments: Any) -> Run:
        run = record(*arguments)
        held.stop()
        return run

    monkeypatch.setattr("playground.cli.dialogue.create_run", stopped)
    async with serve(HOLD) as server:
        held = await sync_to_async(dialogue)(server.url)
        async with asyncio.timeout(20):
            await held.run()
    assert held.last.state == "cancelled"
