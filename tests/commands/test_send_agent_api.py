"""`send --protocol agent-api`: requests, and the output of growing messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.commands.test_send import ask
from tests.support.agent_api_examples import SEQUENCE, captured, data, message, response
from tests.support.commands import Result
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, Step, chunk, reply


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
class TestText:
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
class TestJsonLines:
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
            data(call_id="c1", name="get_weather", arguments="{}"),
            message("completed", type="function_call"),
            response("completed"),
        )
        done, _ = sent("--text", "a", "--output", "jsonl", answer=answer)
        assert done.json_lines[-1]["outcome"] == "elicitation"


@pytest.mark.django_db(transaction=True)
class TestUsage:
    def test_what_no_agent_could_read_is_not_sent(self) -> None:
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
