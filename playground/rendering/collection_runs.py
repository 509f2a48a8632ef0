"""Collection runs as reports, and as the rows of their page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.db.models import Count, QuerySet

from playground.models import CollectionRun, Run, Step
from playground.query_params import int_param
from playground.rendering.run_status import ago
from playground.rendering.words import value_text
from playground.reporting import (
    FORMATS,
    CheckResult,
    CollectionRunReport,
    StepResult,
    VerdictCounts,
    end_reason,
)
from playground.reporting.results import duration

#: Steps of one page.
PAGE = 100
#: What the page shows: everything, or what was not met.
ALL, BAD = "all", "unmet"
_BAD = (Step.Verdict.UNMET, Step.Verdict.UNSENT)
#: Characters of why a run did not complete.
MAX_PROBLEM = 500
#: Of a run, what a step shows: neither its request nor its session context, which may be large.
_RUN = ("run__agent_name", "run__state", "run__outcome", "run__status", "run__problem")


def report_of(run: CollectionRun, steps: Sequence[StepResult] | None = None) -> CollectionRunReport:
    """The report on a collection run as it is stored; `steps` where they are at hand."""
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
    """A step, and the run that was made for it."""
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
    """Why a run did not complete, in its own words; "" where it did, or does not say."""
    problem = run.problem if run else None
    return value_text(problem.get("cause"), MAX_PROBLEM) if isinstance(problem, Mapping) else ""


def checks_of(step: Step) -> list[CheckResult]:
    """What was expected in a step, and what came."""
    return [_checked(check) for check in step.checks if isinstance(check, Mapping)]


def _checked(check: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        passed=check.get("met"),
        expected=str(check.get("wanted", "")),
        actual=str(check.get("actual", "")),
        value=check.get("value"),
        expectation=check.get("expectation"),
    )


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step, as its row shows it."""

    step: Step
    checks: Sequence[CheckResult]
    duration: str

    @property
    def number(self) -> int:
        """The step's number."""
        return self.step.number

    @property
    def problem(self) -> str:
        """Why its run did not complete, "" where it did."""
        return problem_of(self.step.run)

    @property
    def failed_checks(self) -> int:
        """How many expectations were not met."""
        return sum(not each.passed for each in self.checks)

    @property
    def verdict_label(self) -> str:
        """The verdict in words."""
        return str(Step.Verdict(self.step.verdict).label)


@dataclass(frozen=True, slots=True)
class StepPage:
    """The part of the steps that a page shows."""

    show: str
    #: From 1.
    page: int

    @classmethod
    def of(cls, query: Mapping[str, str]) -> StepPage:
        """What a query string asks for; anything else is the first page of everything."""
        page = int_param(query, "page", 1, minimum=1, maximum=999_999)
        return cls(BAD if query.get("show") == BAD else ALL, page)

    def of_run(self, run: CollectionRun) -> QuerySet[Step]:
        """All steps that it goes through, page by page."""
        steps: QuerySet[Step] = run.steps.order_by("number")
        return steps.filter(verdict__in=_BAD) if self.show == BAD else steps

    def verdicts(self, run: CollectionRun) -> dict[int, str]:
        """The verdicts of the page's steps, by number."""
        first = (self.page - 1) * PAGE
        steps = self.of_run(run).values_list("number", "verdict")
        return dict(steps[first : first + PAGE])

    def rows(self, run: CollectionRun, numbers: Iterable[int]) -> list[StepRow]:
        """The rows of these steps, in order."""
        steps = run.steps.filter(number__in=list(numbers)).order_by("number")
        found = steps.select_related("run").only(*_columns())
        return [StepRow(step, checks_of(step), duration(step.duration_ms)) for step in found]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a collection run is."""

    tally: VerdictCounts
    duration: str

    @classmethod
    def of(cls, run: CollectionRun) -> RunProgress:
        """As it is stored now."""
        return cls(VerdictCounts(run.planned, run.counts()), duration(run.duration_ms()))

    @property
    def parts(self) -> Iterable[tuple[str, float, float]]:
        """The parts of the bar: verdict, start and length in percent."""
        return self.tally.parts(100)


def page_of(run: CollectionRun, window: StepPage) -> dict[str, Any]:
    """The context of the page of a run."""
    standing = RunProgress.of(run)
    verdicts = window.verdicts(run)
    steps = standing.tally.bad if window.show == BAD else run.planned
    return {
        **header_context(run, standing),
        "window": window,
        "rows": window.rows(run, verdicts),
        "known": encode_verdicts(verdicts),
        "pages": max(1, -(-steps // PAGE)),
        "formats": FORMATS,
    }


def header_context(run: CollectionRun, standing: RunProgress) -> dict[str, Any]:
    """What is told of a run as a whole."""
    options = run.options if isinstance(run.options, Mapping) else {}
    return {
        "run": run,
        "standing": standing,
        "word": status_label(run, standing),
        "tone": _tone(run, standing),
        "options": options,
        "ending": end_reason(run.state, standing.tally) if run.is_final else "",
    }


def _tone(run: CollectionRun, standing: RunProgress) -> str:
    if run.state == CollectionRun.State.RUNNING:
        return "running"
    if run.state != CollectionRun.State.COMPLETED:
        return "skipped"
    return "met" if standing.tally.all_met else "unmet"


def encode_verdicts(verdicts: Mapping[int, str]) -> str:
    """What a page shows, for the address of its socket: `1met-2running`."""
    return "-".join(f"{number}{verdict}" for number, verdict in verdicts.items()) or "none"


def decode_verdicts(text: str) -> dict[int, str]:
    """The same read again; what is no such text says nothing."""
    return {int(number): verdict for number, verdict in _KNOWN.findall(text[:4_000])}


_KNOWN = re.compile(r"(?<![0-9])([0-9]{1,8})([a-z]{1,8})")


def listed(runs: Iterable[CollectionRun]) -> list[dict[str, Any]]:
    """Runs as rows of a list, their steps counted at once."""
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
        {
            **header_context(
                run,
                RunProgress(
                    VerdictCounts(run.planned, counted[run.pk]), duration(run.duration_ms())
                ),
            ),
            "ago": ago(run.created_at),
        }
        for run in found
    ]


def status_label(run: CollectionRun, standing: RunProgress) -> str:
    """How it stands, in a word or three."""
    if run.state == CollectionRun.State.COMPLETED:
        return "All met" if standing.tally.all_met else "Not all met"
    return str(CollectionRun.State(run.state).label)
