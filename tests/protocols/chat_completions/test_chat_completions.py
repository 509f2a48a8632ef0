"""Chat Completions: bytes of a response to lines of `send`; conversations; the calls of a turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from playground.conversation.messages import tool_call_forms
from playground.conversation.thread import Thread
from playground.import_export.curl import read_curl
from playground.models import Agent, Run
from playground.protocols import registry
from playground.stored_runs import run_facts
from tests.cases import ask
from tests.support.background_tasks import wait_for_tasks
from tests.support.markup import read
from tests.support.servers import reply, serve

pytestmark = pytest.mark.django_db(transaction=True)

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def model(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def chunk(delta: Any, reason: Any = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    kind = "chat.completion.chunk"
    return {"id": "r", "object": kind, "created": 1, "model": "m", "choices": [choice]}


def whole(message: Any, reason: Any = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    known = {"id": "r", "object": "chat.completion", "created": 1, "model": "m"}
    return reply(json.dumps({**known, "choices": [choice], **more}).encode())


def stream(*payloads: Any, end: str = "[DONE]") -> bytes:
    """A stream of chunks; texts are lines as they are."""
    lines = [each if isinstance(each, str) else f"data: {json.dumps(each)}" for each in payloads]
    body = "".join(f"{line}\n\n" for line in [*lines, *([f"data: {end}"] if end else [])])
    return reply(body.encode(), "text/event-stream")


ROLE, STOP = chunk(model("")), chunk({}, "stop")
PIECES = [{"index": 0, **CALL, "function": {"name": "f", "arguments": '{"a"'}},
          {"index": 0, "function": {"arguments": ": 1}"}}]  # fmt: skip
ERROR = {"error": {"message": "No credit.", "type": "billing", "param": None, "code": None}}

#: The response, the messages in its document, outcome and exit code of the command, broken rules.
RESPONSES: dict[str, tuple[bytes, list[dict[str, Any]], tuple[str, int], set[str]]] = {
    "a document": (
        whole(model("Hello")), [{"content": "Hello"}], ("answer", 0), {"stream-honoured"}),
    "a stream": (
        stream(ROLE, chunk({"content": "Hel"}), chunk({"content": "lo"}), STOP),
        [{"content": "Hello"}], ("answer", 0), set()),
    "without an end": (
        stream(ROLE, chunk({"content": "Hi"}), STOP, end=""), [{"content": "Hi"}],
        ("answer", 0), {"done"}),
    "with comments, nothing, and usage": (
        stream(": keep-alive", chunk({}), chunk({"content": None}), chunk({"content": "Hi"}), STOP,
               {**STOP, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1,
                                                 "total_tokens": 2}}),
        [{"content": "Hi"}], ("answer", 0), set()),
    "several choices": (
        stream(chunk(model("A")), chunk(model("B"), index=1), chunk({"content": "a"}), STOP,
               chunk({}, "stop", 1)),
        [{"content": "Aa"}, {"content": "B"}], ("answer", 0), set()),
    "reasoning, and what is not defined": (
        stream(chunk({"reasoning": "Hm"}), chunk({"reasoning": "m.", "mood": "fine"}),
               chunk({"content": "Yes"}), STOP),
        [{"content": "Yes", "reasoning": "Hmm.", "mood": "fine"}], ("answer", 0), set()),
    "parts": (
        whole({"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}),
        [{"content": "Hi"}], ("answer", 0), {"stream-honoured", "content"}),
    "a call in pieces": (
        stream(ROLE, *(chunk({"tool_calls": [each]}) for each in PIECES), chunk({}, "tool_calls")),
        [{"content": None, "tool_calls": [CALL]}], ("elicitation", 0), set()),
    "a reason that is no text": (
        whole(model("Hi"), {"type": "stop"}), [{"content": "Hi"}], ("answer", 0),
        {"stream-honoured", "finish-reason"}),
    "a refusal": (
        stream(ROLE, chunk({"refusal": "I "}), chunk({"refusal": "refuse."}), STOP),
        [{"content": None, "refusal": "I refuse."}], ("answer", 0), set()),
    "an error in mid-stream": (
        stream(ROLE, chunk({"content": "He"}), ERROR, end=""), [{"content": "He"}],
        ("failure", 1), set()),
    "an error": (
        reply(json.dumps(ERROR).encode(), status="402 Payment Required"), [], ("failure", 1),
        set()),
    "something else": (reply(b'{"hello": 1}'), [], ("none", 3), {"reply"}),
}  # fmt: skip


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response(name: str) -> None:
    script, messages, (outcome, code), broken = RESPONSES[name]
    answer = ask(script, arguments=("--protocol", "chat-completions", "--text", "Say hello"))
    sent = json.loads(answer.requests[0].partition(b"\r\n\r\n")[2])
    assert sent == {"model": "default", "messages": [user("Say hello")], "stream": True}
    assert (answer.end["outcome"], answer.code) == (outcome, code)
    assert {rule.partition(".")[2] for rule in answer.findings} == broken
    document = run_facts(Run.objects.get(pk=answer.end["run"])).document
    found = [each["message"] for each in document.get("choices", ())]
    assert found == [{"role": "assistant", **each} for each in messages]
    shown = [text for each in messages for text in each.values() if isinstance(text, str)]
    assert [text for text in shown if text not in answer.page] == []


SYSTEM = {"role": "system", "content": "Be brief."}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
#: Messages of a request, what was returned for them, and those of the next one.
CONVERSATIONS: dict[str, tuple[list[Any], Any, list[Any]]] = {
    "first": ([SYSTEM, user("a")], model("b"), [SYSTEM, user("a"), model("b"), user("c")]),
    "second": (
        [user("a"), model("b"), user("c")], model("d"),
        [user("a"), model("b"), user("c"), model("d"), user("c")]),
    "nothing returned": ([SYSTEM, user("a")], None, [SYSTEM, user("c")]),
    "nothing returned later": (
        [user("a"), model("b"), user("lost")], None, [user("a"), model("b"), user("c")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation(name: str) -> None:
    messages, answer, expected = CONVERSATIONS[name]
    request = {"model": "m", "messages": messages}
    returned = {"messages": [answer]} if answer else None
    context = registry.of("chat-completions").session_context(request, returned)
    following = registry.of("chat-completions").follow_up_document(
        request, prev=[], session_context=context, text="c"
    )
    assert following == {"model": "m", "messages": expected}


async def test_a_turn_is_followed_up_with_words_of_the_model_and_outputs(
    async_client: AsyncClient,
) -> None:
    pieces = (chunk({"tool_calls": [each]}) for each in PIECES)
    async with serve(stream(ROLE, *pieces, chunk({}, "tool_calls"))) as server:
        url = f"{server.url}/v1/chat/completions"
        await Agent.objects.acreate(
            name="Chat", slug="chat", url=url, protocol="chat-completions", version="1"
        )
        document = {"model": "m", "messages": [user("a")], "stream": True}
        composed = {"agent": "chat", "version": "1", "document": json.dumps(document)}
        await async_client.post("/runs/", composed)
        await wait_for_tasks()
        run = await Run.objects.aget()
        ((seq, part),) = await sync_to_async(_calls)(run)
        given = {f"{seq}-{part}-output": "42", f"{seq}-{part}-format": "text"}
        place = {"seq": str(seq), "part": str(part)}
        response = await async_client.post(f"/runs/{run.pk}/calls/", {**place, **given})
        assert response.status_code < 400, response.content
        await wait_for_tasks()
        second = await Run.objects.exclude(pk=run.pk).aget()
        await async_client.post(f"/runs/{second.pk}/next/", {"text": second.text})
        await wait_for_tasks()
    output = {"role": "tool", "tool_call_id": "c1", "content": "42"}
    assert second.request == {**document, "messages": [user("a"), CALLING, output]}
    third = await Run.objects.alatest("created_at")
    page = await async_client.get(f"/runs/{third.pk}/")
    # The messages so far are no difference between two turns.
    assert "/messages/" not in read(page.content.decode()).words


def _calls(run: Run) -> list[tuple[int, int]]:
    return [each.waiting.entry_ref for each in tool_call_forms(Thread(run))]


def test_a_curl_command_is_recognized() -> None:
    body = json.dumps({"model": "m", "messages": [user("a")]})
    found = read_curl(f"curl http://a.example/v1/chat/completions -d '{body}'")
    assert (found.protocol, found.address) == (
        "chat-completions", "http://a.example/v1/chat/completions",
    )  # fmt: skip
