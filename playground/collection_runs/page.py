"""Collection runs: their page and list, and the report of a stored run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.db.models import Count, QuerySet

from playground.base.fields import int_param
from playground.collection_runs.reports import (
    CheckResult,
    CollectionRunReport,
    StepResult,
    VerdictCounts,
    end_reason,
)
from playground.collection_runs.reports.results import duration
from playground.conversation.status import waiting_label
from playground.models import CollectionRun, Run, Step
from playground.ui.formatting import value_text

#: Steps of one page.
PAGE = 100
#: What the page shows: all steps, or those that did not pass.
ALL, BAD = "all", "unmet"
_BAD = (Step.Verdict.UNMET, Step.Verdict.UNSENT)
#: Characters of the cause of a problem.
MAX_PROBLEM = 500
#: Columns of a run that a step shows; its request and session context may be large.
_RUN = ("run__agent_name", "run__state", "run__outcome", "run__status", "run__problem")


def report_of(run: CollectionRun, steps: Sequence[StepResult] | None = None) -> CollectionRunReport:
    """Return the report of a stored collection run, reading its steps unless `steps` are given."""
    if steps is None:
        stored = run.steps.select_related("run").only(*_columns()).order_by("number")
        steps = [result_of(step, step.run) for step in stored.iterator(1000)]
    return CollectionRunReport(
        name=run.name,
        steps=steps,
        state=run.state,
        started_at=run.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        took_ms=run.duration_ms(),
        environment=run.environment,
        options=run.options,
    )


def _columns() -> tuple[str, ...]:
    own = ("number", "iteration", "folder", "name", "verdict", "checks", "reason", "duration_ms")
    return (*own, "run", *_RUN)


def result_of(step: Step, run: Run | None) -> StepResult:
    return StepResult(
        number=step.number,
        iteration=step.iteration,
        folder=step.folder,
        name=step.name,
        verdict=step.verdict,
        checks=checks_of(step),
        reason=step.reason,
        problem=problem_of(run),
        duration_ms=step.duration_ms,
        run=str(run.pk) if run else "",
        agent=run.agent_name if run else "",
        state=run.state if run else "",
        outcome=run.outcome if run else "",
        status=run.status if run else None,
    )


def problem_of(run: Run | None) -> str:
    """Return the cause of a run's problem; "" if it has none."""
    problem = run.problem if run else None
    return value_text(problem.get("cause"), MAX_PROBLEM) if isinstance(problem, Mapping) else ""


def checks_of(step: Step) -> list[CheckResult]:
    return [_check_result(check) for check in step.checks if isinstance(check, Mapping)]


def _check_result(check: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        passed=check.get("met"),
        expected=str(check.get("wanted", "")),
        actual=str(check.get("actual", "")),
        value=check.get("value"),
        expectation=check.get("expectation"),
    )


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step as a row."""

    step: Step
    checks: Sequence[CheckResult]
    duration: str

    @property
    def number(self) -> int:
        return self.step.number

    @property
    def problem(self) -> str:
        """Return the cause of its run's problem, "" if it has none."""
        return problem_of(self.step.run)

    @property
    def verdict_label(self) -> str:
        return str(self.step.get_verdict_display())


@dataclass(frozen=True, slots=True)
class StepPage:
    """A page of the steps, all or only those that did not pass."""

    show: str
    #: Number of the page, from 1.
    page: int

    @classmethod
    def of(cls, query: Mapping[str, str]) -> StepPage:
        """Return the page of a query string; the first page of all steps if it is invalid."""
        page = int_param(query, "page", 1, minimum=1, maximum=999_999)
        return cls(BAD if query.get("show") == BAD else ALL, page)

    def of_run(self, run: CollectionRun) -> QuerySet[Step]:
        """Return the steps on all pages."""
        steps: QuerySet[Step] = run.steps.order_by("number")
        return steps.filter(verdict__in=_BAD) if self.show == BAD else steps

    def verdicts(self, run: CollectionRun) -> dict[int, str]:
        """Return the verdicts on this page by step number."""
        first = (self.page - 1) * PAGE
        steps = self.of_run(run).values_list("number", "verdict")
        return dict(steps[first : first + PAGE])

    def rows(self, run: CollectionRun, numbers: Iterable[int]) -> list[StepRow]:
        """Return the rows of steps by number, in order."""
        steps = run.steps.filter(number__in=list(numbers)).order_by("number")
        found = steps.select_related("run").only(*_columns())
        return [StepRow(step, checks_of(step), duration(step.duration_ms)) for step in found]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Number of steps by verdict, and duration so far."""

    tally: VerdictCounts
    duration: str

    @classmethod
    def of(cls, run: CollectionRun) -> RunProgress:
        return cls(VerdictCounts(run.planned, run.counts()), duration(run.duration_ms()))

    @property
    def parts(self) -> Iterable[tuple[str, float, float]]:
        """Return the parts of the progress bar: verdict, start and length in percent."""
        return self.tally.parts(100)


def page_of(run: CollectionRun, window: StepPage) -> dict[str, Any]:
    progress = RunProgress.of(run)
    verdicts = window.verdicts(run)
    steps = progress.tally.bad if window.show == BAD else run.planned
    return {
        **header_context(run, progress),
        "window": window,
        "rows": window.rows(run, verdicts),
        "known": encode_verdicts(verdicts),
        "pages": max(1, -(-steps // PAGE)),
    }


def header_context(run: CollectionRun, progress: RunProgress) -> dict[str, Any]:
    options = run.options
    return {
        "run": run,
        "progress": progress,
        "status_label": status_label(run, progress),
        "tone": _tone(run, progress),
        "options": options,
        "note": end_reason(run.state, progress.tally) if run.is_final else waiting_label(run),
    }


def _tone(run: CollectionRun, progress: RunProgress) -> str:
    if run.state == CollectionRun.State.RUNNING:
        return "running"
    if run.state != CollectionRun.State.COMPLETED:
        return "skipped"
    return "met" if progress.tally.all_met else "unmet"


def encode_verdicts(verdicts: Mapping[int, str]) -> str:
    """Return the verdicts on a page for its websocket URL: `1met-2running`."""
    return "-".join(f"{number}{verdict}" for number, verdict in verdicts.items()) or "none"


def decode_verdicts(text: str) -> dict[int, str]:
    """Return the verdicts of `encode_verdicts`; invalid text is ignored."""
    return {int(number): verdict for number, verdict in _VERDICT.findall(text[:4_000])}


_VERDICT = re.compile(r"(?<![0-9])([0-9]{1,8})([a-z]{1,8})")


def listed(runs: Iterable[CollectionRun]) -> list[dict[str, Any]]:
    """Return the contexts of the rows of a list, counting all steps in one query."""
    found = list(runs)
    counted: dict[Any, dict[str, int]] = {
        run.pk: dict.fromkeys(Step.Verdict.values, 0) for run in found
    }
    steps = Step.objects.filter(collection_run__in=found).order_by()
    for key, verdict, count in steps.values_list("collection_run", "verdict").annotate(
        n=Count("pk")
    ):
        counted[key][verdict] = count
    return [
        header_context(
            run,
            RunProgress(VerdictCounts(run.planned, counted[run.pk]), duration(run.duration_ms())),
        )
        for run in found
    ]


def status_label(run: CollectionRun, progress: RunProgress) -> str:
    """Return the status in one to three words."""
    if run.state == CollectionRun.State.COMPLETED:
        return "All passed" if progress.tally.all_met else "Failed"
    return str(run.get_state_display())
