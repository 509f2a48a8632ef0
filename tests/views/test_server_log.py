"""Server log and progress: one entry in the thread, and one line that changes in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import Element
from tests.support.run_page import Viewer, part, streamed
from tests.support.stored_runs import END, HEAD, OPEN, Recording, event

ASK = {"query": {"text": "eggs"}}
TOOLS = [{"name": "ask", "description": "<i>Asks</i>"}, {"name": "later"}, "nonsense", {"name": 7}]
ANSWER = {"content": [{"type": "text", "text": '{"results": [{"name": "Eggs"}]}'}]}


def lines(run: Run) -> list[tuple[str, str]]:
    """Return the name and the text of each line of the log, once it is opened."""
    log = part(run, "server-log/")
    texts = [each.words for each in log if each.tag in {"dt", "dd"}]
    return list(zip(texts[::3], texts[1::3], strict=True))


def logs(page: Element) -> list[Element]:
    return [e for e in page.select("details", class_="server-log") if "Server log" in e.words]


class TestOfALegacyServer:
    @staticmethod
    def note(kind: str, **members: Any) -> str:
        return f"data: {json.dumps({'message_type': kind, 'query_id': 'q1', **members})}"

    @pytest.fixture
    def run(self) -> Run:
        soup = {"name": "Soup", "schema_object": {"@type": "Recipe"}}
        return streamed(
            self.note("asking_sites", sites=["a.example", "b.example"]),
            self.note("result_batch", results=[soup]),
            self.note(
                "decontextualized_query", decontextualized_query="<b>soup</b>", requires=True
            ),
            self.note("license", content="MIT"),
            self.note("api_key", key_name="maps", key_value="s3cr3t"),
            self.note("empty"),
            self.note("complete"),
        )

    def test_every_note_is_listed_and_keys_are_masked(self, run: Run) -> None:
        assert lines(run) == [
            ("asking_sites", "sites: a.example, b.example"),
            ("decontextualized_query", "decontextualized_query: <b>soup</b> · requires: yes"),
            ("license", "MIT"),
            ("api_key", "key_name: maps · key_value: ••••••"),
            ("empty", "no text"),
        ]
        assert not part(run, "server-log/").find("b")

    def test_the_page_shows_one_entry_above_the_results(self, run: Run) -> None:
        page = part(run)
        (log,) = logs(page)
        above = page.by_id("summaries")
        assert above
        assert log in above.children
        assert log.attributes["hx-get"] == f"/runs/{run.pk}/server-log/"
        assert "decontextualized_query" not in log.words
        assert not logs(part(streamed('data: {"results": [{"name": "Soup"}]}')))

    def test_no_rule_of_the_standard_applies_to_it(self, client: Client) -> None:
        run = streamed(self.note("complete"))
        Run.objects.update(version="legacy")
        report = client.get(f"/runs/{run.pk}/conformance.json").json()
        assert report["version"] == "legacy"
        assert not {each["verdict"] for each in report["findings"]} & {"fail", "pass"}
        assert "has no specification" in part(run, "conformance/").words


class TestOverMcp:
    @staticmethod
    def call(method: str, params: dict[str, Any], number: int) -> Frame:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        head = b"POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n"
        return Frame(0, 0, FrameKind.CALL, head + json.dumps(message).encode())

    @staticmethod
    def said(**message: Any) -> Frame:
        """Return a message of the server's."""
        return event("event: message\ndata: " + json.dumps({"jsonrpc": "2.0", **message}))

    def noticed(self, method: str, **params: Any) -> Frame:
        return self.said(method=f"notifications/{method}", params=params)

    @pytest.fixture
    def recording(self) -> Recording:
        found = Recording(binding="mcp", url="http://agent.example/mcp", request=ASK)
        listed = self.said(id=1, result={"tools": TOOLS})
        found.add(self.call("tools/list", {}, 1), OPEN, HEAD, listed, END)
        asked = {"name": "ask", "arguments": ASK, "_meta": {"progressToken": 2}}
        found.add(self.call("tools/call", asked, 2), OPEN, HEAD)
        return found

    def test_progress_is_one_line_that_changes_in_place(self, recording: Recording) -> None:
        viewer = Viewer(recording.run)
        for done, message in ((1, "Looking"), (3, "Sorting")):
            recording.add(self.noticed("progress", progressToken=2, progress=done, total=4,
                                       message=message))  # fmt: skip
            viewer.follow()
            for page in (viewer.page, part(recording.run)):
                (line,) = page.select(class_="stats-progress")
                assert line.words == f"{message} {done * 25} % {done * 25} %"
        recording.add(self.said(id=2, result=ANSWER), END)
        recording.end()
        viewer.follow()
        assert not viewer.page.select(class_="stats-progress")
        assert "Eggs" in viewer.cards.words
        assert recording.run.entries == 1

    def test_tools_are_folded_above_the_answer(self, recording: Recording) -> None:
        recording.add(self.said(id=2, result=ANSWER), END)
        page = part(recording.end())
        (tools,) = page.by_id("summaries").find("details")  # type: ignore[union-attr]
        assert tools.find("summary")[0].words == "3+ tools available"
        assert tools.facts == {"ask": "<i>Asks</i>", "later": "No description",
                               "7": "No description"}  # fmt: skip

    def test_a_log_is_one_folded_list(self, recording: Recording) -> None:
        recording.add(
            self.noticed("message", level="info", logger="web", data="<script>one"),
            self.noticed("message", level="debug", data={"two": 2}),
            self.said(id=2, result=ANSWER),
            END,
        )
        run = recording.end()
        assert len(logs(part(run))) == 1
        assert lines(run) == [("info · web", "<script>one"), ("debug", '{"two": 2}')]
