"""Reports on a collection run as text, JUnit XML, JSON or HTML.

Every report is a function of a `CollectionRunReport`: no database, no clock, no settings. To add
a format: a module with a function, and a row in `FORMATS`.
"""

from playground.collection_runs.reports.html_report import as_html
from playground.collection_runs.reports.json_report import as_json
from playground.collection_runs.reports.junit_report import as_junit
from playground.collection_runs.reports.results import (
    CheckResult,
    CollectionRunReport,
    StepResult,
    Totals,
    VerdictCounts,
    end_reason,
)
from playground.collection_runs.reports.text_report import as_text, step_lines, summary_lines

__all__ = [
    "FORMATS",
    "CheckResult",
    "CollectionRunReport",
    "StepResult",
    "Totals",
    "VerdictCounts",
    "as_html",
    "as_json",
    "as_junit",
    "as_text",
    "end_reason",
    "step_lines",
    "summary_lines",
]

#: Report formats: the function, the file extension and the media type.
FORMATS = {
    "text": (as_text, "txt", "text/plain"),
    "junit": (as_junit, "xml", "application/xml"),
    "json": (as_json, "json", "application/json"),
    "html": (as_html, "html", "text/html"),
}
