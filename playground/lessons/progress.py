"""Progress of a learner: the lesson that is open, and the runs that its checks are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.db import transaction

from playground.lesson_format import Lesson, LessonStep, Subject
from playground.models import Collection, LessonProgress, Run, RunKind, RunSource
from playground.models.rows import Owner
from playground.stored_runs import run_facts

#: The latest runs of a learner that a check is evaluated on.
MAX_RUNS = 12


@dataclass
class LessonOfLearner:
    """A lesson with the progress of its learner."""

    collection: Collection
    progress: LessonProgress

    @classmethod
    def of(cls, collection: Collection, progress: LessonProgress | None = None) -> LessonOfLearner:
        """Return a lesson with its progress, which is not saved if there was none."""
        if progress is None:
            progress = LessonProgress.objects.filter(collection=collection).first()
        return cls(collection, progress or LessonProgress(collection=collection))

    @cached_property
    def lesson(self) -> Lesson:
        return Lesson.of(self.collection.lesson)

    @property
    def step(self) -> LessonStep | None:
        return self.progress.current(self.lesson)

    @property
    def is_started(self) -> bool:
        return self.progress.pk is not None and bool(self.progress.steps)

    @property
    def is_finished(self) -> bool:
        return bool(self.lesson.steps) and self.passed == len(self.lesson.steps)

    @property
    def passed(self) -> int:
        return self.progress.passed_count(self.lesson)

    @property
    def step_to_continue(self) -> LessonStep | None:
        """The step that is shown, or, once that has passed, the next one that has not."""
        steps, shown = self.lesson.steps, self.step
        start = steps.index(shown) if shown else 0
        for each in (*steps[start:], *steps[:start]):
            if not self.progress.has_passed(each):
                return each
        return shown

    def show(self, step: LessonStep) -> None:
        """Open the lesson at a step; it replaces the one that is open."""
        owner = self.collection.owner_id
        with transaction.atomic():
            others = LessonProgress.objects.filter(collection__owner=owner, is_open=True)
            others.exclude(pk=self.progress.pk).update(is_open=False)
            self.progress.is_open = True
            self.progress.show(step)
            self.progress.save()

    def pass_step(self, step: LessonStep) -> None:
        """Note that a step has passed. Meanwhile the learner may have opened another one."""
        with transaction.atomic():
            stored = LessonProgress.objects.select_for_update(of=("self",))
            self.progress.refresh_from_db(from_queryset=stored)
            self.progress.note_passed(step)
            self.progress.save(update_fields=["steps"])

    def restart(self) -> None:
        """Forget the progress, and open the lesson at its first step."""
        self.progress.step, self.progress.steps = "", {}
        if step := self.step:
            self.show(step)

    def close(self) -> None:
        """Close the lesson; the progress stays."""
        LessonProgress.objects.filter(collection=self.collection).update(is_open=False)

    def subjects(self, step: LessonStep) -> Iterator[Subject]:
        """Yield the latest runs since the step was first shown, newest first.

        Promises are polled by themselves, also those of other steps: polls are left out unless the
        check is about the kind of the request.
        """
        runs = Run.objects.filter(
            owner=self.collection.owner_id,
            source=RunSource.USER,
            created_at__gte=self.progress.since(step),
        )
        if step.check and not step.check.names_kind:
            runs = runs.exclude(kind=RunKind.POLL)
        for run in runs.order_by("-created_at")[:MAX_RUNS]:
            if run.is_final:
                yield Subject(sent_request(run), partial(run_facts, run))


def open_lesson(owner: Owner) -> LessonOfLearner | None:
    """Return the lesson that the workbench of a learner shows, None for none."""
    found = LessonProgress.objects.of_owner(owner).filter(is_open=True).first()
    return LessonOfLearner.of(found.collection, found) if found else None


def latest_run(owner: Owner) -> Run | None:
    """Return the latest turn of a user that has ended, None if there is none."""
    runs = Run.objects.filter(owner=owner, source=RunSource.USER).turns().exclude(ended_us=None)
    found: Run | None = runs.order_by("-created_at").first()
    return found


def sent_request(run: Run) -> dict[str, Any]:
    """Return the request of a run as checks see it: see `Subject`."""
    return {
        "kind": RunKind(run.kind).name.lower(),
        "document": run.request,
        "answers": run.answers,
        "continues": run.parent_id is not None,
        **run.describe_target(),
    }
