"""Diagrams of conversations: windows of turns, lanes, child runs, and runs of every state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from playground.models import Agent, McpSession, Run, RunKind
from playground.rendering.sequence import conversation as conversation_module
from playground.rendering.sequence import stored_steps
from playground.rendering.sequence.conversation import (
    MAX_CHILDREN,
    MAX_LANES,
    WINDOW,
    conversation_diagram,
)
from playground.rendering.sequence.diagram import Diagram, LaneKind, Message, Note
from tests.demo.conftest import Clock
from tests.support.action_runs import action, offering
from tests.rendering.sequence.conversations import CONVERSATIONS, declined, mcp_session, promise
from tests.support.demo_runs import BEGIN
from tests.support.elicitations import turn
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event, result

pytestmark = pytest.mark.django_db(transaction=True)


def messages(diagram: Diagram) -> list[str]:
    """Return the messages of the last turn as text."""
    arrows = {("user", "playground"): "user →", ("playground", "user"): "user ←"}
    return [
        f"{arrows.get((m.sender, m.receiver)) or ('←' if m.is_response else '→')} {m.text}"
        for m in diagram.turns[-1].items
        if isinstance(m, Message)
    ]


def notes(diagram: Diagram) -> list[str]:
    return [item.text for item in diagram.turns[-1].items if isinstance(item, Note)]


class TestWindows:
    @pytest.fixture
    def turns(self) -> list[Run]:
        runs = [turn(None, text="1")]
        while len(runs) < 25:
            runs.append(turn(None, runs[-1], text=str(len(runs) + 1)))
        return runs

    def numbers(self, *args: Any) -> list[int]:
        found = conversation_diagram(*args)
        assert found.total == 25
        assert found.earlier + len(found.turns) + found.later == 25
        return [each.number for each in found.turns]

    def test_the_newest_turns_are_shown(self, turns: list[Run]) -> None:
        assert self.numbers(turns[-1]) == list(range(16, 26))
        assert self.numbers(turns[15]) == list(range(16, 26))

    def test_the_chosen_turn_is_shown(self, turns: list[Run]) -> None:
        for at in range(25):
            found = conversation_diagram(turns[at])
            [chosen] = [each for each in found.turns if each.is_chosen]
            assert (chosen.number, chosen.label) == (at + 1, str(at + 1))

    def test_earlier_and_later_windows(self, turns: list[Run]) -> None:
        found = conversation_diagram(turns[-1], 15)
        assert [each.number for each in found.turns] == list(range(6, 16))
        assert (found.earlier, found.until_earlier) == (5, 5)
        assert (found.later, found.until_later) == (10, 25)
        assert self.numbers(turns[-1], found.until_earlier) == list(range(1, 11))
        assert conversation_diagram(turns[-1], 5).until_earlier == 0

    def test_three_hundred_turns(self) -> None:
        last = turn(None)
        for _ in range(299):
            last = turn(None, last)
        found = conversation_diagram(last)
        assert (found.total, len(found.turns), found.earlier) == (300, WINDOW, 300 - WINDOW)
        with CaptureQueriesContext(connection) as queries:
            earliest = conversation_diagram(last, WINDOW)
        assert earliest.later == 300 - WINDOW
        assert len(queries) <= 4 + WINDOW

    @pytest.mark.parametrize("until", [1, 10**8])
    def test_numbers_outside_of_the_branch(self, turns: list[Run], until: int) -> None:
        assert len(self.numbers(turns[3], until)) == WINDOW

    def test_only_turns_of_the_window_are_read(self, turns: list[Run]) -> None:
        with CaptureQueriesContext(connection) as first:
            conversation_diagram(turns[-1])
        with CaptureQueriesContext(connection) as again:
            conversation_diagram(turns[-1])
        # Their frames are in memory.
        assert len(again) <= 4 < len(first) <= 4 + WINDOW


class TestLanes:
    def test_an_agent_has_one_lane_and_a_second_one_another(self) -> None:
        one = turn(None, text="1")
        other = turn(None, one, agent_name="Other", url="http://other.example")
        third = turn(None, other)
        found = conversation_diagram(third)
        assert [lane.name for lane in found.lanes] == ["User", "Playground", "Recipes", "Other"]
        assert [lane.kind for lane in found.lanes[2:]] == [LaneKind.AGENT] * 2

    def test_a_deleted_agent_keeps_its_lane(self) -> None:
        agent = Agent.objects.create(name="Recipes", url="http://agent.example/ask")
        run = turn(agent)
        agent.delete()
        run.refresh_from_db()
        assert conversation_diagram(run).lanes[2].name == "Recipes"

    def test_there_are_not_too_many(self) -> None:
        run = offering()
        for number in range(MAX_CHILDREN):
            action(run, url=f"http://user:secret@shop{number}.example/cart?key=secret")
        found = conversation_diagram(run)
        assert len(found.lanes) == MAX_LANES + 1
        assert found.lanes[-1].name == "Other servers"
        assert found.lanes[3].name == "shop0.example/cart"
        keys = {lane.key for lane in found.lanes}
        assert len(keys) == len(found.lanes)
        ends = [m for m in found.turns[0].items if isinstance(m, Message)]
        assert {m.sender for m in ends} | {m.receiver for m in ends} <= keys


class TestChildRuns:
    def test_polls_after_the_first_are_counted(self, clock: Clock) -> None:
        found = messages(conversation_diagram(promise(clock, 12)))
        assert found[-4] == "→ 9 more polls: 24.0 s"
        assert (
            found[-1] == "user ← Promise fulfilled: 2 results" or "Promise fulfilled" in found[-1]
        )
        assert sum("POST /demo/await" in line for line in found) == 3

    def test_more_actions_than_are_shown(self) -> None:
        run = offering()
        for _ in range(MAX_CHILDREN + 3):
            action(run, started_at=run.created_at + timedelta(seconds=1))
        found = conversation_diagram(run)
        assert "3 earlier polls and actions are not shown" in notes(found)
        assert sum(line.startswith("user → Run action") for line in messages(found)) == MAX_CHILDREN

    def test_actions_of_actions(self) -> None:
        run = offering()
        action(action(action(run)))
        assert (
            sum(line == "user → Run action: add" for line in messages(conversation_diagram(run)))
            == 3
        )

    def test_a_page_of_a_child_run_shows_its_turn(self) -> None:
        run = offering()
        found = conversation_diagram(action(run))
        assert [each.url for each in found.turns] == [run.get_absolute_url()]

    def test_a_poll_that_failed(self) -> None:
        run = offering(started_at=BEGIN)
        problem = {"cause": "No route.", "stage": "connect"}
        fields = {"kind": RunKind.POLL, "state": "failed", "problem": problem}
        action(run, started_at=BEGIN + timedelta(minutes=5), **fields)
        found = conversation_diagram(run)
        assert messages(found)[-1] == "user ← Connection failed: No route."
        assert notes(found) == ["5 min later"]

    def test_an_answer_to_a_server_in_mid_call(self) -> None:
        run = offering(started_at=BEGIN)
        fields = {"kind": RunKind.CLIENT_RESPONSE, "answers": {"diet": "vegan"}}
        action(run, started_at=BEGIN, **fields)
        assert "user → Answer: diet: vegan" in messages(conversation_diagram(run))
        Run.objects.filter(kind=RunKind.CLIENT_RESPONSE).update(answers=None)
        assert not any("Answer" in line for line in messages(conversation_diagram(run)))


class TestStates:
    @pytest.mark.parametrize(
        ("state", "fields", "last"),
        [
            ("cancelled", {}, "user ← Cancelled"),
            ("interrupted", {}, "user ← Interrupted"),
            ("truncated", {}, "user ← Truncated"),
            ("failed", {"problem": {"cause": "No route.", "stage": "connect"}},
             "user ← Connection failed: No route."),
            ("refused", {"problem": {"cause": "A private address.", "stage": "policy"}},
             "user ← Not allowed: A private address."),
        ],
    )  # fmt: skip
    def test_ends(self, state: str, fields: dict[str, Any], last: str) -> None:
        recording = Recording(**fields)
        recording.add(CALL)
        found = conversation_diagram(recording.end(state))
        assert messages(found)[-1] == last
        assert ("user → Stop" in messages(found)) == (state == "cancelled")

    def test_nothing_was_sent_yet(self) -> None:
        found = conversation_diagram(Recording(state="queued").run)
        assert messages(found) == ["user → Send: eggs"]
        assert notes(found) == ["Queued"]

    def test_a_run_in_progress_grows(self) -> None:
        recording = Recording(state="streaming")
        recording.add(CALL, OPEN, HEAD)
        assert notes(conversation_diagram(recording.run)) == ["Waiting for the first event"]
        recording.add(result(0), result(1))
        found = conversation_diagram(recording.run)
        assert messages(found)[-1] == "← 2 result events: 0.0 ms"
        assert notes(found) == ["Streaming"]
        recording.add(result(2), END)
        found = conversation_diagram(recording.end())
        assert "← 3 result events: 0.0 ms" in messages(found)
        assert notes(found) == []

    def test_recordings_and_collection_runs(self) -> None:
        found = conversation_diagram(offering(source="recording"))
        assert notes(found) == ["Recording: nothing was sent"]
        assert messages(found)[0] == "user → Request: eggs"
        found = conversation_diagram(offering(source="collection"))
        assert messages(found)[0] == "user → Collection run: eggs"

    def test_an_unknown_protocol(self) -> None:
        recording = Recording()
        recording.add(CALL, OPEN, HEAD, END)
        run = recording.end()
        Run.objects.filter(pk=run.pk).update(protocol="gone", version="9")
        run.refresh_from_db()
        assert [line[:6] for line in messages(conversation_diagram(run))] == ["user →", "user ←"]

    def test_a_question_that_was_declined(self, clock: Clock) -> None:
        assert messages(conversation_diagram(declined(clock)))[0] == "user → Answer: Decline"

    def test_an_mcp_session_that_is_open(self, clock: Clock) -> None:
        run = mcp_session(clock)
        assert notes(conversation_diagram(run))[-1] == "MCP session ended"
        McpSession.objects.create(
            conversation=run.conversation, url=run.url, key="k", version="v", session_id="s",
            used_at=BEGIN,
        )  # fmt: skip
        assert "MCP session ended" not in notes(conversation_diagram(run))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_messages_name_their_frames(name: str, clock: Clock) -> None:
    """Each links to a frame that exists, and carries the name of its explanation."""
    run = CONVERSATIONS[name](clock)
    for each in conversation_diagram(run).turns:
        for item in each.items:
            if not isinstance(item, Message):
                continue
            its_run = Run.objects.get(pk=item.run)
            assert item.url == its_run.get_absolute_url()
            assert item.seq is None or 1 <= item.seq <= its_run.frames
            assert item.sender != item.receiver
            if item.seq and item.sender != "user":
                assert item.explain.startswith("playground/1/")


def test_hostile_texts_are_short_lines() -> None:
    hostile = "\u202e<script>;#\n" + "x" * 10_000
    recording = Recording(text=hostile[:500], agent_name=hostile[:80], url=f"http://{'y' * 2000}")
    document = f'{{"text": "{"z" * 10_000}", "questions": []}}'
    recording.add(CALL, OPEN, HEAD, event(f"event: elicitation\ndata: {document}"), END)
    found = conversation_diagram(recording.end())
    texts = [lane.name for lane in found.lanes] + [found.turns[0].label]
    for item in found.turns[0].items:
        texts += [item.text] if isinstance(item, Note) else [item.label, item.detail]
    assert all(len(text) <= 300 and text.isprintable() for text in texts)


def test_a_flood_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording()
    recording.add(CALL, OPEN, HEAD)
    for start in range(0, 20_000, 5_000):
        recording.add(*[result(number) for number in range(start, start + 5_000)])
    run = recording.end()
    assert "← 20,000 result events: 0.0 ms" in messages(conversation_diagram(run))
    monkeypatch.setattr(stored_steps, "exchange_for", None)
    assert "← 20,000 result events: 0.0 ms" in messages(conversation_diagram(run))


def test_what_is_in_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_steps, "MAX_STORED", 3)
    monkeypatch.setattr(stored_steps, "MAX_READERS", 2)
    stored_steps._readers.clear()
    for number in range(6):
        recording = Recording(state="streaming")
        recording.add(CALL, OPEN, HEAD)
        conversation_module.conversation_diagram(recording.run)
        assert len(stored_steps._readers) <= 2
        if number % 2:
            conversation_module.conversation_diagram(recording.end())
    assert len(stored_steps._stored) <= 3
