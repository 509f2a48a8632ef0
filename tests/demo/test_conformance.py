"""Conformance of the agent in every protocol, without scenarios, to every rule of all versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import AsyncClient

from playground.conformance import ConformanceReport, Level, Verdict
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.failures import CODES
from playground.demo.guides import GROUPS, Example
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from tests.demo.agent_api.client import CALENDAR, PANTRY, objects, user_message
from tests.demo.agent_api.client import post as send
from tests.demo.conformance import problems, recorded, report, report_on
from tests.demo.conftest import Ask, Clock, check

pytestmark = pytest.mark.django_db(transaction=True)
VERSIONS = ("0.54", "0.55")
SESSION = {"conversation_id": "conv_1", "turn": 4, "last_topic": "soup", "theirs": {"a": [1]}}
ANSWERS = {"guests": 8, "courses": ["main"], "dietary_restrictions": ["vegetarian"]}

#: Sections of requests, by what they are about. Each is sent in both versions, and in each way.
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
#: How a request is sent: the path of the endpoint, "" for HTTP, and the preference for a stream.
WAYS = [("", None), ("", False), ("", True), ("mcp/older", None), ("mcp/newer", None)]
GENERATIONS = ("mcp/older", "mcp/newer")


async def run(
    path: str, request: Any, version: str, protocol: str = "nlweb"
) -> list[tuple[FrameKind, bytes]]:
    """Every frame of an exchange as the playground would have recorded it."""
    binding = "mcp" if path.startswith("mcp") else "http"
    target = Target(f"http://testserver/demo/{path}?pace=0", protocol, binding, version)
    exchange = registry.exchange(target, request)
    frames: list[tuple[FrameKind, bytes]] = []
    while (call := exchange.next_call()) is not None:
        headers = {name: value for name, value in call.headers if name != "Content-Type"}
        url = urlsplit(call.url)
        reply = await AsyncClient().post(
            f"{url.path}?{url.query}", call.body, content_type="application/json", headers=headers
        )
        lines = "".join(f"{name}: {value}\r\n" for name, value in call.headers)
        sent = f"POST {url.path} HTTP/1.1\r\n{lines}\r\n".encode() + (call.body or b"")
        for frame in [(FrameKind.CALL, sent), *await recorded(reply)]:
            frames.append(frame)
            exchange.receive(Frame(len(frames), 0, *frame))
    return frames


async def said_against(path: str, request: Mapping[str, Any], version: str) -> dict[str, str]:
    """Everything that a report says against a run of NLWeb; information aside."""
    operation = "await" if "promise_token" in request else "ask"
    binding = "mcp" if path.startswith("mcp") else "http"
    frames = await run(path, request, version)
    found = report(frames, request, version, binding=binding, operation=operation)
    if binding == "mcp":
        passed = {finding.rule for finding in found.findings if finding.verdict is Verdict.PASS}
        whole = {"mcp.nlweb-reply", "mcp.tool-ask-schema", "meta-present"}
        assert whole <= passed or "mcp.error-object" in passed
    return problems(found)


def as_sent(
    sections: Mapping[str, Any], version: str, streaming: bool | None = None
) -> dict[str, Any]:
    """The request with its version, and its preference for a stream if it has one."""
    request = {**sections, "meta": {**sections.get("meta", {}), "version": version}}
    if streaming is not None:
        request["prefer"] = {**sections.get("prefer", {}), "streaming": streaming}
    return request


@pytest.mark.parametrize(("path", "streaming"), WAYS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("about", ASKED)
async def test_ask(about: str, version: str, path: str, streaming: bool | None) -> None:
    assert await said_against(path, as_sent(ASKED[about], version, streaming), version) == {}


@pytest.mark.parametrize("path", GENERATIONS)
async def test_a_stream_of_notices(path: str) -> None:
    assert await said_against(path, as_sent(ASKED["search"], "0.55", True), "0.55") == {}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "example", [example for group in GROUPS for example in group.examples], ids=lambda e: e.title
)
async def test_examples(post: Ask, example: Example, version: str) -> None:
    """What the demo's page tells people to try does what it says."""
    check("0.55", "ask-request", example.request)
    assert await said_against("", as_sent(example.request, version), version) == {}
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
        assert await said_against("", request, version) == {}
        clock.now += 4


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("prefer", [{"mode": "summarize"}, {"response_format": "chatgpt_app"}])
async def test_await_in_the_format_that_was_asked_for(
    post: Ask, version: str, prefer: dict[str, Any]
) -> None:
    asked = {"query": {"text": "meal plan"}, "prefer": prefer, "meta": {"version": version}}
    token = (await post("ask?pace=0", asked)).document["promise"]["token"]
    request = {"promise_token": token, "action": "checkin", "meta": asked["meta"]}
    assert await said_against("", request, version) == {}


