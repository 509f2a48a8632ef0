"""`make examples`: requests of the reference whose responses have an attribute.

The requests are those of the demo page. They are sent to the demo agent, and the locations in the
documents of its responses are noted where no earlier request has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test.utils import setup_test_environment

from playground.demo import corpus
from playground.demo.corpus import Corpus
from playground.demo.guides import GROUPS, GUIDES
from playground.protocols import registry, sse
from playground.protocols.explanations import schema_of_response
from playground.protocols.json_pointer import escape
from playground.protocols.nlweb.versions import VERSIONS
from tests.demo.client import body_of, post


def requests() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Agent, protocol, version and document of each request of the demo page."""
    documents = [dict(example.request) for group in GROUPS for example in group.examples]
    for version in (each.name for each in VERSIONS):
        for document in documents:
            if document.get("meta", {}).get("version", version) == version:
                yield "demo", "nlweb", version, registry.of("nlweb").with_version(document, version)
    for guide in GUIDES:
        if protocol := PROTOCOLS.get(guide.agent):
            for row in guide.tables[0][2]:
                yield guide.agent, protocol, "1", dict(row.request)


FIXTURE = Path(__file__).parents[2] / "fixtures" / "demo_corpus.json"
PROTOCOLS = {"demo-agent-api": "agent-api", "demo-chat-completions": "chat-completions"}
PATHS = {
    "nlweb": "ask",
    "agent-api": "agent-api",
    "chat-completions": "v1/chat/completions",
}


async def responses() -> list[dict[str, Any]]:
    """The requests with the locations that their responses have first."""
    found = []
    seen: set[tuple[str, str, str]] = set()
    for agent, protocol, version, request in requests():
        response = await post(f"{PATHS[protocol]}?pace=0", request)
        body = await body_of(response)
        shown = dict.fromkeys(
            f"{schema_of_response(protocol, version, document, name)}#{pointer}"
            for name, document in documents_of(body, response.headers["Content-Type"])
            for pointer in pointers(document)
        )
        fresh = [each for each in shown if (protocol, version, each) not in seen]
        seen |= {(protocol, version, each) for each in fresh}
        if fresh:
            row = {"agent": agent, "protocol": protocol, "version": version}
            found.append({**row, "request": request, "shows": sorted(fresh)})
    return found


def documents_of(body: bytes, content_type: str) -> Iterator[tuple[str, Any]]:
    """The documents of a response, with the names of their events."""
    if not sse.is_event_stream(content_type, body):
        yield "", json.loads(body)
        return
    for block in sse.Splitter().feed(body):
        event = sse.parse(block.data)
        if not block.is_comment and event.has_data and event.data != sse.DONE:
            yield event.event or "", json.loads(event.data)


def pointers(value: Any, above: str = "") -> Iterator[str]:
    """The locations in a document, with `0` for every element."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield f"{above}/{escape(name)}"
            yield from pointers(below, f"{above}/{escape(name)}")
    elif isinstance(value, list):
        for below in value:
            yield from pointers(below, f"{above}/0")


def shipped_corpus() -> Corpus:
    """The corpus from its file, without a database."""
    rows = [row["fields"] for row in json.loads(FIXTURE.read_text("utf-8"))]
    return Corpus.of((row["site"], row["document"]) for row in rows)


def generated() -> list[dict[str, Any]]:
    """What the reference reads; Django must be set up, with a database that may be written to."""
    setup_test_environment()
    call_command("migrate", "demo", verbosity=0)
    corpus._corpus = shipped_corpus()
    return async_to_sync(responses)()
