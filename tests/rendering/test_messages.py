"""Messages of an Agent API reply: joined, shown as they grow, and the same in the end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run
from playground.protocols.agent_api import parts
from playground.protocols.events import Content, Message
from playground.protocols.frames import Frame
from playground.rendering import live, message_parts, messages
from playground.rendering.live import RunUpdates
from playground.rendering.messages import JoinedMessage
from playground.rendering.speech import MessageView, usage_rows
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.rendering.markup import assert_inert
from tests.rendering.page import Node, Page
from tests.rendering.recording import CALL, END, HEAD, OPEN
from tests.rendering.speaking import (
    a_call,
    an_output,
    data,
    message,
    piece,
    recording,
    response,
    says,
    streams,
    whole,
)
from tests.rendering.test_entries import TAGS

pytestmark = pytest.mark.django_db

ALL = 10**9


def cards_of(run: Run) -> list[str]:
    """What a page shows that is opened now, pinned entries left out."""
    entries = ThreadReader(run).read_to(run.frames, ALL, ALL)
    return render_entries([each for each in entries if not each.pinned], Thread(run))


def reply(*frames: Frame, state: str = "completed") -> Run:
    made = recording()
    made.add(CALL, OPEN, HEAD, *frames, END)
    return made.end(state)


def joined(run: Run) -> list[JoinedMessage]:
    fold = ThreadReader(run)
    fold.read_to(run.frames, ALL, ALL)
    return list(fold.messages)


def drain(view: RunUpdates, page: Page) -> list[str]:
    told = []
    while found := view.advance():
        page.take(found.html)
        told.append(found.html)
    return told


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


class TestShowing:
    def test_text_is_text(self) -> None:
        run = reply(message("m1"), piece("m1", "<b>bold</b>\n  and on"))
        (html,) = cards_of(run)
        markup = assert_inert(html, TAGS | {"pre"})
        assert "<b>bold</b>\n  and on" in markup.text
        assert "never completed" in markup.text

    def test_arguments_are_indented_where_they_are_json(self) -> None:
        html = cards_of(reply(*a_call(), *an_output(output='{"dishes": [1]}')))[0]
        text = assert_inert(html, TAGS | {"pre"}).text
        assert '{\n  "dish": "soup"\n}' in text
        assert '{\n  "dishes": [\n    1\n  ]\n}' in text

    def test_an_output_is_shown_with_its_call(self) -> None:
        call, output = cards_of(reply(*a_call(kind="plugin_call"), *an_output()))
        assert "42" in call
        assert "42" not in output
        assert (
            f'href="#{assert_inert(call, TAGS | {"pre"}).elements[0].attributes["id"]}"' in output
        )

    def test_a_plugin_is_not_asked_for_by_hand(self) -> None:
        (html,) = cards_of(reply(*a_call(kind="plugin_call")))
        assert "<form" not in html

    def test_reasoning_is_folded(self) -> None:
        (html,) = cards_of(reply(message("m1", "reasoning"), piece("m1", "hm")))
        markup = assert_inert(html, TAGS)
        (fold,) = [each for each in markup.elements if each.tag == "details"]
        assert "open" not in fold.attributes

    def test_items_are_cards_and_other_data_is_json(self) -> None:
        item = {"@type": "Recipe", "name": "Soup"}
        (html,) = cards_of(reply(message("m1"), data("m1", item), data("m1", {"a": 1}, 1)))
        markup = assert_inert(html, TAGS | {"pre"})
        assert "Soup" in markup.text
        assert '"a": 1' in markup.text
        assert '"@type"' not in markup.text

    @pytest.mark.parametrize("allowed", [True, False])
    def test_a_picture_is_loaded_where_that_is_allowed(self, settings: Any, allowed: bool) -> None:
        settings.AGENT_IMAGES = allowed
        url = "https://pictures.example/soup.jpg"
        (html,) = cards_of(reply(message("m1"), whole("m1", type="image", image_url=url)))
        markup = assert_inert(html, TAGS)
        assert len(markup.find("img")) == allowed
        assert [a.attributes["href"] for a in markup.find("a")] == [url]

    def test_an_address_that_could_run_is_no_link(self) -> None:
        (html,) = cards_of(
            reply(message("m1"), whole("m1", type="image", image_url="javascript:alert(1)"))
        )
        markup = assert_inert(html, TAGS)
        assert not markup.find("a")
        assert not markup.find("img")

    def test_tools_are_listed_by_name(self) -> None:
        value = {"tools": [{"name": "look_up", "description": "Finds dishes"}, "odd", None]}
        (html,) = cards_of(reply(message("m1", "mcp_list_tools"), data("m1", value)))
        text = assert_inert(html, TAGS | {"pre"}).text
        assert "look_up" in text
        assert "Finds dishes" in text

    def test_a_long_text_is_shown_in_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(message_parts, "MAX_TEXT", 10)
        (html,) = cards_of(reply(message("m1"), piece("m1", "0123456789abc")))
        assert ">0123456789<" in html
        assert "The first 10 of 13 characters" in html

    def test_usage_is_said(self) -> None:
        assert usage_rows({"input_tokens": 3, "none": None}) == [("input tokens", "3")]
        assert usage_rows("many") == []

    def test_an_unknown_status_is_shown_as_it_is(self) -> None:
        assert MessageView(JoinedMessage((1, 0), "m", status="odd")).status_label == "odd"


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
        (told,) = drain(view, page)
        assert "Once upon" not in told
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
        told = "".join(drain(view, page))
        assert "Once upon" not in told
        assert page.cards.plain() == Page(cards_of(made.run)).cards.plain()

    def test_a_text_stops_growing_at_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(message_parts, "MAX_TEXT", 10)
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
        # Nobody's agent: the run was recorded without one.
        assert "can no longer be answered" in page.cards.text

    @given(streams(), st.data())
    def test_what_grew_is_what_a_reload_shows(
        self, parts: list[list[Frame]], choice: st.DataObject
    ) -> None:
        """From any moment, with any number of looks while the reply comes."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 4)
            made = recording()
            late = choice.draw(st.integers(0, len(parts) - 1), "late")
            for part in parts[:late]:
                made.add(*part)
            view, page = RunUpdates(made.run.pk, made.run.frames), Page(cards_of(made.run))
            for number, part in enumerate(parts[late:]):
                made.add(*part)
                if choice.draw(st.booleans(), f"look {number}"):
                    drain(view, page)
            run = made.end()
            drain(view, page)
            assert page.cards.plain() == Page(cards_of(run)).cards.plain()
            cards = [each for each in page.cards.children if isinstance(each, Node)]
            assert run.entries == len(cards) + _pinned(run)

    @given(streams())
    def test_nothing_that_came_is_markup(self, parts: list[list[Frame]]) -> None:
        made = recording()
        for part in parts:
            made.add(*part)
        tags = TAGS | {"pre", "button", "form", "strong"}
        for html in cards_of(made.end()):
            assert_inert(html, tags)


