"""`send`: output, exit codes, errors and signals; over the Agent API; to misbehaving agents."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.scenario import Scenario
from playground.models import Agent, Run
from tests.support.agent_api_examples import SEQUENCE, captured, message, response
from tests.support.agent_api_examples import data as data_content
from tests.support.commands import Result, run_command
from tests.support.playground_server import ROOT, PlaygroundServer
from tests.support.servers import (
    HOLD,
    LAST_CHUNK,
    STREAM_HEAD,
    Step,
    chunk,
    free_port,
    reply,
    serve,
    serving,
)


class TestDemoAgent:
    @pytest.mark.usefixtures("demo")
    def test_by_its_slug(self) -> None:
        done = run_command("send", "demo", "--text", "tomato soup")
        assert done.returncode == 0, done.stderr
        assert "[Recipe]" in done.stdout
        assert done.stdout.splitlines()[-1].startswith("Completed: ")
        assert done.stderr == ""

    @pytest.mark.usefixtures("demo")
    def test_as_json_lines(self) -> None:
        done = run_command(
            "send", "demo", "--text", "tomato soup", "--output", "jsonl", "--version", "0.54"
        )
        lines = done.json_lines
        types = [line["type"] for line in lines]
        assert types[0] == "started"
        assert types[-1] == "end"
        assert "result" in types
        assert all({"seq", "at_ms"} <= set(line) for line in lines[:-1])
        moments = [line["at_ms"] for line in lines[:-1]]
        assert moments == sorted(moments)
        assert set(lines[-1]) == {
            "type", "state", "outcome", "results", "events", "session_context", "findings",
            "run", "conversation",
        }  # fmt: skip
        assert lines[-1]["results"] == types.count("result")
        assert lines[-1]["events"] == len(lines) - 1
        assert lines[0]["meta"].get("version") == "0.54"

    def test_a_denial_says_what_is_required(self, demo: str) -> None:
        done = run_command("send", f"{demo}/demo/scenarios/members/ask", "--text", "a")
        assert "Authentication required (HTTP 401): Bearer, realm “members”." in done.stderr
        assert "Add a bearer token" in done.stderr

    def test_a_failure_exits_with_one(self, demo: str) -> None:
        done = run_command("send", f"{demo}/demo/scenarios/server-error/ask", "--text", "a")
        assert done.returncode == 1
        assert "Agent error" in done.stdout

    @pytest.mark.django_db(transaction=True)
    def test_nobody_listens_exits_with_three(self) -> None:
        done = run_command("send", f"http://127.0.0.1:{free_port()}", "--text", "a")
        assert done.returncode == 3
        assert "Connection failed" in done.stdout
        assert done.stderr.strip()


def ask(
    *arguments: str, answer: tuple[Step, ...], **options: Any
) -> tuple[Result, list[bytes], list[Any]]:
    """Send to a scripted agent; return the result and the requests it received."""
    with serving(*answer) as server:
        done = run_command("send", server.url, *arguments, **options)
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]
    return done, server.requests, bodies


RESULT = b'event: result\ndata: {"index": 0, "item": {"name": "Soup"}}\n\n'
EMPTY = (reply(b'{"_meta": {"response_type": "answer"}, "results": []}'),)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory for commands in processes of their own."""
    path = tmp_path_factory.mktemp("send")
    PlaygroundServer(path).prepare(samples=False)
    return path


