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

from playground.models import Agent, Run
from playground.protocols.frames import Frame, FrameKind
from playground.rendering import live, run_status
from playground.rendering.entries import Entry
from playground.rendering.live import RunMessage, RunUpdates, advance_together, response_context
from playground.rendering.thread_reader import ThreadReader
from tests.support.markup import Element, read
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


def an_agent() -> Agent:
    agent: Agent = Agent.objects.create(name="Cook", url="http://agent.example/mcp")
    return agent


def cursor_of(message: RunMessage) -> tuple[int, int, int, bool]:
    """Return first and last frame, number of entries, and whether the end is announced."""
    (found,) = read(message.html).find("run-cursor")
    numbers = [int(found.attributes[f"data-{n}"] or "") for n in ("first", "last", "entries")]
    return numbers[0], numbers[1], numbers[2], "data-final" in found.attributes


def anchors(markup: Element) -> list[str]:
    ids = [str(element.attributes.get("id", "")) for element in markup.elements]
    return [name for name in ids if name.startswith("entry-")]


def clocks(message: RunMessage | None) -> list[tuple[str, str]]:
    """Return the milliseconds of each clock that runs on, and the time that it shows."""
    assert message
    (figures,) = re.findall(r'id="run-stats-now".*?</dl>', message.html, re.DOTALL)
    return re.findall(r'<elapsed-time(?: data-ms="(\d+)")?>([^<]+)<', figures)


def drain(view: RunUpdates) -> list[RunMessage]:
    messages = []
    while message := view.advance():
        messages.append(message)
    return messages


def whole(run: Run) -> list[Entry]:
    return ThreadReader(run).read_to(run.frames, 10**9, 10**9)


