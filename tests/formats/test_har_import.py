"""Import of HTTP archives, and the round trip of runs."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections.fixture import FixtureError
from playground.collections.recordings import RecordingError, run_from_recording
from playground.formats.har_export import to_har
from playground.formats.har_import import MAX_ENTRIES, HarEntry, read_har
from playground.models import Run
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.rendering.wire import blocks_of
from playground.transport.redaction import MASK
from tests.support.json_values import values
from tests.support.stored_runs import OPEN, PIECES, batches, event, recorded, result

pytestmark = pytest.mark.django_db

BODY = b'{"query": {"text": "eggs"}, "prefer": {"streaming": true}}'
CALL = Frame(
    0, 0, FrameKind.CALL,
    b"POST /ask?a=1 HTTP/1.1\r\nHost: agent.example\r\nContent-Type: application/json\r\n"
    b"Authorization: " + MASK.encode() + b"\r\n\r\n" + BODY,
)  # fmt: skip
HEAD = Frame(
    0, 2_500, FrameKind.HEAD,
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nSet-Cookie: a=b\r\n\r\n",
)  # fmt: skip
STREAM = [CALL, OPEN, HEAD, Frame(0, 3_000, event(PIECES[0]).kind, event(PIECES[0]).data)]
STREAM += [Frame(0, 4_000, FrameKind.EVENT, result(1).data), Frame(0, 5_000, FrameKind.END)]


def archive(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}


def entry(**changes: Any) -> dict[str, Any]:
    """Return an entry as a browser saves it, of a stream with two events."""
    text = 'event: result\ndata: {"index": 0, "item": {"name": "A"}}\n\n: here\n\ndata: {'
    plain: dict[str, Any] = {
        "startedDateTime": "2026-05-04T10:00:00.000Z",
        "time": 30.5,
        "request": {
            "method": "POST",
            "url": "https://agent.example/ask?api_key=hidden1234",
            "httpVersion": "http/2.0",
            "headers": [
                {"name": ":authority", "value": "agent.example"},
                {"name": "content-type", "value": "application/json"},
                {"name": "authorization", "value": "Bearer hidden1234"},
            ],
            "postData": {"mimeType": "application/json", "text": BODY.decode()},
        },
        "response": {
            "status": 200,
            "statusText": "",
            "headers": [
                {"name": "content-type", "value": "text/event-stream"},
                {"name": "set-cookie", "value": "sid=hidden1234"},
            ],
            "content": {"size": len(text), "mimeType": "text/event-stream", "text": text},
        },
        "timings": {"blocked": 1, "dns": -1, "connect": -1, "send": 0.5, "wait": 20, "receive": 9},
    }
    return {**plain, **changes}


def content(**changes: Any) -> dict[str, Any]:
    plain = entry()["response"]
    return {**plain, "content": {**plain["content"], **changes}}


def read(*entries: Any) -> list[HarEntry]:
    return read_har(json.dumps(archive(*entries)))


@pytest.mark.parametrize(
    ("frames", "state"),
    [
        pytest.param(STREAM, "completed", id="stream"),
        pytest.param([*STREAM, *STREAM[:1], *STREAM[2:]], "completed", id="two calls"),
        pytest.param([*STREAM[:-1], Frame(0, 4_500, FrameKind.TAIL, b"data: {")], "cancelled",
                     id="stopped"),
        pytest.param([CALL, OPEN, Frame(0, 20, FrameKind.ERROR, json.dumps({
            "state": "failed", "stage": "headers", "cause": "C", "fix": "F"}).encode())], "failed",
            id="failed"),
        pytest.param([CALL, HEAD, Frame(0, 3_000, FrameKind.BODY, b"\xff\x00"),
                      Frame(0, 3_100, FrameKind.BODY, b"\xfe"), Frame(0, 3_100, FrameKind.END)],
                     "failed", id="bytes"),
    ],
)  # fmt: skip
def test_a_run_comes_back_as_it_was(frames: list[Frame], state: str) -> None:
    ordered = [Frame(0, n * 100, f.kind, f.data) for n, f in enumerate(frames)]
    run = recorded([ordered], state)
    (only,) = read_har(to_har(run))
    assert only.why == ""
    copy = run_from_recording(only.response, None)
    assert (copy.is_recorded, copy.state, copy.outcome) == (True, run.state, run.outcome)
    assert (copy.events, copy.results, copy.bytes) == (run.events, run.results, run.bytes)

    def kept(each: Run) -> list[tuple[int, FrameKind, bytes]]:
        return [
            (f.at_us, f.kind, f.data if f.kind in BODY_KINDS else b"") for f in each.read_frames()
        ]

    assert kept(copy) == kept(run)


@given(batches=batches())
def test_any_run_goes_out_and_comes_back(batches: list[list[Frame]]) -> None:
    run = recorded([[CALL, *(f for b in batches for f in b if f.kind is not FrameKind.CALL)]])
    (only,) = read_har(to_har(run))
    if only.why:
        assert "no body" in only.why
        return
    copy = run_from_recording(only.response, None)
    assert (copy.events, copy.results, copy.entries) == (run.events, run.results, run.entries)


def test_what_a_browser_saved_opens_as_a_run() -> None:
    (only,) = read(entry())
    assert (only.number, only.method, only.status, only.took) == (1, "POST", 200, 30.5)
    assert only.media_type == "text/event-stream"
    run = run_from_recording(only.response, None)
    assert (run.protocol, run.binding, run.version) == ("nlweb", "http", "0.55")
    assert (run.agent_name, run.text, run.state) == ("agent.example", "eggs", "truncated")
    assert run.started_at is not None
    assert run.started_at.isoformat() == "2026-05-04T10:00:00+00:00"
    kinds = [frame.kind.name for frame in run.read_frames()]
    assert kinds == ["CALL", "HEAD", "EVENT", "COMMENT", "TAIL", "END"]
    assert (run.headers_us, run.ended_us, run.results) == (21_500, 30_500, 1)
    stored = b"".join(frame.data for frame in run.read_frames()) + run.url.encode()
    assert b"hidden1234" not in stored
    assert stored.count(MASK.encode()) == 2
    assert b":authority" not in stored


def test_a_reply_in_base64_is_read() -> None:
    text = base64.b64encode(b'{"_meta": {"response_type": "answer"}, "results": []}').decode()
    said = content(text=text, encoding="base64", mimeType="application/json")
    run = run_from_recording(read(entry(response=said))[0].response, None)
    assert (run.state, run.outcome) == ("completed", "answer")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"response": content(text="", size=900)},
            "The file does not contain the body of this response",
        ),
        (
            {"response": {**content(), "content": {"size": -1, "mimeType": "text/event-stream"}}},
            "The file does not contain the body of this response",
        ),
        (
            {"request": {"method": "GET", "url": "https://a.example/x.css", "headers": []}},
            "No body and no query",
        ),
        (
            {"request": {"method": "PUT", "url": "https://a.example/", "headers": []}},
            "Unsupported method PUT",
        ),
        ({"response": content(text="x" * 1_100_000)}, "larger than 1 MB"),
    ],
)
def test_what_cannot_be_opened_is_listed_with_the_reason(changes: Any, why: str) -> None:
    first, second = read(entry(**changes), entry())
    assert why in first.why
    assert not first.response
    assert second.response


def test_no_answer_is_a_failed_run() -> None:
    said = {**content(text="", size=0), "status": 0, "headers": []}
    run = run_from_recording(read(entry(response=said, _error="net::ERR_FAILED"))[0].response, None)
    assert (run.state, run.problem["detail"]) == ("failed", "net::ERR_FAILED")


def test_no_answer_is_one_for_tools_that_count_from_minus_one_too() -> None:
    """Playwright writes the status -1 and a reason of its own."""
    nothing = {"status": -1, "statusText": "", "headers": [], "content": {"size": -1}}
    nothing["_failureText"] = "net::ERR_ABORTED"
    found, whole = read(entry(response=nothing), entry())
    assert (found.status, whole.status) == (0, 200)
    run = run_from_recording(found.response, None)
    assert (run.state, run.problem["detail"]) == ("failed", "net::ERR_ABORTED")


def test_a_form_is_read_from_its_fields() -> None:
    kind = "application/x-www-form-urlencoded"
    fields = [{"name": "query", "value": "eggs & ham"}, {"name": "site", "value": "x"}, 7]
    request = {
        **entry()["request"],
        "headers": [{"name": "Content-Type", "value": kind}],
        "postData": {"mimeType": kind, "params": fields},
    }
    (found,) = read(entry(request=request))
    assert found.response["request"]["query"] == {"text": "eggs & ham", "site": "x"}


def test_a_websocket_is_listed_and_not_opened() -> None:
    request = {"method": "GET", "url": "wss://a.example/ws", "headers": []}
    response = {"status": 101, "statusText": "", "headers": [], "content": {"size": 0}}
    more = {"_resourceType": "websocket", "_webSocketMessages": [{"type": "send", "data": "a"}]}
    (found,) = read(entry(request=request, response=response, **more))
    assert (found.url, found.status, found.response) == ("wss://a.example/ws", 101, {})
    assert "No body and no query parameters" in found.why


#: Files that are no archive, and the location and words of the first problem.
BROKEN: dict[str, tuple[Any, str, str]] = {
    "empty": ("", "", "empty"),
    "cut": ('{"log": {"entries": [', "Line 1", "incomplete"),
    "no json": ("har", "Line 1, column 1", "Invalid JSON"),
    "xml": ("<har>", "", "an XML or HTML document"),
    "a list": ("[]", "/log", "Not a HAR file"),
    "no log": ("{}", "/log", "Not a HAR file"),
    "no entries": ('{"log": {}}', "/log/entries", "no array"),
    "nothing recorded": (archive(), "/log/entries", "no entries"),
    "too many": (archive(*[1] * (MAX_ENTRIES + 1)), "/log/entries", "5,001"),
    "entry": (archive(7), "/log/entries/0", "object"),
    "no request": (archive(entry(request=None)), "/log/entries/0/request", "object"),
    "method": (
        archive(entry(request={"method": 1, "url": "x", "headers": []})),
        "/log/entries/0/request/method", "string",
    ),
    "headers": (
        archive(entry(request={"method": "GET", "url": "x", "headers": {}})),
        "/log/entries/0/request/headers", "array",
    ),
    "header": (
        archive(entry(request={"method": "GET", "url": "x", "headers": [{"name": "a"}]})),
        "/log/entries/0/request/headers/0", "name and a value",
    ),
    "body": (
        archive(entry(request={**entry()["request"], "postData": {"text": 1}})),
        "/log/entries/0/request/postData/text", "string",
    ),
    "no body": (
        archive(entry(request={**entry()["request"], "postData": 1})),
        "/log/entries/0/request/postData", "object",
    ),
    "status": (
        archive(entry(response={**content(), "status": "200"})),
        "/log/entries/0/response/status", "HTTP status",
    ),
    "content": (
        archive(entry(response={**content(), "content": None})),
        "/log/entries/0/response/content", "object",
    ),
    "text": (archive(entry(response=content(text=1))), "/log/entries/0/response/content/text", ""),
    "base64": (
        archive(entry(response=content(text="!", encoding="base64"))),
        "/log/entries/0/response/content/text", "base64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_archive_is_refused_with_the_place(name: str) -> None:
    file, place, words = BROKEN[name]
    with pytest.raises(FixtureError) as caught:
        read_har(file if isinstance(file, str) else json.dumps(file))
    assert caught.value.problems[0].location.startswith(place)
    assert words in caught.value.problems[0].message


def test_an_address_that_is_none_is_said() -> None:
    bad = {**entry()["request"], "url": "http://["}
    (only,) = read(entry(request=bad, _nlweb={"run": "r"}), entry(_nlweb={"run": "r"}))
    assert only.calls == 2
    assert only.why


def test_frames_that_do_not_fit_are_made_anew() -> None:
    own = {"run": "r", "frames": [{"kind": "event", "at_us": 1, "bytes": 3}]}
    (only,) = read(entry(_nlweb=own))
    assert [frame["kind"] for frame in only.response["frames"]][-1] == "end"


def test_a_recording_that_says_too_little_is_not_opened() -> None:
    with pytest.raises(RecordingError, match="has no url"):
        run_from_recording({"frames": []}, None)


_texts = st.sampled_from(["", "eggs", "POST", "http://[", "https://a.example/?query=x", "base64"])
_parts = values(["name", "value", "text", "mimeType", "frames", "kind", "bytes", "at_us"])


@given(
    changes=st.fixed_dictionaries(
        {},
        optional={
            "time": _parts,
            "timings": _parts,
            "startedDateTime": _texts | _parts,
            "_nlweb": _parts
            | st.fixed_dictionaries({"run": _texts, "frames": _parts, "state": _texts}),
            "request": st.fixed_dictionaries(
                {"method": _texts, "url": _texts, "headers": st.just([])},
                optional={"postData": _parts | st.just({"text": BODY.decode()})},
            ),
            "response": st.fixed_dictionaries(
                {
                    "status": st.sampled_from([0, 200, 999]),
                    "headers": st.just([]),
                    "content": st.fixed_dictionaries(
                        {}, optional={"text": _texts, "encoding": _texts}
                    ),
                }
            ),
        },
    )
)
def test_nothing_that_claims_to_be_an_archive_breaks_anything(changes: dict[str, Any]) -> None:
    try:
        entries = read(entry(**changes))
    except FixtureError:
        return
    for each in entries:
        assert each.why or each.response
        if each.response:
            try:
                run = run_from_recording(each.response, None)
            except RecordingError:
                continue  # A version that a recording of ours names and nobody knows.
            assert len(blocks_of(run.read_frames())) == run.frames
