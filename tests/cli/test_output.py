"""Output of commands: JSON Lines, plain text, and messages that grow."""

from __future__ import annotations

import base64
import json
from itertools import chain
from typing import Any

import pytest

from playground.cli import output
from playground.cli.output import MessagePrinter
from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.agent_api import constants
from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.support.pictures import PNG

META = {"version": "0.55"}
FRAME = Frame(4, 1_234, FrameKind.EVENT, b"data: {}\n\n")

LINES: list[tuple[ev.Event, dict[str, Any]]] = [
    (ev.Started(4, META), {"type": "started", "meta": META}),
    (ev.Result(4, {"name": "Soup"}, 0), {"type": "result", "index": 0, "item": {"name": "Soup"}}),
    (ev.Result(4, "words"), {"type": "result", "index": None, "item": "words"}),
    (ev.Text(4, "Hi", True, "summary"),
     {"type": "text", "text": "Hi", "delta": True, "kind": "summary"}),
    (
        ev.Elicitation(4, "Which?", (ev.Question("a", "A?", "number", ("1", "2"), 1),)),
        {"type": "elicitation", "text": "Which?", "questions": [
            {"id": "a", "text": "A?", "type": "number", "options": ["1", "2"], "default": 1}]},
    ),
    (ev.Promise(4, "tok", 9.5, "Later", 0.5),
     {"type": "promise", "token": "tok", "estimated_time": 9.5, "message": "Later",
      "progress": 0.5}),
    (ev.Failure(4, "NO_RESULTS", "None.", {"a": 1}),
     {"type": "failure", "code": "NO_RESULTS", "message": "None.", "details": {"a": 1}}),
    (ev.Completed(4, META), {"type": "completed", "meta": META}),
    (ev.Note(4, "end", {"message": "Bye"}),
     {"type": "unknown", "name": "end", "data": {"message": "Bye"}, "reason": ""}),
    (ev.Unknown(4, "ping", [1], "No such event."),
     {"type": "unknown", "name": "ping", "data": [1], "reason": "No such event."}),
    (ev.Message(4, "msg_1", "message", "assistant", "created"),
     {"type": "message", "msg_id": "msg_1", "kind": "message", "role": "assistant",
      "status": "created"}),
    (ev.Content(4, (4, 0), "msg_1", 0, "text", "Hello", True, "in_progress"),
     {"type": "content", "msg_id": "msg_1", "index": 0, "delta": True, "kind": "text",
      "value": "Hello", "status": "in_progress"}),
    (ev.ToolCall(4, (4, 0), "call_1", "get_weather", "{}"),
     {"type": "tool_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}",
      "kind": "function_call"}),
    (ev.ToolOutput(4, (4, 0), "call_1", "", "21 C"),
     {"type": "tool_output", "call_id": "call_1", "name": "", "output": "21 C",
      "kind": "function_call_output"}),
    (ev.Status(4, "response", "response_1", "completed", usage={"n": 1}),
     {"type": "status", "object": "response", "id": "response_1", "status": "completed",
      "usage": {"n": 1}}),
    (ev.Progress(4, 2, 5, "Looking"),
     {"type": "progress", "progress": 2, "total": 5, "message": "Looking"}),
    (ev.Log(4, "info", {"a": 1}, "search"),
     {"type": "log", "level": "info", "logger": "search", "data": {"a": 1}}),
    (ev.Tools(4, ({"name": "ask"}, "odd")),
     {"type": "tools", "tools": [{"name": "ask"}, "odd"], "more": False}),
]  # fmt: skip


class TestJsonLines:
    @pytest.mark.parametrize(("event", "line"), LINES, ids=[str(r[1]["type"]) for r in LINES])
    def test_each_kind_of_event(self, event: ev.Event, line: dict[str, Any]) -> None:
        (text,) = output.json_lines(FRAME, [event])
        assert json.loads(text) == {"seq": 4, "at_ms": 1.234, **line}

    def test_the_table_has_every_kind(self) -> None:
        kinds = {kind for kind in vars(ev).values() if isinstance(kind, type)}
        events = {kind for kind in kinds if issubclass(kind, ev.Event)}
        assert {type(event) for event, _ in LINES} == events - {ev.Event, ev.Handshake}

    def test_a_handshake_that_was_understood_is_not_unknown(self) -> None:
        (text,) = output.json_lines(FRAME, [ev.Handshake(4, "mcp initialize", {"a": 1})])
        line = json.loads(text)
        assert (line["type"], line["name"], line["data"]) == (
            "handshake", "mcp initialize", {"a": 1},
        )  # fmt: skip

    def test_an_error_of_the_transfer(self) -> None:
        problem = Problem("failed", Stage.TLS, "It broke.", "Mend it.", "SSL", None)
        (text,) = output.json_lines(Frame(9, 0, FrameKind.ERROR, problem.to_bytes()), [])
        assert json.loads(text) == {"seq": 9, "at_ms": 0.0, "type": "error", **problem.to_json()}

    def test_nothing_that_a_terminal_would_obey_is_in_a_line(self) -> None:
        hostile = "\x1b[2J\x9b31m\u202e\x00\x7f\x07 \n ü \ud83c\udf73"
        (text,) = output.json_lines(FRAME, [ev.Text(4, hostile)])
        assert not set(text) & set("\x1b\x9b\u202e\x00\x7f\x07\n")
        assert json.loads(text)["text"] == hostile


