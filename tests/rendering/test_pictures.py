"""Pictures that agents name: nothing that a browser would load by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.models import Run
from playground.rendering.pictures import picture_link, picture_url
from playground.rendering.shares import shared_run
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.support.markup import ENTRY_TAGS, Element, Element, assert_inert
from tests.support.messages import data, message, recording, whole
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

pytestmark = pytest.mark.django_db

URL = "https://pictures.example:8443/soup.jpg?size=1&x=%22"
DATA_URL = "data:image/svg+xml,<svg/>"


def card_run(image: Any) -> Run:
    item = {"@type": "Recipe", "name": "Soup", "image": image}
    result = event(f"event: result\ndata: {json.dumps({'index': 0, 'item': item})}\n\n")
    return recorded([[CALL, OPEN, HEAD], [result], [END]])


def message_run(image: Any) -> Run:
    made = recording()
    made.add(CALL, OPEN, HEAD, message("m1"), whole("m1", type="image", image_url=image), END)
    return made.end()


def part_run(image: Any) -> Run:
    """A message with a card."""
    made = recording()
    made.add(CALL, OPEN, HEAD, message("m1"), data("m1", {"@type": "Recipe", "image": image}), END)
    return made.end()


RUNS = [card_run, message_run, part_run]


def rendered(run: Run, *, readonly: bool = False) -> Element:
    entries = ThreadReader(run).read_to(run.frames, 100, 100)
    html = "".join(render_entries(entries, Thread(run, readonly=readonly)))
    return assert_inert(html, ENTRY_TAGS | {"pre", "copy-button"})


def buttons(markup: Element) -> list[Element]:
    return [each for each in markup.find("button") if each.attributes.get("name") == "url"]


@pytest.mark.parametrize("run_of", RUNS)
class TestWhereOneIsNamed:
    def test_a_button_loads_it(self, run_of: Any) -> None:
        run = run_of(URL)
        markup = rendered(run)
        (button,) = buttons(markup)
        (form,) = markup.find("form")
        assert form.attributes["action"] == f"/runs/{run.pk}/picture/"
        assert picture_url(button.attributes["value"] or "", run.pk) == URL
        assert "Show picture" in markup.text
        assert "pictures.example:8443" in markup.text
        assert not [a for a in markup.find("a") if a.attributes["href"] == URL]

    def test_it_may_be_in_a_list_or_an_object(self, run_of: Any) -> None:
        if run_of is not message_run:
            assert len(buttons(rendered(run_of([URL, URL])))) == 1
            assert len(buttons(rendered(run_of({"url": URL})))) == 1

    @pytest.mark.parametrize("readonly", [False, True])
    def test_it_is_only_a_link_where_it_may_not_be_loaded(
        self, run_of: Any, readonly: bool, settings: Any
    ) -> None:
        settings.AGENT_IMAGES = readonly
        markup = rendered(run_of(URL), readonly=readonly)
        assert not buttons(markup)
        assert not markup.find("agent-picture")
        (link,) = [a for a in markup.find("a") if a.attributes["href"] == URL]
        assert "noreferrer" in (link.attributes["rel"] or "")

    @pytest.mark.parametrize(
        "url", ["javascript:alert(1)", DATA_URL, "/local.png", "http://u:p@a.example/", 7, None]
    )
    def test_another_value_is_neither(self, run_of: Any, url: Any) -> None:
        markup = rendered(run_of(url))
        assert not buttons(markup)
        assert not [a for a in markup.find("a") if a.attributes["href"] == url]


def test_readers_of_a_share_get_no_signature() -> None:
    html = "".join(shared_run(card_run(URL))["cards"])
    assert "/picture/" not in html
    assert "agent-picture" not in html


def test_a_signature_is_for_one_url_of_one_run() -> None:
    run, other = Run(), Run()
    signed = picture_link(URL, run.pk, readonly=False).signed_url
    assert picture_url(signed, run.pk) == URL
    assert picture_url(signed, other.pk) is None
    assert picture_url(signed.replace("soup", "soap"), run.pk) is None
    assert picture_url(URL, run.pk) is None
    assert picture_url("", run.pk) is None
