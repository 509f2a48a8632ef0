"""The explanation of one name."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.run_page import part, streamed

QUERY = "/explanations/nlweb/0.55/ask-request/"


@pytest.mark.parametrize(
    ("path", "at", "shown"),
    [
        (QUERY, "/query/itemType", ["itemType", "NLWeb 0.55", "<code>&quot;Recipe&quot;</code>"]),
        (QUERY, "/query/diet", ["NLWeb 0.55 does not define “diet”. It is an extension."]),
        (QUERY, "/query/text/deep",
         ["NLWeb 0.55 does not define “deep”", "<code>query.text</code>"]),
        (QUERY, "/query/<img src=x>", ["&lt;img src=x&gt;"]),
        ("/explanations/nlweb/0.55/answer/", "/results/3", ["results"]),
        ("/explanations/nlweb/0.54/ask-request/", "/x", ["NLWeb 0.54"]),
        ("/explanations/agent-api/1/message/", "/x", ["Agent API"]),
        ("/explanations/http/1/request-headers/", "/x", ["HTTP"]),
    ],
    ids=["name", "extension", "unknown", "markup", "element", "0.54", "agent-api", "http"],
)  # fmt: skip
def test_a_name_is_explained(client: Client, path: str, at: str, shown: list[str]) -> None:
    response = client.get(path, {"at": at})
    assert response.status_code == 200
    html = response.text
    assert [text for text in shown if text not in html] == []
    assert "<img" not in html


@pytest.mark.parametrize(
    "path",
    [
        "/explanations/nlweb/0.99/ask-request/",
        "/explanations/nlweb/0.55/nothing/",
        "/explanations/nothing/1/message/",
        "/explanations/nlweb/.../ask-request/",
        f"{QUERY}?at=query",
        f"{QUERY}?at=/{'x' * 3000}",
        f"{QUERY}?at={'/x' * 100}",
    ],
)
def test_what_does_not_exist_has_no_page(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("sent", "reference"),
    [
        ('event: start\ndata: {"_meta": {"version": "0.55"}}', "nlweb/0.55/response-meta#"),
        ('event: result\ndata: {"item": {"name": "Soup"}}', "nlweb/0.55/item#"),
        ('event: result\ndata: {"index": 0, "item": {}}', "nlweb/0.55/event-result#"),
        ('event: promise\ndata: {"token": "p"}', "nlweb/0.55/response#"),
        ('event: ping\ndata: {"a": 1}', ""),
    ],
)
def test_the_payload_of_an_event_has_a_schema(db: None, sent: str, reference: str) -> None:
    shown = part(streamed(sent), "events/4/").select(data_explain_document=None)
    assert [each.attributes["data-explain-document"] for each in shown] == (
        [reference] if reference else []
    )


def test_kinds_have_schemas_of_their_own(db: None) -> None:
    page = part(streamed('event: result\ndata: {"item": {}}'), "events/")
    kinds = [each.attributes["data-explain"] for each in page.select(class_="event-kind")]
    assert kinds[2:4] == ["playground/1/frames#/head", "playground/1/events#/result"]


def test_the_fragment_may_be_cached(client: Client) -> None:
    response = client.get(QUERY, {"at": "/query"})
    assert response["Cache-Control"] == "private, max-age=3600"
    assert client.post(QUERY).status_code == 405
