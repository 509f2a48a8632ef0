"""HTTP archives: export of runs, and import of the requests in one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from playground import __version__
from playground.collections.fixture import FixtureError
from playground.import_export.har import to_har
from playground.import_export.import_formats import ParsedImport, parse_import
from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from playground.transport.redaction import MASK
from tests.support.json_values import values
from tests.support.stored_runs import END, OPEN, PIECES, event, recorded, result

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


def members(**schemas: Any) -> dict[str, Any]:
    """Return the schema of an object: all members are required, others begin with `_`.

    A name that ends in `_` is an optional member.
    """
    optional = {name for name in schemas if name.endswith("_")}
    return {
        "type": "object",
        "properties": {name.removesuffix("_"): schema for name, schema in schemas.items()},
        "required": sorted(schemas.keys() - optional),
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
    }


def items(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


TEXT, SIZE = {"type": "string"}, {"type": "integer", "minimum": -1}
MS = {"type": "number", "minimum": 0}
PHASE = {"anyOf": [MS, {"const": -1}]}
PAIRS = items(members(name=TEXT, value=TEXT, comment_=TEXT))
SIDE = {
    "httpVersion": TEXT, "cookies": PAIRS, "headers": PAIRS, "headersSize": SIZE, "bodySize": SIZE,
    "comment_": TEXT,
}  # fmt: skip
REQUEST = members(
    **SIDE, method=TEXT, url={"type": "string", "pattern": "^https?://"}, queryString=PAIRS,
    postData_=members(mimeType=TEXT, text=TEXT, params_=PAIRS, comment_=TEXT),
)  # fmt: skip
RESPONSE = members(
    **SIDE, status={"type": "integer", "minimum": 0}, statusText=TEXT, redirectURL=TEXT,
    content=members(size=SIZE, mimeType=TEXT, text_=TEXT, encoding_=TEXT, comment_=TEXT),
)  # fmt: skip
TIMINGS = members(
    send=MS, wait=MS, receive=MS, blocked_=PHASE, dns_=PHASE, connect_=PHASE, ssl_=PHASE
)
ENTRY = members(
    startedDateTime={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$"},
    time=MS, request=REQUEST, response=RESPONSE, cache=members(), timings=TIMINGS,
    serverIPAddress_=TEXT, connection_=TEXT, pageref_=TEXT, comment_=TEXT,
)  # fmt: skip
#: The objects of HAR 1.2, as their specification lists them.
HAR = Draft202012Validator(
    members(
        log=members(
            version={"const": "1.2"}, creator=members(name=TEXT, version=TEXT, comment_=TEXT),
            entries=items(ENTRY), pages_={"type": "array"}, comment_=TEXT,
        )
    )
)  # fmt: skip


def exported(run: Run) -> dict[str, Any]:
    """Return the log of a run's archive, which conforms to HAR 1.2."""
    archive: dict[str, Any] = json.loads(to_har(run))
    HAR.validate(archive)
    log: dict[str, Any] = archive["log"]
    for entry in log["entries"]:
        timings = entry["timings"]
        # The specification: -1 is not part of the total, and `ssl` is part of `connect`.
        total = sum(timings[name] for name in timings if name != "ssl" and timings[name] > 0)
        assert entry["time"] == pytest.approx(total)
    return log


def test_an_archive_has_the_request_the_response_and_their_times() -> None:
    log = exported(recorded([STREAM]))
    assert log["creator"] == {"name": "NLWeb Playground", "version": __version__}
    (only,) = log["entries"]
    assert (only["time"], only["timings"]["wait"], only["timings"]["receive"]) == (5, 2.49, 2.5)
    assert (only["timings"]["connect"], only["timings"]["blocked"]) == (0.01, -1)
    request, response = only["request"], only["response"]
    assert (request["method"], request["url"]) == ("POST", "http://agent.example/ask?a=1")
    assert request["queryString"] == [{"name": "a", "value": "1"}]
    assert request["postData"] == {"mimeType": "application/json", "text": BODY.decode()}
    assert {"name": "Authorization", "value": MASK} in request["headers"]
    assert (response["status"], response["statusText"]) == (200, "OK")
    assert response["content"]["mimeType"] == "text/event-stream"
    assert response["content"]["text"].startswith("event: start\n")
    assert only["serverIPAddress"] == "127.0.0.1"


