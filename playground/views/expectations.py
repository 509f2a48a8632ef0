"""What is expected of a reply: what came of it, what a path sees, and what could be expected."""

from __future__ import annotations

import json
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from playground.engine import Scope
from playground.engine.preparation import expected, why_not
from playground.expectations import (
    EXPECTATION_TYPES,
    Check,
    RunFacts,
    capture,
    check_schema,
    evaluate,
)
from playground.expectations.reply import OPERATORS
from playground.expectations.suggestions import suggestions
from playground.models import Environment, Run
from playground.observing import run_facts
from playground.protocols import json_decoder
from playground.protocols.exchange import RequestProblem
from playground.rendering.expectations import ChecksView, checks_view, verdict_of
from playground.rendering.pretty import pretty, readable
from playground.variables import VariableError, names_in
from playground.views.environment_choice import active_environment
from playground.views.helpers import get_run

#: Runs whose reply is kept at hand: somebody who writes paths asks again with every word.
FACTS_CACHE_SIZE = 4
#: Bytes of a list of expectations that are read, and characters of a document that are shown.
MAX_FORM, MAX_SHOWN = 256 * 1024, 256 * 1024
_LOCKS = tuple(Lock() for _ in range(16))


def _observed(run: Run) -> RunFacts:
    with _LOCKS[
        run.pk.int % len(_LOCKS)
    ]:  # The bar and the tab ask at once: a flood is not read twice.
        return _observe(run.pk, run.frames, run.state)


@lru_cache(maxsize=FACTS_CACHE_SIZE)
def _observe(pk: UUID, frames: int, state: str) -> RunFacts:
    """A run that has ended. `frames` and `state` tell readings of one run apart."""
    return run_facts(Run.objects.get(pk=pk))


def _checks(run: Run) -> ChecksView | None:
    """What became of a run's expectations; None while it goes on, and where it has none."""
    if not run.is_final or not run.expectations:
        return None
    return checks_view(evaluate(run.expectations, _observed(run)))


@require_safe
def checks(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Every expectation of a run with its verdict."""
    run = get_run(request, pk)
    return render(request, "expectations/checks.html", {"run": run, "checks": _checks(run)})


@require_safe
def count(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How many of them were met: for the bar, and for the tab."""
    run = get_run(request, pk)
    return render(request, "expectations/tally.html", {"checks": _checks(run)})


@require_safe
def document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The document of a reply: what a path sees."""
    run = get_run(request, pk)
    found = _observed(run).document if run.is_final else None
    text = readable(found) if found is not None else ""
    context = {"text": text[:MAX_SHOWN], "more": len(text) > MAX_SHOWN, "ended": run.is_final}
    return render(request, "expectations/document.html", context)


@require_safe
def editor(request: HttpRequest) -> HttpResponse:
    """The form for expectations and captures: fetched when somebody first looks at it."""
    context = {"kinds": list(EXPECTATION_TYPES.values()), "operators": list(OPERATORS.items())}
    return render(request, "expectations/editor.html", context)


@require_POST
def try_expectations(request: HttpRequest) -> HttpResponse:
    """What would become of expectations and captures that are being written, at a chosen run.

    Takes the form fields `run` (an id, or "" for none), `expectations` and `captures` (JSON).
    Answers `{"problems", "checks", "captures", "suggestions"}`: problems with JSON pointers
    (into {"expectations", "captures"}), a verdict for each expectation, the value of each
    capture, and what could be expected of this run. Names stand for what they do in the
    environment that is active.
    """
    expectations, problems = _read(request, "expectations", [])
    captures, more = _read(request, "captures", {})
    problems += more
    if not problems:
        problems += [_under("expectations", problem) for problem in check_schema(expectations)]
        expectations, more = _with_values(expectations, active_environment(request))
        problems += [_under("expectations", problem) for problem in more]
    pk = request.POST.get("run", "")
    run = get_run(request, pk) if _is_id(pk) else None
    answer: dict[str, Any] = {"checks": [], "captures": [], "suggestions": []}
    if run is not None and run.is_final:
        observed = _observed(run)
        answer["checks"] = [_judged(check) for check in evaluate(expectations, observed)]
        values, missed = capture(captures, observed.document)
        problems += [_under("captures", problem) for problem in missed]
        answer["captures"] = [{"name": name, "value": pretty(values[name])} for name in values]
        answer["suggestions"] = suggestions(observed, expectations)
    answer["problems"] = [{"pointer": p.pointer, "message": p.message} for p in problems]
    return JsonResponse(answer)


def _with_values(wanted: Any, environment: Environment | None) -> tuple[Any, list[RequestProblem]]:
    """What a reply is held to when this is sent, and what is wrong with the names in it."""
    try:
        values, found = expected(wanted, Scope(environment), timezone.now())
    except VariableError as error:
        return wanted, [RequestProblem("", str(error), "error")]
    secrets = [
        RequestProblem(f"/{place}", why_not(found.secrets), "error")
        for place, each in enumerate(wanted if isinstance(wanted, list) else ())
        if set(found.secrets).intersection(names_in(each))
    ]
    return values, secrets + [
        RequestProblem(pointer, f"There is no value for “{name}”.", "error")
        for pointer, name in found.unresolved
    ]


def _judged(check: Check) -> dict[str, Any]:
    verdict, word = verdict_of(check.met)
    return {"verdict": verdict, "word": word, "wanted": check.expected, "actual": check.actual}


def _read(request: HttpRequest, name: str, empty: Any) -> tuple[Any, list[RequestProblem]]:
    """A field's JSON, and why it cannot be read."""
    text = request.POST.get(name, "").strip()
    if not text:
        return empty, []
    try:
        if len(text) > MAX_FORM or json_decoder.exceeds_depth(text, 100):
            return empty, [RequestProblem(f"/{name}", "This is too large.", "error")]
        return json_decoder.decode(text), []
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return empty, [RequestProblem(f"/{name}", f"This is no JSON: {where}.", "error")]
    except ValueError:
        message = "This has a number with too many digits."
        return empty, [RequestProblem(f"/{name}", message, "error")]


def _under(name: str, problem: RequestProblem) -> RequestProblem:
    return RequestProblem(f"/{name}{problem.pointer}", problem.message, problem.level)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
