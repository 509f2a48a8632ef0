"""Lessons for a learner: the list, the page of one, the pane beside the workbench, its checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.collections import files, ordering
from playground.collections.fixture import FixtureError
from playground.collections.importer import import_fixture
from playground.composer.views import prepare_form
from playground.lesson_format.lesson import VERSION, LessonStep, Subject, evaluate_check
from playground.lessons.pane import (
    LessonPane,
    check_rows,
    lessons_of,
    lessons_with_progress,
    step_rows,
)
from playground.models import Agent, Collection, LessonProgress, Run, RunKind, RunSource
from playground.models.agents import DEMOS
from playground.models.rows import owner_of
from playground.stored_runs import run_facts
from playground.ui.helpers import is_htmx

#: Most characters of an answer.
MAX_ANSWER = 1_000
#: The latest runs of a learner that a check is evaluated on.
MAX_RUNS = 12


class NewLessonForm(forms.Form):
    """A form of the name of a new lesson."""

    name = forms.CharField(max_length=120)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def lessons(request: HttpRequest) -> HttpResponse:
    """List the lessons with their progress (GET), or create one (POST)."""
    if request.method != "POST":
        return _list(request, NewLessonForm())
    form = NewLessonForm(request.POST)
    if not form.is_valid():
        return _list(request, form, 422)
    first = {"slug": "step-1", "title": "First step", "text": ""}
    created = Collection.objects.create(
        owner=owner_of(request.user),
        name=form.cleaned_data["name"],
        lesson={"version": VERSION, "steps": [first]},
    )
    ordering.move_collection(created, ordering.END)
    return redirect("lesson-edit", created.slug)


def _list(request: HttpRequest, form: NewLessonForm, status: int = 200) -> HttpResponse:
    stored = set(Collection.objects.owned_by(request.user).values_list("slug", flat=True))
    # Their requests are sent to the demo agent.
    available = files.lessons() if settings.DEMO_ENABLED else []
    context = {
        "lessons": lessons_with_progress(request.user),
        "available": [each for each in available if each.slug not in stored],
        "form": form,
    }
    return render(request, "lessons/list.html", context, status=status)


@require_POST
def add_shipped(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a lesson that ships with the playground to those of the user."""
    found = next((each for each in files.lessons() if each.slug == slug), None)
    if found is None:
        raise Http404
    owner = owner_of(request.user)
    try:
        if owner is None:
            files.load_shipped(slug)
        else:
            import_fixture(found.read(), owner)
    except (FixtureError, files.DiskError) as error:
        messages.error(request, f"{found.name} was not added. {error}")
        return redirect("lessons")
    return redirect("lesson", slug)


@require_safe
@ensure_csrf_cookie
def lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a lesson: its description, its steps, and the progress."""
    progress = get_lesson(request, slug)
    context = {
        "progress": progress,
        "collection": progress.collection,
        "rows": step_rows(progress, progress.current if progress.is_started else None),
    }
    return render(request, "lessons/page.html", context)


@require_POST
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Start or continue a lesson, restart it, or close it, as the field `do` says."""
    found = get_lesson(request, slug)
    do = request.POST.get("do", "")
    if do == "close":
        LessonProgress.objects.filter(collection=found.collection).update(is_open=False)
        return redirect("lesson", slug)
    _add_demo_agents(request)
    if do == "restart":
        found.restart()
    elif step := found.step_to_continue:
        found.open(step)
    return open_workbench(request, found)


def open_workbench(request: HttpRequest, progress: LessonProgress) -> HttpResponse:
    """Go to the workbench, with the request of the step that is shown."""
    link = LessonPane(progress, request.user).request
    return redirect(link["url"] if link and link["can_be_opened"] else reverse("workbench"))


