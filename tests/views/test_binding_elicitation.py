"""Answers to questions of MCP itself: into the open call, or with the request sent again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from playground.base.processes import this_process
from playground.models import Agent, Run, RunKind, Share
from playground.protocols.frames import Frame, FrameKind
from tests.support.background_tasks import wait_for_tasks
from tests.support.markup import one_line, read
from tests.support.run_page import html_of
from tests.support.servers import reply, serve
from tests.support.stored_runs import END, OPEN, Recording, event

pytestmark = pytest.mark.database

SCHEMA = {
    "properties": {
        "diet": {"type": "string", "oneOf": [{"const": "v", "title": "Vegan"}, {"const": "n"}]},
        "guests": {"type": "integer", "minimum": 1, "description": "All of them."},
    },
    "required": ["diet", "guests"],
}
PARAMS = {"message": "Who comes?", "requestedSchema": SCHEMA}
VISIT = {"mode": "url", "message": "Log in first", "url": "https://login.example.com/"}
PLACE = {"seq": "4", "part": "0"}
FILLED = {**PLACE, "q0": "v", "q1": "3"}
HTMX = {"HX-Request": "true"}
HEAD = Frame(0, 20, FrameKind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")


def message(**members: Any) -> Frame:
    return event("event: message\ndata: " + json.dumps({"jsonrpc": "2.0", **members}))


def asked(agent: Agent | None, frame: Frame, *, ended: bool, **fields: Any) -> Run:
    """A run over MCP whose server has asked; `ended` where its call is over."""
    body = {"jsonrpc": "2.0", "id": "c1", "method": "tools/call", "params": {"name": "ask"}}
    head = b"POST /mcp HTTP/1.1\r\nMcp-Session-Id: s1\r\nMCP-Protocol-Version: 2025-06-18\r\n\r\n"
    call = Frame(0, 0, FrameKind.CALL, head + json.dumps(body).encode())
    url = agent.url if agent else "http://agent.example/mcp"
    own = {"agent": agent, "url": url, "binding": "mcp", "driver": this_process(), **fields}
    recording = Recording(**own)
    recording.add(call, OPEN, HEAD, frame)
    if ended:
        recording.add(END)
        return recording.end()
    Run.objects.filter(pk=recording.run.pk).update(state="streaming")
    recording.run.refresh_from_db()
    return recording.run


def in_call(agent: Agent | None, params: Any = PARAMS, **fields: Any) -> Run:
    frame = message(id="q1", method="elicitation/create", params=params)
    return asked(agent, frame, **{"ended": False, **fields})


def instead(agent: Agent, params: Any = PARAMS) -> Run:
    requests = {"w": {"method": "elicitation/create", "params": params}}
    result = {"resultType": "input_required", "inputRequests": requests, "requestState": "x"}
    return asked(agent, message(id="c1", result=result), ended=True)


def speak_mcp(agent: Agent, url: str = "http://agent.example/mcp") -> Agent:
    agent.binding, agent.url = "mcp", url
    agent.save()
    return agent


def page(run: Run) -> Any:
    return read(html_of(run))


class TestForm:
    def test_shows_titles_bounds_and_what_is_said_beside(self, agent: Agent) -> None:
        text = page(in_call(speak_mcp(agent))).words
        assert "Who comes?" in text
        assert "Vegan" in text
        assert "All of them. A whole number of at least 1." in text
        assert "The call is waiting for your answer" in text
        assert "NLWeb doesn’t define" not in text

    def test_an_address_is_a_link_where_it_can_be_one(self, agent: Agent) -> None:
        markup = page(in_call(speak_mcp(agent), VISIT))
        links = [e.attributes for e in markup.find("a") if e.attributes.get("href") == VISIT["url"]]
        assert [link["rel"] for link in links] == ["noreferrer noopener"]
        assert "Done" in markup.text

    @pytest.mark.parametrize(
        "url", ["javascript:alert(1)", "ftp://x.example", "https://a@b.example"]
    )
    def test_any_other_address_is_none(self, agent: Agent, url: str) -> None:
        markup = page(in_call(speak_mcp(agent), {**VISIT, "url": url}))
        assert url not in [e.attributes.get("href") for e in markup.find("a")]
        assert url in markup.text

    def test_is_gone_when_the_call_has_ended(self, agent: Agent) -> None:
        markup = page(in_call(speak_mcp(agent), ended=True))
        assert "can no longer be answered" in markup.text
        assert "q0" not in [e.attributes.get("name") for e in markup.find("input")]

    def test_the_exact_answer_can_be_looked_at(self, client: Client, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        shown = client.post(f"/runs/{run.pk}/answers/preview/", FILLED).text
        text = read(shown).text
        assert '"action": "accept"' in text
        assert '"guests": 3' in text
        assert "Mcp-Session-Id" in text


class TestAnswers:
    """Answers are shown by the titles of the options that were chosen."""

    @pytest.mark.parametrize(("diet", "shown"), [("v", "Vegan"), ("n", "n"), ("other", "other")])
    def test_in_the_transcript_and_in_a_share(
        self, client: Client, agent: Agent, diet: str, shown: str
    ) -> None:
        first = instead(speak_mcp(agent))
        answer = Recording(
            parent=first, kind="answer", parent_entry_seq=4, parent_entry_part=0, binding="mcp",
            conversation=first.conversation, answers={"diet": diet, "guests": 3},
            resume={"kind": "mcp-input", "inputResponses": {"w": {"action": "accept"}}},
        ).end()  # fmt: skip
        expected = f"diet{shown}guests3"
        for run in (first, answer):
            assert expected in "".join(page(run).text.split())
        share = client.get(Share.objects.create(run=first).get_absolute_url())
        assert expected in "".join(read(share).text.split())

    def test_into_the_open_call(self, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        Recording(
            parent=run, kind="reply", parent_entry_seq=4, parent_entry_part=0, binding="mcp",
            answers={"diet": "v"}, resume={"kind": "mcp-response", "result": {"action": "accept"}},
        ).end()  # fmt: skip
        assert "dietVegan" in page(run).text


@pytest.mark.django_db(transaction=True)
class TestSending:
    @pytest.fixture(autouse=True)
    async def ended(self) -> AsyncIterator[None]:
        """Let the runs end before the tables are emptied: PostgreSQL would find a deadlock."""
        yield
        await wait_for_tasks()

    async def test_into_the_call(self, async_client: AsyncClient, agent: Agent) -> None:
        async with serve(reply(b"", status="202 Accepted")) as server:
            await sync_to_async(speak_mcp)(agent, f"{server.url}/mcp")
            run = await sync_to_async(in_call)(agent)
            sent = await async_client.post(f"/runs/{run.pk}/answers/", FILLED, headers=HTMX)
            assert sent.status_code == 200
            await asyncio.wait_for(server.asked.wait(), 10)
        assert json.loads(server.requests[0].partition(b"\r\n\r\n")[2]) == {
            "jsonrpc": "2.0", "id": "q1",
            "result": {"action": "accept", "content": {"diet": "v", "guests": 3}},
        }  # fmt: skip
        assert b"Mcp-Session-Id: s1" in server.requests[0]
        child = await Run.objects.aget(parent=run)
        assert (child.kind, child.parent_entry, child.answers) == (
            RunKind.CLIENT_RESPONSE, (4, 0), {"diet": "v", "guests": 3},
        )  # fmt: skip
        text = one_line(sent)
        assert "Answered during the call." in text
        assert "q0" not in [e.attributes.get("name") for e in read(text).find("input")]

    @pytest.mark.parametrize("action", ["decline", "cancel"])
    async def test_declining_needs_no_answers(
        self, async_client: AsyncClient, agent: Agent, action: str
    ) -> None:
        async with serve(reply(b"", status="202 Accepted")) as server:
            await sync_to_async(speak_mcp)(agent, server.url)
            run = await sync_to_async(in_call)(agent)
            data = {**PLACE, "action": action}
            sent = await async_client.post(f"/runs/{run.pk}/answers/", data, headers=HTMX)
            assert sent.status_code == 200
            await asyncio.wait_for(server.asked.wait(), 10)
        body = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
        assert body["result"] == {"action": action}

    async def test_with_the_call_once_more(self, async_client: AsyncClient, agent: Agent) -> None:
        async with serve(reply(b"", status="500 No")) as server:
            await sync_to_async(speak_mcp)(agent, server.url)
            run = await sync_to_async(instead)(agent)
            sent = await async_client.post(f"/runs/{run.pk}/answers/", FILLED, headers=HTMX)
            assert sent.status_code == 200
            await asyncio.wait_for(server.asked.wait(), 10)
        child = await Run.objects.aget(parent=run)
        assert child.kind == RunKind.ANSWER
        assert child.resume == {
            "kind": "mcp-input", "requestState": "x",
            "inputResponses": {
                "w": {"action": "accept", "content": {"diet": "v", "guests": 3}},
            },
        }  # fmt: skip
        assert child.request == run.request
        # Sent again, it says the same again.
        again = await async_client.post(f"/runs/{child.pk}/repetition/", headers=HTMX)
        assert again.status_code == 200
        children = [each async for each in Run.objects.filter(parent=run)]
        assert [each.resume for each in children] == [child.resume] * 2


class TestRefusal:
    def test_answers_out_of_bounds_come_back(self, client: Client, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        data = {**FILLED, "q1": "0"}
        sent = client.post(f"/runs/{run.pk}/answers/", data, headers=HTMX)
        assert sent.status_code == 422
        assert "Enter a whole number of at least 1." in sent.text
        assert not Run.objects.filter(parent=run).exists()

    def test_a_question_is_answered_once(self, client: Client, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        Recording(parent=run, kind="reply", parent_entry_seq=4, parent_entry_part=0, binding="mcp")
        sent = client.post(f"/runs/{run.pk}/answers/", FILLED, headers=HTMX)
        assert sent.status_code == 422
        assert Run.objects.filter(parent=run).count() == 1

    def test_an_answer_that_did_not_arrive_can_be_given_again(self, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        failed = Recording(
            parent=run, kind="reply", parent_entry_seq=4, parent_entry_part=0, binding="mcp"
        )
        failed.end("failed")
        markup = page(run)
        assert "The answer was not delivered." in markup.text
        assert "q0" in [e.attributes.get("name") for e in markup.find("input")]

    def test_a_call_that_has_ended_takes_no_answer(self, client: Client, agent: Agent) -> None:
        run = in_call(speak_mcp(agent), ended=True)
        sent = client.post(f"/runs/{run.pk}/answers/", FILLED, headers=HTMX)
        assert sent.status_code == 422
        assert "can no longer be answered" in sent.text
        assert not Run.objects.filter(parent=run).exists()

    @pytest.mark.parametrize("path", ["answers/", "answers/preview/"])
    def test_a_session_stays_with_the_server_that_keeps_it(
        self, client: Client, agent: Agent, path: str
    ) -> None:
        run = in_call(speak_mcp(agent))
        speak_mcp(agent, "http://elsewhere.example/mcp")
        sent = client.post(f"/runs/{run.pk}/{path}", FILLED, headers=HTMX)
        assert "URL has changed" in sent.text
        assert "Mcp-Session-Id" not in sent.text
        assert not Run.objects.filter(parent=run).exists()

    def test_an_answer_goes_where_the_call_went(self, client: Client, agent: Agent) -> None:
        run = in_call(speak_mcp(agent))
        speak_mcp(agent, "http://agent.example/other")
        shown = client.post(f"/runs/{run.pk}/answers/preview/", FILLED).text
        assert "http://agent.example/mcp" in read(shown).text