@pytest.mark.parametrize("version", VERSIONS)
async def test_cancel(post: Ask, clock: Clock, version: str) -> None:
    asked = {"query": {"text": "weekly meal plan"}, "meta": {"version": version}}
    token = (await post("ask", asked)).document["promise"]["token"]
    clock.now += 5
    for action in ("cancel", "checkin", "cancel"):
        request = {"promise_token": token, "action": action, "meta": asked["meta"]}
        assert await said_against("", request, version) == {}
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
    assert await said_against("", request, version) == {}


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
async def test_malformed_requests(operation: str, request_: dict[str, Any], version: str) -> None:
    request = {**request_, "meta": {"version": version}}
    found = await report_on(operation, request, version, operation)
    assert problems(found) == {}


@pytest.mark.parametrize("action", ["checkin", "cancel"])
@pytest.mark.parametrize("path", GENERATIONS)
async def test_await_over_mcp(path: str, action: str, clock: Clock) -> None:
    frames = await run(path, as_sent(ASKED["plan"], "0.55"), "0.55")
    text = b"".join(data for _, data in frames).decode()
    token = text.rpartition('"token":')[2].split('"')[1]
    request = {"promise_token": token, "action": action, "meta": {"version": "0.55"}}
    assert await said_against(path, request, "0.55") == {}


async def test_a_question_of_the_stateless_generation() -> None:
    """It comes as a result, so no reply of NLWeb is there yet."""
    request = {"query": {"text": "surprise me, but ask first"}, "meta": {"version": "0.55"}}
    found = report(await run("mcp/newer", request, "0.55"), request, "0.55", binding="mcp")
    assert found.verdicts["mcp.input-required"] is Verdict.PASS
    assert found.verdicts["mcp.elicitation-flat"] is Verdict.PASS
    assert found.verdicts["meta-present"] is Verdict.NOT_APPLICABLE
    assert found.problems == ()


# The Agent API

QUESTIONS = ("tomato soup", "zzzzz", "???", "What is in my pantry?",
             "Check my pantry and my calendar", *(row.text for row in ROWS))  # fmt: skip


async def agent_api_report(text: str, stream: bool = True) -> ConformanceReport:
    """The report on the reply to a text."""
    own = {"stream": stream, "tools": [PANTRY, CALENDAR], "session_id": "s"}
    request = {"input": [user_message(text)], **own}
    frames = await run("agent-api", request, "1", "agent-api")
    return report(frames, request, "1", protocol="agent-api", operation="")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("text", [*QUESTIONS, "broken: heart"])
async def test_handlers_conform(text: str, stream: bool) -> None:
    assert problems(await agent_api_report(text, stream)) == {}


#: The rules that each fault on purpose breaks.
EXPECTED: dict[str, set[str]] = {
    # The announced message stays open, and is not the one in the output.
    "unknown message": {
        "message-announced", "message-ended", "content-ended", "messages-in-output",
    },
    "index gap": {"content-index-gapless"},
    "late content": {"content-after-end", "content-after-message"},
    "wrong sum": {"delta-sum"},
    "unclosed message": {"message-ended", "content-ended", "messages-in-output"},
    "unknown type": {"message-type-known", "content-type-known", "role-known"},
    "bare error": {"bare-error", "error-object", "error-status"},
    "no numbers": {"sequence-present"},
    "wrong numbers": {"sequence-type", "sequence-increasing", "sequence-gapless"},
    "backwards": {"status-transitions"},
    "after the end": {"nothing-after-end"},
    "silence": {"response-ended", "message-ended", "content-ended"},
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_broken_breaks_its_rules(name: str) -> None:
    found = problems(await agent_api_report(f"broken: {name}"), tuple(Level))
    assert {rule.removeprefix("agent-api.") for rule in found} == EXPECTED[name]
    last = (await objects(user_message(f"broken: {name}")))[-1]
    ends = last.get("object") == "response" and last["status"] == "completed"
    assert ends == BROKEN[name].ends
    whole = await send({"input": [user_message(f"broken: {name}")], "stream": False})
    assert whole.json()
