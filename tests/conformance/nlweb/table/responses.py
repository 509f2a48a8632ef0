"""Cases of sections 2 to 4 and 7: the response itself, its metadata, its HTTP."""

from __future__ import annotations

from dataclasses import replace

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.conformance.case import Case, at, case
from tests.conformance.scripts import (
    COMPLETE,
    ITEM,
    JSON,
    START,
    SUMMARY,
    answer,
    app,
    document,
    event,
    failure,
    meta,
    promise,
    result,
    stream,
    without,
)

GOOD = answer(ITEM)
STREAM = stream(START, result(0), COMPLETE)
V55 = ("0.55",)

_BROKEN = Problem("truncated", Stage.BODY, "Broken.", "Look.", "HTTP/1.1 200 OK\r\n").to_bytes()
TWO_HEADS = replace(
    STREAM,
    frames=(*STREAM.frames[:-1], Frame(5, 5000, FrameKind.ERROR, _BROKEN)),
    state="truncated",
)
TOLD = {"conversation_id": "c", "token": "t"}


def _meta(**members: object) -> dict[str, object]:
    return {"_meta": {**meta()["_meta"], **members}, "results": [ITEM]}


RESPONSES: tuple[Case, ...] = (
    case(
        "reply-object",
        GOOD,
        (document([ITEM]), at("")),
        (document(b"<html>Hello</html>"), at("")),
        (document(b""), at("", seq=1)),
        (stream(event("start", [1]), event("result", 2)), at("", seq=2)),
    ),
    case(
        "meta-present",
        GOOD,
        (document({"results": [ITEM]}), at("/_meta")),
        (document({"_meta": [], "results": [ITEM]}), at("/_meta")),
        (stream(result(0)), at("/_meta", seq=2)),
    ),
    case(
        "meta-present",
        STREAM,
        (document({"meta": meta()["_meta"], "results": [ITEM]}), at("/meta")),
        versions=V55,
    ),
    case(
        "response-type",
        GOOD,
        (document(_meta(response_type="reply")), at("/_meta/response_type")),
        (document(_meta(response_type=None)), at("/_meta/response_type")),
        (document({"_meta": {"version": "@version"}, "results": []}), at("/_meta/response_type")),
    ),
    case(
        "response-type-lowercase",
        GOOD,
        (document(_meta(response_type="Answer")), at("/_meta/response_type")),
    ),
    case(
        "response-type-consistent",
        GOOD,
        (document({**meta("promise"), "results": [ITEM]}), at("/results")),
        (document({**meta(), "elicitation": {"text": "?"}}), at("/elicitation")),
        (document({**meta(), "results": [ITEM], "error": {"code": "C"}}), at("/error")),
    ),
    case(
        "version-present",
        GOOD,
        (document(_meta(version=0.55)), at("/_meta/version")),
        (document(_meta(version=" ")), at("/_meta/version")),
        (document({"_meta": {"response_type": "answer"}, "results": []}), at("/_meta/version")),
    ),
    case("version-asked", GOOD, (document(_meta(version="0.1")), at("/_meta/version"))),
    case(
        "session-context-object",
        answer(session_context=TOLD),
        (document(_meta(session_context="blob")), at("/_meta/session_context")),
    ),
    case(
        "session-context-echoed",
        document(_meta(session_context={**TOLD, "n": 1})).asked(meta={"session_context": TOLD}),
        (
            document(_meta()).asked(meta={"session_context": TOLD}),
            at("/_meta/session_context"),
        ),
        (
            document(_meta(session_context={"token": "u"})).asked(meta={"session_context": TOLD}),
            at("/_meta/session_context"),
        ),
    ),
    case(
        "format-named",
        answer(ITEM, response_format="conversational_search"),
        (answer(ITEM, response_format="chatgpt_app"), at("/_meta/response_format")),
    ),
    case(
        "schema-metadata",
        document(_meta(**{"openai/widgetAccessible": True})),
        (document(_meta(response_format=1)), at("/_meta/response_format")),
        (
            document(_meta(**{"openai/widgetAccessible": "yes"})),
            at("/_meta/openai~1widgetAccessible"),
        ),
    ),
    case(
        "streaming-honoured",
        GOOD.asked(prefer={"streaming": False}),
        (GOOD.asked(prefer={"streaming": True}), at("", seq=1)),
        (STREAM.asked(prefer={"streaming": False}), at("", seq=1)),
    ),
    case(
        "format-honoured",
        GOOD.asked(prefer={"response_format": "conversational_search"}),
        (GOOD.asked(prefer={"response_format": "chatgpt_app"}), at("/results")),
        (STREAM.asked(prefer={"response_format": "chatgpt_app"}), at("/item", seq=3)),
        (
            document(app()).asked(prefer={"response_format": "conversational_search"}),
            at("/structuredData"),
        ),
    ),
    case(
        "mode-list-honoured",
        answer(SUMMARY, ITEM).asked(prefer={"mode": "list, summarize"}),
        (answer(SUMMARY).asked(prefer={"mode": "list"}), at("/results/0")),
    ),
    case(
        "mode-summarize-honoured",
        answer(ITEM, SUMMARY).asked(prefer={"mode": "list, summarize"}),
        (GOOD.asked(prefer={"mode": "Summarize"}), at("/results/0")),
        (STREAM.asked(prefer={"mode": "summarize"}), at("/item", seq=3)),
    ),
    case(
        "mode-summarize-honoured",
        document(app()).asked(prefer={"mode": "summarize"}),
        (answer(ITEM, summary="Eggs.").asked(prefer={"mode": "summarize"}), at("/_meta/summary")),
        versions=V55,
    ),
    # HTTP
    case(
        "http-retry-after",
        failure({"code": "RATE_LIMITED"}, 429, "Retry-After: 30\r\n"),
        (failure({"code": "RATE_LIMITED"}, 429), at("", seq=1)),
        (failure({"code": "RATE_LIMITED"}, 429, "Retry-After: soon\r\n"), at("", seq=1)),
        versions=V55,
    ),
    case(
        "http-content-type",
        document(_meta(), media_type="application/json; charset=utf-8"),
        (document(_meta(), media_type="text/html"), at("", seq=1)),
        (document(_meta(), media_type=None), at("", seq=1)),
        (stream(START, COMPLETE, media_type=JSON), at("", seq=1)),
    ),
    case(
        "http-status",
        promise({"token": "p"}),
        (document({**meta("promise"), "promise": {"token": "p"}}), at("", seq=1)),
        (document(_meta(), 202), at("", seq=1)),
        (document(_meta(), 500), at("", seq=1)),
        (failure({"code": "NO_RESULTS"}, 202), at("", seq=1)),
    ),
    case(
        "http-status-fits-code",
        failure({"code": "INVALID_QUERY"}, 400),
        (failure({"code": "NO_RESULTS"}, 404), at("", seq=1)),
        (failure({"code": "INTERNAL_ERROR"}, 400), at("", seq=1)),
    ),
    case(
        "http-no-redirect",
        GOOD,
        (document(b"", 307, extra="Location: https://example.com/\r\n"), at("", seq=1)),
    ),
    case(
        "http-error-failure",
        failure({"code": "INVALID_QUERY"}, 400),
        (document(b"", 401), at("", seq=1)),
        (document({"detail": "no"}, 500), at("")),
        (document(b"<!doctype html><p>Bad gateway", 502), at("")),
        (document(b"Bad gateway", 502), at("")),
    ),
    case("one-reply", STREAM, (TWO_HEADS, at("", seq=5))),
    case(
        "stream-compression",
        STREAM,
        (stream(START, COMPLETE, extra="Content-Encoding: gzip\r\n"), at("", seq=1)),
    ),
    case(
        "schema-reply",
        failure({"code": "NO_RESULTS", "message": "Nothing."}),
        (failure({"code": "NO_RESULTS", "message": 5}), at("/error/message")),
        (promise({"token": "p", "message": []}), at("/promise/message")),
    ),
    case("answer-content", GOOD, (document(without(_meta(), "results")), at("/results"))),
)
