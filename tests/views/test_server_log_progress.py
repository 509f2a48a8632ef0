"""Progress and server log of an MCP server on the page of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.protocols.frames import Frame, FrameKind
from playground.rendering.live import RunMessage, RunUpdates
from playground.rendering.server_log import log_lines
from tests.support.markup import read
from tests.support.stored_runs import END, HEAD, OPEN, Recording, event

ASK = {"query": {"text": "eggs"}}
TOOLS = [{"name": "ask", "description": "<i>Asks</i>"}, {"name": "later"}, "nonsense", {"name": 7}]


def call(method: str, params: dict[str, Any], number: int) -> Frame:
    """A request as it goes over the wire."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    head = b"POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n"
    return Frame(0, 0, FrameKind.CALL, head + json.dumps(message).encode())


def said(**message: Any) -> Frame:
    """A message of the server's."""
    return event("event: message\ndata: " + json.dumps({"jsonrpc": "2.0", **message}))


def noticed(method: str, **params: Any) -> Frame:
    return said(method=f"notifications/{method}", params=params)


ANSWER = {"content": [{"type": "text", "text": '{"results": [{"name": "Eggs"}]}'}]}


@pytest.mark.django_db
class TestPage:
    @pytest.fixture
    def recording(self) -> Recording:
        found = Recording(binding="mcp", url="http://agent.example/mcp", request=ASK)
        found.add(call("tools/list", {}, 1), OPEN, HEAD, said(id=1, result={"tools": TOOLS}), END)
        asked = {"name": "ask", "arguments": ASK, "_meta": {"progressToken": 2}}
        found.add(call("tools/call", asked, 2), OPEN, HEAD)
        return found

    def progress(self, html: str) -> list[str]:
        return [str(e.attributes["value"]) for e in read(html).find("progress")]

    def test_progress_is_one_line_that_changes_in_place(self, recording: Recording) -> None:
        view = RunUpdates(recording.run.pk, 0)
        recording.add(noticed("progress", progressToken=2, progress=1, total=4, message="Looking"))
        first = view.advance()
        recording.add(noticed("progress", progressToken=2, progress=3, total=4, message="Sorting"))
        second = view.advance()
        assert first
        assert second
        assert (self.progress(first.html), self.progress(second.html)) == (["25"], ["75"])
        assert "Sorting" in second.html
        recording.add(said(id=2, result=ANSWER), END)
        recording.end()
        last = self.drain(view)
        assert self.progress(last.html) == []
        assert "Eggs" in last.html
        assert recording.run.entries == 1

    def drain(self, view: RunUpdates) -> RunMessage:
        message = view.advance()
        assert message
        return message

    def test_a_reload_shows_it_too(self, client: Client, recording: Recording) -> None:
        recording.add(noticed("progress", progressToken=2, progress=1, total=4, message="Looking"))
        html = client.get(f"/runs/{recording.run.pk}/pane/").content.decode()
        assert self.progress(html) == ["25"]

    def test_tools_are_folded_above_the_answer(self, client: Client, recording: Recording) -> None:
        recording.add(said(id=2, result=ANSWER), END)
        run = recording.end()
        html = client.get(f"/runs/{run.pk}/pane/").content.decode()
        text = " ".join(read(html).text.split())
        assert "3+ tools available" in text
        assert "ask<i>Asks</i>laterNo description" in text
        assert text.index("tools available") < text.index("Eggs")

    def test_a_log_is_one_folded_list(self, client: Client, recording: Recording) -> None:
        recording.add(
            noticed("message", level="info", logger="web", data="<script>one"),
            noticed("message", level="debug", data={"two": 2}),
            said(id=2, result=ANSWER),
            END,
        )
        run = recording.end()
        html = client.get(f"/runs/{run.pk}/pane/").content.decode()
        assert html.count("<summary>Server log</summary>") == 1
        notes, more = log_lines(run)
        assert [(note.name, note.text) for note in notes] == [
            ("info · web", "<script>one"), ("debug", '{"two": 2}'),
        ]  # fmt: skip
        assert not more
        assert "<script>" not in client.get(f"/runs/{run.pk}/server-log/").content.decode()
