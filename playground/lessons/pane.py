"""Lessons as the pages show them: the list, the pane beside the workbench, and the next lesson."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.urls import reverse

from playground.collections.files import LESSON_FILES
from playground.expectations import EXPECTATION_TYPES, Check
from playground.lesson_format.lesson import FRAMES, TABS, CheckResult, LessonStep
from playground.models import Agent, Collection, LessonProgress
from playground.protocols.events import EVENT_LABELS

#: Paths into a request as `Subject` has it, beside its document.
_ABOUT_SENDING = {"$.kind", "$.continues", "$.url"}


#: An expectation of each type, for those who write a check.
EXPECTATION_EXAMPLES = (
    {"type": "outcome", "equals": "answer"},
    {"type": "results", "min": 1, "max": 10},
    {"type": "json", "path": "$.results[0].name", "matches": "(?i)soup"},
    {"type": "failure", "code": "RATE_LIMITED"},
    {"type": "order", "events": ["started", "result", "completed"]},
    {"type": "conformance", "level": "must"},
    {"type": "state", "equals": "completed"},
    {"type": "status", "equals": 429},
    {"type": "response_type", "equals": "elicitation"},
    {"type": "first_within", "ms": 500},
    {"type": "complete_within", "ms": 5000},
    {"type": "no_gap_over", "ms": 1000},
)
#: What a place in a tab is, by the kind of the tab's places.
_PLACES = {
    "": "no places",
    "pointer": "a JSON Pointer into the request, such as /query/text",
    "event": f"an event: {', '.join(EVENT_LABELS)}",
    "frame": f"a frame: {', '.join(FRAMES)}",
}


def expectation_examples() -> list[tuple[str, str]]:
    """Return the label and an example, as JSON, of each type of expectation."""
    return [
        (EXPECTATION_TYPES[str(each["type"])].label, json.dumps([each]))
        for each in EXPECTATION_EXAMPLES
    ]


def tabs_and_places() -> list[tuple[str, str]]:
    """Return the tabs that a step can open, and what a place in each of them is."""
    return [(tab, _PLACES[kind]) for tab, kind in TABS.items()]


class CheckRow(NamedTuple):
    """A check of a step as its learner reads it: an expectation, or a value without one."""

    #: The member that it is about, such as `query.site`; "" for other checks.
    name: str
    #: "the outcome is answer", or after a name "equals 3"; "" for a pattern.
    expected: str
    #: "" if it is what was expected.
    actual: str


class LessonPane:
    """The pane of an open lesson, at the step that is shown or at another one."""

    def __init__(
        self,
        progress: LessonProgress,
        user: User | AnonymousUser,
        step: LessonStep | None = None,
    ) -> None:
        self.progress = progress
        self.collection = progress.collection
        self.step = step or progress.current
        self._user = user

    @property
    def number(self) -> int:
        return self.progress.lesson.number_of(self.step) if self.step else 0

    @property
    def total(self) -> int:
        return len(self.progress.lesson.steps)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return step_rows(self.progress, self.step)

    @property
    def is_shipped(self) -> bool:
        return f"{self.collection.slug}.json" in LESSON_FILES

    @property
    def has_passed(self) -> bool:
        return self.step is not None and self.progress.has_passed(self.step)

    @property
    def previous(self) -> LessonStep | None:
        return self.progress.lesson.steps[self.number - 2] if self.number > 1 else None

    @property
    def following(self) -> LessonStep | None:
        return self.progress.lesson.after(self.step) if self.step else None

    @property
    def next_lesson(self) -> Collection | None:
        found = list(lessons_of(self._user))
        index = found.index(self.collection) + 1 if self.collection in found else len(found)
        return found[index] if index < len(found) else None

    @property
    def hints(self) -> Sequence[str]:
        step = self.step
        return step.hints[: self.progress.hints_shown(step)] if step else ()

    @property
    def hints_left(self) -> int:
        return len(self.step.hints) - len(self.hints) if self.step else 0

    @property
    def is_solution_shown(self) -> bool:
        return self.step is not None and self.progress.is_solution_shown(self.step)

    @cached_property
    def request(self) -> dict[str, Any] | None:
        return self._link(self.step.request) if self.step else None

    @cached_property
    def solution_request(self) -> dict[str, Any] | None:
        solution = self.step.solution if self.step else None
        return self._link(solution.request) if solution else None

    @cached_property
    def names(self) -> tuple[str, str] | None:
        """Return protocol and version of the step’s request; None without a request."""
        step, saved = self.step, self.collection.requests
        slugs = [step.request, step.solution.request if step.solution else ""] if step else []
        found = saved.filter(slug__in=slugs).first() or saved.order_by("position", "pk").first()
        return (found.protocol, found.version) if found else None

    @property
    def request_is_missing(self) -> bool:
        return bool(self.step and self.step.request and self.request is None)

    def _link(self, slug: str) -> dict[str, Any] | None:
        """Return the link to a saved request, which the step opens in the composer unsent."""
        saved = self.collection.requests.filter(slug=slug).first() if slug else None
        if saved is None:
            return None
        agents = Agent.objects.owned_by(self._user)
        is_known = bool(saved.agent) and agents.filter(slug=saved.agent).exists()
        return {
            # As tabs of the workbench name it.
            "key": f"{self.collection.slug}/{saved.slug}",
            "name": saved.name,
            "url": reverse("saved-request", args=[self.collection.slug, saved.slug]),
            # The slug of its agent, if the learner has none of that name.
            "missing_agent": "" if is_known else saved.agent,
            # A lesson leads to no URL that a request names itself.
            "can_be_opened": is_known,
        }


def step_rows(progress: LessonProgress, current: LessonStep | None) -> list[dict[str, Any]]:
    return [
        {
            "step": step,
            "number": number,
            "has_passed": progress.has_passed(step),
            "is_current": step == current,
        }
        for number, step in enumerate(progress.lesson.steps, 1)
    ]


def check_rows(step: LessonStep, result: CheckResult | None) -> list[CheckRow]:
    """Return the checks to show: all once they have passed, otherwise the failed ones.

    Those of an answer would give it away, and that of how a request was sent says nothing new.
    """
    if result is None or step.check is None or step.check.needs_answer:
        return []
    shown = result.checks if result.passed else result.failed
    rows = (
        _check_row(each)
        for each in shown
        if not isinstance(each.expectation, dict)
        or each.expectation.get("path") not in _ABOUT_SENDING
    )
    return list(dict.fromkeys(rows))


def _check_row(check: Check) -> CheckRow:
    if check.met is None:  # It could be no valid expectation.
        return CheckRow("", check.expected, check.actual)
    expectation = dict(check.expectation)
    # As texts write it: `$.document.query['site']` is `query.site`.
    path = expectation.get("path", "")
    name = re.sub(r"\['([^']*)'\]", r".\1", path).removeprefix("$").removeprefix(".")
    name = name.removeprefix("document.") or path
    if "matches" in expectation:  # Learners do not read patterns.
        return CheckRow(name, "", check.actual)
    if name:
        expectation["path"] = name
    expected = EXPECTATION_TYPES[expectation["type"]].describe(expectation)
    actual = "" if check.met else check.actual
    if name and expected.startswith(name):
        return CheckRow(name, expected.removeprefix(name).strip(), actual)
    return CheckRow("", expected, actual)


def lessons_of(user: User | AnonymousUser) -> QuerySet[Collection]:
    found: QuerySet[Collection] = Collection.objects.owned_by(user).filter(lesson__isnull=False)
    return found


def lessons_with_progress(user: User | AnonymousUser) -> list[LessonProgress]:
    """Return the progress in the lessons of a user, in their order; not saved if there was none."""
    lessons = lessons_of(user).select_related("lesson_progress")
    return [
        getattr(each, "lesson_progress", None) or LessonProgress(collection=each)
        for each in lessons
    ]


def lesson_offer(user: User | AnonymousUser) -> dict[str, Any] | None:
    """Return the lesson to continue, or else the first one that was not started.

    `step` is the number of the step to continue with; 0 for a lesson that was not started.
    """
    lessons = lessons_of(user)
    latest = LessonProgress.objects.filter(collection__in=lessons.order_by())
    rows = latest.select_related("collection").order_by("-modified_at")
    found = next((each for each in rows if not each.is_finished), None)
    if found is None:
        fresh = lessons.filter(lesson_progress__isnull=True).first()
        if fresh is None:
            return None
        found = LessonProgress(collection=fresh)
    step = found.step_to_continue if found.is_started else None
    return {
        "name": found.collection.name,
        "url": reverse("lesson", args=[found.collection.slug]),
        "step": found.lesson.number_of(step) if step else 0,
        "steps": len(found.lesson.steps),
    }
