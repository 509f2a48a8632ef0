"""Lessons for a teacher: the list of steps, and the form of one, with a check from a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from playground.base.fields import parse_json_value
from playground.collections import ordering
from playground.collections.saved_requests import LAST_COLLECTION_KEY
from playground.collections.views import MarkdownField
from playground.lesson_format.lesson import LessonStep, lesson_problems, suggested_check
from playground.lesson_format.schema_errors import Finding
from playground.lessons.pane import expectation_examples, tabs_and_places
from playground.lessons.views import get_lesson, open_workbench
from playground.models import Collection, Run, RunSource
from playground.models.collections import requests_in_order
from playground.models.rows import owner_of
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
    progress = get_lesson(request, collection.slug)
    found = progress.lesson.step(step)
    assert found
    progress.forget(found)
    progress.open(found)
    return open_workbench(request, progress)


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
    runs = Run.objects.filter(owner=owner_of(request.user), source=RunSource.USER).turns()
    run = runs.exclude(ended_us=None).order_by("-created_at").first()
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
    request: HttpRequest, collection: Collection, problems: Sequence[Finding] = ()
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
    return [(each.slug, each.name) for each in requests_in_order(collection)]


def _save(collection: Collection, steps: Steps) -> list[Finding]:
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


#: The levels of nesting of a check.
_MAX_DEPTH = 20


class ArrayField(forms.CharField):
    """A field of a JSON array: of expectations, or of links to places."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def clean(self, value: Any) -> list[Any]:
        """Return the array; [] for none."""
        text = super().clean(value).strip()
        found = parse_json_value(text, _MAX_DEPTH) if text else []
        if not isinstance(found, list):
            raise forms.ValidationError("Enter a JSON array.")
        return found

    def prepare_value(self, value: Any) -> Any:
        """Return the text of a stored array; typed text is returned unchanged."""
        return value if isinstance(value, str) else array_as_text(value)


class HintsField(MarkdownField):
    """A field of Markdown texts, with lines of three hyphens between them."""

    def clean(self, value: Any) -> Any:
        parts = super().clean(value).split("\n---\n")
        return [part.strip() for part in parts if part.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n---\n".join(map(str, value)) if isinstance(value, list) else value


class StepForm(forms.Form):
    """A form of a step; members of the step that it does not have are unchanged."""

    title = forms.CharField(label="Title", max_length=120)
    text = MarkdownField(label="Text", help_text="Markdown: what to learn, and what to do.")
    request = forms.ChoiceField(label="Request to open", required=False)
    look = ArrayField(
        label="Links to places",
        help_text='For example [{"label": "The text", "tab": "request", "place": "/query/text"},'
        ' {"label": "A result", "tab": "events", "place": "result"}].',
    )
    question = forms.CharField(
        label="Question",
        required=False,
        max_length=1_000,
        help_text="For a step that is checked by an answer."
        " Such a step expects nothing of a request or a response.",
    )
    check_request = ArrayField(
        label="Expected of the request",
        help_text='For example [{"type": "json", "path": "$.document.query.site", "exists": true}].'
        " Only expectations of the type json. The paths begin with $.document, $.kind, $.url,"
        " $.protocol, $.binding, $.version, $.answers or $.continues.",
    )
    check_run = ArrayField(
        label="Expected of the response",
        help_text='For example [{"type": "outcome", "equals": "answer"},'
        ' {"type": "results", "min": 1}].',
    )
    check_answer = ArrayField(
        label="Expected of the answer",
        help_text='For example [{"type": "json", "path": "$", "matches": "(?i)^recipe$"}].'
        " Only expectations of the type json, with the path $.",
    )
    missing = forms.CharField(
        label="If the check fails",
        required=False,
        max_length=1_000,
        help_text="Tells the learner what to do.",
    )
    hints = HintsField(label="Hints", help_text="Markdown. A line with --- begins the next hint.")
    solution_text = MarkdownField(label="Text of the solution")
    solution_request = forms.ChoiceField(label="Request that solves the step", required=False)
    solution_answer = forms.CharField(
        label="Answer to the question", required=False, max_length=1_000
    )

    def __init__(
        self,
        step: Mapping[str, Any],
        data: Mapping[str, Any] | None = None,
        *,
        requests: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._step = step
        initial = {name: _value_at(step, location) for location, name in _LOCATIONS.items()}
        super().__init__(data, initial=initial)
        for name in ("request", "solution_request"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "none"), *requests]
            used = self.initial[name]
            if used and used not in dict(field.choices):
                field.choices.append((used, f"{used} (deleted)"))

    def clean_look(self) -> list[Any]:
        """Return the links, with the names of tabs as lessons have them."""
        found: list[Any] = self.cleaned_data["look"]
        for link in found:
            if isinstance(link, dict) and isinstance(link.get("tab"), str):
                link["tab"] = link["tab"].lower()
        return found

    @property
    def step(self) -> dict[str, Any]:
        """Return the step as it is stored, without empty members."""
        step = dict(self._step)
        parts: dict[str, dict[str, Any]] = {"check": {}, "solution": {}}
        for location, name in _LOCATIONS.items():
            holder, _, member = location.rpartition("/")
            value = self.cleaned_data[name]
            if holder:
                step[holder] = parts[holder]
                parts[holder] |= {member: value} if value else {}
            else:
                step[member] = value
        if not parts["check"].keys() - {"missing"}:
            parts["check"].clear()
        return {name: value for name, value in step.items() if value or name == "text"}

    def add_problems(self, problems: Iterable[tuple[str, str]], number: int) -> None:
        """Add the problems of the lesson that the step would have to the fields concerned."""
        for pointer, message in problems:
            location = pointer.removeprefix(f"/steps/{number}").strip("/")
            name = next((name for name in _LOCATIONS if location.startswith(name)), "")
            within = _words(location.removeprefix(name))
            self.add_error(_LOCATIONS.get(name), f"{within}: {message}" if within else message)

    @property
    def faulty_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.errors]


#: Fields by the beginnings of the locations of their values in a step.
_LOCATIONS = {
    "title": "title",
    "text": "text",
    "request": "request",
    "look": "look",
    "question": "question",
    "check/request": "check_request",
    "check/run": "check_run",
    "check/answer": "check_answer",
    "check/missing": "missing",
    "hints": "hints",
    "solution/text": "solution_text",
    "solution/request": "solution_request",
    "solution/answer": "solution_answer",
}


def _words(location: str) -> str:
    """Return the rest of a location as words: "Element 2, path" for "/1/path"."""
    parts = [part for part in location.split("/") if part]
    words = (f"element {int(part) + 1}" if part.isdigit() else part for part in parts)
    return capfirst(", ".join(words))


def _value_at(step: Mapping[str, Any], location: str) -> Any:
    value: Any = step
    for name in location.split("/"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else value


def array_as_text(value: Any) -> str:
    """Return an array as `ArrayField` shows it, an element on each line; "" for none."""
    if not value:
        return ""
    rows = ",\n ".join(json.dumps(each, ensure_ascii=False) for each in value)
    return f"[{rows}]"
