"""A report as lines for people. What an agent said is in them as it came: whoever prints them
to a terminal takes out what a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterator

from playground.reporting.results import (
    MET,
    SKIPPED,
    UNMET,
    UNSENT,
    Report,
    StepResult,
    duration,
)

#: A mark and a word for every verdict: neither alone has to carry it.
_MARKS = {MET: "✓", UNMET: "✗", UNSENT: "!", SKIPPED: "-"}
_WORDS = {UNMET: "not met", UNSENT: "not sent", SKIPPED: "skipped"}


def as_text(report: Report) -> str:
    """The whole report."""
    lines = [line for step in report.steps for line in step_lines(step, report.has_iterations)]
    return "\n".join([*lines, *summary_lines(report)]) + "\n"


def step_lines(step: StepResult, numbered: bool = False) -> Iterator[str]:
    """One step: a line, and one for every expectation that was not met.

    `numbered` adds the iteration.
    """
    place = f"{step.folder} / " if step.folder else ""
    iteration = f" [{step.iteration}]" if numbered else ""
    word = f" {_WORDS[step.verdict]}" if step.verdict in _WORDS else ""
    took = duration(step.took_ms)
    aside = f" ({took})" if took else ""
    yield f"{_MARKS.get(step.verdict, '…')} {place}{step.name}{iteration}{word}{aside}"
    if step.reason:
        yield f"    {step.reason}"
    for check in step.unmet:
        yield f"    ✗ {check.sentence}"


def summary_lines(report: Report) -> Iterator[str]:
    """The last lines: the counts, and how it went."""
    totals = report.totals
    counted = [f"{totals.met} of {totals.steps} requests met"]
    counted += [
        f"{count} {word}"
        for count, word in (
            (totals.unmet, "not met"),
            (totals.unsent, "not sent"),
            (totals.skipped, "skipped"),
        )
        if count
    ]
    kept = totals.checks - totals.checks_unmet
    yield ""
    yield (
        f"{report.verdict}: {', '.join(counted)}; {kept} of {totals.checks} expectations;"
        f" {duration(report.took_ms)}"
    )
