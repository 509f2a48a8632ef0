"""Results of a collection run, and reports on it as text, JUnit XML, JSON or HTML.

The page, its live progress, the reports and the command take their labels from here, so that
they agree. All values are plain and frozen; texts are as untrusted as they were received.

Every report is a function of a `CollectionRunReport`: no database, no clock, no settings. To add
a format: a function, and a row in `FORMATS`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any
from xml.etree import ElementTree as ET

from django.template.loader import get_template

from playground.protocols.text import printable, printable_json, printable_xml

#: Verdicts of a step, as in `playground.models.Step.Verdict`.
MET, UNMET, UNSENT, STOPPED, SKIPPED = "met", "unmet", "unsent", "stopped", "skipped"
RUNNING, WAITING = "running", "waiting"
#: Verdicts of finished steps; stopped and skipped ones did not finish.
DONE = (MET, UNMET, UNSENT)
#: Verdicts that count against the collection.
BAD = (UNMET, UNSENT)
#: Verdicts that are final, and those that are not.
ENDED = (*DONE, STOPPED, SKIPPED)
OPEN = (WAITING, RUNNING)
#: Labels within a sentence.
WORDS = {
    MET: "passed",
    UNMET: "failed",
    UNSENT: "not sent",
    STOPPED: "stopped",
    SKIPPED: "skipped",
    RUNNING: "running",
    WAITING: "waiting",
}


def verdict_label(verdict: str) -> str:
    """Return the label of a verdict with a capital; an unknown one counts as waiting."""
    return WORDS.get(verdict, WORDS[WAITING]).capitalize()


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """The number of requests by verdict."""

    #: The number of all requests.
    steps: int
    #: By verdict; those of zero may be missing.
    counts: Mapping[str, int]

    def of(self, *verdicts: str) -> int:
        return sum(self.counts.get(verdict, 0) for verdict in verdicts)

    @property
    def done(self) -> int:
        return self.of(*DONE)

    @property
    def bad(self) -> int:
        """Return the number of requests that count against the collection."""
        return self.of(*BAD)

    @property
    def all_met(self) -> bool:
        """Return whether every request was sent and passed."""
        return self.of(MET) == self.steps

    @property
    def figures(self) -> list[tuple[str, str, int]]:
        """Return (verdict, label, count) of final verdicts: met, not met, and others if any."""
        return [
            (verdict, verdict_label(verdict), self.of(verdict))
            for verdict in ENDED
            if verdict in (MET, UNMET) or self.of(verdict)
        ]

    @property
    def summary(self) -> str:
        """Return the counts on one line: `3 of 5 requests done, 2 passed, 1 failed, 2 skipped`."""
        noun = "request" if self.steps == 1 else "requests"
        counted = [f"{self.done:,} of {self.steps:,} {noun} done", f"{self.of(MET):,} {WORDS[MET]}"]
        counted += [
            f"{count:,} {WORDS[verdict]}"
            for verdict, _, count in self.figures
            if verdict != MET and count
        ]
        return ", ".join(counted)

    def parts(self, whole: int) -> Iterator[tuple[str, float, float]]:
        """Yield the parts of a bar of `whole` units: verdict, start and length."""
        at = 0.0
        for verdict in (*ENDED, RUNNING):
            length = whole * self.of(verdict) / max(1, self.steps)
            if length:
                yield verdict, round(at, 3), round(length, 3)
            at += length


#: Why a collection run did not complete, by its state: those of
#: `playground.models.CollectionRun.State` except completed.
_ENDINGS = {
    "running": "The run has not ended yet",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted because the playground stopped",
}


def end_reason(state: str, counts: VerdictCounts) -> str:
    """Return why a run in this state did not complete, as a sentence; "" if it did."""
    if state not in _ENDINGS:
        return ""
    noun = "request" if counts.steps == 1 else "requests"
    return f"{_ENDINGS[state]}. {counts.of(MET):,} of {counts.steps:,} {noun} passed."


def status_label(state: str, counts: VerdictCounts) -> str:
    """Return the status of a run in one or two words."""
    if state != "completed":
        return state.capitalize()
    return "All passed" if counts.all_met else "Failed"


# The run, its steps and their checks. The fields are the members of the JSON report.


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one expectation, as a step stores it."""

    #: The expectation as it was written.
    expectation: Any = None
    #: None if the expectation could not be evaluated, which counts as failed.
    met: bool | None = None
    #: The expected value as text: "the status is 200".
    wanted: str = ""
    #: The actual value as text, or the reason why the expectation could not be evaluated.
    actual: str = ""
    #: The actual value as JSON; None if there is no value to show.
    value: Any = None

    @property
    def sentence(self) -> str:
        if self.met is None:
            return f"{self.wanted}: inconclusive. {self.actual}"
        return f"{self.wanted}; actual: {self.actual}"


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one request in one iteration."""

    #: Counted from 1 over all iterations.
    number: int
    iteration: int
    #: "" for a request outside of folders.
    folder: str
    name: str
    verdict: str
    #: Why the request was not sent or not started; "" otherwise.
    reason: str = ""
    #: Why its run did not complete, as the run's problem states it: a refused connection, an
    #: exceeded limit; "" if it completed or the reason is unknown.
    problem: str = ""
    #: Milliseconds; None if the request was not sent.
    took_ms: float | None = None
    #: Of the run: key, agent's name, state, outcome and HTTP status.
    run: str = ""
    agent: str = ""
    state: str = ""
    outcome: str = ""
    status: int | None = None
    checks: Sequence[CheckResult] = ()

    @property
    def unmet(self) -> list[CheckResult]:
        return [each for each in self.checks if not each.met]

    @property
    def is_bad(self) -> bool:
        """Return whether the step counts against the collection."""
        return self.verdict in BAD

    @property
    def has_no_response(self) -> bool:
        return self.verdict == UNMET and self.status is None and bool(self.problem)

    @property
    def verdict_label(self) -> str:
        return verdict_label(self.verdict)

    @property
    def duration(self) -> str:
        return duration(self.took_ms)


@dataclass(frozen=True)
class CollectionRunReport:
    """A collection run as reports see it."""

    name: str
    steps: Sequence[StepResult]
    #: `running`, `completed`, `stopped` or `interrupted`.
    state: str = "completed"
    #: ISO 8601 in UTC.
    started_at: str = ""
    #: Milliseconds from the start to the end, or to now.
    took_ms: float = 0.0
    environment: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def counts(self) -> VerdictCounts:
        return VerdictCounts(len(self.steps), Counter(step.verdict for step in self.steps))

    @cached_property
    def checks(self) -> int:
        return sum(len(step.checks) for step in self.steps)

    @cached_property
    def checks_unmet(self) -> int:
        return sum(len(step.unmet) for step in self.steps)

    @property
    def checks_met(self) -> int:
        return self.checks - self.checks_unmet

    @property
    def all_met(self) -> bool:
        """Return whether every request was sent and every check passed."""
        return self.state == "completed" and self.counts.all_met

    @property
    def status_label(self) -> str:
        return status_label(self.state, self.counts)

    @property
    def ending(self) -> str:
        """Return why the run did not complete, as a sentence; "" if it did."""
        return end_reason(self.state, self.counts)

    @property
    def duration(self) -> str:
        return duration(self.took_ms)

    @cached_property
    def has_iterations(self) -> bool:
        return any(step.iteration > 1 for step in self.steps)

    def by_folder(self) -> list[tuple[str, list[StepResult]]]:
        """Return the steps by folder, in the order of first occurrence."""
        found: dict[str, list[StepResult]] = {}
        for step in self.steps:
            found.setdefault(step.folder, []).append(step)
        return list(found.items())


def duration(milliseconds: float | None) -> str:
    """Return a time as text: 84 ms, 1.2 s, 3 min 05 s; "" for None."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{int(milliseconds // 60_000)} min {int(milliseconds % 60_000 // 1000):02d} s"


