"""The demo page, and the files that it needs."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from django.utils.html import escape

from playground.demo.failures import CODES
from playground.demo.guides import GROUPS, GUIDES, Guide
from playground.demo.scenarios import SCENARIOS
from tests.support.playground_server import PlaygroundServer


@pytest.mark.parametrize("path", ["/demo/", "/demo/scenarios/"])
def test_everything_is_on_the_page(playground: PlaygroundServer, path: str) -> None:
    page = httpx.get(playground.url + path).raise_for_status().text
    assert f"{playground.url}/demo/ask" in page
    for code in CODES:
        assert f"<code>{code}</code>" in page
    for scenario in SCENARIOS.values():
        assert f"{playground.url}/demo/scenarios/{scenario.slug}/ask" in page
        assert escape(scenario.description) in page
        assert escape(scenario.demonstrates) in page
        assert f'aria-label="Try: {escape(scenario.title)}"' in page
    for group in GROUPS:
        assert escape(group.lead) in page
        for example in group.examples:
            assert escape(example.text) in page


def test_examples_are_json() -> None:
    for group in GROUPS:
        for example in group.examples:
            assert json.loads(example.text) == example.request


def test_the_style_sheet_is_served(playground: PlaygroundServer) -> None:
    page = httpx.get(f"{playground.url}/demo/").text
    (path,) = re.findall(r'href="(/static/demo/demo[^"]*\.css)"', page)
    style = httpx.get(playground.url + path).raise_for_status()
    assert style.headers["Content-Type"].startswith("text/css")


def test_pictures_of_results_are_served(playground: PlaygroundServer) -> None:
    reply = httpx.post(f"{playground.url}/demo/ask", json={"query": {"text": "soup"}}).json()
    for address in {item["image"] for item in reply["results"]}:
        assert address.startswith(playground.url)
        picture = httpx.get(address).raise_for_status()
        assert picture.headers["Content-Type"].startswith("image/png")


def test_the_other_protocols_are_on_the_page(playground: PlaygroundServer) -> None:
    page = httpx.get(f"{playground.url}/demo/").raise_for_status().text
    for path in ("mcp", "mcp/older", "mcp/newer", "agent-api", "a2a"):
        assert f">{playground.url}/demo/{path}</code>" in page
    for guide in GUIDES:
        assert f'<h2 id="demo-{guide.slug}">{guide.title}</h2>' in page
        for row in (row for _, _, rows in guide.tables for row in rows):
            assert escape(row.title) in page
            assert escape(row.happens) in page


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.slug)
def test_what_can_be_tried_is_a_request(guide: Guide) -> None:
    tries = [row for _, _, rows in guide.tables for row in rows if row.request]
    assert bool(tries) == bool(guide.agent)
    for row in tries:
        assert row.title in json.dumps(json.loads(row.indented), ensure_ascii=False)
