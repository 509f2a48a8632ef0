"""Forms of lessons: a new one, and a step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.text import capfirst

from playground.base.json_input import parse_json_value
from playground.collections.forms import MarkdownField
from playground.lesson_format.lesson import VERSION

#: The levels of nesting of a check.
_MAX_DEPTH = 20


class NewLessonForm(forms.Form):
    """A form of the name of a new lesson."""

    name = forms.CharField(max_length=120)

    @property
    def lesson(self) -> dict[str, Any]:
        """Return a lesson with one step."""
        step = {"slug": "step-1", "title": "First step", "text": ""}
        return {"version": VERSION, "steps": [step]}


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


class StepForm(forms.Form):
    """A form of a step; members of the step that it does not have are unchanged."""

    title = forms.CharField(label="Title", max_length=120)
    text = MarkdownField(label="Text")
    request = forms.ChoiceField(label="Request to open", required=False)
    look = ArrayField(label="Links to places")
    question = forms.CharField(label="Question", required=False, max_length=1_000)
    check_request = ArrayField(label="Expected of the request")
    check_run = ArrayField(label="Expected of the response")
    check_answer = ArrayField(label="Expected of the answer")
    missing = forms.CharField(label="If the check fails", required=False, max_length=1_000)
    hints = MarkdownField(label="Hints")
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
        super().__init__(data, initial=_initial(step))
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
        """Return the step of a valid form."""
        found = self.cleaned_data
        check = {
            "request": found["check_request"],
            "run": found["check_run"],
            "answer": found["check_answer"],
        }
        has_check = any(check.values())
        check |= {"missing": found["missing"]} if has_check else {}
        solution = {name: found[f"solution_{name}"] for name in ("text", "request", "answer")}
        hints = [part.strip() for part in found["hints"].split("\n---\n") if part.strip()]
        step = {
            **self._step,
            "title": found["title"],
            "text": found["text"],
            "request": found["request"],
            "look": found["look"],
            "question": found["question"],
            "check": {name: value for name, value in check.items() if value},
            "hints": hints,
            "solution": {name: value for name, value in solution.items() if value},
        }
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
        """Return the fields that have errors."""
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


def _initial(step: Mapping[str, Any]) -> dict[str, Any]:
    check, solution = (_object(step.get(name)) for name in ("check", "solution"))
    hints = step.get("hints")
    return {
        "title": step.get("title", ""),
        "text": step.get("text", ""),
        "request": step.get("request", ""),
        "look": array_as_text(step.get("look")),
        "question": step.get("question", ""),
        "check_request": array_as_text(check.get("request")),
        "check_run": array_as_text(check.get("run")),
        "check_answer": array_as_text(check.get("answer")),
        "missing": check.get("missing", ""),
        "hints": "\n---\n".join(map(str, hints)) if isinstance(hints, list) else "",
        "solution_text": solution.get("text", ""),
        "solution_request": solution.get("request", ""),
        "solution_answer": solution.get("answer", ""),
    }


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def array_as_text(value: Any) -> str:
    """Return an array as `ArrayField` shows it, an element on each line; "" for none."""
    if not value:
        return ""
    rows = ",\n ".join(json.dumps(each, ensure_ascii=False) for each in value)
    return f"[{rows}]"
