"""Progress in a lesson. A collection has one owner, so its progress is that of one learner."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from playground.models.collections import Collection
from playground.models.columns import OBJECT, JSONTextField
from playground.models.rows import Owner, UntrashedManager

if TYPE_CHECKING:
    from playground.lesson_format.lesson import Lesson, LessonStep

#: The most steps whose progress is stored.
MAX_STEPS = 200


class ProgressManager(UntrashedManager["LessonProgress"]):
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

    @classmethod
    def of(cls, collection: Collection) -> LessonProgress:
        """Return the progress in a lesson, which is not saved if there was none."""
        found = cls.objects.filter(collection=collection).first() or cls()
        found.collection = collection
        return found

    @classmethod
    def opened_by(cls, owner: Owner) -> LessonProgress | None:
        """Return the progress in the lesson that the workbench shows, None for none."""
        rows = cls.objects.filter(collection__owner=owner, collection__lesson__isnull=False)
        rows = rows.filter(is_open=True).select_related("collection")
        return rows.order_by("-modified_at").first()

    @cached_property
    def lesson(self) -> Lesson:
        # Imported here: most processes open no lesson, and expectations import several libraries.
        from playground.lesson_format.lesson import Lesson

        return Lesson.of(self.collection.lesson)

    @property
    def current(self) -> LessonStep | None:
        """The step that is shown, None for a lesson without steps."""
        return self.lesson.step(self.step) or next(iter(self.lesson.steps), None)

    @property
    def is_started(self) -> bool:
        return self.pk is not None and bool(self.steps)

    @property
    def is_finished(self) -> bool:
        return bool(self.lesson.steps) and self.passed == len(self.lesson.steps)

    @property
    def passed(self) -> int:
        return sum(map(self.has_passed, self.lesson.steps))

    @property
    def step_to_continue(self) -> LessonStep | None:
        """The step that is shown, or, once that has passed, the next one that has not."""
        steps, shown = self.lesson.steps, self.current
        start = steps.index(shown) if shown else 0
        for each in (*steps[start:], *steps[:start]):
            if not self.has_passed(each):
                return each
        return shown

    def open(self, step: LessonStep) -> None:
        """Open the lesson, in place of the one that is open, at a step.

        Runs from now on are checked.
        """
        with transaction.atomic():
            owner = self.collection.owner_id
            others = LessonProgress.objects.filter(collection__owner=owner, is_open=True)
            others.exclude(pk=self.pk).update(is_open=False)
            self.is_open, self.step = True, step.slug
            self._note(step, since=timezone.now().isoformat(), replace=False)
            self.save()

    def restart(self) -> None:
        self.step, self.steps = "", {}
        if step := self.current:
            self.open(step)

    def since(self, step: LessonStep) -> datetime:
        """Return when a step was first shown; runs before that are not checked."""
        found = self._state_of(step).get("since")
        return (parse_datetime(found) if isinstance(found, str) else None) or timezone.now()

    def has_passed(self, step: LessonStep) -> bool:
        return "passed" in self._state_of(step)

    def pass_step(self, step: LessonStep) -> None:
        """Store that a step has passed. Meanwhile the learner may have opened another one."""
        with transaction.atomic():
            stored = LessonProgress.objects.select_for_update(of=("self",))
            fields = ["is_open", "step", "steps", "modified_at"]
            self.refresh_from_db(fields=fields, from_queryset=stored)
            self._note(step, passed=timezone.now().isoformat(), replace=False)
            self.save(update_fields=["steps"])

    def hints_shown(self, step: LessonStep) -> int:
        found = self._state_of(step).get("hints", 0)
        return found if isinstance(found, int) else 0

    def show_hint(self, step: LessonStep) -> None:
        self._note(step, hints=min(self.hints_shown(step) + 1, len(step.hints)))
        self.save()

    def is_solution_shown(self, step: LessonStep) -> bool:
        return bool(self._state_of(step).get("solution"))

    def show_solution(self, step: LessonStep) -> None:
        self._note(step, solution=True)
        self.save()

    def forget(self, step: LessonStep) -> None:
        self.steps = {slug: state for slug, state in self.steps.items() if slug != step.slug}

    def _state_of(self, step: LessonStep) -> dict[str, Any]:
        found = self.steps.get(step.slug)
        return found if isinstance(found, dict) else {}

    def _note(self, step: LessonStep, *, replace: bool = True, **values: Any) -> None:
        before = self._state_of(step)
        after = before | values if replace else values | before
        if step.slug in self.steps or len(self.steps) < MAX_STEPS:
            self.steps = {**self.steps, step.slug: after}
        self.modified_at = timezone.now()
