"""Text report. Single lines have texts of agents verbatim; the whole report is safe to print."""

from __future__ import annotations

from collections.abc import Iterator

from playground.collection_runs.reports.results import (
    MET,
    SKIPPED,
    STOPPED,
    UNMET,
    UNSENT,
    WORDS,
    CollectionRunReport,
    StepResult,
    duration,
)
from playground.protocols.text import printable

#: A mark for every verdict. The label follows it, except for met, which is the most frequent.
_MARKS = {MET: "✓", UNMET: "✗", UNSENT: "!", STOPPED: "■", SKIPPED: "-"}


def as_text(report: CollectionRunReport) -> str:
    lines = [line for step in report.steps for line in step_lines(step, report.has_iterations)]
    text = "\n".join([*lines, *summary_lines(report)]) + "\n"
    return printable(text)


def step_lines(step: StepResult, numbered: bool = False) -> Iterator[str]:
    """Yield the lines of one step: its own, and one for every failed check.

    `numbered` adds the iteration.
    """
    folder = f"{step.folder} / " if step.folder else ""
    iteration = f" [{step.iteration}]" if numbered else ""
    label = "" if step.verdict == MET else f" {WORDS.get(step.verdict, step.verdict)}"
    time = duration(step.duration_ms)
    time_suffix = f" ({time})" if time else ""
    yield f"{_MARKS.get(step.verdict, '…')} {folder}{step.name}{iteration}{label}{time_suffix}"
    if step.reason:
        yield f"    {step.reason}"
    if step.problem and step.verdict != MET:
        yield f"    {step.problem}"
    for check in step.unmet:
        yield f"    ✗ {check.sentence}"


def summary_lines(report: CollectionRunReport) -> Iterator[str]:
    totals = report.totals
    yield ""
    if report.ending:
        yield report.ending
    yield (
        f"{report.verdict}: {totals.tally.summary};"
        f" {totals.checks_passed} of {totals.checks} expectations passed; "
        f"{duration(report.took_ms)}"
    )
