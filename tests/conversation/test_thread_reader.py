"""Pages of entries from stored frames: the same from any offset, and bounded."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.stored_runs import read_events
from tests.support.run_page import Viewer, entries, ids_of, part
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


@given(batches(), st.integers(0, 40))
def test_a_page_is_a_part_of_the_whole(parts: list[list[Frame]], offset: int) -> None:
    run = recorded(parts)
    cards = part(run).by_id("cards")
    assert cards
    whole = [each.plain() for each in cards.children if not isinstance(each, str)]
    page = [each.plain() for each in part(run, "results/", offset=offset).children
            if not isinstance(each, str)]  # fmt: skip
    assert page == whole[offset:]


@given(batches(), st.integers(0, 40))
def test_readings_are_the_same_from_any_frame(parts: list[list[Frame]], after: int) -> None:
    run = recorded(parts)
    assert list(read_events(run, after)) == list(read_events(run))[after:]


@given(batches())
def test_the_stored_counts_are_those_of_the_page(parts: list[list[Frame]]) -> None:
    run = recorded(parts)
    page = part(run)
    above = page.by_id("summaries")
    assert above
    stored = run.frame_batches.values_list("entries", "pinned")
    assert sum(count for _, count in stored) == len(above.find("article")) + len(
        [each for each in above.children if not isinstance(each, str) and each.tag != "article"]
    )
    assert sum(sum(counts) for counts in stored) == len(entries(page))


def test_a_later_page_of_a_flood_reads_little(django_assert_max_num_queries: Any) -> None:
    flood = [[result(n) for n in range(start, start + 50)] for start in range(0, 1000, 50)]
    run = recorded([[CALL, OPEN, HEAD], *flood, [END]])
    with django_assert_max_num_queries(12):
        page = Client().get(f"/runs/{run.pk}/results/?offset=900").text
    assert [f'id="entry-{n + 4}-0"' in page for n in (899, 900, 959, 960)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_metadata_that_opens_an_answer_is_never_passed_over() -> None:
    """Only the first metadata is an event: others would change the numbers of later parts."""
    piece = PIECES[2]
    run = recorded([[CALL, OPEN, HEAD], [event(piece)], [event(piece)], [event(piece)], [END]])
    assert [each.attributes["id"] for each in entries(part(run))] == [
        "entry-4-1", "entry-5-0", "entry-6-0",
    ]  # fmt: skip
    assert [each.attributes["id"] for each in part(run, "results/", offset=2).find("article")] == [
        "entry-6-0"
    ]


def test_summaries_stand_above_and_are_in_no_page() -> None:
    run = recorded([[CALL, OPEN, HEAD], [event(PIECES[7])], [result(0)], [END]])
    assert [each.attributes["id"] for each in part(run, "results/").find("article")] == [
        "entry-5-0"
    ]
    assert "entry-4-0" in ids_of(part(run))


JSON_HEAD = Frame(0, 20, FrameKind.HEAD, HEAD.data.replace(b"text/event-stream", b"a/json"))
#: The first and the last part of a JSON document with two results.
BEGINNING, REST = b'{"results": [{"name": "a"}, {"name": "b", "text": "', b'x"}]}'


def test_a_viewer_gets_a_large_body_when_it_is_complete() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD)
    viewer = Viewer(recording.run, after=0)
    for piece in (BEGINNING, *[b"x" * 64 * 1024] * 24, REST):
        recording.add(Frame(0, 50, FrameKind.BODY, piece))
        assert "<article" not in viewer.follow()
    recording.add(END)
    run = recording.end()
    viewer.follow()
    found = [each.attributes["id"] for each in viewer.cards.find("article")]
    assert found == [f"entry-{run.frames}-0", f"entry-{run.frames}-1"]


def test_a_body_that_was_cut_off_by_a_limit_has_no_entries() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD, Frame(0, 50, FrameKind.BODY, BEGINNING))
    problem = Problem("refused", Stage.LIMIT, "Too long.", "", "", "max_bytes")
    recording.add(Frame(0, 90, FrameKind.ERROR, problem.to_bytes()))
    assert entries(part(recording.end("refused"))) == []
