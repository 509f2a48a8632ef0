"""Cases of sections 2 to 4 and 7: the response itself, its metadata, its HTTP."""

from __future__ import annotations

from dataclasses import replace

from playground.protocols.frames import FrameKind
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
    numbered,
    promise,
    result,
    stream,
    without,
)

GOOD = answer(ITEM)
STREAM = stream(START, result(0), COMPLETE)
FORMAT, TEMPLATE = "conversational_search", "/_meta/openai~1outputTemplate"

#: Of a body that ends with its connection: in a chunked one the second head breaks the transfer.
SECOND_HEAD = b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\n\r\n"
TWO_HEADS = stream(START, result(0), SECOND_HEAD, COMPLETE)
#: An answer in JSON to a request that accepts event streams only.
ACCEPTED = b"POST /ask HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"
ACCEPTING_A_STREAM = replace(
    GOOD,
    frames=numbered(
        [(FrameKind.CALL, ACCEPTED), *((frame.kind, frame.data) for frame in GOOD.frames)]
    ),
)
TOLD = {"conversation_id": "c", "token": "t"}


def _meta(**members: object) -> dict[str, object]:
    return {"_meta": {**meta()["_meta"], **members}, "results": [ITEM]}


RESPONSES: tuple[Case, ...] = (
    case("reply-object must", GOOD,
         (document([ITEM]), at("")),
         (document(b"<html>Hello</html>"), at("")),
         (document(b""), at("", seq=1)),
         (stream(event("start", [1]), event("result", 2)), at("", seq=2))),
    case("meta-present must", GOOD,
         (document({"results": [ITEM]}), at("/_meta")),
         (document({"_meta": [], "results": [ITEM]}), at("/_meta")),
         (stream(result(0)), at("/_meta", seq=2))),
    case("meta-present - must", STREAM,
         (document({"meta": meta()["_meta"], "results": [ITEM]}), at("/meta"))),
    case("response-type must", GOOD,
         (document(_meta(response_type="reply")), at("/_meta/response_type")),
         (document(_meta(response_type=None)), at("/_meta/response_type")),
         (document({"_meta": {"version": "@version"}, "results": []}), at("/_meta/response_type"))),
    case("response-type-lowercase info must", GOOD,
         (document(_meta(response_type="Answer")), at("/_meta/response_type"))),
    case("response-type-consistent must", GOOD,
         (document({**meta("promise"), "results": [ITEM]}), at("/results")),
         (document({**meta(), "elicitation": {"text": "?"}}), at("/elicitation")),
         (document({**meta(), "results": [ITEM], "error": {"code": "C"}}), at("/error")),
         # The start of a stream against what comes.
         (stream(event("start", meta("promise", streaming=True)), result(0), COMPLETE),
          at("/_meta/response_type", seq=2)),
         (stream(START, result(0), event("complete", meta("elicitation"))), at("/item", seq=3))),
    case("version-present should must", GOOD,
         (document(_meta(version=0.55)), at("/_meta/version"))),
    case("version-present must", GOOD,
         (document(_meta(version=" ")), at("/_meta/version")),
         (document({"_meta": {"response_type": "answer"}, "results": []}), at("/_meta/version"))),
    case("version-asked info", document(_meta(version="0.1")).asked(meta={"version": "0.1"}),
         (document(_meta(version="0.1")).asked(meta={"version": "0.9"}), at("/_meta/version"))),
    case("version-in-failure info -", failure({"code": "NO_RESULTS"}),
         (document({"_meta": {"response_type": "failure"}, "error": {"code": "C"}}),
          at("/_meta/version"))),
    case("meta-top-level info -", promise({"token": "p"}),
         (document({"response_type": "promise", "promise": {"token": "p"}}, 202),
          at("/response_type"))),
    case("output-template-uri must",
         document(_meta(**{"openai/outputTemplate": "ui://widget/recipes.html"})),
         (document(_meta(**{"openai/outputTemplate": "widget"})), at(TEMPLATE)),
         (document(_meta(**{"openai/outputTemplate": "https://a/{id}"})), at(TEMPLATE))),
    case("format-named-stream info", STREAM,
         (stream(event("start", meta(streaming=True, response_format="chatgpt_app")), result(0)),
          at("/_meta/response_format", seq=2))),
    case("session-context-object must", answer(session_context=TOLD),
         (document(_meta(session_context="blob")), at("/_meta/session_context"))),
    case("session-context-echoed info",
         document(_meta(session_context={**TOLD, "n": 1})).asked(meta={"session_context": TOLD}),
         (document(_meta()).asked(meta={"session_context": TOLD}), at("/_meta/session_context")),
         (document(_meta(session_context={"token": "u"})).asked(meta={"session_context": TOLD}),
          at("/_meta/session_context"))),
    case("format-named must", answer(ITEM, response_format="conversational_search"),
         (answer(ITEM, response_format="chatgpt_app"), at("/_meta/response_format"))),
    case("schema-metadata should must", document(_meta(**{"openai/widgetAccessible": True})),
         (document(_meta(response_format=1)), at("/_meta/response_format"))),
    case("schema-metadata must", document(_meta(**{"openai/widgetAccessible": True})),
         (document(_meta(**{"openai/widgetAccessible": "yes"})),
          at("/_meta/openai~1widgetAccessible"))),
    case("streaming-honoured should", GOOD.asked(prefer={"streaming": False}),
         (ACCEPTING_A_STREAM.asked(prefer={"streaming": True}), at("", seq=2)),
         (STREAM.asked(prefer={"streaming": False}), at("", seq=1))),
    case("format-honoured should", GOOD.asked(prefer={"response_format": "conversational_search"}),
         (GOOD.asked(prefer={"response_format": "chatgpt_app"}), at("/results")),
         (STREAM.asked(prefer={"response_format": "chatgpt_app"}), at("/item", seq=3)),
         (document(app()).asked(prefer={"response_format": "conversational_search"}),
          at("/structuredData")),
         (answer(ITEM, response_format="rss").asked(prefer={"response_format": FORMAT}),
          at("/_meta/response_format"))),
    # The default of 0.55.
    case("format-honoured - should",
         answer(ITEM, response_format=FORMAT).asked(query={"text": "eggs"}),
         (document(app()).asked(query={"text": "eggs"}), at("/structuredData"))),
    case("format-honoured - should",
         answer(ITEM, response_format="rss").asked(query={"text": "eggs"})),
    case("mode-list-honoured should",
         answer(SUMMARY, ITEM).asked(prefer={"mode": "list, summarize"}),
         (answer(SUMMARY).asked(prefer={"mode": "list"}), at("/results/0"))),
    case("language-honoured info",
         document(meta(language="en-US") | {"results": []}, extra="Content-Language: en\r\n").asked(
             prefer={"accept-language": "en-GB, fr;q=0.5"}),
         (document(_meta(), extra="Content-Language: de-CH\r\n").asked(
             prefer={"accept-language": "en"}), at("", seq=1)),
         (answer({**ITEM, "inLanguage": ["de", "it"]}, {**ITEM, "inLanguage": "de"}).asked(
             prefer={"accept-language": "en"}), at("/results/0/inLanguage")),
         (stream(START, event("result", {**ITEM, "inLanguage": "de"}), COMPLETE).asked(
             prefer={"accept-language": "en"}), at("/inLanguage")),
         (answer(ITEM, language="de").asked(prefer={"accept-language": "en, fr"}),
          at("/_meta/language"))),
    case("mode-summarize-honoured should",
         answer(ITEM, SUMMARY).asked(prefer={"mode": "list, summarize"}),
         (GOOD.asked(prefer={"mode": "Summarize"}), at("/results/0")),
         (STREAM.asked(prefer={"mode": "summarize"}), at("/item", seq=3))),
    # A summary may have any type.
    case("mode-summarize-honoured should",
         answer({"@type": "Digest", "text": "Two recipes."}, ITEM).asked(
             prefer={"mode": "list, summarize"})),
    case("mode-summarize-honoured - should", document(app()).asked(prefer={"mode": "summarize"}),
         (answer(ITEM, summary="Eggs.").asked(prefer={"mode": "summarize"}), at("/_meta/summary"))),
    # HTTP
    case("http-retry-after - should",
         failure({"code": "RATE_LIMITED"}, 429, "Retry-After: 30\r\n"),
         (failure({"code": "RATE_LIMITED"}, 429), at("", seq=1))),
    case("http-header-values should",
         document(_meta(), media_type='application/json; charset="UTF-8"',
                  extra="Cache-Control: private, max-age=0\r\n"
                  "Retry-After: Tue, 24 Nov 2026 00:00:00 GMT\r\n"),
         *(
             (reply, at("", seq=1))
             for reply in (
                 document(_meta(), media_type="application/json; charset=iso-8859-1"),
                 document(_meta(), media_type="application/json; charset"),
                 document(_meta(), media_type="application/json, text/html"),
                 document(_meta(), extra="Cache-Control: max-age 60\r\n"),
                 document(_meta(), media_type=f"text/html{'; ' * 60}("),
                 document(_meta(), extra=f"Cache-Control: private{', ' * 60}(\r\n"),
                 stream(START, result(0), COMPLETE, extra="Cache-Control: max-age=60\r\n"),
                 failure({"code": "RATE_LIMITED"}, 429, "Retry-After: soon\r\n"),
                 failure({"code": "TIMEOUT"}, 503, "Retry-After: -1\r\n"),
                 failure({"code": "TIMEOUT"}, 503, "Retry-After: 2026-11-24T00:00:00Z\r\n"),
             )
         )),
    case("http-method must", GOOD, (document(b"", 405, extra="Allow: GET\r\n"), at("", seq=1))),
    case("http-content-type should",
         document(_meta(), media_type="application/json; charset=utf-8"),
         (document(_meta(), media_type="text/html"), at("", seq=1)),
         (document(_meta(), media_type=None), at("", seq=1)),
         (stream(START, COMPLETE, media_type=JSON), at("", seq=1))),
    case("http-status should", promise({"token": "p"}),
         (document({**meta("promise"), "promise": {"token": "p"}}), at("", seq=1)),
         (document(_meta(), 202), at("", seq=1)),
         (document(_meta(), 500), at("", seq=1)),
         (failure({"code": "NO_RESULTS"}, 202), at("", seq=1))),
    case("http-status-fits-code should", failure({"code": "INVALID_QUERY"}, 400),
         (failure({"code": "NO_RESULTS"}, 404), at("", seq=1)),
         (failure({"code": "INTERNAL_ERROR"}, 400), at("", seq=1))),
    # The example of 0.54 has NO_RESULTS for a lack of tokens, an error of the server.
    case("http-status-fits-code should -", failure({"code": "NO_RESULTS"}, 500)),
    # 0.54 has 400 for invalid requests; in 0.55 every failure may have 200.
    case("http-status-fits-code should -", failure({"code": "INVALID_PARAMETER"}, 400),
         (failure({"code": "INVALID_PARAMETER"}), at("", seq=1))),
    case("http-status-fits-code - should", failure({"code": "INVALID_QUERY"}),
         (failure({"code": "NO_RESULTS"}, 500), at("", seq=1)),
         (failure({"code": "RATE_LIMITED"}, 500), at("", seq=1))),
    case("http-no-redirect info should", GOOD,
         (document(b"", 307, extra="Location: https://example.com/\r\n"), at("", seq=1))),
    case("http-400-failure should", failure({"code": "INVALID_QUERY"}, 400),
         (document(b"Bad request", 400, "text/plain"), at("")),
         (document(b"", 400), at("", seq=1)),
         (document({"detail": "no"}, 400), at(""))),
    case("http-error-failure info", failure({"code": "INTERNAL_ERROR"}, 500),
         (document(b"", 401), at("", seq=1)),
         (document({"detail": "no"}, 500), at("")),
         (document(b"<!doctype html><p>Bad gateway", 502), at("")),
         (document(b"Bad gateway", 502), at(""))),
    case("one-reply must", STREAM, (TWO_HEADS, at("", seq=4))),
    case("stream-compression info", STREAM,
         (stream(START, COMPLETE, extra="Content-Encoding: gzip\r\n"), at("", seq=1))),
    case("schema-reply should must", failure({"code": "NO_RESULTS", "message": "Nothing."}),
         (failure({"code": "NO_RESULTS", "message": 5}), at("/error/message")),
         (promise({"token": "p", "message": []}), at("/promise/message")),
         (promise({"token": "p", "message": None}), at("/promise/message")),
         (document({**meta("elicitation"), "elicitation": {"text": None}}),
          at("/elicitation/text")),
         # The same in a stream.
         (stream(event("start", meta("elicitation")), event(None, {"elicitation": {"text": 5}})),
          at("/elicitation/text", seq=3)),
         (stream(event("start", meta("failure")),
                 event(None, {"error": {"code": "C", "message": None}})),
          at("/error/message", seq=3))),
    case("answer-content must", GOOD, (document(without(_meta(), "results")), at("/results"))),
)  # fmt: skip
