"""Progress in a lesson. A collection has one owner, so its progress is that of one learner."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from playground.lesson_format import Lesson, LessonStep
from playground.models.collections import Collection
from playground.models.columns import OBJECT, JSONTextField
from playground.models.rows import Owner, UntrashedManager

#: The most steps whose progress is stored.
MAX_STEPS = 200


class LessonProgressQuerySet(models.QuerySet["LessonProgress"]):
    """Queries over the progress in lessons."""

    def of_owner(self, owner: Owner) -> LessonProgressQuerySet:
        """Return the progress of a learner, latest first."""
        rows = self.filter(collection__owner=owner, collection__lesson__isnull=False)
        return rows.select_related("collection").order_by("-modified_at")


class ProgressManager(UntrashedManager.from_queryset(LessonProgressQuerySet)):  # type: ignore[misc]
    """Manager of the progress in lessons that are not in the trash."""

    deleted_at = "collection__deleted_at"


class LessonProgress(models.Model):
    """The progress of a learner in a lesson."""

    collection = models.OneToOneField(
        Collection, on_delete=models.CASCADE, related_name="lesson_progress"
    )
    #: Whether the workbench shows the lesson; it shows one at a time.
    is_open = models.BooleanField(default=False)
    #: The slug of the step that is shown; "" for the first one.
    step = models.CharField(max_length=60, blank=True)
    #: By step: {"since": when it was first shown, "passed": when its check passed, "hints": the
    #: number of hints shown, "solution": whether the solution was shown}.
    steps = JSONTextField(default=dict, blank=True, shape=OBJECT)
    modified_at = models.DateTimeField(default=timezone.now)

    objects = ProgressManager()

    def __str__(self) -> str:
        return f"{self.collection}: {self.step}"

    def current(self, lesson: Lesson) -> LessonStep | None:
        """Return the step that is shown, None for a lesson without steps."""
        found = lesson.step(self.step)
        return found or next(iter(lesson.steps), None)

    def show(self, step: LessonStep) -> None:
        """Show a step; runs from now on are checked."""
        self.step = step.slug
        self._note(step, since=timezone.now().isoformat(), replace=False)

    def since(self, step: LessonStep) -> datetime:
        """Return when a step was first shown; runs before that are not checked."""
        found = self._state_of(step).get("since")
        return (parse_datetime(found) if isinstance(found, str) else None) or timezone.now()

    def has_passed(self, step: LessonStep) -> bool:
        return "passed" in self._state_of(step)

    def note_passed(self, step: LessonStep) -> None:
        self._note(step, passed=timezone.now().isoformat(), replace=False)

    def hints_shown(self, step: LessonStep) -> int:
        found = self._state_of(step).get("hints", 0)
        return found if isinstance(found, int) else 0

    def show_hint(self, step: LessonStep) -> None:
        self._note(step, hints=min(self.hints_shown(step) + 1, len(step.hints)))

    def is_solution_shown(self, step: LessonStep) -> bool:
        return bool(self._state_of(step).get("solution"))

    def show_solution(self, step: LessonStep) -> None:
        self._note(step, solution=True)

    def forget(self, step: LessonStep) -> None:
        self.steps = {slug: state for slug, state in self.steps.items() if slug != step.slug}

    def passed_count(self, lesson: Lesson) -> int:
        return sum(map(self.has_passed, lesson.steps))

    def _state_of(self, step: LessonStep) -> dict[str, Any]:
        found = self.steps.get(step.slug)
        return found if isinstance(found, dict) else {}

    def _note(self, step: LessonStep, *, replace: bool = True, **values: Any) -> None:
        before = self._state_of(step)
        after = before | values if replace else values | before
        if step.slug in self.steps or len(self.steps) < MAX_STEPS:
            self.steps = {**self.steps, step.slug: after}
        self.modified_at = timezone.now()