# Text. Single lines have texts of agents verbatim; the whole report is safe to print.

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
    time_suffix = f" ({step.duration})" if step.duration else ""
    yield f"{_MARKS.get(step.verdict, '…')} {folder}{step.name}{iteration}{label}{time_suffix}"
    if step.reason:
        yield f"    {step.reason}"
    if step.problem and step.verdict != MET:
        yield f"    {step.problem}"
    for check in step.unmet:
        yield f"    ✗ {check.sentence}"


def summary_lines(report: CollectionRunReport) -> Iterator[str]:
    yield ""
    if report.ending:
        yield report.ending
    yield (
        f"{report.status_label}: {report.counts.summary};"
        f" {report.checks_met} of {report.checks} expectations passed; {report.duration}"
    )


# JSON. Written in ASCII, so that it contains no control sequences for a terminal, and without
# commands of CI runners.

FORMAT = "nlweb-playground.collection-run/1"


def as_json(report: CollectionRunReport) -> str:
    """Return the report as a JSON document with a final line break.

        {"format": "nlweb-playground.collection-run/1",
         "name": …, "state": "completed" | "stopped" | "interrupted" | "running",
         "all_met": true, "started_at": ISO 8601 in UTC, "took_ms": 812.4,
         "environment": name or "", "options": {…},
         "totals": {"steps", "done", "met", "unmet", "unsent", "stopped", "skipped", "open",
                    "checks", "checks_unmet"},
         "ending": reason for an early end, or "",
         "steps": [the fields of each `StepResult`, with those of each `CheckResult`]}

    `done` counts finished steps: met, unmet and unsent. A request that was in progress when the
    run was stopped is `stopped`, one that had not started is `skipped`.
    """
    counts = report.counts
    document = {
        "format": FORMAT,
        "name": report.name,
        "state": report.state,
        "all_met": report.all_met,
        "started_at": report.started_at,
        "took_ms": round(report.took_ms, 1),
        "environment": report.environment,
        "options": dict(report.options),
        "totals": {
            "steps": counts.steps,
            "done": counts.done,
            **{verdict: counts.of(verdict) for verdict in ENDED},
            "open": counts.of(*OPEN),
            "checks": report.checks,
            "checks_unmet": report.checks_unmet,
        },
        "ending": report.ending,
        "steps": [
            {**asdict(step), "took_ms": None if step.took_ms is None else round(step.took_ms, 1)}
            for step in report.steps
        ],
    }
    return printable_json(json.dumps(document, indent=2, default=str)) + "\n"


