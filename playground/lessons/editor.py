"""Lessons for a teacher: the list of steps, and the form of one, with a check from a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from playground.collections import ordering
from playground.collections.saved_requests import LAST_COLLECTION_KEY
from playground.lesson_format import LessonStep, lesson_problems
from playground.lesson_format.suggestion import suggested_check
from playground.lesson_format.validation import LessonProblem
from playground.lessons.forms import StepForm, array_as_text
from playground.lessons.pane import expectation_examples, tabs_and_places
from playground.lessons.progress import latest_run
from playground.lessons.views import get_lesson, open_workbench
from playground.models import Collection
from playground.models.collections import requests_in_order
from playground.models.ownership import owner_of
from playground.stored_runs import run_facts

Steps = list[dict[str, Any]]

#: The session's value about the step that was deleted last: `lesson`, `number` and `step`.
DELETED = "deleted_step"


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the steps of a lesson (GET); add one, or restore the deleted one with `undo` (POST)."""
    collection = get_lesson(request, slug).collection
    if request.method != "POST":
        return _list(request, collection)
    steps = _steps(collection)
    if "undo" in request.POST:
        return _restore(request, collection, steps)
    name = _free_slug(steps)
    steps.append({"slug": name, "title": "New step", "text": ""})
    if problems := _save(collection, steps):
        return _list(request, collection, problems)
    return redirect("lesson-step-edit", slug, name)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def step(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    """Show the form of a step (GET); save, move or delete it, as the field `do` says (POST).

    `add` saves it and adds another one, `preview` saves it and opens the lesson at it; `suggest`
    shows the form as it was sent, with a check that the latest run of the user passes.
    """
    collection = get_lesson(request, slug).collection
    steps = _steps(collection)
    number = next((n for n, each in enumerate(steps) if each.get("slug") == step), None)
    if number is None:
        raise Http404
    if request.method != "POST":
        # A request that is composed for the step is saved with the lesson.
        request.session[LAST_COLLECTION_KEY] = slug
        form = StepForm(steps[number], requests=_requests(collection))
        return _form(request, collection, step, form)
    do = request.POST.get("do", "save")
    if do == "suggest":
        return _suggest(request, collection, steps[number])
    if do in {"save", "add", "preview"}:
        return _save_form(request, collection, steps, number)
    if do == "delete":
        if len(steps) > 1:
            _save(collection, steps[:number] + steps[number + 1 :])
            found = {"lesson": slug, "number": number, "step": steps[number]}
            request.session[DELETED] = found
    elif do in {"up", "down"}:
        target = max(0, number - 1) if do == "up" else number + 1
        steps.insert(target, steps.pop(number))
        _save(collection, steps)
    return redirect("lesson-edit", slug)


def _save_form(
    request: HttpRequest, collection: Collection, steps: Steps, number: int
) -> HttpResponse:
    name = steps[number]["slug"]
    form = StepForm(steps[number], request.POST, requests=_requests(collection))
    if not form.is_valid():
        return _form(request, collection, name, form, status=422)
    changed = [*steps[:number], form.step, *steps[number + 1 :]]
    if problems := _save(collection, changed):
        form.add_problems(problems, number)
        return _form(request, collection, name, form, status=422)
    if request.POST.get("do") == "add":
        return lesson(request, collection.slug)
    if request.POST.get("do") == "preview":
        return _preview(request, collection, name)
    messages.success(request, f"{form.step['title']} was saved.")
    return redirect("lesson-edit", collection.slug)


def _preview(request: HttpRequest, collection: Collection, step: str) -> HttpResponse:
    """Open the lesson at a step that has not passed."""
    learner = get_lesson(request, collection.slug)
    found = learner.lesson.step(step)
    assert found
    learner.progress.forget(found)
    learner.show(found)
    return open_workbench(request, learner)


def _restore(request: HttpRequest, collection: Collection, steps: Steps) -> HttpResponse:
    """Put the step that was deleted last back where it was."""
    deleted = request.session.get(DELETED)
    if deleted and deleted["lesson"] == collection.slug:
        steps.insert(deleted["number"], deleted["step"])
        if problems := _save(collection, steps):
            return _list(request, collection, problems)
        del request.session[DELETED]
    return redirect("lesson-edit", collection.slug)


def _suggest(request: HttpRequest, collection: Collection, step: dict[str, Any]) -> HttpResponse:
    run = latest_run(owner_of(request.user))
    data = request.POST.dict()
    if run is None:
        messages.info(request, "There is no run yet. Send the request of the step first.")
    else:
        saved = collection.requests.filter(slug=data.get("request", "")).first()
        opened = saved.document if saved else {}
        check = suggested_check(run_facts(run), run.request, opened)
        names = ["check_run"]
        # Without a request to compare with, every member would be new.
        names += ["check_request"] if saved else []
        for name in names:
            if not data.get(name, "").strip():
                data[name] = array_as_text(check[name.removeprefix("check_")])
    form = StepForm(step, data, requests=_requests(collection))
    return _form(request, collection, step["slug"], form, run)


def _list(
    request: HttpRequest, collection: Collection, problems: Sequence[LessonProblem] = ()
) -> HttpResponse:
    deleted = request.session.get(DELETED)
    context = {
        "collection": collection,
        "problems": problems,
        "steps": _steps(collection),
        "deleted": deleted["step"] if deleted and deleted["lesson"] == collection.slug else None,
    }
    return render(request, "lessons/edit.html", context, status=422 if problems else 200)


def _form(
    request: HttpRequest,
    collection: Collection,
    step: str,
    form: StepForm,
    run: Any = None,
    status: int = 200,
) -> HttpResponse:
    numbers = {each.get("slug"): number for number, each in enumerate(_steps(collection), 1)}
    context = {
        "collection": collection,
        "step": step,
        "number": numbers[step],
        "form": form,
        "suggested_from": run,
        "examples": expectation_examples(),
        "places": tabs_and_places(),
    }
    return render(request, "lessons/edit_step.html", context, status=status)


def _steps(collection: Collection) -> Steps:
    """Return the steps as they are stored; one without a valid slug gets that of its number."""
    stored = (collection.lesson or {}).get("steps")
    found = stored if isinstance(stored, list) else []
    steps = enumerate(found, 1)
    return [{**s, "slug": LessonStep.of(s, n).slug} for n, s in steps if isinstance(s, dict)]


def _requests(collection: Collection) -> list[tuple[str, str]]:
    """Return the requests of a collection as choices."""
    return [(each.slug, each.name) for each in requests_in_order(collection)]


def _save(collection: Collection, steps: Steps) -> list[LessonProblem]:
    """Store the steps of a lesson; return the problems for which nothing was stored."""
    changed = {**(collection.lesson or {}), "steps": steps}
    problems = list(lesson_problems(changed))
    if not problems:
        collection.lesson = changed
        collection.save(update_fields=["lesson"])
        ordering.mark_modified(collection)
    return problems


def _free_slug(steps: Steps) -> str:
    taken = {each.get("slug") for each in steps}
    number = len(steps) + 1
    while f"step-{number}" in taken:
        number += 1
    return f"step-{number}"
