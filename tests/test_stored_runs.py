"""Facts of stored runs: the same document for a stream, a single body, and MCP."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import evaluate
from playground.models import Run
from playground.protocols.events import Result
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import event_at, frame_at, once_per_run, run_facts
from tests.support.agent_api_examples import STREAMS
from tests.support.json_values import TEXTS, objects, values
from tests.support.playbook import EXAMPLES
from tests.support.stored_runs import (
    CALL,
    END,
    HEAD,
    OPEN,
    PIECES,
    Recording,
    batches,
    recorded,
    result,
)

pytestmark = pytest.mark.django_db

JSON_HEAD = Frame(
    0, 20, FrameKind.HEAD, HEAD.data.replace(b"text/event-stream", b"application/json")
)
#: What of a reply stands in its document.
PARTS = ("_meta", "results", "content", "elicitation", "promise", "error")


def response_document(run: Run) -> Any:
    return run_facts(run).document


def framed(*payloads: Any, **names: str) -> list[Frame]:
    """A stream of messages without names."""
    return [named("", payload) for payload in payloads]


def named(name: str, payload: Any) -> Frame:
    head = f"event: {name}\n" if name else ""
    return Frame(0, 50, FrameKind.EVENT, f"{head}data: {json.dumps(payload)}\n\n".encode())


def run_of(*frames: Frame, head: Frame = HEAD, call: Frame = CALL, **fields: Any) -> Run:
    recording = Recording(**fields)
    recording.add(call, OPEN, head, *frames, END)
    return recording.end()


def whole(reply: Any, **fields: Any) -> Run:
    body = Frame(0, 60, FrameKind.BODY, json.dumps(reply).encode())
    return run_of(body, head=JSON_HEAD, **fields)


def streamed(reply: dict[str, Any]) -> Run:
    """The reply piece by piece, the last result first."""
    meta = reply.get("_meta", {})
    opening = {name: meta[name] for name in meta if name != "session_context"}
    frames = [named("start", {"_meta": opening})] if opening else []
    # The format of ChatGPT apps calls them by another name (0.55 section 4.1.1).
    items = list(enumerate(reply.get("results", reply.get("structuredData", []))))
    frames += [named("result", {"index": at, "item": item}) for at, item in reversed(items)]
    others = {name: reply[name] for name in PARTS[2:] if name in reply}
    frames += framed(*({name: value} for name, value in others.items()))
    return run_of(*frames, named("complete", {"_meta": meta}))


def over_mcp(reply: dict[str, Any]) -> Run:
    """The reply as JSON in the text of a tool's result."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}
    call = Frame(0, 0, FrameKind.CALL, CALL.data.replace(b"{}", json.dumps(asked).encode()))
    result = {"content": [{"type": "text", "text": json.dumps(reply)}]}
    answer = {"jsonrpc": "2.0", "id": 1, "result": result}
    return run_of(*framed(answer), call=call, binding="mcp")


def examples() -> list[Any]:
    return [
        pytest.param(path, id=f"{version}-{path.stem}")
        for version in ("0.54", "0.55")
        for path in sorted((EXAMPLES / f"nlweb-{version}").glob("response-*.json"))
    ]


@pytest.mark.parametrize("path", examples())
def test_every_example_of_the_specifications(path: Path) -> None:
    """A whole answer is its own document; its stream and its like over MCP say the same."""
    reply = json.loads(path.read_text("utf-8"))
    document = response_document(whole(reply))
    for name in PARTS:
        if name in reply:
            assert document[name] == reply[name]
    assert set(document) <= {*PARTS} & {*reply, "_meta", "results"}
    if "_meta" in reply:
        assert response_document(streamed(reply)) == document
        assert response_document(over_mcp(reply)) == document


_META = st.fixed_dictionaries(
    {"response_type": st.just("answer")},
    optional={"version": st.just("0.55"), "session_context": objects(("id",)), "note": TEXTS},
)
_ITEMS = st.lists(objects(("name", "url", "@type"), ("Recipe",)).filter(bool), max_size=4)
_TEXTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}), max_size=2)


@given(_META, _ITEMS, _TEXTS)
def test_a_stream_and_a_whole_reply_and_mcp_are_one(meta: Any, items: Any, texts: Any) -> None:
    reply = {"_meta": meta, "results": items} | ({"content": texts} if texts else {})
    found = response_document(whole(reply))
    assert found == reply
    assert response_document(streamed(reply)) == found
    assert response_document(over_mcp(reply)) == found


def test_pieces_of_a_text_are_joined() -> None:
    pieces = [{"type": "text", "text": text, "delta": True} for text in ("One ", "pot")]
    other = {"type": "note", "text": "aside", "level": 2}
    run = run_of(*(named("content", piece) for piece in (*pieces, other)))
    assert response_document(run)["content"] == [{"type": "text", "text": "One pot"}, other]


def test_an_answer_without_results_has_an_empty_list() -> None:
    run = run_of(named("start", {"_meta": {"response_type": "answer"}}), named("complete", {}))
    assert response_document(run) == {"_meta": {"response_type": "answer"}, "results": []}


@pytest.mark.parametrize("reply", [[1, 2], "words", {"foo": 1}, {}])
def test_a_reply_that_is_none_is_what_it_is(reply: Any) -> None:
    assert response_document(whole(reply)) == reply


