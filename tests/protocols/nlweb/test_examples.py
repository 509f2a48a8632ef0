"""Every example of the specifications: 000 (0.55), 001 and 003 (0.54), and every capture.

The files are in `tests/examples/`, named for the section they come from (`http-N` for 003).
Typographic quotes and placeholders of 001 were made JSON; nothing else was changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from playground.protocols import registry, schemas, sse
from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Outcome,
    Promise,
    Result,
    Started,
    Text,
)
from playground.protocols.frames import FrameKind
from tests.support.playbook import (
    CAPTURES,
    EXAMPLES,
    Playbook,
    every_cut,
    read_document,
    read_stream,
    target,
)

VERSIONS = ("0.54", "0.55")


def examples(kind: str) -> list[Any]:
    """(version, path) of the examples of a kind, with readable test ids."""
    return [
        pytest.param(version, path, id=f"{version}-{path.stem}")
        for version in VERSIONS
        for path in sorted((EXAMPLES / f"nlweb-{version}").glob(f"{kind}-*"))
    ]


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def deviations(version: str, schema: str, value: Any) -> set[str]:
    """Where a value departs from a schema, as JSON paths with the keyword that fails."""
    validator = jsonschema.Draft202012Validator(schemas.load("nlweb", version, schema))
    return {f"{error.json_path} {error.validator}" for error in validator.iter_errors(value)}


def body_is(version: str, document: dict[str, Any]) -> bool:
    call = registry.exchange(target(version), document).next_call()
    return call is not None and json.loads(call.body) == document


class TestRequests:
    """Sections 3 and 4.2."""

    @pytest.mark.parametrize(("version", "path"), examples("ask"))
    def test_ask(self, version: str, path: Path) -> None:
        document = read(path)
        assert registry.validate_request(target(version), document) == []
        assert deviations(version, "ask-request", document) == set()
        assert body_is(version, document)

    @pytest.mark.parametrize(("version", "path"), examples("section"))
    def test_a_section_shown_alone(self, version: str, path: Path) -> None:
        document = {"query": {"text": "eggs"}, **read(path)}
        assert registry.validate_request(target(version), document) == []
        assert deviations(version, "ask-request", document) == set()
        assert body_is(version, document)

    @pytest.mark.parametrize(("version", "path"), examples("await"))
    def test_await(self, version: str, path: Path) -> None:
        document = read(path)
        assert registry.validate_request(target(version), document) == []
        assert deviations(version, "await-request", document) == set()
        assert body_is(version, document)

    def test_none_is_missing(self) -> None:
        count = {kind: len(examples(kind)) for kind in ("ask", "section", "await", "actions")}
        assert count == {"ask": 17, "section": 8, "await": 4, "actions": 3}


S, R, T, E, P, F, C, N = Started, Result, Text, Elicitation, Promise, Failure, Completed, Note

#: What each reply is read as, and its outcome.
READ_AS: dict[str, tuple[list[type[Event]], Outcome]] = {
    "0.54-response-4.1.1-conversational-search": ([R, R, C], Outcome.ANSWER),
    "0.54-response-4.1.2-promise": ([S, P, C], Outcome.PROMISE),
    "0.54-response-4.1.3-elicitation": ([S, E, C], Outcome.ELICITATION),
    "0.54-response-4.1.4-failure": ([S, F, C], Outcome.FAILURE),
    "0.54-response-http-1": ([S, R, R, C], Outcome.ANSWER),
    "0.54-response-http-2": ([S, T, R, R, R, C], Outcome.ANSWER),
    "0.54-response-http-3": ([S, E, C], Outcome.ELICITATION),
    "0.54-response-http-4": ([S, P, C], Outcome.PROMISE),
    "0.54-response-http-4-processing": ([S, P, C], Outcome.PROMISE),
    "0.54-response-http-4-final": ([S, R, C], Outcome.ANSWER),
    "0.54-response-http-6": ([S, F, C], Outcome.FAILURE),
    "0.54-response-http-7": ([S, T, T, T, T, R, R, R, C], Outcome.ANSWER),
    "0.54-stream-http-5": ([S, R, T, R, T, R, T, R, C, T, N], Outcome.ANSWER),
    "0.55-response-4.1.1-chatgpt-app": ([S, T, R, C], Outcome.ANSWER),
    "0.55-response-4.1.1-conversational-search": ([S, R, R, R, C], Outcome.ANSWER),
    "0.55-response-4.1.2-promise": ([S, P, C], Outcome.PROMISE),
    "0.55-response-4.1.3-elicitation": ([S, E, C], Outcome.ELICITATION),
    "0.55-response-4.1.4-failure": ([S, F, C], Outcome.FAILURE),
    "0.55-response-B.1-answer": ([S, R, C], Outcome.ANSWER),
    "0.55-response-B.2-elicitation": ([S, E, C], Outcome.ELICITATION),
    "0.55-response-B.3-promise": ([S, P, C], Outcome.PROMISE),
    "0.55-response-B.5-failure": ([S, F, C], Outcome.FAILURE),
    "0.55-stream-6.2": ([S, R, R, R, C], Outcome.ANSWER),
    "0.55-stream-B.4": ([S, R, R, R, C], Outcome.ANSWER),
}

#: Where the specifications' own examples are not what the specifications ask for.
KNOWN_DEVIATIONS: dict[str, set[str]] = {
    # The results are shown without the metadata around them.
    "0.54-response-4.1.1-conversational-search": {"$ anyOf"},
    # `response_type` stands at the top, and there is no metadata.
    "0.54-response-4.1.2-promise": {"$ anyOf"},
    # The metadata lack `version`.
    "0.54-response-4.1.4-failure": {"$['_meta'] required"},
    # The action is a placeholder.
    "0.55-response-4.1.1-conversational-search": {"$.results[1].actions[0] required"},
}


def name_of(version: str, path: Path) -> str:
    return f"{version}-{path.stem}"


class TestResponses:
    """Section 4."""

    @pytest.mark.parametrize(("version", "path"), examples("response"))
    def test_is_read(self, version: str, path: Path) -> None:
        kinds, outcome = READ_AS[name_of(version, path)]
        play = read_document(path.read_bytes(), version)
        assert [type(event) for event in play.events] == kinds
        assert play.exchange.outcome is outcome
        assert play.exchange.problem is None

    @pytest.mark.parametrize(("version", "path"), examples("response"))
    def test_is_read_in_pieces(self, version: str, path: Path) -> None:
        body = path.read_bytes()
        whole = read_document(body, version).unnumbered()
        in_pieces = Playbook(version).head().body(*(bytes([byte]) for byte in body)).end()
        assert in_pieces.unnumbered() == whole

    @pytest.mark.parametrize(("version", "path"), examples("response"))
    def test_is_what_the_schema_says(self, version: str, path: Path) -> None:
        outcome = READ_AS[name_of(version, path)][1]
        known = KNOWN_DEVIATIONS.get(name_of(version, path), set())
        assert deviations(version, outcome.value, read(path)) == known
        assert bool(deviations(version, "response", read(path))) is bool(known)

    @pytest.mark.parametrize(("version", "path"), examples("response"))
    def test_nothing_is_lost(self, version: str, path: Path) -> None:
        reply = read(path)
        play = read_document(path.read_bytes(), version)
        items = [event.item for event in play.events if isinstance(event, Result)]
        assert items == reply.get("results", reply.get("structuredData", []))
        raws = [event.raw for event in play.events if isinstance(event, Text)]
        summary = [reply["_meta"]["summary"]] if "summary" in reply.get("_meta", {}) else []
        assert raws == summary + reply.get("content", [])
        assert play.exchange.session_context == reply.get("_meta", {}).get("session_context")

    @pytest.mark.parametrize(("version", "path"), examples("actions"))
    def test_actions(self, version: str, path: Path) -> None:
        """Section 5 of 0.55, section 7 of 0.54, where the one action stands without a list."""
        item = {"@type": "Recipe", **read(path)}
        play = read_document({"_meta": {"response_type": "answer"}, "results": [item]}, version)
        assert play.events[1] == Result(3, item, 0)
        known = {"$.actions type"} if version == "0.54" else set()
        assert deviations(version, "item", item) == known
        actions = item["actions"] if isinstance(item["actions"], list) else [item["actions"]]
        for action in actions:
            assert deviations(version, "action", action) == set()


class TestStreams:
    """Section 6 of 0.55; section 5 of the HTTP examples of 0.54."""

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    def test_is_read_whole(self, version: str, path: Path) -> None:
        kinds, outcome = READ_AS[name_of(version, path)]
        play = read_stream(path.read_bytes(), version=version)
        assert [type(event) for event in play.events] == kinds
        assert play.exchange.outcome is outcome
        assert play.exchange.problem is None
        context = play.exchange.session_context
        assert context is not None
        assert context["conversation_id"].startswith("conv_pasta_")
        indexes = [event.index for event in play.events if isinstance(event, Result)]
        assert indexes == list(range(len(indexes)))

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    @pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
    def test_is_read_however_it_is_cut(self, version: str, path: Path, line_end: bytes) -> None:
        stream = path.read_bytes()
        whole = read_stream(stream, version=version).unnumbered()
        for chunks in every_cut(stream.replace(b"\n", line_end)):
            assert read_stream(*chunks, version=version).unnumbered() == whole

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    def test_is_read_with_a_tail(self, version: str, path: Path) -> None:
        stream = path.read_bytes()
        whole = read_stream(stream, version=version)
        unclosed = read_stream(stream.rstrip(b"\n"), version=version)
        assert unclosed.unnumbered() == whole.unnumbered()
        assert unclosed.exchange.problem is None
        broken = read_stream(stream, b'event: result\ndata: {"index": 9, "it', version=version)
        assert broken.unnumbered()[:-1] == whole.unnumbered()
        problem = broken.exchange.problem
        assert problem is not None
        assert problem.state == "truncated"

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    def test_every_event_is_what_its_schema_says(self, version: str, path: Path) -> None:
        splitter = sse.Splitter()
        for block in splitter.feed(path.read_bytes()):
            message = sse.parse(block.data)
            assert deviations(version, f"event-{message.event}", json.loads(message.data)) == set()

    def test_none_is_missing(self) -> None:
        found = {case.id for kind in ("response", "stream") for case in examples(kind)}
        assert found == set(READ_AS)


def capture(name: str) -> tuple[bytes, bytes]:
    """Head and body of a captured reply."""
    head, end, body = (CAPTURES / f"{name}.txt").read_bytes().partition(b"\r\n\r\n")
    return head + end, body


def replay(name: str, *chunks: bytes) -> Playbook:
    """A captured stream, in these chunks, under the head it came with."""
    return Playbook("0.54").frame(FrameKind.HEAD, capture(name)[0]).stream(chunks).end()


CAPTURED_STREAMS = {
    "ask_agent/ask_stream": ([S, R, R, R, R, R, R], Outcome.ANSWER),
    "ask_agent/ask_stream_elicitation": ([S, E], Outcome.ELICITATION),
    "nlweb/get_stream": ([N, N, N, N, N, N, N, R, R, R, R, C], Outcome.ANSWER),
}


class TestCaptures:
    def test_json(self) -> None:
        head, body = capture("ask_agent/ask_json")
        play = Playbook("0.54").frame(FrameKind.HEAD, head).body(body).end()
        assert [type(event) for event in play.events] == [S, R, R, R, R, R, R, C]
        assert play.exchange.outcome is Outcome.ANSWER
        assert play.exchange.problem is None

    @pytest.mark.parametrize("name", CAPTURED_STREAMS)
    def test_stream(self, name: str) -> None:
        kinds, outcome = CAPTURED_STREAMS[name]
        play = replay(name, capture(name)[1])
        assert [type(event) for event in play.events] == kinds
        assert play.exchange.outcome is outcome
        assert play.exchange.problem is None

    @pytest.mark.parametrize("name", CAPTURED_STREAMS)
    def test_stream_however_it_is_cut(self, name: str) -> None:
        body = capture(name)[1]
        whole = replay(name, body).unnumbered()
        for chunks in every_cut(body):
            assert replay(name, *chunks).unnumbered() == whole

    @pytest.mark.parametrize("name", CAPTURED_STREAMS)
    def test_stream_with_a_tail(self, name: str) -> None:
        body = capture(name)[1]
        whole, unclosed = replay(name, body), replay(name, body.rstrip(b"\n"))
        assert unclosed.unnumbered() == whole.unnumbered()

    def test_the_words_of_the_elicitation(self) -> None:
        (asked,) = (
            event
            for event in replay(
                "ask_agent/ask_stream_elicitation", capture("ask_agent/ask_stream_elicitation")[1]
            ).events
            if isinstance(event, Elicitation)
        )
        assert [(question.id, question.type) for question in asked.questions] == [
            ("sauce_type", "text"),
            ("cooking_time", "text"),
        ]

    def test_what_came_before_broken_chunking_stays(self) -> None:
        """The transport ends such a run; the first event had come by then."""
        head, body = capture("ask_agent/rawsocket_stream_failure_midstream")
        size, _, rest = body.partition(b"\r\n")
        play = Playbook("0.54").frame(FrameKind.HEAD, head).stream([rest[: int(size, 16)]])
        play.frame(FrameKind.ERROR, b"{}")
        assert [type(event) for event in play.events] == [S]
        assert play.exchange.outcome is Outcome.NONE
