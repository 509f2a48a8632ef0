"""Conformance of the agent over HTTP, without scenarios, to every rule of both versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo.corpus import Corpus
from playground.demo.examples import GROUPS, Example
from playground.demo.failures import CODES
from tests.demo.conformance import problems, recorded, report
from tests.demo.conftest import Ask, Clock, check

pytestmark = pytest.mark.django_db(transaction=True)
VERSIONS = ("0.54", "0.55")
SESSION = {"conversation_id": "conv_1", "turn": 4, "last_topic": "soup", "theirs": {"a": [1]}}
ANSWERS = {"guests": 8, "courses": ["main"], "dietary_restrictions": ["vegetarian"]}

#: Sections of requests, by what they are about. Each is sent in both versions, and preferring a
#: stream, a document, and nothing.
ASKED: dict[str, dict[str, Any]] = {
    "search": {"query": {"text": "breakfast with eggs"}},
    "list": {"query": {"text": "soup"}, "prefer": {"mode": "list"}},
    "summarize": {"query": {"text": "soup"}, "prefer": {"mode": "summarize"}},
    "both": {"query": {"text": "soup"}, "prefer": {"mode": "list, summarize"}},
    "unknown mode": {"query": {"text": "soup"}, "prefer": {"mode": "dance"}},
    "detailed": {"query": {"text": "homemade pasta"}, "prefer": {"mode": "detailed"}},
    "app": {"query": {"text": "soup"}, "prefer": {"response_format": "chatgpt_app"}},
    "app, summarize": {
        "query": {"text": "soup"},
        "prefer": {"response_format": "chatgpt_app", "mode": "list, summarize"},
    },
    "unknown format": {"query": {"text": "soup"}, "prefer": {"response_format": "csv"}},
    "second format": {
        "query": {"text": "soup"},
        "prefer": {"response_format": "csv, conversational_search"},
    },
    "restaurants": {"query": {"text": "sushi restaurants"}},
    "products": {"query": {"text": "a good chef's knife", "itemType": "Product"}},
    "films": {"query": {"text": "a film about ramen"}},
    "articles": {"query": {"text": "articles"}},
    "filters": {"query": {"text": "dinner", "diet": ["vegan"], "max_cooking_time": "PT30M"}},
    "unknown filter": {"query": {"text": "soup", "colour": "red"}},
    "impossible filter": {"query": {"text": "soup", "max_cooking_time": "soon"}},
    "nothing": {"query": {"text": "recipes from planet Mars"}},
    "no word": {"query": {"text": "???"}},
    "memory": {"query": {"text": "lunch with avocado"}, "context": {"memory": "vegetarian"}},
    "follow-up": {"query": {"text": "something lighter"}, "context": {"prev": ["curry"]}},
    "session": {"query": {"text": "soup"}, "meta": {"session_context": SESSION}},
    "failure with session": {
        "query": {"text": "recipes from planet Mars"},
        "meta": {"session_context": SESSION},
    },
    "dinner": {"query": {"text": "I need something for dinner"}},
    "pasta": {"query": {"text": "pasta recipe"}},
    "party": {"query": {"text": "plan a dinner party"}, "meta": {"session_context": SESSION}},
    "party, answered": {"query": {"text": "plan a dinner party", **ANSWERS}},
    "party, summarize": {
        "query": {"text": "plan a dinner party", **ANSWERS},
        "prefer": {"mode": "list, summarize"},
    },
    "party, app": {
        "query": {"text": "plan a dinner party", **ANSWERS},
        "prefer": {"response_format": "chatgpt_app"},
    },
    "misfit": {"query": {"text": "plan a dinner party", "courses": "fifth"}},
    "menu": {"query": {"text": "plan a menu"}},
    "menu, second": {
        "query": {"text": "plan a menu", "occasion": "dinner party"},
        "meta": {"session_context": SESSION},
    },
    "menu, answered": {"query": {"text": "plan a menu", "occasion": "dinner party", "guests": 3}},
    "plan": {"query": {"text": "weekly meal plan"}, "meta": {"session_context": SESSION}},
    "cart": {"query": {"text": "my cart"}},
    "cart, summarize": {"query": {"text": "my cart"}, "prefer": {"mode": "summarize"}},
    "cart, app": {"query": {"text": "my cart"}, "prefer": {"response_format": "chatgpt_app"}},
    **{code: {"query": {"text": f"fail {code}"}} for code in CODES},
}


async def said_against(
    path: str, request: Any, version: str, operation: str = "ask"
) -> dict[str, str]:
    """Everything that a report says against the reply to a request; information aside."""
    reply = await AsyncClient().post(
        f"/demo/{path}", json.dumps(request), content_type="application/json"
    )
    return problems(report(await recorded(reply), request, version, operation=operation))


def as_sent(sections: dict[str, Any], version: str, streaming: bool | None) -> dict[str, Any]:
    """The request with its version, and its preference for a stream if it has one."""
    request = {**sections, "meta": {**sections.get("meta", {}), "version": version}}
    if streaming is not None:
        request["prefer"] = {**sections.get("prefer", {}), "streaming": streaming}
    return request


@pytest.mark.parametrize("streaming", [None, False, True])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("about", ASKED)
async def test_ask(corpus: Corpus, about: str, version: str, streaming: bool | None) -> None:
    request = as_sent(ASKED[about], version, streaming)
    assert await said_against("ask?pace=0", request, version) == {}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "example", [example for group in GROUPS for example in group.examples], ids=lambda e: e.title
)
async def test_examples(post: Ask, example: Example, version: str) -> None:
    """What the demo's page tells people to try does what it says."""
    check("0.55", "ask-request", example.request)
    streaming = example.request.get("prefer", {}).get("streaming")
    request = as_sent(dict(example.request), version, streaming)
    assert await said_against("ask?pace=0", request, version) == {}
    if version != example.request.get("meta", {}).get("version", "0.55"):
        return
    reply = await post("ask?pace=0", example.request)
    if reply.events:
        kind, count = example.answer, len(reply.data_of("result"))
    else:
        kind = reply.meta["response_type"]
        count = len(reply.document.get("results", reply.document.get("structuredData", [])))
    assert kind == example.answer
    assert (count > 0) == (kind == "answer")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("session", [{}, {"session_context": SESSION}])
