"""Entries as HTML: data of agents is shown as text and stays inert."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.template.loader import get_template
from hypothesis import given

from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.placement import MAX_ASIDES, MAX_PINNED, Placement, PlacementAssigner
from playground.rendering.cards import card_of
from playground.rendering.entries import Entry, entry_of
from playground.rendering.events import payload_of, row_of
from playground.rendering.formatting import pretty
from playground.rendering.thread import Thread
from playground.rendering.thread import render_entry as render_in
from tests.support.markup import ENTRY_TAGS, assert_inert, read
from tests.support.strategies import events, items


def entry_at(event: ev.Event, part: int = 0) -> Entry | None:
    return entry_of(event, part, PlacementAssigner().assign(event))


class ChildlessThread(Thread):
    """Thread of a run without child runs and without queries."""

    promise = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.run = self.page = Run(agent_name="scripted")
        self._depth = 0
        self._by_entry = {}


def render_entry(entry: Entry) -> str:
    return render_in(entry, ChildlessThread())


def render(event: ev.Event) -> str:
    entry = entry_at(event)
    assert entry
    return render_entry(entry)


@given(items)
def test_every_item_has_a_card_of_text(item: Any) -> None:
    card = card_of(item)
    texts = [card.kind, card.title, card.text, card.site, card.score]
    texts += [part for fact in card.facts for part in fact]
    texts += [part for label, parts in card.lists for part in (label, *parts)]
    assert all(isinstance(text, str) and len(text) <= 600 for text in texts)


@given(events)
def test_every_event_is_shown_and_inert(event: ev.Event) -> None:
    entry = entry_at(event, 3)
    if entry is None:
        assert isinstance(event, ev.Started | ev.Completed | ev.Note)
        return
    markup = assert_inert(render_entry(entry), ENTRY_TAGS)
    assert markup.elements[0].attributes["id"] == "entry-7-3"


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
        lambda t: ev.Failure(1, "TIMEOUT", t, {t: [t, {t: t}]}),
        lambda t: ev.Started(1, {f"openai/{t}": t, "response_format": t}),
        lambda t: ev.Completed(1, {"openai/outputTemplate": t}),
        lambda t: ev.Result(1, {"@type": ["Recipe", t], "@context": t, "grounding": t}),
        lambda t: ev.Result(1, {"grounding": {t: f"https://a.example/?{t}", "x": {"url": t}}}),
        lambda t: ev.Result(1, {"hasPart": [{"@type": t, "name": t, "url": t, t: t}]}),
        lambda t: ev.Note(1, "redirect", {"status": t, "location": t}),
        lambda t: ev.Note(1, "redirect", {"status": 307, "location": f"https://a.example/?{t}"}),
        lambda t: ev.Unknown(1, t, t, t),
    ],
)
def test_planted_markup_stays_text(make: Any, hostile: str) -> None:
    html = render(make(hostile))
    assert hostile not in html
    assert hostile in assert_inert(html, ENTRY_TAGS).text or "raw-json" in html


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ev.Text(1, "Whisk the eggs.", kind="instruction", raw={"step": 2}), "instruction 2"),
        (ev.Text(1, "Whisk the eggs."), "Whisk the eggs."),
        (ev.Promise(1, "tok-1", 90.0, "", 0.25), "25 %"),
        (ev.Promise(1, "tok-1", 90.0, "", 7.0), "7.0, which is not between 0 and 1"),
        (ev.Promise(1, "tok-1"), "The response will be available later."),
        (ev.Failure(1, "NO_RESULTS", "Nothing found."), "NO_RESULTS"),
        (ev.Failure(1, "timeout"), "timed out. TrySend it again"),
        (ev.Failure(1, "MOON_PHASE"), "NLWeb does not define this code"),
        (ev.Failure(1, "", "Sorry"), "no error code"),
        (ev.Failure(1, "X", details={"field": "site", "allowed": ["a", "b"], "at": [{"line": 3}]}),
         "Details fieldsitealloweda, bat › 1 › line3"),
        (ev.Failure(1, "X", details="just words"), "Details just words"),
        (ev.Failure(1, "X", details=0), "Details 0"),
        (ev.Elicitation(1, "For how many?", (ev.Question("n", "Guests", "number", ("2", "4")),)),
         "Guests required n"),
        (ev.Unknown(1, "ping", {}, "No event of this name."), "Unknown · ping"),
        (ev.Note(1, "redirect", {"status": 307, "location": "https://b.example/ask"}),
         "https://b.example/ask"),
        (ev.Result(1, {"@type": "SearchSummary", "text": "Three soups."}), "Three soups."),
        (ev.Result(1, {"@type": "Recipe", "name": "Soup"}, 4), "Recipe #4"),
        (ev.Result(1, {"@type": ["Thing", "Recipe"], "name": "Soup"}), "Recipe Thing"),
        (ev.Result(1, {"name": "A", "grounding": {"url": "https://a.example/b"}}),
         "Source a.example/b"),
        (ev.Result(1, {"name": "A", "hasPart": [{"name": "B", "hasPart": {"name": "C"}}]}),
         "Parts 1 untyped B Parts 1 untyped C"),
        (ev.Result(1, {"name": "A", "hasPart": [{"name": "B"}] * 40}), "28 more in the JSON"),
        (ev.Result(1, {"@context": "https://diet.example"}), "@context https://diet.example"),
        (ev.Unknown(1, "_meta", ["answer", 1]), '["answer", 1]'),
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


@pytest.mark.parametrize(
    "kind",
    [
        "SearchSummary", "Summary", "searchsummary", "https://schema.org/SearchSummary",
        "schema:Summary", "HTTP://SCHEMA.ORG#SEARCHSUMMARY", ["Thing", "SearchSummary"],
        [3, None, "https://schema.org/SearchSummary"],
    ],
)  # fmt: skip
def test_a_summary_is_one_however_its_type_is_written(kind: Any) -> None:
    entry = entry_at(ev.Result(1, {"@type": kind, "text": "In short"}))
    assert entry
    assert (entry.template, entry.pinned) == ("summary", True)


@pytest.mark.parametrize(
    "kind", ["ReviewSummary", "Summarys", "Recipe", "", [], ["Recipe"], None, 7, {"Summary": 1}]
)
def test_what_only_looks_like_a_summary_is_a_result(kind: Any) -> None:
    entry = entry_at(ev.Result(1, {"@type": kind, "text": "In short"}))
    assert entry
    assert (entry.template, entry.pinned) == ("card", False)


def test_the_format_is_told_above_the_results_and_loads_nothing() -> None:
    meta = {
        "response_format": "chatgpt_app", "version": "0.55",
        "openai/outputTemplate": "https://evil.example/widget", "openai/widgetAccessible": True,
    }  # fmt: skip
    entry = entry_at(ev.Started(1, meta))
    assert entry
    assert entry.pinned
    html = render_entry(entry)
    markup = assert_inert(html, ENTRY_TAGS)
    text = " ".join(markup.text.split())
    assert "Format chatgpt_app" in text
    assert "openai/outputTemplatehttps://evil.example/widget" in text
    assert "openai/widgetAccessibleyes" in text
    assert "version" not in text
    assert not markup.find("a")
    assert markup.find("section")[0].attributes["data-format"] == "chatgpt_app"
    copied = [element.attributes["for"] for element in markup.find("copy-button")]
    assert copied == ["entry-1-0-fact-1"]


def test_a_format_is_told_once_until_it_changes() -> None:
    placer = PlacementAssigner()
    app = {"openai/outputTemplate": "ui://a"}
    metas = [app, {**app, "version": "0.55"}, {}, {"openai/outputTemplate": "ui://b"}]
    metas += [{"response_format": "conversational_search"}, {"response_format": "nl"}]
    is_shown = [placer.assign(ev.Started(1, meta)) is Placement.ASIDE for meta in metas]
    assert is_shown == [True, False, False, True, False, True]
    flood = [placer.assign(ev.Completed(1, {"openai/n": n})) for n in range(20)]
    assert flood.count(Placement.ASIDE) == MAX_ASIDES - 3


WIDGET = {"openai/outputTemplate": "ui://widget", "openai/widgetAccessible": True}


@pytest.mark.parametrize("name", ["_meta", "end"])
def test_metadata_that_come_late_are_told_above_the_results(name: str) -> None:
    entry = entry_at(ev.Note(1, name, {"_meta": {**WIDGET, "version": "0.54"}}))
    assert entry
    assert (entry.template, entry.pinned) == ("format", True)
    text = " ".join(assert_inert(render_entry(entry), ENTRY_TAGS).text.split())
    assert "openai/outputTemplateui://widget" in text
    assert entry_at(ev.Note(1, name, {"_meta": {"version": "0.54"}})) is None


def test_the_widget_of_a_tool_is_told_with_it() -> None:
    tools = ({"name": "ask", "_meta": WIDGET}, {"name": "await", "_meta": "odd"})
    entry = entry_at(ev.Tools(1, tools))
    assert entry
    markup = assert_inert(render_entry(entry), ENTRY_TAGS)
    assert "openai/outputTemplateui://widget" in " ".join(markup.text.split())
    assert "openai/widgetAccessibleyes" in markup.text
    assert [each.attributes["for"] for each in markup.find("copy-button")] == [
        "entry-1-0-tool-1-fact-1"
    ]


def test_a_free_format_is_no_app() -> None:
    entry = entry_at(ev.Completed(1, {"response_format": {"any": "json"}}))
    assert entry
    markup = read(render_entry(entry))
    assert re.search(r"any\W+json", markup.text)
    assert "data-format" not in markup.find("section")[0].attributes


def test_a_failure_shows_the_status_it_came_with() -> None:
    entry = entry_at(ev.Failure(1, "RATE_LIMITED"))
    assert entry
    for status, shown in ((429, True), (200, False), (None, False)):
        thread = ChildlessThread()
        thread.run.status = status
        assert ("HTTP 429" in render_in(entry, thread)) is shown


def test_so_many_summaries_are_pinned_and_no_more() -> None:
    placer = PlacementAssigner()
    event = ev.Text(1, "In short", kind="summary")
    entries = [entry_of(event, 0, placer.assign(event)) for _ in range(MAX_PINNED + 2)]
    assert [entry.pinned for entry in entries if entry] == [True] * MAX_PINNED + [False] * 2
    assert {entry.template for entry in entries if entry} == {"summary"}


def test_a_redirect_elsewhere_than_the_web_has_no_link() -> None:
    event = ev.Note(1, "redirect", {"status": 302, "location": "javascript:alert(1)"})
    markup = read(render(event))
    assert not markup.find("a")
    assert "javascript:alert(1)" in markup.text


def test_a_server_with_many_tools_is_counted() -> None:
    tools = tuple({"name": f"t{n}"} for n in range(5_000))
    entry = entry_of(ev.Tools(1, tools), 0, Placement.ASIDE)
    assert entry
    context = entry.context()
    assert (len(context["tools"]), context["total"], context["hidden"]) == (40, 5_000, 4_960)
    assert (context["more"], context["incomplete"]) == (False, False)
