"""What could be expected of a reply like one that came: a start to be made with one click."""

from __future__ import annotations

import math
from typing import Any

from playground.expectations.facts import RunFacts
from playground.expectations.timing import milliseconds

#: How much longer than this time a reply may take.
_ROOM = 2


def suggestions(observed: RunFacts, expectations: Any) -> list[dict[str, Any]]:
    """Expectations that this run meets, each `{"label", "expectation"}`.

    Types that are expected already are left out.
    """
    expected = expectations if isinstance(expectations, list) else []
    taken = {each.get("type") for each in expected if isinstance(each, dict)}
    found = [*_of_the_outcome(observed), *_of_the_reply(observed)]
    return [
        {"label": label, "expectation": expectation}
        for label, expectation in found
        if expectation["type"] not in taken
    ]


def _of_the_outcome(observed: RunFacts) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = [
        (observed.state, {"type": "state", "equals": observed.state}),
        (observed.outcome, {"type": "outcome", "equals": observed.outcome}),
    ]
    if observed.status is not None:
        found.append((f"HTTP {observed.status}", {"type": "status", "equals": observed.status}))
    codes = [code for code in observed.failures if code]
    if codes and observed.outcome == "failure":
        found.append((f"failure {codes[-1][:40]}", {"type": "failure", "code": codes[-1][:200]}))
    return found


def _of_the_reply(observed: RunFacts) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    if observed.results:
        many = f"{observed.results:,} result{'s' if observed.results != 1 else ''}"
        found.append((many, {"type": "results", "exact": observed.results}))
    if observed.state == "completed" and observed.ended_ms:
        most = _rounded_up(observed.ended_ms * _ROOM)
        words = f"complete within {milliseconds(most)} ({_ROOM} × what it took)"
        found.append((words, {"type": "complete_within", "ms": most}))
    if observed.findings is not None and not observed.findings.get("must"):
        found.append(("no must rule fails", {"type": "conformance", "level": "must"}))
    return found


def _rounded_up(value: float) -> int:
    """To two digits: nobody means 1,387 milliseconds."""
    step: int = 10 ** max(0, math.floor(math.log10(max(value, 1))) - 1)
    return math.ceil(value / step) * step
