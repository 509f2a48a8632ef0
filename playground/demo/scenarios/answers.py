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
    """Always send the same JSON document, even if a stream is preferred."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        return json_response(body)

    return play


ROWS = (
    Scenario("summary-first", "Summary first", "A summary, then four dishes.",
             "The summary is above the results.", "completed", "answer", _summary_at(0), results=5),
    Scenario("summary-middle", "Summary in the middle", "Two dishes, a summary, two more dishes.",
             "The summary is above the results.", "completed", "answer", _summary_at(2), results=5),
    Scenario("summary-last", "Summary last", "Four dishes, then a summary.",
             "The summary is above the results.", "completed", "answer", _summary_at(4), results=5),
    Scenario("results-object", "Results as an object", "A single result where a list is expected.",
             "The raw value is shown, with a note that it is not a list.", "completed", "answer",
             _document(document("answer", results=dish(0))), results=1),
    Scenario("results-null", "Results are null", "null where a list is expected.",
             "The answer has no results.", "completed", "answer",
             _document(document("answer", results=None))),
    Scenario("results-strings", "Results as strings", "A list of strings, numbers and null.",
             "Each value is shown as text or JSON.", "completed", "answer",
             _document(document("answer", results=["Soup", 7, None, ["Salad"], dish(0)])),
             results=5),
    Scenario("meta-list", "_meta as a list", "An answer whose _meta is a list.",
             "The results are shown, with a note that _meta is not an object.", "completed",
             "answer", _document({"_meta": ["answer", "0.55"], "results": [dish(0), dish(1)]}),
             results=2),
)  # fmt: skip
