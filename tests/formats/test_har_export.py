"""Export of runs as HTTP archives."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from haralyzer import HarParser

from playground.formats.har_export import to_har
from playground.transport.redaction import MASK
from tests.formats.test_har_import import BODY, CALL, HEAD, STREAM
from tests.support.stored_runs import END, OPEN, recorded

pytestmark = pytest.mark.django_db


def test_an_archive_opens_with_another_reader() -> None:
    run = recorded([STREAM])
    har = HarParser(json.loads(to_har(run)))
    assert (har.version, har.creator["name"]) == ("1.2", "NLWeb Playground")
    (only,) = har.har_data["entries"]
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
    parsed = HarParser.match_status_code(only, "200")
    assert parsed
    assert HarParser.match_request_type(only, "POST")


def test_every_call_of_a_run_is_an_entry() -> None:
    run = recorded([[*STREAM, CALL, HEAD, END]])
    entries = json.loads(to_har(run))["log"]["entries"]
    assert [each["response"]["content"]["size"] > 0 for each in entries] == [True, False]


def test_a_run_that_sent_nothing_has_no_entries() -> None:
    assert json.loads(to_har(recorded([[]], "refused")))["log"]["entries"] == []


def test_a_reused_connection_was_not_connected() -> None:
    opened = replace(OPEN, data=b'{"peer": "127.0.0.1:80", "tls": null, "reused": true}')
    (only,) = json.loads(to_har(recorded([[CALL, opened, HEAD, *STREAM[3:]]])))["log"]["entries"]
    timings = only["timings"]
    assert [timings[name] for name in ("dns", "connect", "ssl", "blocked")] == [-1, -1, -1, 0.01]
    assert (only["time"], only["_nlweb"]["open"]["reused"]) == (5, True)
