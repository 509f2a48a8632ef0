"""Updates of messages that grow while a page shows them: the same as a reload in the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run
from playground.protocols.frames import Frame
from playground.rendering import live, messages
from playground.rendering.live import RunUpdates
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.rendering.page import Node, Page
from tests.support.markup import ENTRY_TAGS, assert_inert
from tests.support.messages import a_call, message, piece, recording, response, streams, whole
from tests.support.stored_runs import CALL, END, HEAD, OPEN

pytestmark = pytest.mark.django_db

ALL = 10**9


def cards_of(run: Run, *, readonly: bool = False) -> list[str]:
    """Return the HTML of all entries of a new page, without pinned ones."""
    entries = ThreadReader(run).read_to(run.frames, ALL, ALL)
    shown = [each for each in entries if not each.pinned]
    return render_entries(shown, Thread(run, readonly=readonly))


def drain(view: RunUpdates, page: Page) -> list[str]:
    updates = []
    while found := view.advance():
        page.take(found.html)
        updates.append(found.html)
    return updates


class TestGrowing:
    def test_a_text_is_sent_piece_by_piece(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, response("created"), message("m1"))
        view, page = RunUpdates(made.run.pk, 0), Page([])
        drain(view, page)
        made.add(piece("m1", "Once upon "))
        first = drain(view, page)
        made.add(piece("m1", "a time"))
        second = drain(view, page)
        assert "Once upon" in first[0]
        assert "Once upon" not in second[0]
        assert "Once upon a time" in page.cards.text

    def test_who_comes_late_is_sent_only_the_rest(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once upon "))
        page, seen = Page(cards_of(made.run)), made.run.frames
        made.add(piece("m1", "a time"))
        view = RunUpdates(made.run.pk, seen)
        (updates,) = drain(view, page)
        assert "Once upon" not in updates
        assert "Once upon a time" in page.cards.text

    def test_completing_sends_no_text_again(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once upon a time"))
        view, page = RunUpdates(made.run.pk, 0), Page([])
        drain(view, page)
        made.add(
            whole("m1", type="text", text="Once upon a time"),
            message(
                "m1", status="completed", content=[{"type": "text", "text": "Once upon a time"}]
            ),
        )
        made.end()
        updates = "".join(drain(view, page))
        assert "Once upon" not in updates
        assert page.cards.plain() == Page(cards_of(made.run)).cards.plain()

    def test_a_text_stops_growing_at_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(messages, "MAX_TEXT", 10)
        monkeypatch.setattr("playground.rendering.message_updates.MAX_TEXT", 10)
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "0123456"))
        view, page = RunUpdates(made.run.pk, 0), Page([])
        drain(view, page)
        for text in ("789ab", "cdef"):
            made.add(piece("m1", text))
            drain(view, page)
        assert "0123456789" in page.cards.text
        assert "ab" not in page.cards.text
        assert "The first 10 of 16 characters" in page.cards.text

    def test_the_form_of_a_call_comes_with_the_end(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, *a_call())
        view, page = RunUpdates(made.run.pk, 0), Page([])
        drain(view, page)
        assert "Your answer" not in page.cards.text
        made.add(END)
        made.end()
        drain(view, page)
        # The run has no agent.
        assert "can no longer be answered" in page.cards.text

    @given(streams(), st.data(), st.booleans())
    def test_what_grew_is_what_a_reload_shows(
        self, parts: list[list[Frame]], choice: st.DataObject, readonly: bool
    ) -> None:
        """From any moment, with any number of updates while the response is received."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 4)
            made = recording()
            late = choice.draw(st.integers(0, len(parts) - 1), "late")
            for part in parts[:late]:
                made.add(*part)
            view = RunUpdates(made.run.pk, made.run.frames, readonly=readonly)
            page = Page(cards_of(made.run, readonly=readonly))
            for number, part in enumerate(parts[late:]):
                made.add(*part)
                if choice.draw(st.booleans(), f"look {number}"):
                    drain(view, page)
            run = made.end()
            drain(view, page)
            assert page.cards.plain() == Page(cards_of(run, readonly=readonly)).cards.plain()
            cards = [each for each in page.cards.children if isinstance(each, Node)]
            assert run.entries == len(cards) + _pinned(run)

    @given(streams())
    def test_nothing_that_came_is_markup(self, parts: list[list[Frame]]) -> None:
        made = recording()
        for part in parts:
            made.add(*part)
        tags = ENTRY_TAGS | {"pre", "button", "form", "strong"}
        for html in cards_of(made.end()):
            assert_inert(html, tags)


def _pinned(run: Run) -> int:
    entries = ThreadReader(run).read_to(run.frames, ALL, ALL)
    return sum(entry.pinned for entry in entries)
