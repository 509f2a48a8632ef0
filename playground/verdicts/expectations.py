"""Checks of a run: the verdict of each expectation and of all together, and their editor."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from playground.base.fields import parse_json_value
from playground.engine.preparation import VariableScope, expectation_error, resolve_expectations
from playground.environments.views import active_environment
from playground.expectations import (
    EXPECTATION_TYPES,
    RunFacts,
    StepLimit,
    capture,
    check_schema,
    evaluate,
)
from playground.expectations.suggestions import suggestions
from playground.models import Environment, Run
from playground.protocols import lenient
from playground.protocols.exchange import RequestProblem
from playground.stored_runs import once_per_run, run_facts
from playground.ui.formatting import pretty, readable
from playground.ui.helpers import get_run
from playground.variables.names import names_in
from playground.variables.substitution import VariableError

#: CSS state and label of each verdict; neither depends on the colour alone.
_VERDICTS = {
    True: ("pass", "Passed"),
    False: ("fail", "Failed"),
    None: ("incomplete", "Inconclusive"),
}


#: Runs whose facts are in the cache: the editor requests a preview after every change.
FACTS_CACHE_SIZE = 4
#: Most characters of submitted expectations, and of the shown document.
MAX_FORM, MAX_SHOWN = 256 * 1024, 256 * 1024


# The bar and the tab send a request at the same time.
@once_per_run(FACTS_CACHE_SIZE)
def _run_facts(run: Run) -> RunFacts:
    return run_facts(run)


def _checks(run: Run) -> dict[str, Any] | None:
    """Return the results of a run's expectations; None for a run in progress, or without any."""
    if not run.is_final or not run.expectations:
        return None
    checks = evaluate(run.expectations, _run_facts(run))
    found = [check.met for check in checks]
    passed = found.count(True)
    return {
        "rows": [(check, *_VERDICTS[check.met]) for check in checks],
        "passed": passed,
        "tally": f"{passed} of {len(found)} passed",
        "verdict": _VERDICTS[next((met for met in (False, None) if met in found), True)][0],
    }


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
    run = get_run(request, pk) if pk else None
    result: dict[str, Any] = {"checks": [], "captures": [], "suggestions": []}
    if run is not None and run.is_final:
        facts, limit = _run_facts(run), StepLimit()
        for check in evaluate(expectations, facts, limit):
            verdict, word = _VERDICTS[check.met]
            result["checks"].append({"verdict": verdict, "word": word, "actual": check.actual})
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
        for place, each in enumerate(lenient.items(expectations))
        if set(found.secrets).intersection(names_in(each))
    ]
    return values, secrets + [
        RequestProblem(pointer, f"{{{{{name}}}}} is not defined.", "error")
        for pointer, name in found.unresolved
    ]


def _read(request: HttpRequest, name: str, empty: Any) -> tuple[Any, list[RequestProblem]]:
    """Return a field's JSON value, and why it is invalid."""
    text = request.POST.get(name, "").strip()
    try:
        if len(text) > MAX_FORM:
            raise ValidationError("Too large.")
        return parse_json_value(text) if text else empty, []
    except ValidationError as error:
        return empty, [RequestProblem(f"/{name}", error.messages[0], "error")]


def _under(name: str, problem: RequestProblem) -> RequestProblem:
    """Return a problem with its pointer below a name."""
    return RequestProblem(f"/{name}{problem.pointer}", problem.message, problem.level)