def test_every_call_of_a_run_is_an_entry() -> None:
    run = recorded([[*STREAM, CALL, HEAD, END]])
    entries = exported(run)["entries"]
    assert [each["response"]["content"]["size"] > 0 for each in entries] == [True, False]


def test_a_run_that_sent_nothing_has_no_entries() -> None:
    assert exported(recorded([[]], "refused"))["entries"] == []


def test_a_reused_connection_was_not_connected() -> None:
    opened = OPEN.with_data(b'{"peer": "127.0.0.1:80", "tls": null, "reused": true}')
    (only,) = exported(recorded([[CALL, opened, HEAD, *STREAM[3:]]]))["entries"]
    timings = only["timings"]
    assert [timings[name] for name in ("dns", "connect", "ssl", "blocked")] == [-1, -1, -1, 0.01]
    assert (only["time"], only["_nlweb"]["open"]["reused"]) == (5, True)


def archive(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}


def entry(**changes: Any) -> dict[str, Any]:
    """Return an entry as a browser saves it; `changes` are those of its request."""
    request = {
        "method": "POST",
        "url": "https://agent.example/ask?api_key=hidden1234",
        "httpVersion": "http/2.0",
        "headers": [
            {"name": ":authority", "value": "agent.example"},
            {"name": "content-type", "value": "application/json"},
            {"name": "authorization", "value": "Bearer hidden1234"},
            {"name": "x-trace", "value": "on"},
            {"name": "sec-fetch-mode", "value": "cors"},
        ],
        "postData": {"mimeType": "application/json", "text": BODY.decode()},
    }
    return {"startedDateTime": "2026-05-04T10:00:00.000Z", "request": {**request, **changes}}


def parsed(*entries: Any) -> ParsedImport:
    return parse_import(json.dumps(archive(*entries)))


def only(found: ParsedImport) -> dict[str, Any]:
    (request,) = found.fixture.requests.values()
    return dict(request)


def remarks_of(found: ParsedImport) -> str:
    return "\n".join(map(str, found.fixture.remarks))


def test_a_request_of_a_browser() -> None:
    found = parsed(entry(method="GET", url="https://agent.example/app.js", postData=None), entry())
    assert found.format == "HAR file"
    assert found.fixture.collection == {
        "name": "Requests to agent.example", "slug": "requests-to-agent-example",
        "description": "", "lesson": None,
    }  # fmt: skip
    saved = only(found)
    assert (saved["name"], saved["slug"]) == ("eggs", "eggs")
    assert (saved["protocol"], saved["binding"], saved["version"]) == ("nlweb", "http", "0.55")
    assert saved["document"] == json.loads(BODY)
    assert saved["address"] == "https://agent.example/ask?api_key="
    assert saved["headers"] == [["authorization", ""], ["x-trace", "on"]]
    assert (
        "/log/entries/1: Skipped headers, not needed or set by the playground: sec-fetch-mode."
        in remarks_of(found)
    )
    assert "/log/entries/0: Skipped. No body and no query parameters." in remarks_of(found)


@pytest.mark.django_db
def test_a_run_of_the_playground_is_imported_as_its_request() -> None:
    greeting = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'
    handshake = Frame(
        0, 0, FrameKind.CALL,
        b"POST /mcp HTTP/1.1\r\nHost: agent.example\r\nContent-Type: application/json\r\n\r\n"
        + greeting,
    )  # fmt: skip
    run = recorded([[handshake, *STREAM[1:], *STREAM]])
    run.version = "0.54"
    found = parse_import(to_har(run))
    saved = only(found)
    assert (saved["document"], saved["version"]) == (json.loads(BODY), "0.54")
    assert MASK not in json.dumps(saved)
    assert "Skipped. The body is a JSON-RPC message with “initialize”." in remarks_of(found)


