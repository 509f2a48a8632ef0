"""Live updates: every frame is announced once, in order, and the end last."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.conversation.updates import RunMessage, RunUpdates, advance_together
from playground.models import Agent, Run
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import read
from tests.support.run_page import Viewer, cursor_of, entries, ids_of, part
from tests.support.stored_runs import (
    CALL,
    END,
    HEAD,
    OPEN,
    PIECES,
    Recording,
    batches,
    event,
    recorded,
    result,
)

pytestmark = pytest.mark.django_db

TOOL_CALL = Frame(
    0, 0, FrameKind.CALL,
    b"POST /mcp HTTP/1.1\r\n\r\n"
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}',
)  # fmt: skip


@given(batches(), st.data())
def test_every_frame_is_announced_once(parts: list[list[Frame]], data: st.DataObject) -> None:
    """From any cursor, with any number of updates while the run grows."""
    recording = Recording()
    after = data.draw(st.integers(0, sum(map(len, parts))), "after")
    viewer, messages = None, []
    for number, frames in enumerate(parts):
        recording.add(*frames)
        # A page with a cursor shows that many frames.
        if recording.run.frames < after:
            continue
        viewer = viewer or Viewer(recording.run, after=after)
        if data.draw(st.booleans(), f"look {number}"):
            messages += list(viewer.messages())
    run = recording.end()
    assert viewer
    messages += list(viewer.messages())

    cursors = [cursor_of(message) for message in messages]
    announced = [n for first, last, _, _ in cursors for n in range(first, last + 1)]
    assert announced == list(range(after + 1, run.frames + 1))
    assert [m.final for m in messages] == [False] * (len(messages) - 1) + [True]
    assert [final for *_, final in cursors] == [m.final for m in messages]
    assert [m.frames for m in messages] == [last - first + 1 for first, last, *_ in cursors]
    assert all(a[2] <= b[2] for a, b in pairwise(cursors))
    pushed = [name for message in messages for name in _anchors(message.html)]
    every = [str(each.attributes["id"]) for each in entries(part(run))]
    above = sum(batch.pinned for batch in run.frame_batches.all())
    assert cursors[-1][2] == len(every) - above
    assert sorted(pushed) == sorted(name for name in every if int(name.split("-")[1]) > after)


def _anchors(html: str) -> list[str]:
    return [name for name in ids_of(read(html)) if re.fullmatch(r"entry-\d+-\d+", name)]


@given(batches(), st.data())
def test_a_page_that_was_followed_is_that_of_a_reload(
    parts: list[list[Frame]], data: st.DataObject
) -> None:
    recording = Recording()
    seen = data.draw(st.integers(0, len(parts)), "seen")
    for frames in parts[:seen]:
        recording.add(*frames)
    viewer = Viewer(recording.run)
    for frames in parts[seen:]:
        recording.add(*frames)
    run = recording.end()
    viewer.follow()
    reloaded = part(run)
    for name in ("cards", "summaries", "run-badge", "run-ending", "run-stats-counts"):
        found, wanted = (page.by_id(name) for page in (viewer.page, reloaded))
        assert found
        assert wanted
        assert found.plain()[2] == wanted.plain()[2], name  # type: ignore[index]


def test_a_flood_is_counted_and_not_pushed() -> None:
    run = recorded([[CALL, OPEN, HEAD], [result(n) for n in range(150)], [END]])
    viewer = Viewer(run, after=0)
    (message,) = viewer.messages()
    assert cursor_of(message) == (1, run.frames, 150, True)
    assert len(viewer.cards.find("article")) == 60


def test_the_end_is_not_said_before_the_frames_that_led_to_it() -> None:
    comments = [Frame(0, 50, FrameKind.COMMENT, b":\n\n")] * 500
    run = recorded([[CALL, OPEN, HEAD], *[comments] * 9, [END]])
    messages = list(Viewer(run, after=0).messages())
    assert [cursor_of(m)[:2] for m in messages] == [(1, 2003), (2004, 4003), (4004, run.frames)]
    for message in messages[:-1]:
        assert message.more
        assert 'data-state="completed"' not in message.html
        assert 'id="run-ending"' not in message.html
    assert 'data-state="completed"' in messages[-1].html


def test_nothing_new_is_no_message() -> None:
    recording = Recording()
    recording.add(CALL)
    viewer = Viewer(recording.run, after=0)
    assert viewer.follow()
    assert not viewer.follow()
    recording.add(OPEN)
    assert viewer.follow()
    recording.end("cancelled")
    (last,) = viewer.messages()
    assert (last.final, last.frames) == (True, 0)


def test_the_clock_stops_at_the_end_also_if_it_shows_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def clock(html: str) -> list[tuple[str | None, str]]:
        figures = read(html).by_id("run-stats-now")
        assert figures
        return [(e.attributes.get("data-ms"), e.words) for e in figures.find("elapsed-time")]

    recording = Recording()
    started = timezone.now()
    Run.objects.filter(pk=recording.run.pk).update(started_at=started)
    monkeypatch.setattr("django.utils.timezone.now", lambda: started + timedelta(seconds=2.4))
    viewer = Viewer(recording.run, after=0)
    recording.add(CALL, OPEN)
    assert clock(viewer.follow()) == [("2400", "2.4 s")]
    recording.end()
    Run.objects.filter(pk=recording.run.pk).update(ended_us=2_400_000)
    assert clock(viewer.follow()) == [(None, "2.4 s")]


def test_a_cursor_beyond_the_run_announces_nothing_twice() -> None:
    recording = Recording()
    recording.add(CALL, OPEN)
    viewer = Viewer(recording.run, after=99)
    (first,) = viewer.messages()
    assert first.frames == 0
    recording.add(HEAD)
    (second,) = viewer.messages()
    assert cursor_of(second)[:2] == (3, 3)


def test_a_run_that_is_gone() -> None:
    run = recorded([[CALL]])
    viewer = Viewer(run, after=0)
    viewer.follow()
    run.delete()
    with pytest.raises(Run.DoesNotExist):
        viewer.follow()


class TestAQuestionInMidCall:
    QUESTION = event(
        'data: {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",'
        ' "params": {"message": "For whom?", "requestedSchema": {"properties": {}}}}'
    )

    @pytest.fixture
    def recording(self) -> Recording:
        agent = Agent.objects.create(name="Cook", url="http://agent.example/mcp")
        found = Recording(agent=agent, binding="mcp")
        found.add(TOOL_CALL, OPEN, HEAD, self.QUESTION)
        return found

    @pytest.mark.parametrize("state", ["cancelled", "truncated", "failed"])
    @pytest.mark.parametrize("is_on_page", [True, False])
    def test_can_no_longer_be_answered_when_the_call_has_ended(
        self, recording: Recording, state: str, is_on_page: bool
    ) -> None:
        """Also if the page had the form before its websocket was opened."""
        viewer = Viewer(recording.run, after=None if is_on_page else 0)
        viewer.follow()
        assert viewer.cards.find("button")
        assert "The request has ended" not in viewer.cards.words
        recording.end(state)
        viewer.follow()
        assert "The request has ended" in viewer.cards.words
        assert not viewer.cards.find("button")

    def test_that_was_answered_is_left_as_it_is_at_the_end(self, recording: Recording) -> None:
        """The user who answered may have the focus there."""
        viewer = Viewer(recording.run)
        Recording(parent=recording.run, parent_entry_seq=4, parent_entry_part=0, kind="reply",
                  state="completed", status=202)  # fmt: skip
        recording.end()
        assert "answer-form" not in viewer.follow()


class TestRunsReadTogether:
    @pytest.mark.parametrize("seed", range(5))
    def test_messages_are_those_of_each_alone(self, seed: int) -> None:
        chosen = random.Random(seed)
        pieces = [event(piece) for piece in PIECES]
        every = [
            [[CALL, OPEN, HEAD], *([piece] for piece in chosen.sample(pieces, 6)), [END]]
            for _ in range(3)
        ]
        recordings = [Recording() for _ in every]
        together = [RunUpdates(each.run.pk, 0) for each in recordings]
        together.append(RunUpdates(recordings[0].run.pk, 0, readonly=True))
        alone = [RunUpdates(each.pk, 0, readonly=each.readonly) for each in together]
        left = [list(each) for each in every]
        while any(left):
            for recording, waiting in zip(recordings, left, strict=True):
                for _ in range(min(len(waiting), chosen.randint(0, 2))):
                    recording.add(*waiting.pop(0))
                if not any(left):
                    recording.end()
            for message, one in zip(advance_together(together), alone, strict=True):
                assert isinstance(message, RunMessage | None)
                assert _without_clock(message) == _without_clock(one.advance())

    def test_one_that_was_deleted_does_not_affect_the_others(self) -> None:
        kept, gone = Recording(), Recording()
        kept.add(CALL, OPEN, HEAD, result(1))
        every = [RunUpdates(gone.run.pk, 0), RunUpdates(kept.run.pk, 0)]
        gone.run.delete()
        error, message = advance_together(every)
        assert isinstance(error, Run.DoesNotExist)
        assert isinstance(message, RunMessage)
        assert message.last == 4

    def test_two_queries_read_all_of_them(self, django_assert_num_queries: Any) -> None:
        recordings = [Recording() for _ in range(20)]
        every = [RunUpdates(each.run.pk, 0) for each in recordings]
        for each in recordings:
            each.add(CALL, OPEN, HEAD, result(1))
        advance_together(every)
        for each in recordings:
            each.add(result(2))
        with django_assert_num_queries(2):
            messages = advance_together(every)
        assert [each.last for each in messages if isinstance(each, RunMessage)] == [5] * 20

    def test_child_runs_and_long_backlogs(self) -> None:
        parent, long = Recording(), Recording()
        every = [RunUpdates(each.run.pk, 0) for each in (parent, long)]
        parent.add(CALL, OPEN, HEAD)
        long.add(CALL, OPEN, HEAD, *map(result, range(120)))
        Recording(parent=parent.run, kind="action", parent_entry_seq=1, parent_entry_part=0)
        messages = advance_together(every)
        assert [each.last for each in messages if isinstance(each, RunMessage)] == [3, 123]


def _without_clock(message: RunMessage | None) -> object:
    if message is None:
        return None
    html = re.sub(r"<elapsed-time.*?</elapsed-time>", "", message.html)
    return html, message.first, message.last, message.final, message.more
