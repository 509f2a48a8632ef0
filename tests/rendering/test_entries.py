"""Events to HTML: whatever an agent sends is shown as text and does nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.template.loader import get_template
from hypothesis import given
from hypothesis import settings as hypothesis

from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.places import MAX_PINNED, Placer
from playground.rendering.cards import card_of
from playground.rendering.entries import Entry, entry_of
from playground.rendering.pretty import pretty
from playground.rendering.rows import payload_of, row_of
from playground.rendering.thread import Thread
from playground.rendering.thread import render_entry as render_in
from tests.rendering.markup import assert_inert, read
from tests.rendering.strategies import events, items

TAGS = frozenset(
    "article section div p h3 span a img dl dt dd details summary ul ol li code progress raw-json "
    "table caption tr th td copy-button "
    "answer-form fieldset legend label input textarea datalist option svg use".split()
)  # fmt: skip


def entry_at(event: ev.Event, part: int = 0) -> Entry | None:
    return entry_of(event, part, Placer().place(event))


class Lone(Thread):
    """The thread of a run that nothing came of; the database is not asked."""

    tracker = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.run = self.page = Run(agent_name="scripted")
        self._depth = 0
        self._by_place = {}


def render_entry(entry: Entry) -> str:
    return render_in(entry, Lone())


def render(event: ev.Event) -> str:
    entry = entry_at(event)
    assert entry
    return render_entry(entry)


@hypothesis(deadline=None)
@given(items)
def test_every_item_has_a_card_of_text(item: Any) -> None:
    card = card_of(item)
    texts = [card.kind, card.title, card.text, card.site, card.score]
    texts += [part for fact in card.facts for part in fact]
    texts += [part for label, parts in card.lists for part in (label, *parts)]
    assert all(isinstance(text, str) and len(text) <= 600 for text in texts)


@hypothesis(max_examples=300, deadline=None)
@given(events)
def test_every_event_is_shown_and_inert(event: ev.Event) -> None:
    entry = entry_at(event, 3)
    if entry is None:
        assert isinstance(event, ev.Started | ev.Completed | ev.Note)
        return
    markup = assert_inert(render_entry(entry), TAGS)
    assert markup.elements[0].attributes["id"] == "entry-7-3"


@hypothesis(deadline=None)
@given(events)
def test_every_event_has_a_row_and_a_payload(event: ev.Event) -> None:
    frame = Frame(7, 1_000, FrameKind.EVENT, b"data: {}\n\n")
    row = row_of(frame, [event])
    assert (row.seq, row.kind) == (7, type(event).__name__.lower())
    assert len(row.text) <= 160
    html = get_template("runs/rows.html").render(
        {"rows": [row], "run": {"pk": "0dd7a1de-0000-4000-8000-000000000000"}}
    )
    buttons = read(html).find("button")
    assert len(buttons) == 1
    assert not read(html).find("script")
    assert pretty(payload_of(event)).encode()


SCRIPT = "<script>alert(1)</script>"
BREAKOUT = '" hx-get="/x" onclick="alert(1)'


@pytest.mark.parametrize("hostile", [SCRIPT, BREAKOUT])
@pytest.mark.parametrize(
    "make",
    [
        lambda t: ev.Result(1, {"@type": t, "name": t, "description": t, "site": t, "score": t}),
        lambda t: ev.Result(1, {"@type": "Recipe", "recipeIngredient": [t], "recipeYield": t}),
        lambda t: ev.Result(1, {"@type": "X", t: t, f"{t}s": [t]}),
        lambda t: ev.Result(1, {"@type": "X", "url": f"https://a.example/{t}", "image": t}),
        lambda t: ev.Result(1, {"@type": "SearchSummary", "text": t}),
        lambda t: ev.Text(1, t, kind=t, raw={"step": t}),
        lambda t: ev.Text(1, t, kind="summary"),
        lambda t: ev.Elicitation(1, t, (ev.Question(t, t, t, (t,), t),)),
        lambda t: ev.Promise(1, t, 3.0, t, 0.5),
        lambda t: ev.Failure(1, t, t, t),
        lambda t: ev.Note(1, "redirect", {"status": t, "location": t}),
        lambda t: ev.Note(1, "redirect", {"status": 307, "location": f"https://a.example/?{t}"}),
        lambda t: ev.Unknown(1, t, t, t),
    ],
)
def test_planted_markup_stays_text(make: Any, hostile: str) -> None:
    html = render(make(hostile))
    assert hostile not in html
    assert hostile in assert_inert(html, TAGS).text or "raw-json" in html


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ev.Text(1, "Whisk the eggs.", kind="instruction", raw={"step": 2}), "instruction 2"),
        (ev.Text(1, "Whisk the eggs."), "Whisk the eggs."),
        (ev.Promise(1, "tok-1", 90.0, "", 0.25), "25 %"),
        (ev.Promise(1, "tok-1", 90.0, "", 7.0), "7.0, which is not between 0 and 1"),
        (ev.Promise(1, "tok-1"), "The answer will come later."),
        (ev.Failure(1, "NO_RESULTS", "Nothing found."), "NO_RESULTS"),
        (ev.Elicitation(1, "For how many?", (ev.Question("n", "Guests", "number", ("2", "4")),)),
         "Guests n"),
        (ev.Unknown(1, "ping", {}, "No event of this name."), "Unknown · ping"),
        (ev.Note(1, "redirect", {"status": 307, "location": "https://b.example/ask"}),
         "https://b.example/ask"),
        (ev.Result(1, {"@type": "SearchSummary", "text": "Three soups."}), "Three soups."),
        (ev.Result(1, {"@type": "Recipe", "name": "Soup"}, 4), "Recipe #4"),
    ],
)  # fmt: skip
def test_each_kind_shows_what_it_has(event: ev.Event, words: str) -> None:
    text = " ".join(read(render(event)).text.split())
    assert words in text


def test_a_summary_is_pinned_and_progress_is_no_entry() -> None:
    summary = entry_at(ev.Text(1, "All in all", kind="summary"))
    assert summary
    assert summary.pinned
    assert summary.template == "summary"
    assert entry_at(ev.Started(1, {})) is None
    assert entry_at(ev.Completed(1)) is None
    assert entry_at(ev.Note(1, "end")) is None


def test_so_many_summaries_are_pinned_and_no_more() -> None:
    placer = Placer()
    event = ev.Text(1, "In short", kind="summary")
    entries = [entry_of(event, 0, placer.place(event)) for _ in range(MAX_PINNED + 2)]
    assert [entry.pinned for entry in entries if entry] == [True] * MAX_PINNED + [False] * 2
    assert {entry.template for entry in entries if entry} == {"summary"}


def test_a_redirect_elsewhere_than_the_web_has_no_link() -> None:
    event = ev.Note(1, "redirect", {"status": 302, "location": "javascript:alert(1)"})
    markup = read(render(event))
    assert not markup.find("a")
    assert "javascript:alert(1)" in markup.text


def test_images_are_shown_only_where_that_is_allowed(settings: Any) -> None:
    event = ev.Result(1, {"@type": "Recipe", "name": "A", "image": "https://a.example/a.png"})
    for allowed in (True, False):
        settings.AGENT_IMAGES = allowed
        images = read(render(event)).find("img")
        assert len(images) == allowed
        assert all(i.attributes["referrerpolicy"] == "no-referrer" for i in images)


def test_json_is_cut_where_it_would_drown_the_page() -> None:
    value = {"text": "é" * 300_000}
    shown = pretty(value)
    assert len(shown) < 201_000
    assert "more characters, see Wire" in shown
    assert pretty({"half": "\ud800"}).encode()
    assert json.loads(pretty({"half": "\ud800"})) == {"half": "\ud800"}
