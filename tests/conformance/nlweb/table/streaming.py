"""Cases of section 6: events, their order, and the transfer of a stream."""

from __future__ import annotations

from tests.conformance.case import Case, at, case
from tests.conformance.scripts import (
    COMPLETE,
    ITEM,
    START,
    event,
    meta,
    result,
    stream,
)

V54, V55 = ("0.54",), ("0.55",)
STREAM = stream(START, result(0), result(1), COMPLETE)
ERROR = event("error", {**meta("failure"), "error": {"code": "TIMEOUT", "message": "m"}})
FAILED = stream(START, result(0), ERROR)
META = meta(streaming=True)["_meta"]
END = event("end", {"message": "Done"})

STREAMING: tuple[Case, ...] = (
    case(
        "stream-data-json",
        STREAM,
        (stream(START, event("result", "eggs"), COMPLETE), at("", seq=3)),
        (stream(START, b"event: result\ndata:  \n\n", COMPLETE), at("", seq=3)),
    ),
    case(
        "stream-data-present",
        STREAM,
        (stream(START, b"event: result\n\n", COMPLETE), at("", seq=3)),
    ),
    case(
        "stream-events-named",
        STREAM,
        (stream(START, event(None, {"results": [ITEM]}), COMPLETE), at("", seq=3)),
    ),
    case(
        "stream-events-known",
        STREAM,
        (stream(START, event("thinking", {}), COMPLETE), at("", seq=3)),
    ),
    case(
        "stream-events-known",
        stream(START, event("content", {"type": "text", "text": "a"}), COMPLETE, END),
        (stream(START, ERROR), at("", seq=3)),
        versions=V54,
    ),
    case(
        "stream-events-known",
        FAILED,
        (stream(START, COMPLETE, END), at("", seq=4)),
        versions=V55,
    ),
    case("stream-start-first", STREAM, (stream(result(0), START, COMPLETE), at("", seq=2))),
    case("stream-start-once", STREAM, (stream(START, START, COMPLETE), at("", seq=3))),
    case(
        "stream-start-meta",
        STREAM,
        (stream(event("start", meta()), COMPLETE), at("/_meta/streaming", seq=2)),
        (stream(event("start", meta(streaming="yes")), COMPLETE), at("/_meta/streaming", seq=2)),
        (stream(event("start", {}), COMPLETE), at("/_meta", seq=2)),
    ),
    case(
        "stream-complete-present",
        STREAM,
        (stream(START, result(0)), at("", seq=3)),
        (stream(START, ERROR, result(0)), at("", seq=4)),
    ),
    case(
        "stream-complete-present",
        FAILED,
        (stream(START), at("", seq=2)),
        versions=V55,
    ),
    case("stream-complete-once", STREAM, (stream(START, COMPLETE, COMPLETE), at("", seq=4))),
    case(
        "stream-complete-last",
        STREAM,
        (stream(START, COMPLETE, result(0), result(1)), (*at("", seq=4), *at("", seq=5))),
    ),
    case(
        "stream-complete-last",
        stream(START, COMPLETE, END),
        (stream(START, COMPLETE, END, END), at("", seq=5)),
        versions=V54,
    ),
    case(
        "stream-complete-last",
        STREAM,
        (stream(START, COMPLETE, END), at("", seq=4)),
        versions=V55,
    ),
    case(
        "stream-complete-meta",
        STREAM,
        (stream(START, event("complete", {"total": 1})), at("/_meta", seq=3)),
        (stream(START, event("complete", {"_meta": []})), at("/_meta", seq=3)),
    ),
    case(
        "stream-meta-agrees",
        STREAM,
        (
            stream(event("start", {"_meta": {**META, "version": "0.1"}}), result(0), COMPLETE),
            at("/_meta/version", seq=2),
        ),
        (
            stream(event("start", meta("promise", streaming=True)), COMPLETE),
            at("/_meta/response_type", seq=2),
        ),
        (
            stream(
                event("start", {"_meta": {**META, "response_format": "a"}}),
                event("complete", meta(response_format="b")),
            ),
            at("/_meta/response_format", seq=2),
        ),
    ),
    # A stream may end otherwise than it began.
    case(
        "stream-meta-agrees",
        FAILED,
        (
            stream(
                START, event("error", {"_meta": {"response_type": "failure", "version": "0.1"}})
            ),
            at("/_meta/version", seq=2),
        ),
        versions=V55,
    ),
    case(
        "error-event",
        FAILED,
        (stream(START, event("error", {"code": "TIMEOUT"})), at("/error", seq=3)),
        (stream(START, event("error", {"error": "slow"})), at("/error", seq=3)),
        (stream(START, event("error", "slow")), at("", seq=3)),
        versions=V55,
    ),
    case(
        "error-event-meta",
        FAILED,
        (stream(START, event("error", {"error": {"code": "TIMEOUT"}})), at("/_meta", seq=3)),
        versions=V55,
    ),
    case(
        "error-event-last",
        stream(START, ERROR, COMPLETE),
        (stream(START, ERROR, result(0), COMPLETE), at("", seq=3)),
        versions=V55,
    ),
    case(
        "stream-closed",
        STREAM,
        (stream(START, COMPLETE[:-1]), at("", seq=3)),
        (stream(START, COMPLETE, b"event: resu"), at("", seq=4)),
    ),
    case(
        "stream-bom",
        STREAM,
        (stream(b"\xef\xbb\xbf" + START, COMPLETE), at("", seq=2)),
        (stream(START, b"\xef\xbb\xbf" + COMPLETE), at("", seq=3)),
    ),
    case(
        "result-event",
        STREAM,
        (stream(START, event("result", ITEM), COMPLETE), at("/item", seq=3)),
        (stream(START, event("result", [ITEM]), COMPLETE), at("", seq=3)),
    ),
    case(
        "result-index",
        STREAM,
        (stream(START, result("0"), COMPLETE), at("/index", seq=3)),
        (stream(START, result(-1), COMPLETE), at("/index", seq=3)),
        (stream(START, result(True), COMPLETE), at("/index", seq=3)),
        (stream(START, event("result", {"item": ITEM}), COMPLETE), at("/index", seq=3)),
    ),
    case(
        "result-index-unique",
        STREAM,
        (stream(START, result(0), result(0), COMPLETE), at("/index", seq=4)),
    ),
    case(
        "result-index-gapless",
        stream(START, result(1), result(0), COMPLETE),
        (stream(START, result(0), result(2), COMPLETE), at("/index", seq=4)),
        (stream(START, result(10**400), COMPLETE), at("/index", seq=3)),
    ),
    case(
        "result-order",
        STREAM,
        (stream(START, result(1), result(0), COMPLETE), at("/index", seq=4)),
    ),
    case(
        "schema-event",
        STREAM,
        (
            stream(START, event("content", {"type": "text"}), COMPLETE),
            at("/text", seq=3),
        ),
        (stream(START, COMPLETE, event("end", {"message": 1})), at("/message", seq=4)),
        versions=V54,
    ),
    case(
        "schema-event",
        FAILED,
        (
            stream(START, event("error", {"error": {"code": "C", "message": 1}})),
            at("/error/message", seq=3),
        ),
        versions=V55,
    ),
)