@given(batches(), st.data())
def test_every_frame_is_announced_once(parts: list[list[Frame]], data: st.DataObject) -> None:
    """From any cursor, with any number of updates while the run grows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "WINDOW", 4)
        patch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 5)
        recording = Recording()
        after = data.draw(st.integers(0, sum(map(len, parts))), "after")
        view, messages = None, []
        for number, part in enumerate(parts):
            recording.add(*part)
            # A page with a cursor shows that many frames.
            if recording.run.frames < after:
                continue
            view = view or RunUpdates(recording.run.pk, after)
            if data.draw(st.booleans(), f"look {number}"):
                messages += drain(view)
        run = recording.end()
        assert view
        messages += drain(view)

        cursors = [cursor_of(message) for message in messages]
        announced = [n for first, last, _, _ in cursors for n in range(first, last + 1)]
        assert announced == list(range(after + 1, run.frames + 1))
        assert [m.final for m in messages] == [False] * (len(messages) - 1) + [True]
        assert [final for *_, final in cursors] == [m.final for m in messages]
        assert [m.frames for m in messages] == [last - first + 1 for first, last, *_ in cursors]
        assert all(a[2] <= b[2] for a, b in pairwise(cursors))

        entries = whole(run)
        shown = [entry for entry in entries if not entry.pinned]
        assert cursors[-1][2] == len(shown)
        pushed = [name for message in messages for name in anchors(read(message.html))]
        assert len(pushed) == len(set(pushed))
        wanted = {e.anchor for e in entries if e.pinned} | {e.anchor for e in shown[:4]}
        assert set(pushed) == {a for a in wanted if int(a.split("-")[1]) > after}


def test_a_page_and_its_websocket_together_have_every_card_once() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, HEAD, result(0), event(PIECES[7]))
    page = response_context(recording.run)
    view = RunUpdates(recording.run.pk, page["cursor"])
    recording.add(result(1), event(PIECES[6]), END)
    recording.end()
    (message,) = drain(view)
    on_page = [a for html in (*page["cards"], *page["summaries"]) for a in anchors(read(html))]
    on_socket = anchors(read(message.html))
    assert sorted(on_page + on_socket) == [e.anchor for e in whole(recording.run)]
    assert message.final


def test_nothing_new_is_no_message() -> None:
    recording = Recording()
    recording.add(CALL)
    view = RunUpdates(recording.run.pk, 0)
    assert view.advance()
    assert view.advance() is None
    recording.add(OPEN)
    assert view.advance()
    recording.end("cancelled")
    last = view.advance()
    assert last
    assert (last.final, last.frames) == (True, 0)


def test_the_clock_stops_at_the_end_also_if_it_shows_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = Recording()
    started = timezone.now()
    Run.objects.filter(pk=recording.run.pk).update(started_at=started)
    monkeypatch.setattr(run_status.timezone, "now", lambda: started + timedelta(seconds=2.4))
    view = RunUpdates(recording.run.pk, 0)
    recording.add(CALL, OPEN)
    assert clocks(view.advance()) == [("2400", "2.4 s")]
    recording.end()
    Run.objects.filter(pk=recording.run.pk).update(ended_us=2_400_000)
    assert clocks(view.advance()) == [("", "2.4 s")]


def test_the_end_is_not_said_before_the_frames_that_led_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 4)
    run = recorded([[CALL, OPEN, HEAD], *([result(n)] for n in range(6)), [END]])
    messages = drain(RunUpdates(run.pk, 0))
    assert len(messages) == 3
    for message in messages[:-1]:
        assert message.more
        assert 'data-state="completed"' not in message.html
        assert 'id="run-ending"' not in message.html
    assert 'data-state="completed"' in messages[-1].html


def test_a_cursor_beyond_the_run_announces_nothing_twice() -> None:
    recording = Recording()
    recording.add(CALL, OPEN)
    view = RunUpdates(recording.run.pk, 99)
    first = view.advance()
    assert first
    assert first.frames == 0
    recording.add(HEAD)
    second = view.advance()
    assert second
    assert cursor_of(second)[:2] == (3, 3)


QUESTION = event(
    'data: {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",'
    ' "params": {"message": "For whom?", "requestedSchema": {"properties": {}}}}'
)


@pytest.mark.parametrize("state", ["cancelled", "truncated", "failed"])
@pytest.mark.parametrize("seen", [0, 4])
def test_a_question_whose_call_has_ended_can_no_longer_be_answered(state: str, seen: int) -> None:
    """Also if the page had the form before its websocket was opened."""
    recording = Recording(agent=an_agent(), binding="mcp")
    recording.add(TOOL_CALL, OPEN, HEAD, QUESTION)
    view = RunUpdates(recording.run.pk, seen)
    before = "".join(message.html for message in drain(view))
    assert ("answer-form" in before) == (seen == 0)
    assert "The request has ended" not in before
    recording.end(state)
    (message,) = drain(view)
    (form,) = read(message.html).find("answer-form")
    assert form.attributes["hx-swap-oob"] == "outerHTML:#entry-4-0 > answer-form"
    assert "The request has ended" in message.html
    assert not read(message.html).find("textarea")


def test_a_question_that_was_answered_is_left_as_it_is_at_the_end() -> None:
    """The user who answered may have the focus there."""
    recording = Recording(agent=an_agent(), binding="mcp")
    recording.add(TOOL_CALL, OPEN, HEAD, QUESTION)
    view = RunUpdates(recording.run.pk, 0)
    drain(view)
    Run.objects.create(
        parent=recording.run,
        parent_entry_seq=4,
        parent_entry_part=0,
        kind="reply",
        state="completed",
        status=202,
    )
    recording.end()
    assert not any(read(message.html).find("answer-form") for message in drain(view))


def test_a_run_that_is_gone() -> None:
    run = recorded([[CALL]])
    view = RunUpdates(run.pk, 0)
    view.advance()
    run.delete()
    with pytest.raises(Run.DoesNotExist):
        view.advance()


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
                expected = one.advance()
                assert isinstance(message, RunMessage | None)
                assert _without_clock(message) == _without_clock(expected)

    def test_one_that_was_deleted_does_not_affect_the_others(self) -> None:
        kept, gone = Recording(), Recording()
        kept.add(CALL, OPEN, HEAD, result(1))
        every = [RunUpdates(gone.run.pk, 0), RunUpdates(kept.run.pk, 0)]
        gone.run.delete()
        error, message = advance_together(every)
        assert isinstance(error, Run.DoesNotExist)
        assert isinstance(message, RunMessage)
        assert message.last == 4

    def test_two_queries_read_all_of_them(
        self, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_child_runs_and_long_backlogs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(live, "MAX_FRAMES_TOGETHER", 3)
        parent, long = Recording(), Recording()
        every = [RunUpdates(each.run.pk, 0) for each in (parent, long)]
        parent.add(CALL, OPEN, HEAD)
        long.add(CALL, OPEN, HEAD, result(1), result(2))
        Recording(parent=parent.run, kind="action", parent_entry_seq=1, parent_entry_part=0)
        messages = advance_together(every)
        assert [each.last for each in messages if isinstance(each, RunMessage)] == [3, 5]


def _without_clock(message: RunMessage | None) -> object:
    if message is None:
        return None
    html = re.sub(r"<elapsed-time.*?</elapsed-time>", "", message.html)
    return html, message.first, message.last, message.final, message.more