def _pinned(run: Run) -> int:
    entries = ThreadReader(run).read_to(run.frames, ALL, ALL)
    return sum(entry.pinned for entry in entries)


class TestFetching:
    def test_a_message_beyond_the_window_asks_for_itself(self, client: Any) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once"))
        run = made.run
        page = client.get(reverse("run-results", args=[run.pk])).content.decode()
        assert "hx-trigger" in page
        made.add(piece("m1", " more"), message("m1", status="completed"))
        now = client.get(reverse("run-message", args=[run.pk, 4, 0])).content.decode()
        assert "Once more" in now
        assert "hx-trigger" not in now

    def test_all_of_a_text(self, client: Any) -> None:
        run = reply(message("m1"), piece("m1", "a <b> c"))
        url = reverse("run-message-text", args=[run.pk, 4, 0, 0])
        assert client.get(url).content.decode() == "a &lt;b&gt; c"

    def test_the_json_of_a_message_is_what_it_has_become(self, client: Any) -> None:
        run = reply(message("m1"), piece("m1", "Once"))
        found = client.get(reverse("run-item", args=[run.pk, 4, 0])).content.decode()
        assert "Once" in found

    def test_a_later_page_has_what_came_after_it(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, *(message(f"m{n}") for n in range(6)))
        for n in range(6):
            made.add(piece(f"m{n}", f"text {n}"))
        entries = ThreadReader(made.run).page(2, 2)
        assert [each.message and each.message.texts for each in entries] == [["text 2"], ["text 3"]]
        assert all(isinstance(each.event, Message) for each in entries)


def test_events_and_timeline_name_the_new_kinds(client: Any) -> None:
    run = reply(*a_call(), *an_output(), says(object="content", msg_id="m1", type="text", text="x"))
    rows = client.get(reverse("run-events", args=[run.pk])).content.decode()
    for kind in ("message", "content"):
        assert f'data-kind="{kind}"' in rows
    seen = client.get(reverse("run-timeline", args=[run.pk])).content.decode()
    assert 'data-kind="content"' in seen
    detail = client.get(reverse("run-event", args=[run.pk, 5])).content.decode()
    assert "Tool call" in detail
    assert json.dumps("look_up") in detail.replace("&quot;", '"')


class TestPiecesOfAnObject:
    def test_they_are_put_together_when_somebody_looks(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        joins: list[int] = []

        def joined(pieces: list[Any]) -> Any:
            joins.append(len(pieces))
            return parts.join(pieces)

        monkeypatch.setattr(messages, "join", joined)
        part = messages.MessagePart(0, 0, "data")
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
        part = messages.MessagePart(0, 0, "data")
        for each in pieces:
            part.add(Content(2, (1, 0), "m", 0, "data", each, True))
        assert part.value == value