def test_a_ping_of_a_server_has_no_line() -> None:
    ping = ev.Note(4, "mcp ping")
    assert [*output.json_lines(FRAME, [ping])] == []


def test_lines_for_people() -> None:
    hostile = "\x1b]0;owned\x07\n\x9b2J\u202eevil"
    lines = [
        line
        for event, _ in LINES
        for line in output.text_lines([event])
    ]  # fmt: skip
    assert lines == [
        "  1. Soup  [untyped]", "   - words  [text]", "text Hi", "  ?  Which?",
        "     a: A? (1 / 2)", "promise Later", "failure NO_RESULTS · None.",
        "unknown ping · No such event.", "progress 2/5 Looking", 'log info: {"a": 1}', "tools ask",
    ]  # fmt: skip
    events = [
        ev.Result(1, {"@type": hostile, "name": hostile, "description": hostile}),
        ev.Text(1, hostile), ev.Failure(1, hostile, hostile), ev.Promise(1, hostile),
        ev.Elicitation(1, hostile, (ev.Question(hostile, hostile, "x", (hostile,)),)),
        ev.Unknown(1, hostile, None, hostile), ev.Progress(1, None, None, hostile),
        ev.Log(1, hostile, hostile), ev.Tools(1, ({"name": hostile},)),
    ]  # fmt: skip
    for line in output.text_lines(events):
        assert not set(line) & set("\x1b\x07\x9b\u202e\n\r"), line
        assert "evil" in line


class TestMedia:
    """Contents of tools, named with their type and size."""

    @pytest.mark.parametrize(
        ("item", "lines"),
        [
            ({"type": "image", "data": base64.b64encode(PNG + bytes(12_500)).decode(),
              "mimeType": "image/png"}, ["[image image/png, 12.3 KB]"]),
            ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
             ["[audio audio/wav, 3 B]"]),
            ({"type": "resource", "resource": {"uri": "demo://a/notes.txt", "text": "Hello\nyou",
              "mimeType": "text/plain"}},
             ["[file text/plain, 9 B] notes.txt demo://a/notes.txt", "     Hello you"]),
            ({"type": "resource_link", "uri": "https://a.example/b.pdf", "name": "Menu",
              "mimeType": "application/pdf", "size": 2048},
             ["[link application/pdf, 2.0 KB] Menu https://a.example/b.pdf"]),
            ({"kind": "file", "file": {"bytes": "AAAA", "mimeType": "image/png", "name": "x.png"}},
             ["[image image/png, 3 B] x.png"]),
        ],
    )  # fmt: skip
    def test_in_lines(self, item: Any, lines: list[str]) -> None:
        assert list(output.text_lines([ev.Result(1, item)])) == lines

    def test_a_list_of_many_tools_is_cut(self) -> None:
        tools = tuple({"name": f"t{n}"} for n in range(5_000))
        (line,) = output.text_lines([ev.Tools(1, tools, more=True)])
        assert line.endswith("t39 and 4,960 more (the list is incomplete)")


