"""Checks of a run: the verdict of each expectation and of all together, and their editor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from playground.engine import VariableScope
from playground.engine.preparation import expectation_error, resolve_expectations
from playground.environments.views import active_environment
from playground.expectations import (
    EXPECTATION_TYPES,
    Check,
    StepLimit,
    capture,
    check_schema,
    evaluate,
)
from playground.expectations.suggestions import suggestions
from playground.models import Environment, Run
from playground.protocols import json_decoder
from playground.protocols.exchange import RequestProblem
from playground.stored_runs import once_per_run, run_facts
from playground.ui.formatting import pretty, readable
from playground.ui.helpers import get_run
from playground.variables import VariableError, names_in

#: CSS state and label of each verdict; neither depends on the colour alone.
_VERDICTS = {
    True: ("pass", "Passed"),
    False: ("fail", "Failed"),
    None: ("incomplete", "Inconclusive"),
}


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check as a row."""

    #: `pass`, `fail` or `incomplete`.
    verdict: str
    verdict_label: str
    expected: str
    actual: str
    #: The expectation as JSON.
    source: str


@dataclass(frozen=True, slots=True)
class ChecksView:
    """All checks of a run."""

    rows: tuple[CheckView, ...]
    passed: int

    @property
    def total(self) -> int:
        return len(self.rows)

    @property
    def verdict(self) -> str:
        """Return `pass` if all checks passed, else `fail` or `incomplete`."""
        if self.passed == self.total:
            return "pass"
        return "fail" if any(row.verdict == "fail" for row in self.rows) else "incomplete"

    @property
    def tally(self) -> str:
        """Return the number of passed checks as text."""
        return f"{self.passed} of {self.total} passed"


def verdict_of(passed: bool | None) -> tuple[str, str]:
    """Return CSS state and label of a verdict."""
    return _VERDICTS[passed]


def checks_view(checks: Sequence[Check]) -> ChecksView:
    rows = tuple(
        CheckView(*verdict_of(check.met), check.expected, check.actual, pretty(check.expectation))
        for check in checks
    )
    return ChecksView(rows, sum(check.met is True for check in checks))


#: Runs whose facts are in the cache: the editor requests a preview after every change.
FACTS_CACHE_SIZE = 4
#: Most characters of submitted expectations, and of the shown document.
MAX_FORM, MAX_SHOWN = 256 * 1024, 256 * 1024


# The bar and the tab send a request at the same time.
_run_facts = once_per_run(FACTS_CACHE_SIZE)(run_facts)


def _checks(run: Run) -> ChecksView | None:
    """Return the results of a run's expectations; None for a run in progress, or without any."""
    if not run.is_final or not run.expectations:
        return None
    return checks_view(evaluate(run.expectations, _run_facts(run)))


@require_safe
def checks(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show every expectation of a run with its result."""
    run = get_run(request, pk)
    return render(
        request, "verdicts/expectations.html#checks", {"run": run, "checks": _checks(run)}
    )


@require_safe
def count(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show how many passed: for the status bar and the tab."""
    run = get_run(request, pk)
    return render(request, "verdicts/expectations.html#tally", {"checks": _checks(run)})


@require_safe
def document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the response document: the input of JSONPaths."""
    run = get_run(request, pk)
    found = _run_facts(run).document if run.is_final else None
    text = readable(found) if found is not None else ""
    context = {"text": text[:MAX_SHOWN], "more": len(text) > MAX_SHOWN, "ended": run.is_final}
    return render(request, "verdicts/expectations.html#document", context)


@require_safe
def editor(request: HttpRequest) -> HttpResponse:
    """Show the form for expectations and captures; it is loaded when it is first opened."""
    context = {"kinds": list(EXPECTATION_TYPES.values())}
    return render(request, "verdicts/expectations.html#editor", context)


@require_POST
def try_expectations(request: HttpRequest) -> HttpResponse:
    """Return the results that edited expectations and captures would have for a run.

    Takes the form fields `run` (an id, or "" for none), `expectations` and `captures` (JSON).
    Returns `{"problems", "checks", "captures", "suggestions"}`: problems with JSON pointers (into
    {"expectations", "captures"}), a result for each expectation, the value of each capture, and
    expectations that this run would pass. The active environment gives variables their values.
    """
    expectations, problems = _read(request, "expectations", [])
    captures, more = _read(request, "captures", {})
    problems += more
    if not problems:
        problems += [_under("expectations", problem) for problem in check_schema(expectations)]
        expectations, more = _substituted(expectations, active_environment(request))
        problems += [_under("expectations", problem) for problem in more]
    pk = request.POST.get("run", "")
    run = get_run(request, pk) if _is_id(pk) else None
    result: dict[str, Any] = {"checks": [], "captures": [], "suggestions": []}
    if run is not None and run.is_final:
        facts, limit = _run_facts(run), StepLimit()
        result["checks"] = [_result(check) for check in evaluate(expectations, facts, limit)]
        values, unmatched = capture(captures, facts.document, limit)
        problems += [_under("captures", problem) for problem in unmatched]
        result["captures"] = [{"name": name, "value": pretty(values[name])} for name in values]
        result["suggestions"] = suggestions(facts, expectations)
    result["problems"] = [{"pointer": p.pointer, "message": p.message} for p in problems]
    return JsonResponse(result)


def _substituted(
    expectations: Any, environment: Environment | None
) -> tuple[Any, list[RequestProblem]]:
    """Return expectations with the values of variables, and the problems with their names."""
    try:
        values, found = resolve_expectations(
            expectations, VariableScope(environment), timezone.now()
        )
    except VariableError as error:
        return expectations, [RequestProblem("", str(error), "error")]
    secrets = [
        RequestProblem(f"/{place}", expectation_error(found.secrets), "error")
        for place, each in enumerate(expectations if isinstance(expectations, list) else ())
        if set(found.secrets).intersection(names_in(each))
    ]
    return values, secrets + [
        RequestProblem(pointer, f"{{{{{name}}}}} is not defined.", "error")
        for pointer, name in found.unresolved
    ]


def _result(check: Check) -> dict[str, Any]:
    verdict, word = verdict_of(check.met)
    return {"verdict": verdict, "word": word, "wanted": check.expected, "actual": check.actual}


def _read(request: HttpRequest, name: str, empty: Any) -> tuple[Any, list[RequestProblem]]:
    """Return a field's JSON value, and why it is invalid."""
    text = request.POST.get(name, "").strip()
    if not text:
        return empty, []
    try:
        if len(text) > MAX_FORM or json_decoder.exceeds_depth(text, 100):
            return empty, [RequestProblem(f"/{name}", "Too large.", "error")]
        return json_decoder.decode(text), []
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return empty, [RequestProblem(f"/{name}", f"Invalid JSON: {where}.", "error")]
    except ValueError:
        message = "A number has too many digits."
        return empty, [RequestProblem(f"/{name}", message, "error")]


def _under(name: str, problem: RequestProblem) -> RequestProblem:
    """Return a problem with its pointer below a name."""
    return RequestProblem(f"/{name}{problem.pointer}", problem.message, problem.level)


def _is_id(text: str) -> bool:
    """Return whether a text is a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
