"""Recorded replies: JSON, validation, and replay as runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections import recordings
from playground.collections.recordings import (
    RecordingError,
    record,
    run_from_saved_response,
    validate_recording,
)
from playground.models import Collection, Run, SavedRequest
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import read_events
from playground.ui.formatting import blocks_of
from tests.support.json_values import objects, values
from tests.support.stored_runs import (  # fmt: skip
    CALL,
    END,
    HEAD,
    OPEN,
    PIECES,
    Recording,
    batches,
    event,
    recorded,
    result,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

TARGET: dict[str, Any] = {
    "name": "scripted",
    "address": "http://agent.example/ask",
    "protocol": "nlweb",
    "binding": "http",
    "version": "0.55",
    "document": {"query": {"text": "eggs"}},
}
#: Columns that are equal in a recorded run and its replay.
SAME = (
    "state outcome status retry_after frames bytes events results failures entries out_of_order "
    "headers_us first_event_us ended_us url protocol binding version request text problem "
    "session_context"
).split()


def replayed(reply: Any, **fields: Any) -> Run:
    """Return the run of a saved request with a recording."""
    collection = Collection.objects.create(name="Kept")
    saved = SavedRequest.objects.create(collection=collection, **{**TARGET, **fields}, reply=reply)
    return run_from_saved_response(saved, None)


def again(reply: Any) -> Run:
    """Replay a recording that went through a file; return the run as stored."""
    run = replayed(json.loads(json.dumps(reply)))
    run.refresh_from_db()
    return run


def reply_of(*frames: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"frames": list(frames), **members}


@given(batches=batches())
def test_a_replayed_run_is_the_run_that_was_recorded(batches: list[list[Frame]]) -> None:
    run = recorded(batches)
    copy = again(record(run))
    assert {name: getattr(copy, name) for name in SAME} == {n: getattr(run, n) for n in SAME}
    assert list(copy.read_frames()) == list(run.read_frames())
    assert list(read_events(copy)) == list(read_events(run))
    counts = [sum(getattr(b, name) for b in run.batches()) for name in ("entries", "pinned")]
    assert counts == [sum(getattr(b, n) for b in copy.batches()) for n in ("entries", "pinned")]
    assert copy.is_recorded
    assert not run.is_recorded


def test_bytes_that_are_no_text_survive() -> None:
    run = recorded(
        [[CALL, OPEN, HEAD, event("data: \x00 end"), Frame(0, 60, FrameKind.TAIL, b"\xff")]]
    )
    reply = record(run)
    assert [("base64" in frame) for frame in reply["frames"]] == [False] * 4 + [True]
    assert list(again(reply).read_frames()) == list(run.read_frames())


def test_what_is_kept_can_be_read() -> None:
    reply = record(recorded([[CALL, OPEN, HEAD, event(PIECES[0]), result(1), END]]))
    assert {name: reply[name] for name in ("state", "outcome", "status", "request")} == {
        "state": "completed",
        "outcome": "answer",
        "status": 200,
        "request": {"query": {"text": "eggs"}},
    }
    assert reply["timings"] == {"headers_us": 20, "first_event_us": 50, "ended_us": 1000}
    assert reply["frames"][2] == {"at_us": 20, "kind": "head", "text": HEAD.data.decode()}
    assert reply["frames"][-1] == {"at_us": 90, "kind": "end"}
    assert not validate_recording(reply)


def test_a_reused_connection_is_recorded() -> None:
    opened = OPEN.with_data(b'{"peer": "127.0.0.1:80", "tls": null, "reused": true}')
    assert not validate_recording(record(recorded([[CALL, opened, HEAD, result(1), END]])))


def test_a_run_that_goes_on_is_not_recorded() -> None:
    recording = Recording()
    recording.add(CALL, OPEN)
    with pytest.raises(RecordingError, match="still in progress"):
        record(recording.run)


def test_a_run_that_is_too_large_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    run = recorded([[CALL, OPEN, HEAD, result(1), END]])
    monkeypatch.setattr(recordings, "MAX_FRAMES", 4)
    with pytest.raises(
        RecordingError, match=r"has 5 frames\. The limit for a stored response is 4"
    ):
        record(run)
    monkeypatch.undo()
    monkeypatch.setattr(recordings, "MAX_BYTES", 40)
    with pytest.raises(RecordingError, match="larger than 1 MB"):
        record(run)


def test_a_recording_says_what_was_spoken_when_it_was_made() -> None:
    run = recorded([[CALL, OPEN, HEAD, result(1), END]])
    copy = replayed(record(run), version="0.54", address="http://else.example/")
    assert (copy.version, copy.url) == ("0.55", "http://agent.example/ask")


def test_frames_alone_say_how_the_run_ended() -> None:
    whole = [
        {"at_us": 0, "kind": "head", "text": "HTTP/1.1 200 OK\r\n\r\n"},
        {
            "at_us": 1,
            "kind": "body",
            "text": '{"_meta": {"response_type": "answer"}, "results": []}',
        },
        {"at_us": 7, "kind": "end"},
    ]
    run = again(reply_of(*whole))
    assert (run.state, run.outcome, run.ended_us, run.problem) == ("completed", "answer", 7, None)
    broken = again(reply_of(whole[0], {"at_us": 1, "kind": "body", "text": "<p>"}, whole[2]))
    assert (broken.state, broken.outcome) == ("failed", "none")
    assert broken.problem["stage"] == "decode"


def test_a_saved_reply_becomes_one_run() -> None:
    reply = record(recorded([[CALL, OPEN, HEAD, result(1), END]]))
    collection = Collection.objects.create(name="Kept")
    saved = SavedRequest.objects.create(
        collection=collection, name="Eggs", address="http://agent.example/", reply=reply
    )
    first = run_from_saved_response(saved, None)
    assert first.is_recorded
    assert first.agent_name == "Eggs"
    assert run_from_saved_response(saved, None) == first
    first.refresh_from_db()
    assert first.saved_request == saved
    first.delete()
    assert run_from_saved_response(SavedRequest.objects.get(), None).pk != first.pk


def test_there_may_be_no_reply_to_open() -> None:
    collection = Collection.objects.create(name="Kept")
    saved = SavedRequest.objects.create(collection=collection, name="Eggs")
    with pytest.raises(RecordingError, match="No response is stored"):
        run_from_saved_response(saved, None)


ERROR = {"state": "failed", "stage": "connect", "cause": "C", "fix": "F"}
WRONG: dict[str, tuple[Any, str, str]] = {
    "no object": ([], "", "must be a JSON object"),
    "nothing": ({}, "/frames", "array of frames"),
    "another member": (reply_of(**{"a/b~c": 1}), "/a~1b~0c", "Unknown member"),
    "state": (reply_of(state="streaming"), "/state", "one of cancelled"),
    "state of another type": (reply_of(state=["failed"]), "/state", "one of cancelled"),
    "outcome": (reply_of(outcome="love"), "/outcome", "one of answer"),
    "status": (reply_of(status="200"), "/status", "HTTP status"),
    "status that is a truth": (reply_of(status=True), "/status", "HTTP status"),
    "moment": (reply_of(recorded_at="yesterday"), "/recorded_at", "ISO 8601"),
    "moment without a zone": (reply_of(recorded_at="2026-01-01T00:00:00"), "/recorded_at", "zone"),
    "timings": (reply_of(timings={"ended_us": -1}), "/timings", "microseconds"),
    "other timings": (reply_of(timings={"end": 1}), "/timings", "headers_us"),
    "address": (reply_of(url=7), "/url", "a URL"),
    "request": (reply_of(request=[]), "/request", "JSON object"),
    "protocol": (reply_of(protocol="gopher"), "/protocol", "Unknown protocol “gopher”"),
    "binding": (reply_of(binding="carrier pigeon"), "/binding", "Unknown binding"),
    "version": (reply_of(protocol="nlweb", version="9"), "/version", "Unknown version “9”"),
    "frame": (reply_of(7), "/frames/0", "A frame must be a JSON object"),  # type: ignore[arg-type]
    "frame with more": (reply_of({"at_us": 0, "kind": "end", "x": 1}), "/frames/0", "A frame has"),
    "kind": (reply_of({"at_us": 0, "kind": "dance"}), "/frames/0", "one of call, open"),
    "kind of another type": (reply_of({"at_us": 0, "kind": {}}), "/frames/0", "one of call, open"),
    "time": (reply_of({"at_us": 0.5, "kind": "end"}), "/frames/0", "must be an integer"),
    "time beyond": (reply_of({"at_us": 10**20, "kind": "end"}), "/frames/0", "must be an integer"),
    "order": (
        reply_of({"at_us": 5, "kind": "body"}, {"at_us": 4, "kind": "end"}), "/frames/1", "smaller",
    ),
    "base64": (reply_of({"at_us": 0, "kind": "body", "base64": "!"}), "/frames/0", "base64"),
    "text and base64": (
        reply_of({"at_us": 0, "kind": "body", "base64": "", "text": ""}), "/frames/0", "base64",
    ),
    "text": (reply_of({"at_us": 0, "kind": "body", "text": 1}), "/frames/0", "base64"),
    "half a letter": (reply_of({"at_us": 0, "kind": "body", "text": "\ud800"}), "/frames/0", "64"),
    "open": (reply_of({"at_us": 0, "kind": "open", "text": "[]"}), "/frames/0", "kind “open”"),
    "open with more": (
        reply_of({"at_us": 0, "kind": "open", "text": '{"peer": {}}'}), "/frames/0", "kind “open”",
    ),
    "head": (reply_of({"at_us": 0, "kind": "head", "text": "hello"}), "/frames/0", "kind “head”"),
    "status line": (
        reply_of({"at_us": 0, "kind": "head", "text": "HTTP/1.1 99999 X\r\n\r\n"}), "/frames/0",
        "kind “head”",
    ),
    "error": (reply_of({"at_us": 0, "kind": "error", "text": "{}"}), "/frames/0", "kind “error”"),
    "error of no kind": (
        reply_of({"at_us": 0, "kind": "error", "text": json.dumps({**ERROR, "stage": "x"})}),
        "/frames/0", "kind “error”",
    ),
    "error with a number": (
        reply_of({"at_us": 0, "kind": "error", "text": json.dumps({**ERROR, "limit": 1})}),
        "/frames/0", "kind “error”",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_place(name: str) -> None:
    reply, pointer, words = WRONG[name]
    problems = validate_recording(reply)
    assert problems[0][0] == pointer
    assert words in problems[0][1]
    with pytest.raises(RecordingError):
        replayed(reply)
    assert not Run.objects.exists()


def test_too_many_problems_are_not_listed() -> None:
    assert len(validate_recording(reply_of(*[{}] * 500))) == recordings.MAX_PROBLEMS


def test_too_many_frames_and_too_many_bytes() -> None:
    frame = {"at_us": 0, "kind": "body", "text": "x" * 600_000}
    assert "larger than 1 MB" in validate_recording(reply_of(frame, frame))[0][1]
    tiny = {"at_us": 0, "kind": "end"}
    assert "More than 10,000" in validate_recording(reply_of(*[tiny] * 10_001))[0][1]


def test_a_version_that_the_recording_leaves_to_the_request_has_to_be_known() -> None:
    with pytest.raises(RecordingError, match="version"):
        replayed(reply_of(), version="9")


_frames = st.fixed_dictionaries(
    {"at_us": st.integers(0, 5), "kind": st.sampled_from(list(recordings._KINDS))},
    optional={
        "text": st.text(max_size=30) | st.sampled_from([HEAD.data.decode(), json.dumps(ERROR)])
    },
)


@given(
    reply=values(["frames", "state", "url", "protocol", "timings"])
    | st.fixed_dictionaries(
        {"frames": st.lists(_frames, max_size=6)},
        optional={
            "binding": st.sampled_from(["http", "mcp"]),
            "protocol": st.sampled_from(["nlweb", "agent-api"]),
            "request": objects(["query", "text", "input", "promise_token"]),
        },
    )
)
def test_nothing_that_claims_to_be_a_recording_breaks_anything(reply: Any) -> None:
    if validate_recording(reply):
        return
    try:
        run = replayed(reply)
    except RecordingError:
        return  # A version of the one protocol, and the other protocol.
    assert len(list(read_events(run))) == run.frames
    assert len(blocks_of(run.read_frames())) == run.frames
