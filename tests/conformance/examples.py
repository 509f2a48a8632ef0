"""`make examples`: the examples of the rules' pages, from the tables of the rules' tests.

Of the cases of a rule in its latest version, those are chosen that break no other rule, and have
one finding. Documents are indented and status lines get their reason phrases, which no rule
reads.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import Any

from playground.conformance import RULESETS, ConformanceReport, Level, Verdict, run_rules
from playground.conformance.examples import Example, ExampleFinding, RuleExamples
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.case import Case
from tests.conformance.scripts import VERSION, ScriptedResponse, document
from tests.conformance.tables import TABLES

#: Bytes of a response that fit on a page.
MAX_BYTES = 4000


def recipe(members: bytes) -> ScriptedResponse:
    """An answer with one result that has these members."""
    meta = b'{\n  "_meta": {\n    "response_type": "answer",\n    "version": "@version"\n  },\n'
    item = b'    {\n      "@type": "Recipe",\n      %s\n    }\n' % members
    return document(meta + b'  "results": [\n' + item + b"  ]\n}")


#: Rules on JSON: they are tested with bytes of any protocol.
JSON_TEXT = {
    "json-numbers": (b'"calories": null', b'"calories": NaN'),
    "json-utf8": ('"name": "Crème brûlée"'.encode(), '"name": "Crème brûlée"'.encode("latin-1")),
    "json-names-unique": (
        b'"name": "Eggs",\n      "url": "https://example.com/eggs"',
        b'"name": "Eggs",\n      "name": "Scrambled eggs"',
    ),
    "json-surrogates": (b'"name": "Eggs \\ud83c\\udf73"', b'"name": "Eggs \\ud83c"'),
}


def latest_versions() -> dict[str, tuple[str, str, str]]:
    """Protocol, binding and latest version of each rule, in the order of the rules page."""
    found: dict[str, tuple[str, str, str]] = {}
    for (protocol, binding), ruleset in RULESETS.items():
        for rule in ruleset.rules:
            found.setdefault(rule.id, (protocol, binding, max(rule.requirements)))
    return found


@cache
def examples() -> dict[str, RuleExamples]:
    """The examples of every rule."""
    of_rule: dict[str, list[Case]] = defaultdict(list)
    table_of: dict[str, tuple[Case, ...]] = {}
    for cases in TABLES:
        for case in cases:
            of_rule[case.rule].append(case)
            table_of[case.rule] = cases
    made = {}
    for rule, (protocol, binding, version) in latest_versions().items():
        if rule in JSON_TEXT:
            good, bad = ([tidied(recipe(members), version)] for members in JSON_TEXT[rule])
        else:
            cases = [case for case in of_rule[rule] if version in case.levels]
            good = [tidied(case.good, version) for case in cases]
            bad = [tidied(reply, version) for case in cases for reply, _ in case.bad]
            if all(blame(reply, rule, version)[:2] != (0, 0) for reply in good):
                good += [tidied(case.good, version) for case in table_of[rule]]
        passing = [r for r in good if r.report_for(version).verdicts[rule] is Verdict.PASS]
        conforming = min(passing, key=lambda reply: blame(reply, rule, version))
        violating = min(bad, key=lambda reply: blame(reply, rule, version, findings=1))
        made[rule] = RuleExamples(
            protocol,
            binding,
            version,
            example(conforming, rule, version),
            example(violating, rule, version),
        )
    return made


def example(reply: ScriptedResponse, rule: str, version: str) -> Example:
    """A response with its findings."""
    report = reply.report_for(version)
    return Example(
        reply.frames,
        reply.request,
        reply.operation,
        reply.state,
        reply.earlier,
        findings_of(report, rule),
        tuple(dict.fromkeys(other for other, _ in others(report, rule))),
    )


def others(report: ConformanceReport, rule: str) -> Iterator[tuple[str, Level]]:
    """The other rules that a response violates, by level."""
    for level in Level:
        yield from ((other, level) for other in report.failing(level) if other != rule)


def blame(reply: ScriptedResponse, rule: str, version: str, findings: int = 0) -> Any:
    """Return a sort key: the response with the fewest other findings is the best example."""
    report = reply.report_for(version)
    levels = [level for _, level in others(report, rule)]
    own = len(findings_of(report, rule))
    size = sum(len(frame.data) for frame in reply.frames)
    return (
        levels.count(Level.MUST), levels.count(Level.SHOULD), own != findings,
        size > MAX_BYTES, len(levels),
    )  # fmt: skip


# Bytes


def tidied(reply: ScriptedResponse, version: str) -> ScriptedResponse:
    """The same as it looks best: with its version, reason phrases and indented documents."""
    asked = json.loads(json.dumps(reply.request).replace(VERSION, version))
    return replace(reply, request=asked, frames=tuple(_tidied(reply.frames, version)))


def _tidied(frames: Iterable[Frame], version: str) -> Iterator[Frame]:
    for frame in frames:
        data = frame.data.replace(VERSION.encode(), version.encode())
        if frame.kind is FrameKind.HEAD:
            data = _with_reason(data)
        elif frame.kind is FrameKind.BODY:
            data = _indented(data)
        elif frame.kind is FrameKind.CALL:
            top, blank, body = data.partition(b"\r\n\r\n")
            data = top + blank + _indented(body)
        yield frame.with_data(data)


def _with_reason(head: bytes) -> bytes:
    line, end, rest = head.partition(b"\r\n")
    protocol, _, status = line.decode().partition(" ")
    try:
        known = HTTPStatus(int(status.split(" ")[0]))
    except ValueError:
        return head
    return f"{protocol} {known.value} {known.phrase}".encode() + end + rest


def _indented(body: bytes) -> bytes:
    """A document with indents, if nothing else about it changes."""
    try:
        value = json.loads(body)
    except ValueError:
        return body
    same = json.dumps(value).encode() == body
    return json.dumps(value, indent=2, ensure_ascii=False).encode() if same else body


def generated() -> dict[str, Any]:
    """What `read_examples` reads."""
    return write_examples(examples())


def write_examples(examples: Mapping[str, RuleExamples]) -> dict[str, Any]:
    return {
        rule: {
            "protocol": each.protocol,
            "binding": each.binding,
            "version": each.version,
            "conforming": _write_example(each.conforming),
            "violating": _write_example(each.violating),
        }
        for rule, each in examples.items()
    }


def _write_example(example: Example) -> dict[str, Any]:
    """Return an example as JSON; bytes that are not UTF-8 are lone surrogates in it."""
    earlier = {
        "progress": list(example.earlier.progress),
        "task_end": example.earlier.task_end.value if example.earlier.task_end else None,
        "session_names": sorted(example.earlier.session_names),
    }
    row = {
        "request": example.request,
        "operation": example.operation if example.operation != "ask" else None,
        "state": example.state if example.state != "completed" else None,
        "earlier": {name: value for name, value in earlier.items() if value},
        "frames": [
            [frame.kind.name.lower(), frame.data.decode("utf-8", "surrogateescape")]
            for frame in example.frames
        ],
        "findings": [
            {"message": finding.message, "seq": finding.seq, "pointer": finding.pointer}
            for finding in example.findings
        ],
        "also": list(example.also),
    }
    return {name: value for name, value in row.items() if value}


def report_for(examples: RuleExamples, example: Example) -> ConformanceReport:
    """The report on one of the examples of a rule."""
    return run_rules(
        example.frames,
        example.request,
        examples.version,
        protocol=examples.protocol,
        binding=examples.binding,
        operation=example.operation,
        state=example.state,
        earlier=example.earlier,
    )


def findings_of(report: ConformanceReport, rule: str) -> tuple[ExampleFinding, ...]:
    return tuple(
        ExampleFinding(finding.message, finding.seq, finding.pointer)
        for finding in report.findings
        if finding.rule == rule and finding.verdict is Verdict.FAIL
    )
