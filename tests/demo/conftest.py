from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema
import pytest
from django.test import AsyncClient

from playground.demo import corpus as corpora
from playground.demo import promises
from playground.demo.corpus import Corpus
from playground.protocols import schemas
from tests.demo.reference_responses import shipped_corpus


def check(version: str, name: str, document: Any) -> None:
    """Validate a document by the schema of that name and version."""
    _validator(version, name).validate(document)


@cache
def _validator(version: str, name: str) -> jsonschema.Draft202012Validator:
    schema = schemas.load("nlweb", version, name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@dataclass
class Reply:
    """A response as a client sees it."""

    status: int
    headers: dict[str, str]
    body: bytes
    #: Of a stream: (event name, data), in order.
    events: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def meta(self) -> dict[str, Any]:
        return self.document["_meta"]

    @property
    def names(self) -> list[str]:
        return [item["name"] for item in self.document["results"] if "name" in item]

    @property
    def code(self) -> str:
        assert self.meta["response_type"] == "failure", self.document
        return str(self.document["error"]["code"])

    def data_of(self, name: str) -> list[Any]:
        return [data for event, data in self.events if event == name]


def read_events(body: bytes) -> list[tuple[str, Any]]:
    """Return the events of a stream; each has a name and one line of JSON."""
    events = []
    assert body.endswith(b"\n\n")
    for block in body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


Ask = Callable[..., Awaitable[Reply]]


@pytest.fixture(scope="session")
def whole_corpus() -> Corpus:
    """Return the shipped corpus from its file, without a database."""
    return shipped_corpus()


@pytest.fixture(autouse=True)
def corpus(whole_corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr(corpora, "_corpus", whole_corpus)
    return whole_corpus


class Clock:
    """A clock that changes only when a test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the promises."""
    clock = Clock()
    monkeypatch.setattr(promises, "now", clock)
    return clock


@pytest.fixture
def post(corpus: Corpus) -> Iterator[Ask]:
    """Post a body (bytes as they are, all else as JSON) to a path below /demo/."""
    client = AsyncClient()

    async def post(path: str, body: Any, **headers: str) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body)
        response = await client.post(
            f"/demo/{path}", data, content_type="application/json", headers=headers
        )
        if not response.streaming:
            return Reply(response.status_code, dict(response.headers), response.content)
        body = b"".join([chunk async for chunk in response])
        return Reply(response.status_code, dict(response.headers), body, read_events(body))

    return post


@pytest.fixture
def ask(post: Ask) -> Ask:
    """Ask the agent: `await ask("pasta", {"diet": "vegan"}, streaming=True)`."""

    async def ask(
        text: str,
        filters: dict[str, Any] | None = None,
        *,
        version: str = "0.55",
        context: dict[str, Any] | None = None,
        **prefer: Any,
    ) -> Reply:
        request: dict[str, Any] = {
            "query": {"text": text, **(filters or {})},
            "meta": {"version": version},
        }
        if context:
            request["context"] = context
        if prefer:
            request["prefer"] = prefer
        check(version, "ask-request", request)
        return await post("ask?pace=0", request)

    return ask
