"""Suggested expectations for a run, each of which the run passes."""

from __future__ import annotations

import math
from typing import Any

from playground.expectations.expectation_types import RunFacts, milliseconds
from playground.protocols import lenient

#: Factor between the time that was measured and the time that is suggested.
_TIME_FACTOR = 2


def suggestions(run_facts: RunFacts, expectations: Any) -> list[dict[str, Any]]:
    """Return expectations that this run passes, each `{"label", "expectation"}`.

    Types that the request already expects are left out.
    """
    expected = lenient.items(expectations)
    expected_types = {each.get("type") for each in expected if isinstance(each, dict)}
    found = [*_from_outcome(run_facts), *_from_response(run_facts)]
    return [
        {"label": label, "expectation": expectation}
        for label, expectation in found
        if expectation["type"] not in expected_types
    ]


def _from_outcome(run_facts: RunFacts) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = [
        (run_facts.state, {"type": "state", "equals": run_facts.state}),
        (run_facts.outcome, {"type": "outcome", "equals": run_facts.outcome}),
    ]
    if run_facts.status is not None:
        found.append((f"HTTP {run_facts.status}", {"type": "status", "equals": run_facts.status}))
    codes = [code for code in run_facts.failures if code]
    if codes and run_facts.outcome == "failure":
        found.append((f"failure {codes[-1][:40]}", {"type": "failure", "code": codes[-1][:200]}))
    return found


def _from_response(run_facts: RunFacts) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    if run_facts.results:
        many = f"{run_facts.results:,} result{'s' if run_facts.results != 1 else ''}"
        found.append((many, {"type": "results", "exact": run_facts.results}))
    if run_facts.state == "completed" and run_facts.ended_ms:
        # Rounded up to two significant digits.
        most = run_facts.ended_ms * _TIME_FACTOR
        step: int = 10 ** max(0, math.floor(math.log10(max(most, 1))) - 1)
        most = math.ceil(most / step) * step
        words = f"complete within {milliseconds(most)} ({_TIME_FACTOR} × actual)"
        found.append((words, {"type": "complete_within", "ms": most}))
    if run_facts.findings is not None and not run_facts.findings.get("must"):
        found.append(("no MUST violations", {"type": "conformance", "level": "must"}))
    return found
