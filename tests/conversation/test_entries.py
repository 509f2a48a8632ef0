"""Entries on the page of a run: data of agents is shown as text and stays inert."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.protocols.events import MAX_ASIDES, MAX_PINNED
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import ENTRY_TAGS, Element, assert_inert
from tests.support.run_page import entries, part, replied, result_of, streamed, words
from tests.support.stored_runs import END, HEAD, OPEN, Recording

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
BREAKOUT = '" hx-get="/x" onclick="alert(1)'
WIDGET = {"openai/outputTemplate": "ui://widget", "openai/widgetAccessible": True}


def event(name: str, **data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}"


def meta(name: str, **members: Any) -> str:
    return event(name, _meta=members)


def error(code: Any = "X", **members: Any) -> str:
    return event("error", error={"code": code, **members})


def shown(*events: str) -> list[Element]:
    return entries(part(streamed(*events)))


#: An event, and words of its entry.
ENTRIES: list[tuple[str, str]] = [
    (event("content", type="instruction", text="Whisk the eggs.", step=2), "instruction 2 Whisk"),
    (event("content", type="text", text="Whisk the eggs."), "Whisk the eggs."),
    (event("promise", token="tok-1", estimated_time=90, progress=0.25), "25 %"),
    (event("promise", token="tok-1", estimated_time=90, progress=7.0),
     "7.0, which is not between 0 and 1"),
    (event("promise", token="tok-1"), "The response will be available later."),
    (error("NO_RESULTS", message="Nothing found."), "NO_RESULTS Nothing found."),
    (error("TIMEOUT"), "timed out. Try Send it again"),
    (error("MOON_PHASE"), "NLWeb does not define this code"),
    (error("", message="Sorry"), "no error code Sorry"),
    (error(details={"field": "site", "allowed": ["a", "b"], "at": [{"line": 3}]}),
     "Details field site allowed a, b at › 1 › line 3"),
    (error(details="just words"), "Details just words"),
    (error(details=0), "Details 0"),
    (event("elicitation", text="For how many?", questions=[
        {"id": "n", "text": "Guests", "type": "number", "options": ["2", "4"]}]),
     "Guests required"),
    (event("ping", n=1), "Unknown · ping NLWeb 0.55 does not define an event with this name."),
    (result_of({"@type": "Recipe", "name": "Soup"}, index=4), "Recipe #4"),
    (result_of({"@type": ["Thing", "Recipe"], "name": "Soup"}), "Recipe Thing"),
    (result_of({"name": "A", "hasPart": [{"name": "B"}] * 40}), "28 more in the JSON"),
]  # fmt: skip


def test_each_kind_shows_what_it_has() -> None:
    found = shown(*(each for each, _ in ENTRIES))
    assert len(found) == len(ENTRIES)
    for entry, (sent, wanted) in zip(found, ENTRIES, strict=True):
        spaced = " ".join(each.words for each in _leaves(entry))
        assert wanted in spaced or wanted in entry.words, sent


def _leaves(element: Element) -> list[Element]:
    """Return the elements that have no others in them, and texts beside others."""
    found = []
    for child in element.children:
        if isinstance(child, str):
            found.append(Element("", children=[child]))
        else:
            found += _leaves(child)
    return [each for each in found if each.words]


@pytest.mark.parametrize("t", [SCRIPT, BREAKOUT], ids=["script", "breakout"])
def test_planted_markup_stays_text(t: str) -> None:
    items = [
        {"@type": t, "name": t, "description": t, "site": t, "score": t},
        {"@type": "Recipe", "recipeIngredient": [t], "recipeYield": t},
        {"@type": "X", t: t, f"{t}s": [t]},
        {"@type": "X", "url": f"https://a.example/{t}", "image": t},
        {"@type": ["Recipe", t], "@context": t, "grounding": t},
        {"grounding": {t: f"https://a.example/?{t}", "x": {"url": t}}},
        {"hasPart": [{"@type": t, "name": t, "url": t, t: t}]},
        {"@type": "SearchSummary", "text": t},
    ]
    events = [
        meta("start", **{f"openai/{t}": t, "response_format": t}),
        *map(result_of, items),
        event("content", type=t, text=t, step=t),
        event("content", type="summary", text=t),
        event("elicitation", text=t, questions=[
            {"id": t, "text": t, "type": t, "options": [t], "default": t}]),
        event("promise", token=t, estimated_time=3, message=t, progress=0.5),
        error(t, message=t, details=t),
        error("TIMEOUT", message=t, details={t: [t, {t: t}]}),
        "event: ping\ndata: " + json.dumps(t),
    ]  # fmt: skip
    found = shown(*events)
    assert len(found) == len(events)
    for entry in found:
        assert_inert(Element("", children=[entry]), ENTRY_TAGS)
        assert t in entry.text or entry.find("raw-json")


class TestSummaries:
    @pytest.mark.parametrize(
        "kind",
        [
            "SearchSummary", "Summary", "searchsummary", "https://schema.org/SearchSummary",
            "schema:Summary", "HTTP://SCHEMA.ORG#SEARCHSUMMARY", ["Thing", "SearchSummary"],
            [3, None, "https://schema.org/SearchSummary"],
        ],
    )  # fmt: skip
    def test_one_is_above_the_results_however_its_type_is_written(self, kind: Any) -> None:
        page = part(streamed(result_of({"@type": kind, "text": "In short"})))
        (summary,) = page.select("article", class_="card--summary")
        assert summary.words == "Summary In short"
        assert not page.by_id("cards").elements  # type: ignore[union-attr]

    def test_what_only_looks_like_one_is_a_result(self) -> None:
        kinds = ["ReviewSummary", "Summarys", "Recipe", "", [], ["Recipe"], None, 7, {"Summary": 1}]
        page = part(streamed(*(result_of({"@type": kind, "text": "a"}) for kind in kinds)))
        assert not page.by_id("summaries").elements  # type: ignore[union-attr]
        assert len(page.select("article", class_="card")) == len(kinds)

    def test_so_many_are_above_the_results_and_no_more(self) -> None:
        text = event("content", type="summary", text="In short")
        page = part(streamed(*[text] * (MAX_PINNED + 2)))
        above, below = page.by_id("summaries"), page.by_id("cards")
        assert above
        assert below
        assert [len(each.find("article")) for each in (above, below)] == [MAX_PINNED, 2]


class TestFormat:
    def test_is_told_above_the_results_and_loads_nothing(self) -> None:
        template = "https://evil.example/widget"
        page = part(streamed(meta(
            "start", response_format="chatgpt_app", version="0.55",
            **{"openai/outputTemplate": template, "openai/widgetAccessible": True},
        )))  # fmt: skip
        (told,) = entries(page)
        assert_inert(Element("", children=[told]), ENTRY_TAGS)
        assert told.attributes["data-format"] == "chatgpt_app"
        assert told.select("p")[0].words == "Format chatgpt_app"
        assert told.facts == {"openai/outputTemplate": template, "openai/widgetAccessible": "yes"}
        assert not told.find("a")
        copied = [each.attributes["for"] for each in told.find("copy-button")]
        assert copied == ["entry-4-0-fact-1"]

    def test_a_free_one_is_no_app(self) -> None:
        (told,) = shown(meta("start", response_format={"any": "json"}))
        assert told.select("p")[0].words == 'Format {"any": "json"}'
        assert "data-format" not in told.attributes

    def test_is_told_once_until_it_changes(self) -> None:
        app = {"openai/outputTemplate": "ui://a"}
        formats = [{"response_format": name} for name in ("conversational_search", "nl")]
        metas = [app, {**app, "version": "0.55"}, {}, {"openai/outputTemplate": "ui://b"}, *formats]
        told = shown(*(meta("start", **each) for each in metas))
        assert [each.attributes["data-seq"] for each in told] == ["4", "7", "9"]
        flood = shown(*(meta("complete", **{"openai/n": n}) for n in range(20)))
        assert len(flood) == MAX_ASIDES

    @pytest.mark.parametrize("name", ["_meta", "end"])
    def test_metadata_that_come_late_are_told_above_the_results(self, name: str) -> None:
        late = {"_meta": {**WIDGET, "version": "0.54"}}
        sent = event(name, **late) if name == "end" else f"data: {json.dumps(late)}"
        recording = streamed(result_of("a"), sent, version="0.54")
        page = part(recording)
        assert "openai/outputTemplate ui://widget" in page.by_id("summaries").words.replace(  # type: ignore[union-attr]
            "Templateui", "Template ui"
        )


@pytest.mark.parametrize("status", [429, 200, None])
def test_a_failure_shows_the_status_it_came_with(status: int | None) -> None:
    body = '{"_meta": {"response_type": "failure"}, "error": {"code": "RATE_LIMITED"}}'
    run = replied(body, status or 200)
    run.status = status
    run.save(update_fields=["status"])
    (failure,) = part(run).select("section", class_="failure")
    assert ("HTTP 429" in failure.words) is (status == 429)


@pytest.mark.parametrize(
    ("status", "location", "link"),
    [
        (307, "https://b.example/ask", "/agents/new/?url=https%3A%2F%2Fb.example%2Fask"),
        (302, "javascript:alert(1)", ""),
        (302, SCRIPT, ""),
    ],
)
def test_a_redirect_leads_to_the_web_only(status: int, location: str, link: str) -> None:
    (entry,) = entries(part(replied("", status, f"Location: {location}", state="failed")))
    assert f"Redirect {status}" in entry.words
    assert location in entry.words
    assert [each.attributes["href"] for each in entry.find("a")] == ([link] if link else [])


class TestOverMcp:
    @staticmethod
    def page(*messages: Any) -> Element:
        call = b'POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        recording = Recording(binding="mcp")
        sent = [Frame(0, 50, FrameKind.EVENT, b"data: " + json.dumps(each).encode() + b"\n\n")
                for each in messages]  # fmt: skip
        recording.add(Frame(0, 0, FrameKind.CALL, call), OPEN, HEAD, *sent)
        if not messages or "method" not in messages[-1]:
            recording.add(END)
            recording.end()
        return part(recording.run)

    def tools(self, *tools: Any) -> Element:
        result = {"tools": tools}
        (found,) = entries(self.page({"jsonrpc": "2.0", "id": 1, "result": result}))
        return found

    def test_the_widget_of_a_tool_is_told_with_it(self) -> None:
        found = self.tools({"name": "ask", "_meta": WIDGET}, {"name": "await", "_meta": "odd"})
        assert_inert(Element("", children=[found]), ENTRY_TAGS)
        assert "openai/widgetAccessible yes" in found.words
        assert [each.attributes["for"] for each in found.find("copy-button")] == [
            "entry-4-0-tool-1-fact-1"
        ]

    def test_a_server_with_many_tools_is_counted(self) -> None:
        found = self.tools(*({"name": f"t{n}"} for n in range(500)))
        assert found.find("summary")[0].words == "500 tools available"
        assert (len(found.find("dt")), "460 more in the Events tab." in found.words) == (40, True)

    @pytest.mark.parametrize(
        ("params", "percent", "line"),
        [
            ({"progress": 1, "total": 4, "message": "Searching"}, "25", "Searching"),
            ({"progress": 0, "total": 4}, "0", "0 of 4"),
            ({"progress": 2.5}, "", "2.5 done"),
            ({"progress": 5, "total": 4}, "", "5 of 4"),
            ({"progress": -1, "total": 4, "message": "x"}, "", "x"),
            ({"progress": 1, "total": 0, "message": "x"}, "", "x"),
            ({"progress": 10**400, "total": 10**401, "message": "x"}, "", "x"),
            ({"progress": 1, "total": 2, "message": "w" * 500}, "50", "w" * 119 + "…"),
        ],
        ids=["share", "begun", "amount", "beyond", "negative", "zero", "huge", "long"],
    )
    def test_progress_is_a_line_beside_the_time(
        self, params: dict[str, Any], percent: str, line: str
    ) -> None:
        method = "notifications/progress"
        page = self.page({"jsonrpc": "2.0", "method": method, "params": params})
        (shown,) = page.select(class_="stats-progress")
        assert shown.select(class_="clipped")[0].words == line
        assert [each.attributes["value"] for each in shown.find("progress")] == (
            [percent] if percent else []
        )


def test_no_progress_and_no_marks_are_entries() -> None:
    run = streamed(meta("start", version="0.55"), event("complete"), ": a comment")
    assert entries(part(run)) == []
    assert words(run, "results/") == ""
