"""A protocol that only a row describes: composed, sent, streamed, shown, saved and followed up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from playground.agents import doctor
from playground.collections import fixture
from playground.collections.fixture import REQUEST, dump
from playground.collections.fixture_parser import parse_fixture
from playground.composer import fields
from playground.engine.request import request_to
from playground.import_export.http_request import from_http_request
from playground.models import Agent, Collection, Run, SavedRequest
from playground.models.agents import proposed_changes
from playground.protocols import json_decoder, lenient, registry, schemas
from playground.protocols.events import Completed, Event, Outcome, Text
from playground.protocols.exchange import RequestProblem, Version
from playground.protocols.registry import Operation, ProtocolSpec
from playground.stored_runs import run_facts
from tests.support.background_tasks import wait_for_tasks
from tests.support.markup import Element, read
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, chunk, serve

SCHEMA = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            "title": "Messages",
            "description": "What was said so far.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
            },
        },
        "model": {"description": "The model that answers.", "type": "string"},
        "temperature": {"description": "Randomness.", "type": "number", "minimum": 0, "maximum": 2},
        "options": {
            "title": "Options",
            "type": "object",
            "properties": {"seed": {"description": "For equal answers.", "type": "integer"}},
        },
    },
}


class EchoReader:
    """Reads pieces of text, and keeps what was said for the next request."""

    def __init__(self, version: str) -> None:
        self._said: list[str] = []
        self._ended = False

    def document(self, seq: int, payload: Any) -> list[Event]:
        return self._text(seq, payload)

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        if data == "[DONE]":
            self._ended = True
            return [Completed(seq, {})]
        return self._text(seq, json_decoder.decode_event(data))

    def _text(self, seq: int, payload: Any) -> list[Event]:
        text = lenient.text(lenient.members(payload).get("piece"))
        self._said.append(text)
        return [Text(seq, text, delta=len(self._said) > 1, raw=payload)]

    def end(self) -> None:
        self._ended = True

    @property
    def outcome(self) -> Outcome:
        return Outcome.ANSWER if self._said and self._ended else Outcome.NONE

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        return {"said": "".join(self._said)} if self._said else None


class EchoAssembler:
    def __init__(self) -> None:
        self._pieces: list[str] = []

    def add(self, events: Any) -> None:
        self._pieces += [event.text for event in events if isinstance(event, Text)]

    def document(self, outcome: str, session_context: Any = None) -> Any:
        return {"text": "".join(self._pieces)}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def validate(document: Any, _: str) -> list[RequestProblem]:
    if lenient.items(lenient.members(document).get("messages")):
        return []
    return [RequestProblem("/messages", "A request needs messages.", "error")]


def text_of(document: Any) -> str:
    said = lenient.items(lenient.members(document).get("messages"))
    return str(said[-1]["content"]) if said else ""


def follow_up(
    document: Mapping[str, Any], *, prev: Sequence[str], session_context: Any, text: str = ""
) -> dict[str, Any]:
    answer = {"role": "assistant", "content": session_context["said"]}
    return {**document, "messages": [*document["messages"], answer, user(text)]}


ECHO = ProtocolSpec(
    label="Echo",
    versions=(Version("1", "Echo"),),
    operations=(Operation("echo", schema="request", text="/messages", missing="Enter a message."),),
    new_request=lambda version, text, streaming: {"messages": [user(text)]},
    validate_request=validate,
    reader=EchoReader,
    assembler=EchoAssembler,
    operation=lambda document: "",
    follow_up_document=follow_up,
    request_text=text_of,
    query_text=text_of,
    wants_stream=lambda document: True,
    session_context=lambda document, returned: dict(returned) if returned else None,
    is_request=lambda document: "echo" in document,
    is_message=lambda name, payload, streamed: "piece" in lenient.members(payload),
    response_name="an Echo response",
    agent_name="an Echo agent",
)


@pytest.fixture(autouse=True)
def echo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Add the row, and the schema of its requests."""
    (tmp_path / "request.json").write_text(json.dumps(SCHEMA))
    folder = schemas._folder
    monkeypatch.setattr(
        schemas, "_folder", lambda *key: tmp_path if key == ("echo", "1") else folder(*key)
    )
    monkeypatch.setitem(registry.PROTOCOLS, "echo", ECHO)  # type: ignore[arg-type]
    protocols = fixture._RULES[REQUEST]["properties"]["protocol"]
    monkeypatch.setitem(protocols, "enum", [*registry.PROTOCOLS])
    caches = (fields.protocol_forms, fixture._schema)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
async def url() -> AsyncIterator[str]:
    pieces = (b'data: {"piece": "so"}\n\n', b'data: {"piece": "up"}\n\n', b"data: [DONE]\n\n")
    async with serve(STREAM_HEAD, *map(chunk, pieces), LAST_CHUNK) as server:
        yield f"{server.url}/say"


@pytest.fixture
async def agent(url: str, transactional_db: None) -> Agent:
    return await Agent.objects.acreate(
        name="Echo", slug="echo", url=url, protocol="echo", version="1"
    )


