"""The examples of the rules' pages: one of each kind for every rule, and generated anew."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import Any

import pytest

from playground.conformance import RULESETS, Verdict
from playground.conformance.examples import (
    PATH,
    examples_of,
    read_examples,
    write_examples,
)
from tests.conformance import examples

RULES: dict[str, Any] = {}
for ruleset in RULESETS.values():
    RULES = {**{rule.id: rule for rule in ruleset.rules}, **RULES}


@pytest.mark.slow
def test_the_file_is_up_to_date() -> None:
    assert PATH.read_text("utf-8") == examples.text(), "Run `make examples`."


def test_the_document_can_be_read_as_it_was_written() -> None:
    made = examples.examples()
    assert read_examples(write_examples(made)) == made
    assert set(made) == set(RULES)


def test_they_are_of_the_latest_version_and_keep_or_break_the_rule() -> None:
    for name, rule in RULES.items():
        found = examples_of(name)
        assert found.version == max(rule.requirements)
        assert rule in RULESETS[found.protocol, found.binding].rules
        assert found.report_for(found.conforming).verdicts[name] is Verdict.PASS
        assert found.report_for(found.violating).verdicts[name] is Verdict.FAIL


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
