"""Export of runs as HTTP archives."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from playground import __version__
from playground.import_export.har import to_har
from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from playground.transport.redaction import MASK
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
    opened = replace(OPEN, data=b'{"peer": "127.0.0.1:80", "tls": null, "reused": true}')
    (only,) = exported(recorded([[CALL, opened, HEAD, *STREAM[3:]]]))["entries"]
    timings = only["timings"]
    assert [timings[name] for name in ("dns", "connect", "ssl", "blocked")] == [-1, -1, -1, 0.01]
    assert (only["time"], only["_nlweb"]["open"]["reused"]) == (5, True)
