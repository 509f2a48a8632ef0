"""A lesson and its steps as plain values, read from the JSON that a collection stores.

Reading never fails: a member of the wrong type reads as absent. `lesson_problems` reports what is
wrong with a lesson before it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

#: The version of the format; a lesson with a later one is not imported.
VERSION = 1
#: The slug of a step.
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")


@dataclass(frozen=True, slots=True)
class LookAt:
    """A link that opens a tab, and marks a place in it."""

    label: str
    #: A key of `playground.lesson_format.validation.TABS`.
    tab: str
    #: The place in the tab: a JSON pointer, or the type of an event or a frame; "" for none.
    place: str = ""

    @classmethod
    def of(cls, value: Any) -> Self:
        return cls(_text(value, "label"), _text(value, "tab"), _text(value, "place"))


@dataclass(frozen=True, slots=True)
class StepCheck:
    """The condition that passes a step.

    `request` and `run` are expectations of one and the same run: of its request, and of its
    response. Without `run` a request passes as soon as it is composed. `answer` are expectations
    of what the learner enters.
    """

    request: Sequence[Any] = ()
    run: Sequence[Any] = ()
    answer: Sequence[Any] = ()
    #: A sentence that is shown as long as the check fails.
    missing: str = ""

    @classmethod
    def of(cls, value: Any) -> Self | None:
        if not isinstance(value, Mapping):
            return None
        request, run, answer = (_list(value, name) for name in ("request", "run", "answer"))
        return cls(request, run, answer, _text(value, "missing"))

    @property
    def needs_answer(self) -> bool:
        return bool(self.answer)

    @property
    def names_kind(self) -> bool:
        paths = (each.get("path") for each in self.request if isinstance(each, Mapping))
        return "$.kind" in paths

    @property
    def passes_unsent(self) -> bool:
        """Return whether a request passes as soon as it is composed."""
        return bool(self.request) and not self.run


@dataclass(frozen=True, slots=True)
class Solution:
    """What solves a step: a text, a saved request, or what to enter."""

    text: str = ""
    #: The slug of a saved request.
    request: str = ""
    answer: str = ""

    @classmethod
    def of(cls, value: Any) -> Self | None:
        if not isinstance(value, Mapping):
            return None
        return cls(_text(value, "text"), _text(value, "request"), _text(value, "answer"))


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step of a lesson."""

    slug: str
    title: str
    #: Markdown.
    text: str = ""
    #: The slug of the saved request that the step begins with; "" for none.
    request: str = ""
    look: tuple[LookAt, ...] = ()
    #: What the learner is asked to enter; "" for nothing.
    question: str = ""
    check: StepCheck | None = None
    #: Markdown.
    hints: tuple[str, ...] = ()
    solution: Solution | None = None

    @classmethod
    def of(cls, value: Any, number: int) -> Self:
        """Read a step; `number` names one without a valid slug."""
        slug = _text(value, "slug")
        return cls(
            slug=slug if SLUG.fullmatch(slug) else f"step-{number}",
            title=_text(value, "title") or f"Step {number}",
            text=_text(value, "text"),
            request=_text(value, "request"),
            look=tuple(map(LookAt.of, _list(value, "look"))),
            question=_text(value, "question"),
            check=StepCheck.of(_member(value, "check")),
            hints=tuple(hint for hint in _list(value, "hints") if isinstance(hint, str)),
            solution=Solution.of(_member(value, "solution")),
        )


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: its steps, and about how many minutes they take."""

    steps: tuple[LessonStep, ...] = ()
    #: 0 if unknown.
    minutes: int = 0

    @classmethod
    def of(cls, value: Any) -> Self:
        minutes = _member(value, "minutes")
        return cls(
            tuple(
                LessonStep.of(each, number) for number, each in enumerate(_list(value, "steps"), 1)
            ),
            minutes if isinstance(minutes, int) and not isinstance(minutes, bool) else 0,
        )

    def step(self, slug: str) -> LessonStep | None:
        return next((each for each in self.steps if each.slug == slug), None)

    def number_of(self, step: LessonStep) -> int:
        """Return the number of a step, from 1."""
        return self.steps.index(step) + 1

    def after(self, step: LessonStep) -> LessonStep | None:
        number = self.number_of(step)
        return self.steps[number] if number < len(self.steps) else None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _text(value: Any, name: str) -> str:
    found = _member(value, name)
    return found if isinstance(found, str) else ""


def _list(value: Any, name: str) -> list[Any]:
    found = _member(value, name)
    return found if isinstance(found, list) else []