@pytest.mark.parametrize("text", ["weekly meal plan", "a meal plan that fails"])
async def test_await(
    post: Ask, clock: Clock, text: str, version: str, session: dict[str, Any]
) -> None:
    asked = {"query": {"text": text}, "meta": {"version": version, **session}}
    token = (await post("ask", asked)).document["promise"]["token"]
    for _ in range(4):
        request = {"promise_token": token, "action": "checkin", "meta": asked["meta"]}
        assert await said_against("await", request, version, "await") == {}
        clock.now += 4


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("prefer", [{"mode": "summarize"}, {"response_format": "chatgpt_app"}])
async def test_await_in_the_format_that_was_asked_for(
    post: Ask, version: str, prefer: dict[str, Any]
) -> None:
    asked = {"query": {"text": "meal plan"}, "prefer": prefer, "meta": {"version": version}}
    token = (await post("ask?pace=0", asked)).document["promise"]["token"]
    request = {"promise_token": token, "action": "checkin", "meta": asked["meta"]}
    assert await said_against("await", request, version, "await") == {}


@pytest.mark.parametrize("version", VERSIONS)
async def test_cancel(post: Ask, clock: Clock, version: str) -> None:
    asked = {"query": {"text": "weekly meal plan"}, "meta": {"version": version}}
    token = (await post("ask", asked)).document["promise"]["token"]
    clock.now += 5
    for action in ("cancel", "checkin", "cancel"):
        request = {"promise_token": token, "action": action, "meta": asked["meta"]}
        assert await said_against("await", request, version, "await") == {}
        reply = await post("await", request)
        # 0.54 lists no code for it.
        assert reply.status == 200
        assert reply.code == ("CANCELLED" if version == "0.55" else "NO_RESULTS")
        clock.now += 60


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_cancel_that_comes_too_late(post: Ask, version: str) -> None:
    """A task that is done gives its answer."""
    asked = {"query": {"text": "meal plan"}, "meta": {"version": version}}
    token = (await post("ask?pace=0", asked)).document["promise"]["token"]
    request = {"promise_token": token, "action": "cancel", "meta": asked["meta"]}
    reply = await post("await", request)
    assert reply.document["_meta"]["response_type"] == "answer"
    assert await said_against("await", request, version, "await") == {}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("ask", {}), ("ask", {"query": {}}), ("ask", {"query": {"text": 7}}),
        ("ask", {"query": {"text": "soup"}, "context": []}),
        ("await", {}), ("await", {"promise_token": "x", "action": "checkin"}),
        ("await", {"promise_token": "x", "action": "hurry"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", VERSIONS)
async def test_malformed_requests(
    corpus: Corpus, operation: str, request_: dict[str, Any], version: str
) -> None:
    request = {**request_, "meta": {"version": version}}
    assert await said_against(operation, request, version, operation) == {}
