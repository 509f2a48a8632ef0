"""Messages as their templates show them, at once and fetched later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from playground.models import Run
from playground.protocols.events import Message
from playground.protocols.frames import Frame
from playground.rendering import messages
from playground.rendering.message_joiner import JoinedMessage
from playground.rendering.messages import MessageView, usage_rows
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.support.markup import ENTRY_TAGS, assert_inert
from tests.support.messages import a_call, an_output, data, message, piece, recording, says, whole
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


class TestShowing:
    def test_text_is_text(self) -> None:
        run = reply(message("m1"), piece("m1", "<b>bold</b>\n  and on"))
        (html,) = cards_of(run)
        markup = assert_inert(html, ENTRY_TAGS | {"pre"})
        assert "<b>bold</b>\n  and on" in markup.text
        assert "Never completed" in markup.text

    def test_arguments_are_indented_where_they_are_json(self) -> None:
        html = cards_of(reply(*a_call(), *an_output(output='{"dishes": [1]}')))[0]
        text = assert_inert(html, ENTRY_TAGS | {"pre"}).text
        assert '{\n  "dish": "soup"\n}' in text
        assert '{\n  "dishes": [\n    1\n  ]\n}' in text

    def test_an_output_is_shown_with_its_call(self) -> None:
        call, output = cards_of(reply(*a_call(kind="plugin_call"), *an_output()))
        assert "42" in call
        assert "42" not in output
        anchor = assert_inert(call, ENTRY_TAGS | {"pre"}).elements[0].attributes["id"]
        assert f'href="#{anchor}"' in output

    @pytest.mark.parametrize(
        ("frames", "label"),
        [
            (a_call(), "Waiting for output"),
            (a_call(kind="mcp_approval_request"), "Waiting for approval"),
            ([*a_call(), *an_output()], "Completed"),
            (a_call(kind="plugin_call"), "Completed"),
            (a_call()[:-1], "Never completed"),
        ],
    )
    def test_a_call_that_waits_for_the_client_says_so(
        self, frames: list[Frame], label: str
    ) -> None:
        html = cards_of(reply(*frames))[0]
        markup = assert_inert(html, ENTRY_TAGS | {"pre"})
        assert label in markup.text
        assert ("Waiting" in markup.text) == label.startswith("Waiting")

    def test_a_plugin_is_not_asked_for_by_hand(self) -> None:
        (html,) = cards_of(reply(*a_call(kind="plugin_call")))
        assert "<form" not in html

    def test_reasoning_is_folded(self) -> None:
        (html,) = cards_of(reply(message("m1", "reasoning"), piece("m1", "hm")))
        markup = assert_inert(html, ENTRY_TAGS)
        (details,) = [each for each in markup.elements if each.tag == "details"]
        assert "open" not in details.attributes

    def test_items_are_cards_and_other_data_is_json(self) -> None:
        item = {"@type": "Recipe", "name": "Soup"}
        (html,) = cards_of(reply(message("m1"), data("m1", item), data("m1", {"a": 1}, 1)))
        markup = assert_inert(html, ENTRY_TAGS | {"pre"})
        assert "Soup" in markup.text
        assert '"a": 1' in markup.text
        assert '"@type"' not in markup.text

    def test_an_address_that_could_run_is_no_link(self) -> None:
        (html,) = cards_of(
            reply(message("m1"), whole("m1", type="image", image_url="javascript:alert(1)"))
        )
        markup = assert_inert(html, ENTRY_TAGS)
        assert not markup.find("a")
        assert not markup.find("img")

    def test_tools_are_listed_by_name(self) -> None:
        value = {"tools": [{"name": "look_up", "description": "Finds dishes"}, "odd", None]}
        (html,) = cards_of(reply(message("m1", "mcp_list_tools"), data("m1", value)))
        text = assert_inert(html, ENTRY_TAGS | {"pre"}).text
        assert "look_up" in text
        assert "Finds dishes" in text

    def test_a_long_text_is_shown_in_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(messages, "MAX_TEXT", 10)
        (html,) = cards_of(reply(message("m1"), piece("m1", "0123456789abc")))
        assert ">0123456789<" in html
        assert "The first 10 of 13 characters" in html

    def test_usage_is_said(self) -> None:
        assert usage_rows({"input_tokens": 3, "none": None}) == [("input tokens", "3")]
        assert usage_rows("many") == []

    def test_an_unknown_status_is_shown_as_it_is(self) -> None:
        assert MessageView(JoinedMessage((1, 0), "m", status="odd")).status_label == "odd"


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
