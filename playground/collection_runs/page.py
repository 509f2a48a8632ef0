"""Collection runs: their page with its live updates, their list, the report of a stored run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from datetime import UTC
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from playground.base.fields import int_param
from playground.collection_runs.reports import (
    BAD,
    CheckResult,
    CollectionRunReport,
    StepResult,
    VerdictCounts,
    duration,
    end_reason,
    status_label,
)
from playground.conversation.status import waiting_label
from playground.models import CollectionRun, Run, Step
from playground.models.collection_runs import count_verdicts
from playground.ui import compiled
from playground.ui.formatting import value_text

#: Steps of one page.
PAGE = 100
#: What the page shows: all steps, or those that did not pass.
SHOW_ALL, SHOW_BAD = "all", "unmet"
#: Characters of the cause of a problem.
MAX_PROBLEM = 500
#: Columns of a step, and of its run, whose request and session context may be large.
_COLUMNS = (
    *("number", "iteration", "folder", "name", "verdict", "checks", "reason", "duration_ms"),
    *("run", "run__agent_name", "run__state", "run__outcome", "run__status", "run__problem"),
)
_CHECK_FIELDS = [each.name for each in fields_of(CheckResult)]


def report_of(run: CollectionRun, steps: Sequence[StepResult] | None = None) -> CollectionRunReport:
    """Return the report of a stored collection run, reading its steps unless `steps` are given."""
    if steps is None:
        steps = [result_of(step, step.run) for step in _stored(run).iterator(1000)]
    return CollectionRunReport(
        name=run.name,
        steps=steps,
        state=run.state,
        started_at=run.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        took_ms=run.duration_ms(),
        environment=run.environment,
        options=run.options,
    )


def _stored(run: CollectionRun) -> QuerySet[Step]:
    found: QuerySet[Step] = run.steps.select_related("run").only(*_COLUMNS).order_by("number")
    return found


def result_of(step: Step, run: Run | None) -> StepResult:
    problem = run.problem if run else None
    cause = value_text(problem.get("cause"), MAX_PROBLEM) if isinstance(problem, Mapping) else ""
    return StepResult(
        number=step.number,
        iteration=step.iteration,
        folder=step.folder,
        name=step.name,
        verdict=step.verdict,
        reason=step.reason,
        problem=cause,
        took_ms=step.duration_ms,
        run=str(run.pk) if run else "",
        agent=run.agent_name if run else "",
        state=run.state if run else "",
        outcome=run.outcome if run else "",
        status=run.status if run else None,
        checks=[
            CheckResult(**{name: check[name] for name in _CHECK_FIELDS if name in check})
            for check in step.checks
            if isinstance(check, Mapping)
        ],
    )


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
        return cls(SHOW_BAD if query.get("show") == SHOW_BAD else SHOW_ALL, page)

    def of_run(self, run: CollectionRun) -> QuerySet[Step]:
        steps: QuerySet[Step] = run.steps.order_by("number")
        return steps.filter(verdict__in=BAD) if self.show == SHOW_BAD else steps

    def verdicts(self, run: CollectionRun) -> dict[int, str]:
        first = (self.page - 1) * PAGE
        steps = self.of_run(run).values_list("number", "verdict")
        return dict(steps[first : first + PAGE])

    def rows(self, run: CollectionRun, numbers: Iterable[int]) -> list[StepResult]:
        found = _stored(run).filter(number__in=list(numbers))
        return [result_of(step, step.run) for step in found]


def page_of(run: CollectionRun, window: StepPage) -> dict[str, Any]:
    counts = counts_of(run)
    verdicts = window.verdicts(run)
    steps = counts.bad if window.show == SHOW_BAD else run.planned
    return {
        **header_context(run, counts),
        "window": window,
        "rows": window.rows(run, verdicts),
        "known": encode_verdicts(verdicts),
        "pages": max(1, -(-steps // PAGE)),
    }


def counts_of(run: CollectionRun) -> VerdictCounts:
    return VerdictCounts(run.planned, count_verdicts([run])[run.pk])


def header_context(run: CollectionRun, counts: VerdictCounts) -> dict[str, Any]:
    return {
        "run": run,
        "counts": counts,
        "parts": list(counts.parts(100)),
        "duration": duration(run.duration_ms()),
        "status_label": status_label(run.state, counts),
        "tone": _tone(run, counts),
        "options": run.options,
        "note": end_reason(run.state, counts) if run.is_final else waiting_label(run),
    }


def _tone(run: CollectionRun, counts: VerdictCounts) -> str:
    if run.state == CollectionRun.State.RUNNING:
        return "running"
    if run.state != CollectionRun.State.COMPLETED:
        return "skipped"
    return "met" if counts.all_met else "unmet"


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
    counted = count_verdicts(found)
    return [header_context(run, VerdictCounts(run.planned, counted[run.pk])) for run in found]


# Live updates


@dataclass(frozen=True, slots=True)
class CollectionRunMessage:
    """A websocket message about a collection run."""

    html: str
    #: Whether the run has ended and everything was sent.
    final: bool


class CollectionRunUpdates:
    """Position of one viewer in one collection run. Used from one thread at a time."""

    def __init__(self, pk: UUID, page: StepPage, known: Mapping[int, str]) -> None:
        """Begin with a page of the steps that shows the verdicts `known`, by step number."""
        self.pk = pk
        self._page = page
        self._known = dict(known)
        self._stamp: object = None

    def advance(self) -> CollectionRunMessage | None:
        """Return the message with everything new since the last one; None if nothing is.

        Raises `CollectionRun.DoesNotExist` if the run was deleted.
        """
        # Before its steps: the end must not be announced before what led to it.
        run = CollectionRun.objects.select_related("collection").get(pk=self.pk)
        verdicts = self._page.verdicts(run)
        changed = [n for n, verdict in verdicts.items() if self._known.get(n) != verdict]
        counts = counts_of(run)
        stamp = (run.state, counts)
        if not changed and stamp == self._stamp:
            return None
        rows = self._page.rows(run, changed)
        is_list = self._page.show == SHOW_BAD
        html = compiled.render(
            "collection_runs/page.html#message",
            {
                **header_context(run, counts),
                "replaced": [row for row in rows if row.number in self._known],
                "added": [row for row in rows if row.number not in self._known] if is_list else [],
            },
        )
        self._known.update({row.number: row.verdict for row in rows})
        self._stamp = stamp
        return CollectionRunMessage(html, run.is_final)
