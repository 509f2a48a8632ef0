"""The examples of the rules' pages: one of each kind for every rule, and generated anew."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import Any

import pytest

from playground.conformance import RULESETS, ConformanceReport, Verdict
from playground.conformance.examples import (
    PATH,
    examples_of,
    findings_of,
    read_examples,
    write_examples,
)
from tests.conformance import examples
from tests.conformance.pointers import resolves

RULES: dict[str, Any] = {}
for ruleset in RULESETS.values():
    for each in ruleset.rules:
        RULES.setdefault(each.id, each)


def test_the_file_is_up_to_date() -> None:
    assert PATH.read_text("utf-8") == examples.text(), "Run `make examples`."


def test_the_document_can_be_read_as_it_was_written() -> None:
    made = examples.examples()
    assert read_examples(write_examples(made)) == made
    assert set(made) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
class TestExamples:
    def test_the_conforming_response_passes(self, rule: str) -> None:
        found = examples_of(rule)
        report = found.report_for(found.conforming)
        assert report.verdicts[rule] is Verdict.PASS
        assert found.conforming.findings == ()
        assert set(found.conforming.also) == failed(report)

    def test_the_violating_response_has_the_findings(self, rule: str) -> None:
        found = examples_of(rule)
        example, report = found.violating, found.report_for(found.violating)
        assert example.findings
        assert example.findings == findings_of(report, rule)
        assert all(resolves(example.frames, f.seq, f.pointer) for f in example.findings)
        assert set(example.also) == failed(report) - {rule}


def failed(report: ConformanceReport) -> set[str]:
    return {rule for rule, verdict in report.verdicts.items() if verdict is Verdict.FAIL}


def test_they_are_of_the_latest_version() -> None:
    for name, rule in RULES.items():
        found = examples_of(name)
        assert found.version == max(rule.requirements)
        assert rule in RULESETS[found.protocol, found.binding].rules


def test_nothing_is_left_of_the_tables_placeholders() -> None:
    assert "Whatever" not in PATH.read_text("utf-8")
    assert "@version" not in PATH.read_text("utf-8")


def test_the_texts_of_the_pages_are_sentences() -> None:
    for rule in RULES.values():
        text = getdoc(rule.check) or ""
        for paragraph in text.split("\n\n"):
            # A name of the protocol may begin a sentence.
            assert re.match(r'[A-Z0-9`"]|[a-z]+[_A-Z]|created ', paragraph), paragraph
            assert paragraph.endswith((".", '."')), paragraph
        # Other rules are named, so that the page links to them.
        assert "another rule" not in text.lower()
        for name in re.findall(r"`([a-z][\w.]*-[\w-]+)`", text):
            assert name in RULES, text
