"""The reference: pages, links, filter and requests to try; the explanation of one name."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache
from html import unescape
from itertools import pairwise
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import resolve, reverse
from jsonschema import Draft202012Validator

from playground.composer.deep_links import read_link
from playground.models import Agent
from playground.protocols import json_pointer, schemas
from playground.protocols.reference import reference
from playground.reference.attributes import changes_view, reference_view
from playground.reference.rules import Span, rule_groups, span_of
from tests.support.markup import Element, read
from tests.support.run_page import part, streamed

VERSIONS = schemas.versions()
#: Versions whose requests the demo agent answers.
TRIED = {("nlweb", "0.54"), ("nlweb", "0.55"), ("agent-api", "1"), ("chat-completions", "1")}
PAGES = [
    reverse("references"),
    *(reverse("reference", args=pair) for pair in VERSIONS),
    *(reverse("reference-changes", args=pair) for pair in VERSIONS if changes_view(*pair)),
]


def page_text(url: str) -> str:
    response = Client().get(url)
    assert response.status_code == 200, url
    return response.text


@pytest.fixture(autouse=True)
def agents(db: None) -> None:
    Agent.objects.create(name="Demo", slug="demo", url="http://demo.example/")
    Agent.objects.create(
        name="Demo Agent API",
        slug="demo-agent-api",
        url="http://demo.example/agent-api",
        protocol="agent-api",
        version="1",
    )
    Agent.objects.create(
        name="Demo Chat Completions",
        slug="demo-chat-completions",
        url="http://demo.example/v1/chat/completions",
        protocol="chat-completions",
        version="1",
    )


def test_every_page_and_every_link_between_them() -> None:
    pages = {url: read(page_text(url)) for url in PAGES}
    anchors = {url: anchors_of(markup) for url, markup in pages.items()}
    followed = set()
    for url, markup in pages.items():
        for element in markup.find("a"):
            link = urlsplit(urljoin(url, element.attributes["href"] or ""))
            if link.path in pages:
                assert not link.fragment or link.fragment in anchors[link.path], (url, link)
            else:
                followed.add(link.path)
    for path in followed:
        assert resolve(path), path
    rules = [path for path in followed if path.startswith("/rules/") and path != "/rules/"]
    shown = {(path.split("/")[2], path.split("/")[3]) for path in rules}
    assert shown == {(group.slug, rule.id) for group in rule_groups() for rule in group.rules} - {
        (group.slug, rule.id)
        for group in rule_groups()
        if group.slug == "mcp" and ("mcp", "1") not in VERSIONS
        for rule in group.rules
    }


def anchors_of(markup: Element) -> set[str]:
    ids = [each.attributes["id"] for each in markup.elements if "id" in each.attributes]
    assert len(ids) == len(set(ids)), "an anchor twice"
    return {name for name in ids if name}


@pytest.mark.parametrize("pair", VERSIONS, ids="-".join)
def test_each_attribute_is_below_its_document(pair: tuple[str, str]) -> None:
    markup = read(page_text(reverse("reference", args=pair)))
    assert {each.anchor for each in reference(*pair).attributes()} <= anchors_of(markup)
    elements = markup.elements
    first = next(at for at, each in enumerate(elements) if each.tag == "h1")
    last = next(at for at, each in enumerate(elements) if each.tag == "command-palette")
    tags = [each.tag for each in elements[first:last] if re.fullmatch(r"h[1-6]", each.tag)]
    assert tags.count("h1") == 1
    for above, below in pairwise(tags):
        assert int(below[1]) <= int(above[1]) + 1
    documents = {document.name for document in reference(*pair).documents}
    assert documents <= {each.attributes.get("id") for each in markup.find("h3")}


@pytest.mark.parametrize("pair", VERSIONS, ids="-".join)
def test_a_request_to_try_opens_the_workbench_with_the_attribute(pair: tuple[str, str]) -> None:
    agents = Agent.objects.all()
    tried = 0
    for document in reference_view(*pair).documents:
        for row in document.attributes:
            if row.request is None:
                continue
            tried += 1
            query = QueryDict(mutable=True)
            query.update(dataclasses.asdict(row.request))
            linked = read_link(query, agents)
            assert (linked.fields["protocol"], linked.fields["version"]) == pair
            sent = json.loads(linked.fields["document"])
            assert linked.agent is not None
            found = reference(*pair).request_location(row.attribute)
            assert found
            json_pointer.resolve(sent, found[1])
            problems = list(validator(*pair, found[0]).iter_errors(sent))
            assert not problems, (row.attribute, problems)
    assert bool(tried) == (pair in TRIED)


@cache
def validator(protocol: str, version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load(protocol, version, name))


def test_the_link_on_the_page_opens_that_request(client: Client) -> None:
    links = tries("nlweb", "0.54")
    response = client.get(links["Try it: query.text of ask-request"])
    assert response.context["composed"]["version"] == "0.54"
    assert response.context["agent"].slug == "demo"
    document = re.search(r'name="document"[^>]*>(.*?)</textarea>', response.text, re.DOTALL)
    assert document
    assert "text" in json.loads(unescape(document[1]))["query"]


def tries(*version: str) -> dict[str, str]:
    markup = read(page_text(reverse("reference", args=version)))
    return {
        element.attributes["aria-label"] or "": element.attributes["href"] or ""
        for element in markup.find("a")
        if (element.attributes.get("aria-label") or "").startswith("Try")
    }


def test_a_response_to_try_opens_the_request_for_it(client: Client) -> None:
    for version in (("nlweb", "0.54"), ("nlweb", "0.55"), ("agent-api", "1")):
        links = tries(*version)
        shown = [name for name in links if name.startswith("Try a response")]
        assert len(shown) > 10
        for name in shown[:3]:
            response = client.get(links[name])
            assert response.context["composed"]["version"] == version[1]
            assert response.context["protocol"] == version[0]
    names = tries("nlweb", "0.55")
    assert any(name.startswith("Try a response: error.code of ") for name in names)


def test_without_the_demo_agent_nothing_is_offered_to_try(settings: Any) -> None:
    settings.DEMO_ENABLED = False
    assert tries("nlweb", "0.55") == {}


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        ("ask-request.prefer streaming", 'id="ask-request/prefer/streaming"',
         'id="ask-request/query/text"'),
        ("failure-code-known", 'id="failure/error/code"', 'id="ask-request/query/text"'),
        ("<script>nothing", "No name contains all of these words.", "<script>nothing"),
        ("x" * 5000, "x" * 200, "x" * 201),
    ],
    ids=["words", "rule", "nothing", "long"],
)  # fmt: skip
def test_the_filter(client: Client, words: str, shown: str, hidden: str) -> None:
    response = client.get("/reference/nlweb/0.55/", {"q": words})
    assert response.status_code == 200
    assert shown in response.text
    assert hidden not in response.text


def test_htmx_gets_the_documents_and_the_address(client: Client) -> None:
    url = "/reference/nlweb/0.55/"
    response = client.get(url, {"q": "a b"}, headers={"HX-Request": "true"})
    assert response.headers["HX-Replace-Url"] == f"{url}?q=a+b"
    assert b"<html" not in response.content
    assert b'id="reference-body"' in response.content


@pytest.mark.parametrize(
    "path",
    [
        "/reference/nlweb/9/",
        "/reference/nothing/1/",
        "/reference/nlweb/0.54/changes/",
        "/reference/nlweb/9/changes/",
        "/reference/nlweb/..%2f..%2f/",
    ],
)
def test_what_does_not_exist(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_changes() -> None:
    text = page_text("/reference/nlweb/0.55/changes/")
    rows = read(text)
    assert "event-error" in rows.text
    # From the version table.
    assert "TOKEN_LIMIT" in rows.text
    links = [element.attributes.get("href") for element in rows.find("a")]
    assert "/reference/nlweb/0.54/#event-end" in links
    assert "/reference/nlweb/0.55/#event-error" in links


def test_a_rule_links_to_its_attributes() -> None:
    markup = read(page_text("/rules/nlweb/version-present/"))
    links = [element.attributes.get("href") for element in markup.find("a")]
    assert "/reference/nlweb/0.55/#response-meta/version" in links
    assert "/reference/nlweb/0.54/#response-meta/version" in links


def test_the_palette_and_the_help_lead_to_it() -> None:
    links = [each.attributes.get("href") for each in read(page_text("/rules/")).find("a")]
    assert links.count("/reference/") >= 3


NESTED = json.dumps({"text": json.dumps({"a": 'Crème "x"', "b": [1, {"é": None}]})})


@pytest.mark.parametrize(
    ("text", "pointer", "marked"),
    [
        ('{"a": 1, "b": 2}', "/b", '"b": 2'),
        ('{ "a" : [ 1 , {"b": "x"} ] }', "/a/1/b", '"b": "x"'),
        ('[1, [2, 3], 4]', "/1", "[2, 3]"),
        ('["a", "b"]', "/1", '"b"'),
        ('{"a/b": {"~": 0}}', "/a~1b/~0", '"~": 0'),
        ('{"a": 1, "b": 2, "a": 3}', "/a", '"a": 3'),
        ('{"a": NaN}', "/a", '"a": NaN'),
        ('{"\\u0061": 1}', "/a", '"\\u0061": 1'),
        ('{"a": 1} trailing', "/a", '"a": 1'),
        (' {"a": 1}', "", '{"a": 1}'),
        ('{"a#b": 1}', "/a#b", '"a#b": 1'),
        (NESTED, "/text#/b/0", "1"),
        (NESTED, "/text#/a", r"\"a\": \"Cr\\u00e8me \\\"x\\\"\""),
        (NESTED, "/text#/b/1/é", r"\"\\u00e9\": null"),
    ],
)  # fmt: skip
def test_the_span_of_a_value(text: str, pointer: str, marked: str) -> None:
    found = span_of(text, pointer)
    assert found
    assert not found.is_missing
    assert text[found.start : found.end] == marked


@pytest.mark.parametrize(
    ("text", "pointer", "at"),
    [
        ("{}", "/a", 0),
        ('{"a": {}}', "/a/b", 6),
        ("[[]]", "/0/0", 1),
        ('{"a": [1]}', "/a/x", 6),
        ('{"t": "{}"}', "/t#/a", 7),
    ],
)
def test_the_span_of_a_missing_value(text: str, pointer: str, at: int) -> None:
    assert span_of(text, pointer) == Span(at, at + 1, is_missing=True)


@pytest.mark.parametrize("text", ["", "<html>", '{"a"', '{"a": ', "[1, ", '{"a": 1 "b": 2'])
def test_text_that_is_not_json_has_no_spans(text: str) -> None:
    assert span_of(text, "/b") is None


def test_json_in_a_string_that_is_not_json() -> None:
    text = '{"t": "{"}'
    assert span_of(text, "/t#/a") == Span(6, 9)
    assert span_of('{"t": 1}', "/t#/a") == Span(6, 7)


def test_a_span_is_moved() -> None:
    assert Span(1, 2, is_missing=True).moved(3) == Span(4, 5, is_missing=True)


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
