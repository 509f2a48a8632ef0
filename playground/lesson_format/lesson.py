"""A lesson, its steps and their checks, read from the JSON that a collection stores.

Reading never fails: a member of the wrong type reads as absent. `lesson_problems` reports what is
wrong with a lesson before it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from playground.expectations import Check, RunFacts, StepLimit, evaluate
from playground.expectations.jsonpath import member_segment

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


# Checks: evaluated on requests and on an answer, and suggested from a run

#: The members of a request that a check can look into.
REQUEST_MEMBERS = (
    "kind", "document", "protocol", "binding", "version", "url", "answers", "continues",
)  # fmt: skip
#: Names that a JSONPath has without quotes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Subject:
    """A request that is checked: one that was sent, or one that is composed.

    `request` is the JSON object that paths of `StepCheck.request` look into: `kind` (`ask`,
    `answer`, `poll`, `cancel`, `client_response`, `action`), `document`, `protocol`, `binding`,
    `version`, `url`, `answers` (to an elicitation) and `continues` (whether it follows a turn).
    """

    def __init__(
        self, request: Mapping[str, Any], read_facts: Callable[[], RunFacts] | None = None
    ) -> None:
        self.request = request
        self._read_facts = read_facts

    @cached_property
    def facts(self) -> RunFacts | None:
        """Return the facts about its run, None for a composed request."""
        return self._read_facts() if self._read_facts is not None else None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a step's check."""

    passed: bool
    #: The checks of the subject that came closest; empty if there was none.
    checks: Sequence[Check] = ()

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.met is not True]


def evaluate_check(
    check: StepCheck, subjects: Iterable[Subject], answer: str | None = None
) -> CheckResult:
    """Evaluate a check; one subject that satisfies all of it is enough.

    `subjects` are in order of preference: of those that come equally close, the result is about
    the first. Reading the facts about a run is expensive, and done only if its request passes.
    Never raise.
    """
    if check.needs_answer:
        if answer is None:
            return CheckResult(False)
        return _result(evaluate(list(check.answer), _facts_of(answer.strip())))
    best: tuple[int, CheckResult] | None = None
    limit = StepLimit()
    for subject in subjects:
        checks = evaluate(list(check.request), _facts_of(subject.request), limit)
        if all(each.met for each in checks) and check.run:
            if subject.facts is None:
                continue
            checks += evaluate(list(check.run), subject.facts, limit)
        result = _result(checks)
        if result.passed:
            return result
        met = sum(each.met is True for each in checks)
        if best is None or met > best[0]:
            best = met, result
    return best[1] if best else CheckResult(False)


def _result(checks: list[Check]) -> CheckResult:
    return CheckResult(bool(checks) and all(check.met is True for check in checks), checks)


def _facts_of(document: Any) -> RunFacts:
    return RunFacts(state="completed", outcome="none", document=document)


def suggested_check(
    run_facts: RunFacts, request: Mapping[str, Any], opened: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return `{"request": […], "run": […]}` for a step that opens a request.

    The times and the number of results of a run depend on the machine and on the query, so they
    are left out. `request` is what was sent, `opened` the request that the step opens.
    """
    run: list[dict[str, Any]] = [{"type": "outcome", "equals": run_facts.outcome}]
    if run_facts.outcome == "failure":
        codes = [code for code in run_facts.failures if code]
        run += [{"type": "failure", "code": code} for code in codes[-1:]]
    elif run_facts.results:
        run.append({"type": "results", "min": 1})
    return {"request": list(_added(request, opened, "$.document")), "run": run}


def _added(after: Any, before: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield expectations of members that were added, with their value unless it is an array, or
    whose simple value was changed."""
    known = before if isinstance(before, Mapping) else {}
    for name, value in after.items():
        at = path + (f".{name}" if _NAME.fullmatch(name) else member_segment(name))
        if isinstance(value, Mapping):
            yield from _added(value, known.get(name), at)
        elif name in known and value == known[name]:
            continue
        elif not isinstance(value, list):
            yield {"type": "json", "path": at, "equals": value}
        elif name not in known:
            yield {"type": "json", "path": at, "exists": True}
