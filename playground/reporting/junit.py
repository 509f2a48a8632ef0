"""A report as JUnit XML: a suite for every folder, a case for every request and iteration.

An expectation that was not met is a failure; a request that could not be sent, or that nobody
answered, is an error. JUnit has one word for one that was stopped under way and one that was never
begun, skipped; the message says which of both it is. A run that did not come to its end has a case
of its own besides, with an error: nothing but skipped cases would show as a success. Times are in
seconds. Characters that XML 1.0 (section 2.2) has no place for are replaced: agents send them, and
one of them would make the file unreadable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from playground.reporting.results import CollectionRunReport, StepResult
from playground.reporting.verdicts import DONE, MET, UNMET, UNSENT, WORDS

#: What the case of a run that did not come to its end adds to the counts.
_ENDED_EARLY = Counter(tests=1, errors=1)
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: CollectionRunReport) -> str:
    """The XML, with its declaration."""
    counts = _counts(report.steps) + (_ENDED_EARLY if report.ending else Counter())
    root = ET.Element("testsuites", {"name": _clean(report.name), **_told(counts)})
    root.set("time", _seconds(report.took_ms))
    for folder, steps in report.by_folder():
        root.append(_suite(report, folder, steps))
    if report.ending:
        root.append(_end(report))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, "unicode")}\n'


def _suite(report: CollectionRunReport, folder: str, steps: Sequence[StepResult]) -> ET.Element:
    suite = _empty(report, folder, _counts(steps))
    suite.set("time", _seconds(sum(step.duration_ms or 0.0 for step in steps)))
    if report.environment:
        properties = ET.SubElement(suite, "properties")
        about = {"name": "environment", "value": _clean(report.environment)}
        ET.SubElement(properties, "property", about)
    for step in steps:
        suite.append(_case(report, step))
    return suite


def _empty(report: CollectionRunReport, folder: str, counts: Counter[str]) -> ET.Element:
    name = _clean(folder or report.name or "collection")
    suite = ET.Element("testsuite", {"name": name, **_told(counts)})
    # Second precision without an offset: what the schema of JUnit's own task takes.
    suite.set("timestamp", report.started_at[:19])
    return suite


def _end(report: CollectionRunReport) -> ET.Element:
    """The suite of a run that did not come to its end, which belongs to none of its requests."""
    suite = _empty(report, "", _ENDED_EARLY)
    suite.set("time", _seconds(0.0))
    about = {"name": "The run as a whole", "classname": _clean(report.name)}
    case = ET.SubElement(suite, "testcase", {**about, "time": _seconds(0.0)})
    _add(case, "error", report.state, [report.ending])
    return suite


def _case(report: CollectionRunReport, step: StepResult) -> ET.Element:
    name = f"{step.name} [{step.iteration}]" if report.has_iterations else step.name
    group = ".".join(filter(None, (report.name, step.folder)))
    case = ET.Element("testcase", {"name": _clean(name), "classname": _clean(group)})
    case.set("time", _seconds(step.duration_ms or 0.0))
    unmet = [each.sentence for each in step.unmet]
    if step.has_no_response:
        _add(case, "error", "not answered", [step.problem, *unmet])
    elif step.verdict == UNMET:
        _add(case, "failure", WORDS[UNMET], [*unmet, *filter(None, [step.problem])])
    elif step.verdict == UNSENT:
        _add(case, "error", WORDS[UNSENT], [step.reason])
    elif step.verdict != MET:
        ET.SubElement(
            case, "skipped", {"message": _clean(f"{step.verdict_label}. {step.reason}".rstrip())}
        )
    return case


def _add(case: ET.Element, tag: str, kind: str, sentences: Sequence[str]) -> None:
    clean = [_clean(sentence) for sentence in sentences] or ["Not met."]
    more = f" (and {len(clean) - 1} more)" if len(clean) > 1 else ""
    found = ET.SubElement(case, tag, {"message": clean[0] + more, "type": kind})
    found.text = "\n".join(clean)


def _counts(steps: Sequence[StepResult]) -> Counter[str]:
    unanswered = sum(step.has_no_response for step in steps)
    return Counter(
        tests=len(steps),
        failures=sum(step.verdict == UNMET for step in steps) - unanswered,
        errors=sum(step.verdict == UNSENT for step in steps) + unanswered,
        skipped=sum(step.verdict not in DONE for step in steps),
    )


def _told(counts: Counter[str]) -> dict[str, str]:
    return {name: str(counts[name]) for name in ("tests", "failures", "errors", "skipped")}


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
