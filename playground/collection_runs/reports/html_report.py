"""HTML report: one file without scripts and external resources, for light and dark themes."""

from __future__ import annotations

from django.template.loader import get_template

from playground.collection_runs.reports.results import CollectionRunReport, StepResult, duration
from playground.protocols.text import printable_xml

#: The most steps in one file; browsers become slow beyond that.
MAX_STEPS = 10_000


def as_html(report: CollectionRunReport) -> str:
    """Return the HTML document. The template escapes everything in it."""
    steps = report.steps[:MAX_STEPS]
    context = {
        "report": report,
        "totals": report.totals,
        "tally": report.totals.tally,
        "took": duration(report.took_ms),
        "parts": report.totals.tally.parts(1000),
        "started": f"{report.started_at[:19].replace('T', ' ')} UTC" if report.started_at else "",
        "options": [
            (name, text) for name, value in report.options.items() if (text := _option_text(value))
        ],
        "folders": [
            (folder, [_row(step) for step in rows])
            for folder, rows in CollectionRunReport(report.name, steps).by_folder()
        ],
        "left_out": len(report.steps) - len(steps),
    }
    return printable_xml(get_template("collection_runs/report.html").render(context))


def _row(step: StepResult) -> dict[str, object]:
    return {"step": step, "took": duration(step.duration_ms)}


def _option_text(value: object) -> str:
    """Return an option as text; "" if it is off or has its default of one."""
    if value is True:
        return "yes"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value) if value and value != 1 else ""
