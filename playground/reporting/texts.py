"""A report as lines for people. What an agent said is in them as it came: whoever prints them
to a terminal takes out what a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterator

from playground.reporting.results import CollectionRunReport, StepResult, duration
from playground.reporting.verdicts import MET, SKIPPED, STOPPED, UNMET, UNSENT, WORDS

#: A mark for every verdict. The word stands beside it, but for what was met, which is most.
_MARKS = {MET: "✓", UNMET: "✗", UNSENT: "!", STOPPED: "■", SKIPPED: "-"}


def as_text(report: CollectionRunReport) -> str:
    """The whole report."""
    lines = [line for step in report.steps for line in step_lines(step, report.has_iterations)]
    return "\n".join([*lines, *summary_lines(report)]) + "\n"


def step_lines(step: StepResult, numbered: bool = False) -> Iterator[str]:
    """One step: a line, and one for every expectation that was not met.

    `numbered` adds the iteration.
    """
    place = f"{step.folder} / " if step.folder else ""
    iteration = f" [{step.iteration}]" if numbered else ""
    word = "" if step.verdict == MET else f" {WORDS.get(step.verdict, step.verdict)}"
    took = duration(step.duration_ms)
    aside = f" ({took})" if took else ""
    yield f"{_MARKS.get(step.verdict, '…')} {place}{step.name}{iteration}{word}{aside}"
    if step.reason:
        yield f"    {step.reason}"
    if step.problem and step.verdict != MET:
        yield f"    {step.problem}"
    for check in step.unmet:
        yield f"    ✗ {check.sentence}"


def summary_lines(report: CollectionRunReport) -> Iterator[str]:
    """The last lines: the counts, and how it went."""
    totals = report.totals
    yield ""
    if report.ending:
        yield report.ending
    yield (
        f"{report.verdict}: {totals.tally.summary};"
        f" {totals.checks_passed} of {totals.checks} expectations met; {duration(report.took_ms)}"
    )
