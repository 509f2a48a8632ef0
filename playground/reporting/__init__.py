"""Reports on a collection run: one structure, written as text, JUnit XML, JSON or HTML.

===========  ================================================================================
`verdicts`   what becomes of a request: the words, and how they are counted
`results`    what is reported: the run, its steps, what was expected of each
`texts`      lines for people
`junit`      JUnit XML, which continuous integration systems read
`documents`  JSON, for programs
`pages`      one HTML file that needs nothing beside it
===========  ================================================================================

All of them are functions of a `Report` and nothing else: no database, no clock, no settings.
"""

from playground.reporting.documents import as_json
from playground.reporting.junit import as_junit
from playground.reporting.pages import as_html
from playground.reporting.results import CheckResult, CollectionRunReport, StepResult, Totals
from playground.reporting.texts import as_text, step_lines, summary_lines
from playground.reporting.verdicts import VerdictCounts, end_reason

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

#: What a report can be written as, with the ending and the media type of its file.
FORMATS = {
    "text": (as_text, "txt", "text/plain"),
    "junit": (as_junit, "xml", "application/xml"),
    "json": (as_json, "json", "application/json"),
    "html": (as_html, "html", "text/html"),
}
