"""JUnit XML report: a suite for every folder, a case for every request and iteration.

A failed expectation is a failure; a request that could not be sent, or that got no response, is
an error. Stopped and skipped requests are both `skipped` in JUnit; the message tells which. A run
that ended early has an additional case with an error, because skipped cases alone would show as
success. Times are in seconds. Characters that XML 1.0 (section 2.2) does not allow are replaced,
because agents send them and one would make the file invalid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from playground.collection_runs.reports.results import (
    DONE,
    MET,
    UNMET,
    UNSENT,
    WORDS,
    CollectionRunReport,
    StepResult,
)
from playground.protocols.text import printable_xml

#: Added to the counts for the case of a run that ended early.
_ENDED_EARLY = Counter(tests=1, errors=1)
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: CollectionRunReport) -> str:
    """Return the XML document with its declaration."""
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
    suite.set("time", _seconds(sum(step.duration_ms or 0.0 for step in steps)))
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
    case.set("time", _seconds(step.duration_ms or 0.0))
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