async def page(client: AsyncClient, path: str, **query: str) -> Element:
    response = await client.get(path, query)
    assert response.status_code == 200
    return read(response.content.decode())


def composed(document: Any, **more: str) -> dict[str, str]:
    return {"agent": "echo", "version": "1", "document": json.dumps(document), **more}


async def sent(client: AsyncClient, document: Any) -> Run:
    response = await client.post("/runs/", composed(document))
    assert response.status_code < 400, response.content
    await wait_for_tasks()
    return await Run.objects.alatest("created_at")


async def test_it_is_composed_in_a_form_of_its_schema(
    async_client: AsyncClient, agent: Agent
) -> None:
    markup = await page(async_client, "/", agent="echo", text="soup")
    sections = {
        each.attributes["data-title"]: each
        for each in markup.select("section", **{"data-protocol": "echo"})
    }
    assert [*sections] == ["Messages", "Parameters", "Options"]
    assert all("hidden" not in each.attributes for each in sections.values())
    (messages,) = sections["Messages"].find("json-list")
    assert messages.attributes["data-kind"] == "message"
    shown = {
        each.attributes["data-pointer"]: each.attributes["data-types"]
        for section in sections.values()
        for each in section.find("json-field")
    }
    assert shown == {"/model": "text", "/temperature": "number", "/options/seed": "number"}
    assert "Randomness. A number from 0 to 2." in sections["Parameters"].words
    document = markup.by_id("document")
    assert document is not None
    assert json.loads(document.text) == {"messages": [user("soup")]}
    (table,) = markup.select("script", id="protocols")
    assert json.loads(table.text)["echo"]["operations"][0]["fresh"] == {
        "1": {"messages": [user("$text")]}
    }


async def test_it_is_offered_where_agents_are_added(
    async_client: AsyncClient, agent: Agent
) -> None:
    form = await page(async_client, "/agents/new/")
    assert form.select("optgroup", label="Echo")
    assert form.select(value="echo")
    added = {"name": "B", "url": agent.url, "protocol": "echo", "version": "1", "auth": "none"}
    assert (await async_client.post("/agents/", added)).status_code == 302
    assert (await Agent.objects.aget(slug="b")).protocol_label == "Echo"


async def test_a_document_is_checked_and_previewed(async_client: AsyncClient, agent: Agent) -> None:
    preview = await async_client.post("/compose/preview/", composed({}))
    assert "A request needs messages." in preview.content.decode()


async def test_it_is_streamed_shown_and_followed_up(
    async_client: AsyncClient, agent: Agent
) -> None:
    run = await sent(async_client, {"messages": [user("soup")]})
    assert (run.state, run.outcome, run.protocol, run.text) == (
        "completed", "answer", "echo", "soup",
    )  # fmt: skip
    assert (await sync_to_async(run_facts)(run)).document == {"text": "soup"}
    shown = (await page(async_client, f"/runs/{run.pk}/")).words
    assert "soup" in shown
    for tab in ("timeline", "wire", "session", "conformance", "checks", "code", "events"):
        await page(async_client, f"/runs/{run.pk}/{tab}/")
    assert "Echo" in (await page(async_client, "/runs/")).words
    response = await async_client.post(f"/runs/{run.pk}/next/", {"text": "again"})
    assert response.status_code < 400
    await wait_for_tasks()
    second = await Run.objects.alatest("created_at")
    assert second.request == {
        "messages": [user("soup"), {"role": "assistant", "content": "soup"}, user("again")]
    }
    assert second.parent_id == run.pk


async def test_it_is_saved_and_leaves_as_a_fixture(async_client: AsyncClient, agent: Agent) -> None:
    more = {"name": "Soup", "collection": "Kept"}
    saved = await async_client.post("/saved-requests/", composed({"messages": []}, **more))
    assert saved.status_code < 400, saved.content

    def exported() -> Any:
        collection = Collection.objects.get(name="Kept")
        return parse_fixture(dump(collection))

    ((_, request),) = (await sync_to_async(exported)()).requests.items()
    assert (request["protocol"], request["document"]) == ("echo", {"messages": []})
    stored = await SavedRequest.objects.aget()
    assert stored.get_protocol_display() == "Echo"


def test_a_request_of_another_tool_is_recognized() -> None:
    found = from_http_request("POST", "http://a.example/say", [], '{"echo": true}')
    assert (found.protocol, found.version, found.address) == ("echo", "1", "http://a.example/say")


async def test_the_doctor_detects_and_proposes_it(agent: Agent) -> None:
    agent.protocol, agent.version = "nlweb", "0.55"
    report = await doctor.diagnose(await sync_to_async(request_to)(agent, {}))
    steps = {step["name"]: step for step in report["steps"]}
    assert (steps["echo"]["label"], steps["echo"]["status"]) == ("Echo", "passed")
    assert steps["echo"]["cause"] == "/say is Echo."
    assert steps["json"]["status"] == "passed"
    assert report["found"]["label"] == "Echo"
    agent.detected = {"report": report}
    assert proposed_changes(agent) == {"protocol": "echo", "version": "1"}