@pytest.mark.django_db(transaction=True)
class TestRequest:
    def test_fields_are_set_as_json_or_as_text(self) -> None:
        done, requests, bodies = ask(
            "--text", "a", "--set", "query.site=recipes.example", "--set", "query.n=3",
            "--set", "query.tags=[1, 2]", "--set", "meta.user.id=007", "--set", "query.nan=NaN",
            "--set", "query.big=1e999", "--set", "query.eq=a=b", "--header", "X-A: 1: 2",
            "--set", "prefer.streaming=false", answer=EMPTY,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert bodies[0]["query"] == {
            "text": "a", "site": "recipes.example", "n": 3, "tags": [1, 2], "nan": "NaN",
            "big": "1e999", "eq": "a=b",
        }  # fmt: skip
        assert bodies[0]["meta"] == {"version": "0.55", "user": {"id": "007"}}
        assert b"\r\nX-A: 1: 2\r\n" in requests[0]
        assert b"Accept: application/json" in requests[0]

    def test_from_a_file_and_from_stdin(self, tmp_path: Path) -> None:
        document = {"query": {"text": "from ü"}, "context": {"prev": ["x"]}}
        file = tmp_path / "request.json"
        file.write_text(json.dumps(document, ensure_ascii=False))
        _, _, bodies = ask("--request", str(file), answer=EMPTY)
        assert bodies == [document]
        text = json.dumps(document)
        _, _, bodies = ask("--request", "-", answer=EMPTY, stdin=text)
        assert bodies == [document]

    def test_a_terminal_is_told_nothing_but_text(self) -> None:
        evil = {"results": [{"name": "\x1b[2Jx\x9b", "description": "\x07y"}]}
        body = json.dumps({"_meta": {"response_type": "answer"}, **evil}, ensure_ascii=False)
        for output in ("text", "jsonl"):
            answer = (reply(body.encode()),)
            done, *_ = ask("--text", "a", "--output", output, answer=answer)
            assert "x" in done.stdout
            assert not set(done.stdout) & set("\x1b\x9b\x07")

    def test_an_output_without_unicode(self) -> None:
        body = '{"_meta": {"response_type": "answer"}, "results": [{"name": "Crème 🍳"}]}'.encode()
        for output in ("text", "jsonl"):
            done, *_ = ask(
                "--text", "a", "--output", output, answer=(reply(body),), encoding="ascii"
            )
            assert done.returncode == 0, done.stderr
            assert "Cr" in done.stdout
        assert done.json_lines[1]["item"] == {"name": "Crème 🍳"}

    def test_progress_is_for_terminals(self) -> None:
        answer = (STREAM_HEAD, chunk(RESULT), LAST_CHUNK)
        done, *_ = ask("--text", "a", answer=answer, terminal=True)
        assert "1 event," in done.stderr
        assert done.stderr.endswith("\r\x1b[K")
        assert "\x1b" not in done.stdout
        assert "Soup" in done.stdout
        done, *_ = ask("--text", "a", answer=answer)
        assert done.stderr == ""


USAGE: list[tuple[list[str], str]] = [
    ([], "arguments are required: agent"),
    (["nobody", "--text", "a"], "Unknown agent “nobody”. Saved agents: demo"),
    (["ftp://a.example", "--text", "a"], "must start with http://"),
    (["http://u:p@a.example", "--text", "a"], "must not contain a user name"),
    (["demo"], "/query/text: The query requires text."),
    (["demo", "--text", " "], "/query/text"),
    (["demo", "--text", "a", "--request", "x.json"], "not allowed with"),
    (["demo", "--request", "no-such-file.json"], "No such file"),
    (["demo", "--request", "."], "Is a directory"),
    (["demo", "--request", "README.md"], "Line 1, column 1"),
    (["demo", "--request", "playground/__init__.py"], "Line 1, column 3"),
    (["demo", "--text", "a", "--set", "novalue"], "--set expects path=value"),
    (["demo", "--text", "a", "--set", "a..b=1"], "--set expects path=value"),
    (["demo", "--text", "a", "--set", "query.text.x=1"], "text is not an object"),
    (["demo", "--text", "a", "--set", "query=1"], "query must be a JSON object."),
    (["demo", "--text", "a", "--header", "nocolon"], "--header expects 'Name: value'"),
    (["demo", "--text", "a", "--header", "Host: x"], "set by the playground"),
    (["demo", "--text", "a", "--header", "X: a\nb"], "control character"),
    (["demo", "--text", "a", "--version", "9"], "--version must be one of legacy, 0.54, 0.55"),
    (["demo", "--text", "a", "--protocol", "mcp"], "invalid choice"),
    (["demo", "--text", "a", "--output", "xml"], "invalid choice"),
    (["demo", "--text", "a", "--timeout", "0"], "greater than zero"),
    (["demo", "--text", "a", "--timeout", "nan"], "greater than zero"),
    (["demo", "--text", "a", "--timeout", "soon"], "invalid"),
]


@pytest.mark.django_db(transaction=True)
class TestUsage:
    @pytest.fixture(autouse=True)
    def demo(self) -> None:
        Agent.objects.create(name="Demo", url="http://127.0.0.1:1")

    @pytest.mark.parametrize(("arguments", "message"), USAGE)
    def test_mistakes_exit_with_two(self, arguments: list[str], message: str) -> None:
        done = run_command("send", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stdout == ""
        assert not Run.objects.exists()

    @pytest.mark.parametrize(
        "text",
        ["[]", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, '{"a":' + "[" * 900 + "]" * 900 + "}"],
    )
    def test_documents_that_cannot_be_sent(self, text: str) -> None:
        done = run_command("send", "demo", "--request", "-", stdin=text)
        assert done.returncode == 2
        assert done.stderr.startswith("CommandError: -: ")

    def test_a_file_that_is_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "request.json").write_bytes(b"\xff\xfe")
        done = run_command("send", "demo", "--request", str(tmp_path / "request.json"))
        assert done.returncode == 2
        assert "not UTF-8 text" in done.stderr


def start(data: Path, url: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start `send` as a process that can be stopped."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "send", url, "--text", "a", *arguments],
        cwd=ROOT, env=PlaygroundServer(data).environment, text=True, **options,
    )  # fmt: skip


@pytest.mark.process
class TestStopping:
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
    async def test_a_signal_cancels_and_keeps_what_came(
        self, data: Path, how: signal.Signals
    ) -> None:
        async with serve(STREAM_HEAD, chunk(RESULT), HOLD) as server:
            process = start(data, server.url, "--output", "jsonl", stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)  # fmt: skip
            assert process.stdout
            first = await asyncio.to_thread(process.stdout.readline)
            assert json.loads(first)["type"] == "result"
            process.send_signal(how)
            await asyncio.wait_for(server.gone.wait(), 10)
            out, err = await asyncio.to_thread(process.communicate)
        assert process.returncode == 3, err
        end = json.loads(out.splitlines()[-1])
        assert (end["state"], end["outcome"], end["results"]) == ("cancelled", "answer", 1)
        assert "Traceback" not in err

    async def test_a_reader_that_leaves_ends_the_run(self, data: Path) -> None:
        """As in `send … | head -1`."""
        gone = asyncio.Event()
        async with serve(STREAM_HEAD, chunk(RESULT), gone, *[chunk(RESULT)] * 50, HOLD) as server:
            process = start(data, server.url, "--output", "jsonl", stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)  # fmt: skip
            assert process.stdout
            assert process.stderr
            assert await asyncio.to_thread(process.stdout.readline)
            process.stdout.close()
            gone.set()
            await asyncio.wait_for(server.gone.wait(), 10)
            err = await asyncio.to_thread(process.stderr.read)
            await asyncio.to_thread(process.wait)
        assert process.returncode == 3
        assert "Traceback" not in err
        assert "playground itself failed" not in err

    @pytest.mark.parametrize("output", ["text", "jsonl"])
    async def test_an_output_that_is_full_is_named(self, data: Path, output: str) -> None:
        async with serve(STREAM_HEAD, chunk(RESULT), LAST_CHUNK) as server:
            with Path("/dev/full").open("w") as full:
                process = start(data, server.url, "--output", output, stdout=full,
                                stderr=subprocess.PIPE)  # fmt: skip
                _, err = await asyncio.to_thread(process.communicate)
        assert (process.returncode, "Traceback" in err) == (1, False)
        assert "standard output: No space left on device" in err


def stream(*payloads: Any) -> tuple[Step, ...]:
    """Return a streamed reply of these objects."""
    frames = (chunk(f"data: {json.dumps(payload)}\n\n".encode()) for payload in payloads)
    return (STREAM_HEAD, *frames, LAST_CHUNK)


def replayed(name: str) -> tuple[Step, ...]:
    return (STREAM_HEAD, chunk(captured(name).encode()), LAST_CHUNK)


def sent(*arguments: str, answer: tuple[Step, ...]) -> tuple[Result, list[Any]]:
    done, requests, bodies = ask("--protocol", "agent-api", *arguments, answer=answer)
    assert all(request.startswith(b"POST / HTTP/1.1") for request in requests)
    return done, bodies


@pytest.mark.django_db(transaction=True)
class TestTextOfTheAgentApi:
    def test_a_reply_with_a_call_and_its_output(self) -> None:
        done, bodies = sent("--text", "weather?", answer=replayed("plugin_call"))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[:5] == [
            "reasoning I should look up the weather.",
            'plugin_call get_weather call_1 {"city": "Paris"}',
            'plugin_call_output get_weather call_1 [{"type": "text", "text": "21 C, sunny"}]',
            "message It is 21 C and sunny in Paris.",
            next(line for line in done.stdout.splitlines() if "Completed: 4 messages, " in line),
        ]
        assert bodies == [
            {
                "session_id": bodies[0]["session_id"],
                "input": [
                    {
                        "role": "user",
                        "type": "message",
                        "content": [{"type": "text", "text": "weather?"}],
                    }
                ],
                "stream": True,
            }
        ]

    def test_a_failure_in_mid_stream_keeps_what_came(self) -> None:
        done, _ = sent("--text", "a", answer=replayed("error_midstream"))
        assert done.returncode == 1
        assert done.stdout.startswith("message Partial answer\nfailure AGENT_UNKNOWN_ERROR · ")

    def test_a_whole_reply(self) -> None:
        whole = response("completed", output=[
            message("completed", content=[{"type": "text", "text": "Hello\nyou"}]),
        ])  # fmt: skip
        answer = (reply(json.dumps(whole).encode()),)
        done, bodies = sent(
            "--text", "a", "--set", "stream=false", "--set", "top_p=0.5", answer=answer
        )
        assert done.stdout.startswith("message Hello\nyou\nCompleted: 1 message,")
        assert (bodies[0]["stream"], bodies[0]["top_p"]) == (False, 0.5)


@pytest.mark.django_db(transaction=True)
class TestJsonLinesOfTheAgentApi:
    def test_every_type_of_line(self) -> None:
        done, _ = sent("--text", "a", "--output", "jsonl", answer=replayed("plugin_call"))
        lines = done.json_lines
        assert [line["type"] for line in lines] == [
            *["status"] * 2,
            *["message", "reasoning", "reasoning", "status", "status"],
            *["message", *["content"] * 3, "tool_call", "status"],
            *["message", "content", "content", "tool_output", "status"],
            *["message", "content", "content", "status", "status"],
            *["status", "end"],
        ]
        pieces = [line for line in lines if line["type"] == "content" and line["delta"]]
        assert "".join(piece["value"] for piece in pieces) == "It is 21 C and sunny in Paris."
        assert {(p["index"], p["kind"], p["msg_id"]) for p in pieces} == {
            (0, "text", "msg_a6411e1f-7d18-47f1-b6fa-ac02bcdfb8ab")
        }
        assert lines[-1]["outcome"] == "answer"

    def test_the_conversation_goes_on_with_the_session(self) -> None:
        first, _ = sent("--text", "a", "--output", "jsonl", answer=replayed("text"))
        end = first.json_lines[-1]
        assert end["session_context"]["session_id"] == "sess-1"
        done, bodies = sent(
            "--text", "and now?", "--conversation", end["conversation"],
            "--output", "jsonl", answer=replayed("text"),
        )  # fmt: skip
        assert done.json_lines[-1]["conversation"] == end["conversation"]
        assert bodies[0]["session_id"] == "sess-1"
        assert bodies[0]["response_id"] == end["session_context"]["response_id"]
        (only,) = bodies[0]["input"]
        assert only["content"] == [{"type": "text", "text": "and now?"}]

    def test_an_address_speaks_what_the_conversation_speaks(self) -> None:
        first, _ = sent("--text", "a", "--output", "jsonl", answer=replayed("text"))
        run = first.json_lines[-1]["run"]
        _, _, bodies = ask("--text", "b", "--conversation", run, answer=replayed("text"))
        assert bodies[0]["session_id"] == "sess-1"

    def test_a_call_that_waits_is_a_question(self) -> None:
        answer = stream(
            response("created"),
            message(type="function_call"),
            data_content(call_id="c1", name="get_weather", arguments="{}"),
            message("completed", type="function_call"),
            response("completed"),
        )
        done, _ = sent("--text", "a", "--output", "jsonl", answer=answer)
        assert done.json_lines[-1]["outcome"] == "elicitation"


@pytest.mark.django_db(transaction=True)
def test_what_no_agent_could_read_is_not_sent() -> None:
    done, bodies = sent("--set", "input=[]", answer=())
    assert (done.returncode, bodies) == (2, [])
    assert "/input: The input requires a message." in done.stderr


@pytest.mark.django_db(transaction=True)
def test_findings_of_the_agent_api() -> None:
    # The session of the captured response.
    session = ("--set", "session_id=sess-1")
    given = ("--text", "a", *session, "--output", "jsonl", "--fail-on", "must")
    done, _ = sent(*given, answer=replayed("text"))
    assert done.returncode == 4
    assert {found["rule"] for found in done.json_lines[-1]["findings"]} == {
        "agent-api.content-delta", "agent-api.members-known", "agent-api.initial-status",
        "agent-api.sequence-type", "agent-api.usage",
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("level", "code"), [("must", 0), ("should", 4)])
def test_a_recommendation(level: str, code: int) -> None:
    """A message that begins with in_progress violates no requirement."""
    objects = [*SEQUENCE[:1], {**SEQUENCE[1], "status": "in_progress"}, *SEQUENCE[2:]]
    done, _ = sent("--text", "a", "--fail-on", level, answer=stream(*objects))
    assert done.returncode == code


def exit_code(scenario: Scenario) -> int:
    if scenario.state != "completed":
        return 3
    return 1 if scenario.outcome == "failure" else 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slug", SCENARIOS)
def test_each_ends_as_the_table_says(playground: PlaygroundServer, slug: str) -> None:
    scenario = SCENARIOS[slug]
    done = run_command(
        "send", f"{playground.url}/demo/scenarios/{slug}/ask?every=0.02",
        "--text", "soup", "--output", "jsonl", "--timeout", "2" if scenario.is_endless else "60",
    )  # fmt: skip
    lines = done.json_lines
    end = lines[-1]
    ending = ("end", scenario.state, scenario.outcome)
    assert (end["type"], end["state"], end["outcome"]) == ending, done.stderr
    assert done.returncode == exit_code(scenario)
    printed = sum(line["type"] == "result" for line in lines)
    assert printed == end["results"]
    assert printed > 1 if scenario.results is None else printed == scenario.results
    errors = [
        " ".join(filter(None, (line["stage"], line["limit"])))
        for line in lines
        if line["type"] == "error"
    ]
    assert errors == [problem for problem in [scenario.problem] if problem]
    assert done.stderr == ""
