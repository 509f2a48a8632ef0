"""A report as one HTML file: no script, nothing that is fetched, light and dark."""

from __future__ import annotations

from django.template.loader import get_template

from playground.reporting.results import CollectionRunReport, StepResult, duration

#: Steps of one file. Beyond that a browser is no longer glad to open it.
MAX_STEPS = 10_000


def as_html(report: CollectionRunReport) -> str:
    """The file. Everything in it is escaped by the template."""
    steps = report.steps[:MAX_STEPS]
    context = {
        "report": report,
        "totals": report.totals,
        "tally": report.totals.tally,
        "took": duration(report.took_ms),
        "parts": report.totals.tally.parts(1000),
        "started": f"{report.started_at[:19].replace('T', ' ')} UTC" if report.started_at else "",
        "options": [
            (name, told) for name, value in report.options.items() if (told := _told(value))
        ],
        "folders": [
            (folder, [_row(step) for step in rows])
            for folder, rows in CollectionRunReport(report.name, steps).by_folder()
        ],
        "left_out": len(report.steps) - len(steps),
    }
    return get_template("reporting/report.html").render(context)


def _row(step: StepResult) -> dict[str, object]:
    return {"step": step, "took": duration(step.duration_ms)}


def _told(value: object) -> str:
    """An option in words; "" for what is off, and for one of something."""
    if value is True:
        return "yes"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value) if value and value != 1 else ""