@require_POST
def step(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    progress, _ = _open(request, slug, step)
    return _part(request, "lessons/pane.html", LessonPane(progress, request.user), oob=False)


@require_POST
def hints(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    progress, found = _open(request, slug, step)
    progress.show_hint(found)
    return _part(request, "lessons/pane.html#help", LessonPane(progress, request.user))


@require_POST
def solution(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    progress, found = _open(request, slug, step)
    progress.show_solution(found)
    return _part(request, "lessons/pane.html#help", LessonPane(progress, request.user))


@require_POST
def check(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    """Check a step: the runs since it was first shown, the composed request, or the answer.

    The field `answer` is what the learner has entered, `done` confirms a step without a check, and
    the composer's fields are a request that was not sent.
    """
    progress, found = _step(request, slug, step)
    if progress.pk is None:
        progress.open(found)
    answer = request.POST.get("answer")
    if found.check is None:
        has_passed, result = "done" in request.POST, None
    else:
        answer = answer[:MAX_ANSWER] if answer is not None else None
        result = evaluate_check(found.check, _subjects(request, progress, found), answer)
        has_passed = result.passed
    if has_passed and not progress.has_passed(found):
        progress.pass_step(found)
        pane = LessonPane(progress, request.user)
        return _part(request, "lessons/pane.html", pane, checks=check_rows(found, result))
    return _part(
        request,
        "lessons/pane.html#check",
        LessonPane(progress, request.user, found),
        checks=check_rows(found, result),
        is_checked=result is not None and (bool(result.checks) or answer is not None),
    )


def get_lesson(request: HttpRequest, slug: str) -> LessonProgress:
    """Return the progress of the user in a lesson. Raises `Http404`."""
    return LessonProgress.of(get_object_or_404(lessons_of(request.user), slug=slug))


def _step(request: HttpRequest, slug: str, step: str) -> tuple[LessonProgress, LessonStep]:
    progress = get_lesson(request, slug)
    found = progress.lesson.step(step)
    if found is None:
        raise Http404
    return progress, found


def _open(request: HttpRequest, slug: str, step: str) -> tuple[LessonProgress, LessonStep]:
    progress, found = _step(request, slug, step)
    progress.open(found)
    return progress, found


def _part(
    request: HttpRequest, part: str, pane: LessonPane, *, oob: bool = True, **result: Any
) -> HttpResponse:
    """Render the pane or a part of it; without htmx, go to the workbench.

    With `oob` the page changes the part in place. `result` is what a check has found.
    """
    if not is_htmx(request):
        return redirect("workbench")
    return render(request, part, {"pane": pane, "oob": oob, **result})


def _subjects(
    request: HttpRequest, progress: LessonProgress, step: LessonStep
) -> Iterator[Subject]:
    """Yield the composed request if it can pass the step, and the runs since it was first shown.

    The latest run comes first. Promises are polled by themselves, also those of other steps: polls
    are left out unless the check is about the kind of the request.
    """
    check = step.check
    if check and check.passes_unsent and "document" in request.POST:
        prepared = prepare_form(request)
        if prepared.has_call:
            target = prepared.redacted_target
            yield Subject(
                {
                    "kind": RunKind.ASK.name.lower(),
                    "document": prepared.request,
                    "answers": None,
                    "continues": bool(request.POST.get("parent")),
                    "url": prepared.url,
                    "protocol": target.protocol,
                    "binding": target.binding,
                    "version": target.version,
                }
            )
    runs = Run.objects.filter(
        owner=progress.collection.owner_id,
        source=RunSource.USER,
        created_at__gte=progress.since(step),
    )
    if check and not check.names_kind:
        runs = runs.exclude(kind=RunKind.POLL)
    for run in runs.order_by("-created_at")[:MAX_RUNS]:
        if run.is_final:
            sent = {
                "kind": RunKind(run.kind).name.lower(),
                "document": run.request,
                "answers": run.answers,
                "continues": run.parent_id is not None,
                **run.describe_target(),
            }
            yield Subject(sent, partial(run_facts, run))


def _add_demo_agents(request: HttpRequest) -> None:
    """Add the demo's agents to those of a user of a hosted playground, who has none of them."""
    owner = owner_of(request.user)
    if owner is None or not settings.DEMO_ENABLED:
        return
    known = set(Agent.objects.filter(owner=owner).values_list("slug", flat=True))
    for agent in Agent.objects.filter(owner=None, slug__in=DEMOS).exclude(slug__in=known):
        agent.pk, agent.owner = None, owner
        agent.save(force_insert=True)
