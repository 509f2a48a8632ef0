"""Scenarios about answers (section 4.1.1): position of the summary, and invalid results."""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase

from playground.demo.http import json_response
from playground.demo.scenarios.scenario import (
    Play,
    Scenario,
    ScenarioRequest,
    dish,
    document,
    respond,
)

_SUMMARY = {
    "@type": "SearchSummary",
    "text": "Four dishes for a weeknight; the salmon is quickest.",
}


def _summary_at(position: int) -> Play:
    """Send four dishes, with a summary before the one at `position`."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        items: list[dict[str, Any]] = [dish(number) for number in range(4)]
        items.insert(position, _SUMMARY)
        return await respond(request, *items)

    return play


def _document(body: Any) -> Play:
    """Send always the same JSON document, even if a stream is preferred."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        return json_response(body)

    return play


ROWS = (
    Scenario("summary-first", "Summary first", "A summary, then four dishes.",
             "The summary above the results.", "completed", "answer", _summary_at(0)),
    Scenario("summary-middle", "Summary in the middle", "Two dishes, a summary, two more dishes.",
             "The summary above the results.", "completed", "answer", _summary_at(2)),
    Scenario("summary-last", "Summary last", "Four dishes, then a summary.",
             "The summary above the results.", "completed", "answer", _summary_at(4)),
    Scenario("results-object", "Results that are an object", "One result where the list should"
             " be.", "What came, and that it is no list.", "completed", "answer",
             _document(document("answer", results=dish(0)))),
    Scenario("results-null", "Results that are null", "Null where the list should be.",
             "An answer without results.", "completed", "answer",
             _document(document("answer", results=None))),
    Scenario("results-strings", "Results that are strings", "A list of strings, numbers and null.",
             "Each as what it is.", "completed", "answer",
             _document(document("answer", results=["Soup", 7, None, ["Salad"], dish(0)]))),
    Scenario("meta-list", "A _meta that is a list", "An answer whose _meta is a list.",
             "The results, and that _meta says nothing.", "completed", "answer",
             _document({"_meta": ["answer", "0.55"], "results": [dish(0), dish(1)]})),
)  # fmt: skip
