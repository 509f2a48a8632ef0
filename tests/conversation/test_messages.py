"""Messages of the Agent API: joined from pieces, shown, growing on a page, and fetched later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame
from tests.support.markup import ENTRY_TAGS, Element, assert_inert
from tests.support.messages import (
    a_call,
    an_output,
    data,
    ended,
    message,
    piece,
    recording,
    response,
    says,
    streams,
    whole,
)
from tests.support.run_page import Viewer, entries, part, shared
from tests.support.stored_runs import CALL, END, HEAD, OPEN

pytestmark = pytest.mark.django_db

TAGS = ENTRY_TAGS | {"pre", "strong"}
#: Most characters of a text that are shown.
MAX_TEXT = 20_000


def shown(*frames: Frame) -> list[Element]:
    """Return the entries of a response with these frames, each of them inert."""
    found = entries(part(ended(*frames)))
    for entry in found:
        assert_inert(Element("", children=[entry]), TAGS)
    return found


def texts(entry: Element) -> list[str]:
    return [each.text for each in entry.select(class_="msg-text")]


def status(entry: Element) -> str:
    return entry.select(class_="msg-status")[0].words


class TestJoining:
    @pytest.mark.parametrize(
        ("frames", "wanted"),
        [
            ([message("m1"), piece("m1", "Hello"), piece("m1", ", world"),
              whole("m1", type="text", text="Hello, world")], ["Hello, world"]),
            # The completed text counts.
            ([message("m1"), piece("m1", "Helo"), whole("m1", type="text", text="Hello")],
             ["Hello"]),
            # Parts are ordered by index, and gaps are none.
            ([message("m1"), piece("m1", "third", 7), piece("m1", "first", 0)], ["first", "third"]),
            # A message that was never announced has an entry.
            ([piece("m9", "by itself")], ["by itself"]),
        ],
        ids=["pieces", "completed", "order", "unannounced"],
    )  # fmt: skip
    def test_pieces_make_the_texts(self, frames: list[Frame], wanted: list[str]) -> None:
        (entry,) = shown(*frames)
        assert texts(entry) == wanted

    @pytest.mark.parametrize("is_reversed", [False, True])
    def test_a_call_and_its_output_find_each_other(self, is_reversed: bool) -> None:
        asked, answered = a_call(kind="plugin_call"), an_output()
        found = shown(*((answered + asked) if is_reversed else (asked + answered)))
        output, call = sorted(found, key=lambda each: "look_up" in each.words and bool(
            each.find("pre")))  # fmt: skip
        assert "42" in call.words
        assert "42" not in output.words
        (link,) = output.select("a", class_="msg-elsewhere")
        assert link.attributes["href"] == f"#{call.attributes['id']}"

    def test_calls_without_an_id_are_no_pair(self) -> None:
        found = shown(*a_call(call="", kind="plugin_call"), *an_output(call=""))
        assert not [each for entry in found for each in entry.select(class_="msg-elsewhere")]

    def test_heartbeats_are_no_entries(self) -> None:
        run = ended(message("m1", "heartbeat"), message("m2", "heartbeat"))
        assert (run.entries, entries(part(run))) == (0, [])

    @pytest.mark.parametrize(
        ("pieces", "value"),
        [
            ([{"arguments": "{"}, {"arguments": "}"}], {"arguments": "{}"}),
            ([{"a": 1}, [2], [3]], [2, 3]),
            ([1, 2], 2),
            ([[1], {"a": "b"}, {"c": "d"}], {"a": "b", "c": "d"}),
            ([{f"k{n}": "v"} for n in range(100)], {f"k{n}": "v" for n in range(100)}),
        ],
        ids=["joined", "other type", "scalars", "replaced", "many"],
    )
    def test_pieces_of_an_object(self, pieces: list[Any], value: Any) -> None:
        """What does not fit takes the place of all before it."""
        parts = [
            says(object="content", msg_id="m1", index=0, type="data", delta=True, data=each,
                 status="in_progress")
            for each in pieces
        ]  # fmt: skip
        (entry,) = shown(message("m1"), *parts)
        assert json.loads(entry.find("pre")[0].text) == value


class TestShowing:
    def test_text_is_text(self) -> None:
        (entry,) = shown(message("m1"), piece("m1", "<b>bold</b>\n  and on"))
        assert texts(entry) == ["<b>bold</b>\n  and on"]
        assert status(entry) == "Never completed"

    def test_arguments_are_indented_where_they_are_json(self) -> None:
        text = shown(*a_call(), *an_output(output='{"dishes": [1]}'))[0].text
        assert '{\n  "dish": "soup"\n}' in text
        assert '{\n  "dishes": [\n    1\n  ]\n}' in text

    @pytest.mark.parametrize(
        ("frames", "label"),
        [
            (a_call(), "Waiting for output"),
            (a_call(kind="mcp_approval_request"), "Waiting for approval"),
            ([*a_call(), *an_output()], "Completed"),
            (a_call(kind="plugin_call"), "Completed"),
            (a_call()[:-1], "Never completed"),
            ([message("m1", status="odd")], "odd"),
        ],
    )
    def test_a_call_that_waits_for_the_client_says_so(
        self, frames: list[Frame], label: str
    ) -> None:
        assert status(shown(*frames)[0]) == label

    def test_reasoning_is_folded(self) -> None:
        (entry,) = shown(message("m1", "reasoning"), piece("m1", "hm"))
        (details,) = entry.find("details")
        assert "open" not in details.attributes

    def test_items_are_cards_and_other_data_is_json(self) -> None:
        item = {"@type": "Recipe", "name": "Soup"}
        (entry,) = shown(message("m1"), data("m1", item), data("m1", {"a": 1}, 1))
        assert entry.select(class_="mini-title")[0].words == "Soup"
        assert json.loads(entry.find("pre")[0].text) == {"a": 1}

    def test_tools_are_listed_by_name_and_counted(self) -> None:
        named = [{"name": "look_up", "description": "Finds dishes"}, "odd", None]
        value = {"tools": [*named, *({"name": f"t{n}"} for n in range(5_000))]}
        (entry,) = shown(message("m1", "mcp_list_tools"), data("m1", value))
        (tools,) = entry.select("dl", class_="msg-tools")
        assert tools.facts["look_up"] == "Finds dishes"
        assert len(tools.find("dt")) == 100
        assert "more tools in the JSON." in entry.words

    def test_usage_is_said(self) -> None:
        for usage, facts in (({"input_tokens": 3, "none": None}, [{"input tokens": "3"}]),
                             ("many", [])):  # fmt: skip
            (entry,) = shown(message("m1"), message("m1", status="completed", usage=usage))
            assert [each.facts for each in entry.select("dl", class_="msg-usage")] == facts


class TestGrowing:
    def test_a_text_is_sent_piece_by_piece(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, response("created"), message("m1"))
        viewer = Viewer(made.run, after=0)
        viewer.follow()
        made.add(piece("m1", "Once upon "))
        assert "Once upon" in viewer.follow()
        made.add(piece("m1", "a time"))
        assert "Once upon" not in viewer.follow()
        assert "Once upon a time" in viewer.cards.text

    def test_who_comes_late_is_sent_only_the_rest(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once upon "))
        viewer = Viewer(made.run)
        made.add(piece("m1", "a time"))
        assert "Once upon" not in viewer.follow()
        assert "Once upon a time" in viewer.cards.text

    def test_completing_sends_no_text_again(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once upon a time"))
        viewer = Viewer(made.run, after=0)
        viewer.follow()
        text = {"type": "text", "text": "Once upon a time"}
        made.add(whole("m1", **text), message("m1", status="completed", content=[text]))
        made.end()
        assert "Once upon" not in viewer.follow()
        assert "Once upon a time" in viewer.cards.text

    def test_a_text_stops_growing_at_the_limit(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "a" * (MAX_TEXT - 3)))
        viewer = Viewer(made.run, after=0)
        viewer.follow()
        for text in ("bbbcc", "ccc"):
            made.add(piece("m1", text))
            viewer.follow()
        for page in (viewer.cards, part(made.run)):
            (found,) = page.select(class_="msg-text")
            assert found.text.endswith("abbb")
            assert len(found.text) == MAX_TEXT
            assert "The first 20,000 of 20,005 characters" in page.words

    def test_the_form_of_a_call_comes_with_the_end(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, *a_call())
        viewer = Viewer(made.run, after=0)
        viewer.follow()
        assert "answer" not in viewer.cards.words.lower()
        made.add(END)
        made.end()
        viewer.follow()
        # The run has no agent.
        assert "can no longer be answered" in viewer.cards.text

    @given(streams(), st.data(), st.booleans())
    def test_what_grew_is_what_a_reload_shows(
        self, parts: list[list[Frame]], choice: st.DataObject, readonly: bool
    ) -> None:
        """From any moment, with any number of updates while the response is received."""
        made = recording()
        late = choice.draw(st.integers(1, len(parts)), "late")
        for frames in parts[:late]:
            made.add(*frames)
        viewer = Viewer(made.run, readonly=readonly)
        for number, frames in enumerate(parts[late:]):
            made.add(*frames)
            if choice.draw(st.booleans(), f"look {number}"):
                viewer.follow()
        run = made.end()
        viewer.follow()
        reloaded = shared(run) if readonly else part(run)
        cards = reloaded.by_id("cards")
        assert cards
        assert viewer.cards.plain()[2] == cards.plain()[2]  # type: ignore[index]
        assert run.entries == len(entries(reloaded))
        for entry in entries(reloaded):
            assert_inert(Element("", children=[entry]), TAGS)


class TestFetching:
    def test_a_message_beyond_the_window_asks_for_itself(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, message("m1"), piece("m1", "Once"))
        assert part(made.run, "results/").select("section", hx_trigger=None)
        made.add(piece("m1", " more"), message("m1", status="completed"))
        now = part(made.run, "messages/4/0/")
        assert "Once more" in now.words
        assert not now.select("section", hx_trigger=None)

    def test_all_of_a_text_and_its_json(self) -> None:
        run = ended(message("m1"), piece("m1", "a <b> c"))
        assert part(run, "messages/4/0/parts/0/").text == "a <b> c"
        assert "a <b> c" in part(run, "items/4/0/").text

    def test_a_later_page_has_what_came_after_it(self) -> None:
        made = recording()
        made.add(CALL, OPEN, HEAD, *(message(f"m{n}") for n in range(65)))
        for n in (0, 62, 64):
            made.add(piece(f"m{n}", f"text {n}"))
        found = part(made.run, "results/", offset=60).select("section", class_="msg")
        assert [texts(each) for each in found] == [[], [], ["text 62"], [], ["text 64"]]

    def test_of_a_frame_it_is_what_the_frame_says(self) -> None:
        text = part(ended(*a_call()), "events/5/").text
        assert "Tool call" in text
        assert '"look_up"' in text
