"""Entries from stored frames: the same from any cursor."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import memory_budget
from playground.memory_budget import MAX_HELD
from playground.models import Run
from playground.protocols.events import Result
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange
from playground.protocols.problems import Problem, Stage
from playground.rendering.entries import Entry
from playground.rendering.thread_reader import ThreadReader
from playground.stored_runs import StoredReader, read_events
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

ALL = 10**9


def whole(run: Run) -> list[Entry]:
    return ThreadReader(run).read_to(run.frames, ALL, ALL)


@given(batches(), st.integers(0, 40), st.integers(1, 10))
def test_a_page_is_a_part_of_the_whole(parts: list[list[Frame]], offset: int, count: int) -> None:
    run = recorded(parts)
    entries = [entry for entry in whole(run) if not entry.pinned]
    assert ThreadReader(run).page(offset, count) == entries[offset : offset + count]


@given(batches(), st.integers(0, 40))
def test_readings_are_the_same_from_any_frame(parts: list[list[Frame]], after: int) -> None:
    run = recorded(parts)
    assert list(read_events(run, after)) == list(read_events(run))[after:]


@given(batches(), st.integers(0, 12), st.lists(st.integers(0, 40), max_size=6))
def test_what_matters_is_read_however_it_is_followed(
    parts: list[list[Frame]], wanted: int, stops: list[int]
) -> None:
    """All pinned entries, others up to the window, exact counts; the cursor never jumps."""
    run = recorded(parts)
    entries = whole(run)
    fold, found = ThreadReader(run), []
    for upto in [*sorted(min(stop, run.frames) for stop in stops), run.frames]:
        found += fold.read_to(upto, wanted, ALL)
        assert fold.cursor == upto
    shown = [entry for entry in entries if not entry.pinned]
    assert [entry for entry in found if entry.pinned] == [e for e in entries if e.pinned]
    assert [entry for entry in found if not entry.pinned][:wanted] == shown[:wanted]
    assert fold.entries == len(shown)


@given(batches())
def test_the_stored_counts_are_those_of_a_reader(parts: list[list[Frame]]) -> None:
    run = recorded(parts)
    entries = whole(run)
    stored = run.frame_batches.values_list("entries", "pinned")
    assert sum(count for count, _ in stored) == sum(not entry.pinned for entry in entries)
    assert sum(count for _, count in stored) == sum(entry.pinned for entry in entries)


def test_a_flood_beyond_the_window_is_counted_and_not_read(
    django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood = [[result(n) for n in range(start, start + 50)] for start in range(0, 1000, 50)]
    run = recorded([[CALL, OPEN, HEAD], *flood, [END]])
    read: list[int] = []
    plain = ThreadReader._read

    def noted(self: ThreadReader, batch: Any, *rest: Any) -> list[Entry]:
        read.append(batch.first)
        return plain(self, batch, *rest)

    monkeypatch.setattr(ThreadReader, "_read", noted)
    fold = ThreadReader(run)
    entries = fold.read_to(run.frames, 60, ALL)
    assert (len(entries), fold.entries, fold.cursor) == (60, 1000, run.frames)
    assert read == [1, 4, 54, run.frames]
    read.clear()
    with django_assert_max_num_queries(6):
        page = ThreadReader(run).page(900, 60)
    assert [entry.event.index for entry in page] == list(range(900, 960))
    assert read == [1, 904, 954]


def test_no_more_than_a_slice_is_read_at_a_time() -> None:
    """Also of a slow stream, whose batches hold one frame each."""
    run = recorded([[CALL, OPEN, HEAD], *([result(n)] for n in range(20)), [END]])
    fold = ThreadReader(run)
    assert len(fold.read_to(run.frames, ALL, 8)) == 5
    assert fold.cursor == 8
    assert len(fold.read_to(run.frames, ALL, ALL)) == 15


def test_a_fold_follows_a_run_that_grows() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, HEAD)
    fold = ThreadReader(recording.run)
    assert fold.read_to(3, ALL, ALL) == []
    recording.add(result(0), result(1))
    # Frames stored after the run was read are left to the next call.
    assert fold.read_to(3, ALL, ALL) == []
    assert [entry.seq for entry in fold.read_to(5, ALL, ALL)] == [4, 5]
    assert fold.read_to(5, ALL, ALL) == []


def test_metadata_that_opens_an_answer_is_never_passed_over() -> None:
    """Only the first metadata is an event: others would change the numbers of later parts."""
    piece = PIECES[2]
    run = recorded([[CALL, OPEN, HEAD], [event(piece)], [event(piece)], [event(piece)], [END]])
    anchors = [entry.anchor for entry in whole(run)]
    assert anchors == ["entry-4-1", "entry-5-0", "entry-6-0"]
    assert [entry.anchor for entry in ThreadReader(run).page(2, 5)] == ["entry-6-0"]
    assert len(next(read_events(run, after=5))[1]) == 1


def test_summaries_stand_above_and_are_in_no_page() -> None:
    run = recorded([[CALL, OPEN, HEAD], [event(PIECES[7])], [result(0)], [END]])
    summary, card = whole(run)
    assert (summary.pinned, card.pinned) == (True, False)
    assert ThreadReader(run).page(0, 5) == [card]


def test_a_batch_is_not_passed_over_beyond_where_it_was_to_stop() -> None:
    run = recorded([[CALL, OPEN, HEAD], [result(n) for n in range(10)], [END]])
    fold = ThreadReader(run)
    fold.read_to(3, 0, ALL)
    fold.read_to(8, 0, ALL)
    assert (fold.cursor, fold.entries) == (8, 5)
    fold.read_to(run.frames, 0, ALL)
    assert (fold.cursor, fold.entries) == (14, 10)


def large_body(pieces: int) -> list[Frame]:
    """The pieces of a JSON document of a megabyte and its fraction, with two results."""
    text = b'{"results": [{"name": "a"}, {"name": "b", "text": "' + b"x" * (pieces * 64 * 1024)
    text += b'"}]}'
    step = 64 * 1024
    return [
        Frame(0, 50, FrameKind.BODY, text[start : start + step])
        for start in range(0, len(text), step)
    ]


JSON_HEAD = Frame(0, 20, FrameKind.HEAD, HEAD.data.replace(b"text/event-stream", b"a/json"))


def test_an_incomplete_body_is_not_held() -> None:
    """Twenty pages of responses of 31 MB that did not end took 600 MB."""
    pieces = large_body(48)
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD)
    for piece in pieces:
        recording.add(piece)
    readers = [ThreadReader(recording.run) for _ in range(3)]
    tracemalloc.start()
    try:
        for reader in readers:
            assert reader.read_to(recording.run.frames, ALL, ALL) == []
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 3 * (MAX_HELD + 128 * 1024)
    recording.add(END)
    run = recording.end()
    for reader in readers:
        entries = reader.read_to(run.frames, ALL, ALL)
        assert [entry.seq for entry in entries] == [run.frames] * 2
    assert whole(run) == entries
    *_, (last, events) = read_events(run)
    assert last.seq == run.frames
    assert len([event for event in events if type(event) is Result]) == 2


def test_large_bodies_of_several_pages_are_decoded_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD, *large_body(24))
    recording.add(END)
    run = recording.end()
    held: list[bool] = []
    plain = HttpExchange._end

    def note(exchange: HttpExchange, frame: Frame) -> Any:
        held.append(memory_budget._decoding.locked())
        return plain(exchange, frame)

    monkeypatch.setattr(HttpExchange, "_end", note)
    assert len(whole(run)) == 2
    assert held == [True]


def test_a_body_that_was_cut_off_by_a_limit_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD, *large_body(24))
    problem = Problem("refused", Stage.LIMIT, "Too long.", "", "", "max_bytes")
    recording.add(Frame(0, 90, FrameKind.ERROR, problem.to_bytes()))
    run = recording.end("refused")
    monkeypatch.setattr(StoredReader, "_read_pieces", None)
    returned: list[bool] = []
    monkeypatch.setattr("playground.stored_runs.return_free_memory", lambda: returned.append(True))
    assert whole(run) == []
    # Unpacking what is skipped has taken some, too.
    assert returned == [True]
