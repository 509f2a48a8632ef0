from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import jsonschema
import pytest

from playground.demo import corpus as corpora
from playground.demo import promises
from playground.demo.corpus import Corpus
from playground.protocols import schemas
from tests.demo.client import Reply, reply_to
from tests.demo.reference_responses import shipped_corpus


def check(version: str, name: str, document: Any) -> None:
    """Validate a document by the schema of that name and version."""
    _validator(version, name).validate(document)


@cache
def _validator(version: str, name: str) -> jsonschema.Draft202012Validator:
    schema = schemas.load("nlweb", version, name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


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
def post(corpus: Corpus) -> Ask:
    """Post a body to a path below /demo/, and read the response with its events."""
    return reply_to


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
