"""The guides to other protocols on the demo page."""

from __future__ import annotations

import json

import httpx
import pytest
from django.utils.html import escape

from playground.demo.guides import GUIDES, Guide
from tests.support.playground_server import PlaygroundServer


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
        assert row.title in json.dumps(json.loads(row.text), ensure_ascii=False)