# HTML: one file without scripts and external resources, for light and dark themes.

#: The most steps in one file; browsers become slow beyond that.
MAX_STEPS = 10_000


def as_html(report: CollectionRunReport) -> str:
    """Return the HTML document. The template escapes everything in it."""
    steps = report.steps[:MAX_STEPS]
    context = {
        "report": report,
        "counts": report.counts,
        "parts": report.counts.parts(1000),
        "started": f"{report.started_at[:19].replace('T', ' ')} UTC" if report.started_at else "",
        "options": [
            (name, text) for name, value in report.options.items() if (text := _option_text(value))
        ],
        "folders": CollectionRunReport(report.name, steps).by_folder(),
        "left_out": len(report.steps) - len(steps),
    }
    return printable_xml(get_template("collection_runs/report.html").render(context))


def _option_text(value: object) -> str:
    """Return an option as text; "" if it is off or has its default of one."""
    if value is True:
        return "yes"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value) if value and value != 1 else ""


# JUnit XML: a suite for every folder, a case for every request and iteration.

#: Added to the counts for the case of a run that ended early.
_ENDED_EARLY = Counter(tests=1, errors=1)
#: Characters that XML 1.0 (section 2.2) does not allow. Agents send them, and one would make the
#: file invalid.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: CollectionRunReport) -> str:
    """Return the XML document with its declaration. Times are in seconds.

    A failed expectation is a failure; a request that could not be sent, or that got no response,
    is an error. Stopped and skipped requests are both `skipped` in JUnit; the message tells which.
    A run that ended early has an additional case with an error, because skipped cases alone would
    show as success.
    """
    counts = _counts(report.steps) + (_ENDED_EARLY if report.ending else Counter())
    root = ET.Element("testsuites", {"name": _clean(report.name), **_count_attributes(counts)})
    root.set("time", _seconds(report.took_ms))
    for folder, steps in report.by_folder():
        root.append(_suite(report, folder, steps))
    if report.ending:
        root.append(_early_end_suite(report))
    ET.indent(root)
    xml = printable_xml(ET.tostring(root, "unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n'


def _suite(report: CollectionRunReport, folder: str, steps: Sequence[StepResult]) -> ET.Element:
    suite = _suite_element(report, folder, _counts(steps))
    suite.set("time", _seconds(sum(step.took_ms or 0.0 for step in steps)))
    if report.environment:
        properties = ET.SubElement(suite, "properties")
        attributes = {"name": "environment", "value": _clean(report.environment)}
        ET.SubElement(properties, "property", attributes)
    for step in steps:
        suite.append(_case(report, step))
    return suite


def _suite_element(report: CollectionRunReport, folder: str, counts: Counter[str]) -> ET.Element:
    name = _clean(folder or report.name or "collection")
    suite = ET.Element("testsuite", {"name": name, **_count_attributes(counts)})
    # Seconds without an offset, as the schema of JUnit's Ant task requires.
    suite.set("timestamp", report.started_at[:19])
    return suite


def _early_end_suite(report: CollectionRunReport) -> ET.Element:
    """Return the suite of a run that ended early; it belongs to no request."""
    suite = _suite_element(report, "", _ENDED_EARLY)
    suite.set("time", _seconds(0.0))
    attributes = {"name": "Collection run", "classname": _clean(report.name)}
    case = ET.SubElement(suite, "testcase", {**attributes, "time": _seconds(0.0)})
    _add_result(case, "error", report.state, [report.ending])
    return suite


def _case(report: CollectionRunReport, step: StepResult) -> ET.Element:
    name = f"{step.name} [{step.iteration}]" if report.has_iterations else step.name
    group = ".".join(filter(None, (report.name, step.folder)))
    case = ET.Element("testcase", {"name": _clean(name), "classname": _clean(group)})
    case.set("time", _seconds(step.took_ms or 0.0))
    unmet = [each.sentence for each in step.unmet]
    if step.has_no_response:
        _add_result(case, "error", "no response", [step.problem, *unmet])
    elif step.verdict == UNMET:
        _add_result(case, "failure", WORDS[UNMET], [*unmet, *filter(None, [step.problem])])
    elif step.verdict == UNSENT:
        _add_result(case, "error", WORDS[UNSENT], [step.reason])
    elif step.verdict != MET:
        ET.SubElement(
            case, "skipped", {"message": _clean(f"{step.verdict_label}. {step.reason}".rstrip())}
        )
    return case


def _add_result(case: ET.Element, tag: str, kind: str, sentences: Sequence[str]) -> None:
    clean = [_clean(sentence) for sentence in sentences] or ["Failed."]
    more = f" (and {len(clean) - 1} more)" if len(clean) > 1 else ""
    element = ET.SubElement(case, tag, {"message": clean[0] + more, "type": kind})
    element.text = "\n".join(clean)


def _counts(steps: Sequence[StepResult]) -> Counter[str]:
    without_response = sum(step.has_no_response for step in steps)
    return Counter(
        tests=len(steps),
        failures=sum(step.verdict == UNMET for step in steps) - without_response,
        errors=sum(step.verdict == UNSENT for step in steps) + without_response,
        skipped=sum(step.verdict not in DONE for step in steps),
    )


def _count_attributes(counts: Counter[str]) -> dict[str, str]:
    return {name: str(counts[name]) for name in ("tests", "failures", "errors", "skipped")}


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


#: Report formats: the function, the file extension and the media type.
FORMATS = {
    "text": (as_text, "txt", "text/plain"),
    "junit": (as_junit, "xml", "application/xml"),
    "json": (as_json, "json", "application/json"),
    "html": (as_html, "html", "text/html"),
}