def test_without_a_reply_there_is_no_document() -> None:
    recording = Recording()
    recording.add(CALL, OPEN)
    assert response_document(recording.end("failed")) is None


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"error": {"code": "NO_RESULTS", "message": "None."}},
         {"code": "NO_RESULTS", "message": "None."}),
        ({"error": "None."}, {"message": "None."}),
        ({"error": {"type": "x", "detail": "y"}},
         {"code": "x", "message": "y", "type": "x", "detail": "y"}),
    ],
)  # fmt: skip
def test_an_error_has_a_code_and_a_message(payload: Any, error: Any) -> None:
    observed = run_facts(whole(payload))
    assert observed.document["error"] == error
    assert observed.failures == (error.get("code", ""),)


_SAID = values(
    ("object", "id", "content", "output", "text", "status"),
    ("response", "message", "content", "completed", "text"),
)


class TestAgentAPI:
    @pytest.mark.parametrize("objects", STREAMS, ids=["sequence", "use-case"])
    def test_a_stream_is_the_response_that_it_comes_to(self, objects: list[Any]) -> None:
        document = response_document(run_of(*framed(*objects), protocol="agent-api", version="1"))
        (message,) = document.pop("output")
        (part,) = message.pop("content")
        assert part == {"type": "text", "text": objects[-3]["text"]}
        assert message == {"id": objects[1]["id"], "type": "assistant", "status": "completed"}
        assert document == {"id": objects[0]["id"], "status": "completed"}

    def test_a_whole_response_is_its_own_document(self) -> None:
        call = {"call_id": "c1", "name": "weather", "arguments": "{}"}
        output = [
            {"id": "m1", "type": "message", "role": "assistant", "status": "completed",
             "content": [{"type": "text", "text": "Let me look"},
                         {"type": "image", "image_url": "https://a.example/x.png"}]},
            {"id": "m2", "type": "function_call", "role": "assistant", "status": "completed",
             "content": [{"type": "data", "data": call}]},
        ]  # fmt: skip
        reply = {"id": "r1", "status": "completed", "session_id": "s", "usage": {"total": 3}}
        run = whole({"object": "response", "error": None, **reply, "output": output},
                    protocol="agent-api", version="1")  # fmt: skip
        assert response_document(run) == {**reply, "output": output}

    def test_a_failure_is_told(self) -> None:
        error = {"code": "rate_limited", "message": "Later."}
        reply = {"object": "response", "id": "r1", "status": "failed", "error": error}
        observed = run_facts(whole(reply, protocol="agent-api", version="1"))
        assert observed.document["error"] == error
        assert observed.failures == ("rate_limited",)

    @given(st.lists(_SAID, max_size=5))
    def test_any_stream_makes_a_document(self, payloads: list[Any]) -> None:
        run = run_of(*framed(*payloads), protocol="agent-api", version="1")
        json.dumps(response_document(run))


@given(batches())
def test_any_reply_makes_a_document(parts: list[list[Frame]]) -> None:
    json.dumps(response_document(recorded(parts)))


class TestObserving:
    def test_times_and_events(self) -> None:
        observed = run_facts(recorded([[CALL, OPEN, HEAD], [named("", json.loads(PIECES[2][6:]))]]))
        assert [(moment.kind, moment.at_ms) for moment in observed.events] == [
            ("started", 0.05), ("result", 0.05),
        ]  # fmt: skip
        assert observed.ended_ms == 1.0
        assert (observed.status, observed.results, observed.outcome) == (200, 1, "answer")

    @pytest.mark.parametrize("head", [JSON_HEAD, HEAD], ids=["whole", "stream"])
    def test_what_means_nothing_is_no_first_event(self, head: Frame) -> None:
        run = run_of(Frame(0, 40, FrameKind.BODY, b" "), head=head)
        run.expectations = [
            {"type": kind, "ms": 60_000} for kind in ("first_within", "no_gap_over")
        ]
        found = [(check.met, check.actual) for check in evaluate(run.expectations, run_facts(run))]
        assert found == [(False, "no events")] * 2

    def test_a_whole_reply_is_there_when_it_can_be_read(self) -> None:
        parts = b'{"results": [', b'{"name": "a"}]}'
        pieces = [
            Frame(0, us, FrameKind.BODY, part) for us, part in zip((40, 70), parts, strict=True)
        ]
        run = run_of(*pieces, head=JSON_HEAD)
        run.expectations = [{"type": "first_within", "ms": ms} for ms in (0.06, 0.1)]
        checks = evaluate(run.expectations, run_facts(run))
        assert [check.met for check in checks] == [False, True]


@pytest.mark.django_db
def test_an_event_is_found_by_its_entry() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, HEAD, result(1), END)
    run = recording.end()
    found = event_at(run, (4, 0))
    assert isinstance(found, Result)
    assert event_at(run, (4, 1)) is None
    assert event_at(run, (99, 0)) is None
    at = frame_at(run, 4)
    assert at
    assert at[1] == [found]
    assert frame_at(run, 99) is None


def test_a_result_of_a_run_is_computed_once_for_all_who_ask_at_the_same_time() -> None:
    run, results = run_of(), list[str]()
    asking = Thread(target=lambda: results.append(state_of(run)))

    @once_per_run(4)
    def state_of(run: Run) -> str:
        results.append("begun")
        if len(results) == 1:
            asking.start()
            # It waits for this one; if it did not, it would compute the result, too.
            asking.join(timeout=0.2)
        return run.state

    assert state_of(run) == "completed"
    asking.join()
    assert results == ["begun", "completed"]
    Run.objects.filter(pk=run.pk).update(state="truncated")
    assert state_of(Run.objects.get(pk=run.pk)) == "truncated"
