"""A run with its response document, and expectations that pass and fail on it."""

from __future__ import annotations

from typing import Any

from playground.expectations import EXPECTATION_TYPES, RunFacts, TimedEvent

DOCUMENT: dict[str, Any] = {
    "_meta": {"response_type": "answer", "version": "0.55"},
    "results": [
        {"name": "Soup", "price": 4, "tags": ["warm", "cheap"], "url": "https://a.example/soup"},
        {"name": "Pie", "price": 4.5, "tags": [], "url": "https://a.example/pie"},
    ],
    "true": True,
    "one": 1,
    "none": None,
}
RUN = RunFacts(
    state="completed",
    outcome="answer",
    status=200,
    response_type="Answer",
    results=2,
    document=DOCUMENT,
    events=(
        TimedEvent("started", 10.0),
        TimedEvent("result", 40.0),
        TimedEvent("result", 400.0),
        TimedEvent("completed", 410.0),
    ),
    ended_ms=600.0,
    failures=("NO_RESULTS",),
    run_rules=lambda: {"must": [], "should": ["item-url", "item-name"], "info": []},
)


def path(where: str, **more: Any) -> dict[str, Any]:
    return {"type": "json", "path": where, **more}


MET: list[dict[str, Any]] = [
    {"type": "state", "equals": "completed"},
    {"type": "outcome", "equals": "answer"},
    {"type": "status", "equals": 200},
    {"type": "response_type", "equals": "answer"},
    {"type": "results", "min": 2},
    {"type": "results", "max": 2},
    {"type": "results", "exact": 2},
    {"type": "results", "min": 1, "max": 3, "exact": 2},
    path("$.results[0].name", equals="Soup"),
    path("$.results[0].price", equals=4.0),
    path("$.results[*].name", equals="Pie"),
    path("$.results[0].tags", equals=["warm", "cheap"]),
    path("$._meta", equals={"version": "0.55", "response_type": "answer"}),
    path("$.none", equals=None),
    path("$.results[0].tags", contains="warm"),
    path("$.results[0].name", contains="ou"),
    path("$.results[0]", contains="price"),
    path("$.results[*].url", matches="^https://", every=True),
    path("$.results[0].url", matches="soup"),
    path("$..price", exists=True),
    path("$.results[2]", exists=False),
    path("$.results[0].price", **{"is": "integer"}),
    path("$.results[*].price", **{"is": "number"}, every=True),
    path("$.true", **{"is": "boolean"}),
    path("$.none", **{"is": "null"}),
    path("$.results[0].tags", **{"is": "array"}),
    path("$", **{"is": "object"}),
    path("$.results[?@.price > 4].name", equals="Pie"),
    path("$.results[?search(@.url, 'so.p')].name", equals="Soup"),
    {"type": "first_within", "ms": 10},
    {"type": "complete_within", "ms": 600},
    {"type": "no_gap_over", "ms": 360},
    {"type": "order", "events": ["started", "result", "completed"]},
    {"type": "order", "events": ["result", "result"]},
    {"type": "conformance", "level": "must"},
    {"type": "failure", "code": "no_results"},
]
UNMET: list[dict[str, Any]] = [
    {"type": "state", "equals": "truncated"},
    {"type": "outcome", "equals": "promise"},
    {"type": "status", "equals": 204},
    {"type": "response_type", "equals": "promise"},
    {"type": "results", "min": 3},
    {"type": "results", "max": 1},
    {"type": "results", "exact": 1},
    {"type": "results", "min": 1, "exact": 3},
    path("$.results[0].name", equals="Pie"),
    path("$.true", equals=1),
    path("$.one", equals=True),
    path("$.results[0].tags", equals=["cheap", "warm"]),
    path("$.results[*].name", equals="Pie", every=True),
    path("$.nowhere", equals=None),
    path("$.results[0].tags", contains="war"),
    path("$.results[0].name", contains="soup"),
    path("$.results[0]", contains="Soup"),
    path("$.one", contains="1"),
    path("$.results[*].url", matches="pie$", every=True),
    path("$.one", matches="1"),
    path("$.results[0]", exists=False),
    path("$.results[7]", exists=True),
    path("$.results[1].price", **{"is": "integer"}),
    path("$.true", **{"is": "number"}),
    path("$.nowhere[*]", **{"is": "string"}, every=True),
    {"type": "first_within", "ms": 9},
    {"type": "complete_within", "ms": 599},
    {"type": "no_gap_over", "ms": 359},
    {"type": "order", "events": ["completed", "result"]},
    {"type": "order", "events": ["result", "result", "result"]},
    {"type": "conformance", "level": "should"},
    {"type": "failure", "code": "OTHER"},
]


#: Names and texts that expectations consist of, for generated values.
NAMES = ("type", "equals", "path", "min", "max", "ms", "events", "level", "code", "exists", "is")
TEXTS = (
    *EXPECTATION_TYPES,
    "$",
    "$..*",
    "$.results[*].name",
    "completed",
    "must",
    "result",
    "string",
    "(",
    "",
)