class TestSpeech:
    """Contents of messages, printed in parts on the line of their message."""

    def told(self, *events: ev.Event) -> str:
        speech = MessagePrinter()
        text = ""
        for event in events:
            speech.listen([event])
            text += "".join(speech.pieces([event]))
        return text + "".join(speech.end())

    def piece(
        self, text: Any, home: ev.EntryRef = (1, 0), index: int = 0, **rest: Any
    ) -> ev.Content:
        fields = {"delta": True, "kind": "text", **rest}
        return ev.Content(9, home, "m", index, value=text, **fields)

    def test_messages_that_take_turns_begin_new_lines(self) -> None:
        two = ev.Message(2, "n", "reasoning")
        told = self.told(
            ev.Message(1, "m", "message"), two, self.piece("One"), self.piece("Two", (2, 0)),
            self.piece(" and two", (2, 0)), self.piece("!", index=1),
        )  # fmt: skip
        assert told == "message One\nreasoning Two and two\nmessage !\n"

    def test_another_text_is_not_taken_for_a_piece(self) -> None:
        told = self.told(self.piece("Hello"), self.piece("Goodbye", delta=False))
        assert told == "message Hello\nmessage Goodbye\n"

    def test_what_is_no_text_has_a_line(self) -> None:
        told = self.told(
            ev.Message(1, "m", "message"),
            self.piece("https://a.example/b.png", kind="image", delta=False),
            self.piece({"a": 1}, kind="data", delta=False, status="in_progress"),
            self.piece({"a": 2}, kind="data", delta=False, status="completed"),
            ev.Status(3, "response", "r", "completed"),
            ev.Failure(4, "E", "No."),
        )
        assert told == (
            'message image https://a.example/b.png\nmessage data {"a": 2}\nfailure E · No.\n'
        )

    def test_a_picture_that_is_never_completed(self) -> None:
        data = "data:image/png;base64," + base64.b64encode(PNG + bytes(12_500)).decode()
        opened = ev.Message(1, "m", "message")
        one = self.piece(data, kind="image", delta=False, status="in_progress")
        assert self.told(opened, one) == "message [image image/png, 12.3 KB]\n"
        there = {"url": "https://a.example/b.png", "mime_type": "image/png"}
        one = self.piece(there, kind="image", delta=False, status="in_progress")
        assert self.told(opened, one) == "message [image image/png] https://a.example/b.png\n"

    def test_a_sound_and_a_file(self) -> None:
        told = self.told(
            ev.Message(1, "m", "message"),
            self.piece({"data": "AAAA", "format": "wav"}, kind="audio", delta=False),
            self.piece({"file_data": "AAAA", "filename": "a.pdf"}, kind="file", index=1),
        )
        assert told == "message [audio audio/wav, 3 B]\nmessage [file 3 B] a.pdf\n"

    @pytest.mark.parametrize(
        "ending",
        [
            ev.Status(9, "content", "m", "completed", (1, 0), index=0),
            ev.Status(9, "message", "m", "completed", (1, 0)),
            None,
        ],
    )
    def test_data_that_are_completed_later_or_never(self, ending: ev.Event | None) -> None:
        events = [
            ev.Message(1, "m", "component"),
            self.piece({"a": "x"}, kind="data", status="in_progress"),
            self.piece({"a": "y"}, kind="data", status="in_progress"),
            *([ending] if ending else []),
        ]
        assert self.told(*events) == 'component data {"a": "xy"}\n'

    def test_many_tools(self) -> None:
        tools = {"tools": [{"name": f"t{n}"} for n in range(5_000)]}
        told = self.told(
            ev.Message(1, "m", "mcp_list_tools"),
            self.piece(tools, kind="data", delta=False, status="in_progress"),
            ev.Status(9, "message", "m", "completed", (1, 0)),
        )
        assert told.startswith("mcp_list_tools tools t0, t1, ")
        assert told.endswith("t39 and 4,960 more\n")

    @pytest.mark.parametrize("kind", [*chain(*constants.words("message", "type"))])
    def test_every_type_of_message_is_printed(self, kind: str) -> None:
        """Also if it is empty."""
        reader = AgentAPIReader("1")
        message = {"object": "message", "id": "m", "type": kind, "status": "completed"}
        told = self.told(*reader.document(1, message))
        name = {"error": "failure"}.get(kind, kind)
        assert name in told
        reader = AgentAPIReader("1")
        data = {"object": "content", "type": "data", "msg_id": "m", "data": {"name": "soup"}}
        events = [
            *reader.document(1, {**message, "status": "in_progress"}),
            *reader.document(2, {**data, "index": 0, "status": "in_progress"}),
        ]
        assert kind in self.told(*events)

    def test_a_heartbeat_is_printed_once(self) -> None:
        beat = ev.Note(2, "heartbeat", {})
        assert self.told(beat, beat) == "heartbeat\n"

    def test_nothing_that_a_terminal_would_obey_is_printed(self) -> None:
        hostile = "\x1b[2J\x9b31m\u202e\x07evil"
        told = self.told(
            ev.Message(1, "m", hostile), self.piece(hostile), self.piece({"a": hostile}, kind="x"),
            ev.ToolCall(1, (1, 0), hostile, hostile, hostile),
        )  # fmt: skip
        assert not set(told) & set("\x1b\x9b\u202e\x07")
        assert told.count("evil") == 7


@pytest.mark.django_db
def test_a_run_that_never_began_says_why() -> None:
    problem = {"stage": "limit", "state": "refused", "cause": "Too many."}
    line = json.loads(output.problem_line(Run(problem=problem), 0))
    assert line == {"seq": 0, "at_ms": 0.0, "type": "error", **problem}


@pytest.mark.django_db
class TestEnd:
    def test_it_counts_events_and_results(self, capsys: pytest.CaptureFixture[str]) -> None:
        printer = output.Printer(as_json=False)
        printer(FRAME, [ev.Result(4, {"name": "Soup"}, 0)])
        printer.end(Run(state="completed", ended_us=69_000))
        assert capsys.readouterr().out.endswith(": 1 result, 1 event, 69 ms\n")

    def test_the_time_is_that_of_all_runs(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seconds = iter([100.0, 120.5])
        monkeypatch.setattr(output.time, "monotonic", lambda: next(seconds))
        printer = output.Printer(as_json=False)
        printer.begin(Run())
        printer.end(Run(state="completed", ended_us=69_000))
        assert capsys.readouterr().out.endswith(": 0 results, 0 events, 20.5 s\n")