@pytest.mark.parametrize(
    ("changes", "document"),
    [
        pytest.param(
            {
                "headers": [],
                "postData": {
                    "mimeType": "application/x-www-form-urlencoded",
                    "params": [{"name": "query", "value": "eggs & ham"}, {"name": "x"}, 7],
                },
            },
            {"query": {"text": "eggs & ham"}, "prefer": {"streaming": False}},
            id="form",
        ),
        pytest.param(
            {"postData": {"text": base64.b64encode(BODY).decode(), "_encoding": "base64"}},
            json.loads(BODY),
            id="base64",
        ),
        pytest.param(
            {"method": "get", "url": "https://agent.example/ask?query=eggs", "postData": None},
            {"query": {"text": "eggs"}, "prefer": {"streaming": True}},
            id="query string",
        ),
        pytest.param({"headers": {}}, json.loads(BODY), id="headers in no array"),
        pytest.param({"headers": [7, {"name": 1}]}, json.loads(BODY), id="invalid headers"),
    ],
)
def test_ways_to_write_a_request(changes: Any, document: Any) -> None:
    assert only(parsed(entry(**changes)))["document"] == document


@pytest.mark.parametrize(
    ("skipped", "reason"),
    [
        pytest.param(7, "must be an object with a request", id="entry"),
        pytest.param({"request": None}, "must be an object with a request", id="request"),
        pytest.param(entry(method=1), "a method and a URL, both strings", id="method"),
        pytest.param(entry(url=None), "a method and a URL, both strings", id="url"),
        pytest.param(entry(url="http://["), "is not a valid URL", id="invalid url"),
        pytest.param(entry(method="PUT"), "Unsupported method PUT", id="PUT"),
        pytest.param(entry(postData=1), "No body and no query", id="body"),
        pytest.param(entry(postData={"text": "<p>"}), "not valid JSON", id="no JSON"),
        pytest.param(
            entry(postData={"text": "/w==", "_encoding": "base64"}), "body is not text", id="bytes"
        ),
        pytest.param(
            {"request": {"method": "GET", "url": "wss://a.example/ws", "headers": []}},
            "No body and no query",
            id="websocket",
        ),
    ],
)
def test_an_entry_that_is_skipped_has_a_reason(skipped: Any, reason: str) -> None:
    found = parsed(skipped, entry(), skipped)
    assert only(found)["name"] == "eggs"
    (remark,) = [str(each) for each in found.fixture.remarks if reason in str(each)]
    assert remark.startswith("/log/entries/0: Skipped 2 entries. ")
    with pytest.raises(FixtureError, match="0 of 1 requests can be imported"):
        parsed(skipped)


def test_a_login_in_a_url_is_not_imported() -> None:
    found = parsed(entry(url="https://user:hidden1234@agent.example/ask"))
    assert "hidden1234" not in repr(found)
    assert (found.fixture.collection or {})["name"] == "Requests to agent.example"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"log": {"entries": [', "incomplete"),
        ('{"log": 1}', "Not a HAR file"),
        ('{"log": {}}', "Not a HAR file"),
        ('\ufeff {"log": {"entries": []}}', "no entries"),
    ],
    ids=["cut", "no log", "no array", "no entries"],
)
def test_a_file_that_is_no_archive(text: str, words: str) -> None:
    with pytest.raises(FixtureError, match=words):
        parse_import(text)


_texts = st.sampled_from(["", "eggs", "POST", "http://[", "https://a.example/?query=x", "base64"])
_parts = values(["name", "value", "text", "mimeType", "params", "version"])


@given(
    changes=st.fixed_dictionaries(
        {},
        optional={
            "method": _texts,
            "url": _texts,
            "headers": _parts,
            "postData": _parts | st.just({"text": BODY.decode()}),
        },
    ),
    own=_parts,
)
def test_nothing_that_claims_to_be_an_archive_breaks_anything(changes: Any, own: Any) -> None:
    try:
        found = parsed({**entry(**changes), "_nlweb": own})
    except FixtureError:
        return
    assert only(found)["document"]
