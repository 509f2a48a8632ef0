"""Joining the events of an Agent API response into messages."""

from __future__ import annotations

from typing import Any

import pytest

from playground.models import Run
from playground.protocols.agent_api import parts
from playground.protocols.events import Content
from playground.protocols.frames import Frame
from playground.rendering import message_joiner
from playground.rendering.message_joiner import JoinedMessage
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.support.messages import a_call, an_output, message, piece, recording, whole
from tests.support.stored_runs import CALL, END, HEAD, OPEN

pytestmark = pytest.mark.django_db

ALL = 10**9


def cards_of(run: Run) -> list[str]:
    """Return the HTML of all entries of a new page, without pinned ones."""
    entries = ThreadReader(run).read_to(run.frames, ALL, ALL)
    return render_entries([each for each in entries if not each.pinned], Thread(run))


def reply(*frames: Frame, state: str = "completed") -> Run:
    made = recording()
    made.add(CALL, OPEN, HEAD, *frames, END)
    return made.end(state)


def joined(run: Run) -> list[JoinedMessage]:
    reader = ThreadReader(run)
    reader.read_to(run.frames, ALL, ALL)
    return list(reader.messages)


class TestJoining:
    def test_pieces_make_the_text(self) -> None:
        run = reply(
            message("m1"),
            piece("m1", "Hello"),
            piece("m1", ", world"),
            whole("m1", type="text", text="Hello, world"),
            message("m1", status="completed"),
        )
        (found,) = joined(run)
        assert (found.texts, found.status) == (["Hello, world"], "completed")

    def test_the_completed_text_counts(self) -> None:
        run = reply(message("m1"), piece("m1", "Helo"), whole("m1", type="text", text="Hello"))
        (found,) = joined(run)
        assert found.texts == ["Hello"]

    def test_parts_are_ordered_by_index_and_gaps_are_none(self) -> None:
        run = reply(message("m1"), piece("m1", "third", 7), piece("m1", "first", 0))
        (found,) = joined(run)
        assert found.texts == ["first", "third"]

    def test_a_piece_of_a_message_that_was_never_announced_has_an_entry(self) -> None:
        run = reply(piece("m9", "by itself"))
        assert run.entries == 1
        (found,) = joined(run)
        assert found.texts == ["by itself"]

    def test_a_call_and_its_output_find_each_other_in_either_order(self) -> None:
        for frames in (a_call() + an_output(), an_output() + a_call()):
            both = {bool(each.call): each for each in joined(reply(*frames))}
            output = both[True].output
            assert output
            assert output.output == "42"
            assert both[False].caller is both[True]

    def test_calls_without_an_id_are_no_pair(self) -> None:
        frames = a_call(call="") + an_output(call="")
        assert [each.output for each in joined(reply(*frames))] == [None, None]

    def test_heartbeats_are_no_entries(self) -> None:
        run = reply(message("m1", "heartbeat"), message("m2", "heartbeat"))
        assert (run.entries, cards_of(run)) == (0, [])


class TestPiecesOfAnObject:
    def test_they_are_put_together_when_somebody_looks(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        joins: list[int] = []

        def joined(pieces: list[Any]) -> Any:
            joins.append(len(pieces))
            return parts.join(pieces)

        monkeypatch.setattr(message_joiner, "join", joined)
        part = message_joiner.MessagePart(0, 0, "data")
        for number in range(1000):
            part.add(Content(2, (1, 0), "m", 0, "data", {f"k{number}": "v"}, True))
        assert (joins, part.revision) == ([], 1000)
        assert part.value == {f"k{number}": "v" for number in range(1000)}
        assert (part.value, joins) == (part.value, [1000])

    @pytest.mark.parametrize(
        ("pieces", "value"),
        [
            ([{"arguments": "{"}, {"arguments": "}"}], {"arguments": "{}"}),
            ([{"a": 1}, [2], [3]], [2, 3]),
            ([1, 2], 2),
            ([[1], {"a": "b"}, {"c": "d"}], {"a": "b", "c": "d"}),
        ],
    )
    def test_what_does_not_fit_takes_the_place_of_all_before_it(
        self, pieces: list[Any], value: Any
    ) -> None:
        part = message_joiner.MessagePart(0, 0, "data")
        for each in pieces:
            part.add(Content(2, (1, 0), "m", 0, "data", each, True))
        assert part.value == value
