"""Every example of the specifications: 000 (0.55), 001 and 003 (0.54), and every capture.

What each is read as, with its findings and its page, is in `tests/cases/specification.py`.
The files are in `tests/examples/`, named for the section they come from (`http-N` for 003).
Typographic quotes and placeholders of 001 were made JSON; nothing else was changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from playground.protocols import schemas, sse
from playground.protocols.events import (
    Completed,
    Elicitation,
    Note,
    Outcome,
    Result,
    Started,
    Text,
)
from playground.protocols.frames import FrameKind
from tests.support.playbook import (
    CAPTURES,
    EXAMPLES,
    Playbook,
    read_document,
    read_stream,
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


def known(version: str, path: Path) -> set[str]:
    return KNOWN_DEVIATIONS.get(f"{version}-{path.stem}", set())


class TestSchemas:
    """Every example is what its schema says, but for the known deviations."""

    @pytest.mark.parametrize(
        ("version", "path"), [*examples("ask"), *examples("section"), *examples("await")]
    )
    def test_request(self, version: str, path: Path) -> None:
        kind = path.name.partition("-")[0]
        more = {"query": {"text": "eggs"}} if kind == "section" else {}
        name = "await-request" if kind == "await" else "ask-request"
        assert deviations(version, name, {**more, **read(path)}) == set()

    @pytest.mark.parametrize(("version", "path"), examples("response"))
    def test_response(self, version: str, path: Path) -> None:
        outcome = read_document(path.read_bytes(), version).exchange.outcome
        assert deviations(version, outcome.value, read(path)) == known(version, path)
        assert bool(deviations(version, "response", read(path))) is bool(known(version, path))

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    def test_event(self, version: str, path: Path) -> None:
        for block in sse.Splitter().feed(path.read_bytes()):
            message = sse.parse(block.data)
            assert deviations(version, f"event-{message.event}", json.loads(message.data)) == set()

    @pytest.mark.parametrize(("version", "path"), examples("actions"))
    def test_actions(self, version: str, path: Path) -> None:
        """Section 5 of 0.55, section 7 of 0.54, where the one action stands without a list."""
        item = {"@type": "Recipe", **read(path)}
        assert deviations(version, "item", item) == (
            {"$.actions type"} if version == "0.54" else set()
        )
        actions = item["actions"] if isinstance(item["actions"], list) else [item["actions"]]
        for action in actions:
            assert deviations(version, "action", action) == set()


@pytest.mark.parametrize(("version", "path"), examples("response"))
def test_nothing_of_a_response_is_lost_however_it_is_cut(version: str, path: Path) -> None:
    body, reply = path.read_bytes(), read(path)
    play = Playbook(version).head().body(*(body[at : at + 1] for at in range(len(body)))).end()
    assert play.unnumbered() == read_document(body, version).unnumbered()
    items = [event.item for event in play.events if isinstance(event, Result)]
    assert items == reply.get("results", reply.get("structuredData", []))
    raws = [event.raw for event in play.events if isinstance(event, Text)]
    summary = [reply["_meta"]["summary"]] if "summary" in reply.get("_meta", {}) else []
    assert raws == summary + reply.get("content", [])
    assert play.exchange.session_context == reply.get("_meta", {}).get("session_context")


class TestStreams:
    """Section 6 of 0.55; section 5 of the HTTP examples of 0.54."""

    @pytest.mark.parametrize(("version", "path"), examples("stream"))
    def test_is_read_with_a_tail(self, version: str, path: Path) -> None:
        stream = path.read_bytes()
        whole = read_stream(stream, version=version)
        indexes = [event.index for event in whole.events if isinstance(event, Result)]
        assert indexes == list(range(len(indexes)))
        unclosed = read_stream(stream.rstrip(b"\n"), version=version)
        assert unclosed.unnumbered() == whole.unnumbered()
        assert unclosed.exchange.problem is None
        broken = read_stream(stream, b'event: result\ndata: {"index": 9, "it', version=version)
        assert broken.unnumbered()[:-1] == whole.unnumbered()
        problem = broken.problem
        assert problem.state == "truncated"


S, R, E, C, N = Started, Result, Elicitation, Completed, Note


def capture(name: str) -> tuple[bytes, bytes]:
    """Head and body of a captured reply."""
    head, end, body = (CAPTURES / f"{name}.txt").read_bytes().partition(b"\r\n\r\n")
    return head + end, body


def replay(name: str, body: bytes) -> Playbook:
    """A captured response, under the head it came with."""
    play = Playbook("0.54").frame(FrameKind.HEAD, capture(name)[0])
    return (play.body(body) if name.endswith("_json") else play.stream([body])).end()


CAPTURED = {
    "ask_agent/ask_json": ([S, R, R, R, R, R, R, C], Outcome.ANSWER),
    "ask_agent/ask_stream": ([S, R, R, R, R, R, R], Outcome.ANSWER),
    "ask_agent/ask_stream_elicitation": ([S, E], Outcome.ELICITATION),
    "nlweb/get_stream": ([N, N, N, N, N, N, N, R, R, R, R, C], Outcome.ANSWER),
}


class TestCaptures:
    @pytest.mark.parametrize("name", CAPTURED)
    def test_is_read_with_and_without_its_last_line_ends(self, name: str) -> None:
        kinds, outcome = CAPTURED[name]
        body = capture(name)[1]
        play = replay(name, body)
        assert [type(event) for event in play.events] == kinds
        assert (play.exchange.outcome, play.exchange.problem) == (outcome, None)
        assert replay(name, body.rstrip(b"\n")).unnumbered() == play.unnumbered()

    def test_the_words_of_the_elicitation(self) -> None:
        name = "ask_agent/ask_stream_elicitation"
        asked = replay(name, capture(name)[1]).events[-1]
        assert isinstance(asked, Elicitation)
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
