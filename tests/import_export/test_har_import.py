"""Import of the requests of HTTP archives."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections.fixture import FixtureError
from playground.import_export.har import to_har
from playground.import_export.import_formats import ParsedImport, parse_import
from playground.protocols.frames import Frame, FrameKind
from playground.transport.redaction import MASK
from tests.import_export.test_har_export import BODY, STREAM
from tests.support.json_values import values
from tests.support.stored_runs import recorded


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
