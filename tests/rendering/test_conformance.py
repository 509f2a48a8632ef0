"""Conformance reports as pages and the clipboard show them."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import ConformanceReport, Finding, Level, Verdict, ruleset, run_rules
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.conformance import PointerLocator, view_of
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event

K = FrameKind


def finding(
    rule: str, level: str, verdict: str, seq: int | None = None, text: str = "Why."
) -> Finding:
    return Finding(rule, Level(level), "4.1", Verdict(verdict), "/a", text, seq)


FINDINGS = (
    finding("r-pass", "must", "pass"),
    finding("r-info", "info", "fail", 4),
    finding("r-should", "should", "fail", 5),
    finding("r-must", "must", "fail", 6, "First."),
    finding("r-must", "must", "fail", 7, "Second."),
    finding("r-half", "must", "incomplete", 6, "It broke off."),
    finding("r-none", "should", "not_applicable"),
)


def view(*findings: Finding, places: PointerLocator | None = None) -> Any:
    return view_of(ConformanceReport("0.55", findings), places or PointerLocator())


def test_rules_stand_by_level_and_what_asks_for_attention_first() -> None:
    levels = view(*FINDINGS).levels
    assert [(level.level_label, [rule.id for rule in level.rules]) for level in levels] == [
        ("Must", ["r-must", "r-half", "r-pass"]),
        ("Should", ["r-should", "r-none"]),
        ("Info", ["r-info"]),
    ]
    assert [level.tally for level in levels] == [
        "1 failed, 1 inconclusive, 1 passed", "1 failed", "1 failed",
    ]  # fmt: skip


def test_a_rule_counts_once_however_often_it_is_broken() -> None:
    found = view(*FINDINGS)
    assert found.verdicts == [
        ("fail", "Failed", 3), ("incomplete", "Inconclusive", 1), ("pass", "Passed", 1),
        ("not_applicable", "Not applicable", 1),
    ]  # fmt: skip
    assert found.sentence == (
        "3 failed (1 must, 1 should, 1 info), 1 inconclusive, 1 passed, 1 not applicable"
    )
    (must,) = [rule for rule in found.levels[0].rules if rule.id == "r-must"]
    assert [(spot.message, spot.pointer, spot.shown) for spot in must.spots] == [
        ("First.", "/a", 6), ("Second.", "/a", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("without", "worst", "failed"),
    [((), Level.MUST, 1), (("r-must",), Level.SHOULD, 1), (("r-must", "r-should"), Level.INFO, 1)],
)
def test_the_worst_level_names_the_count(
    without: tuple[str, ...], worst: Level, failed: int
) -> None:
    found = view(*(f for f in FINDINGS if f.rule not in without))
    assert (found.worst.level, found.worst_failed) == (worst, failed)


def test_what_could_not_be_judged_never_reads_as_passed() -> None:
    found = view(FINDINGS[5])
    assert found.worst is None
    assert (found.inconclusive, found.passed, found.worst_failed) == (1, 0, 0)
    assert found.sentence == "none failed, 1 inconclusive, 0 passed, 0 not applicable"
    assert "It broke off." in found.text
    assert "Passed" not in found.text


def test_the_text_has_all_that_asks_for_attention() -> None:
    text = view(*FINDINGS).text
    assert text.startswith("Checked against NLWeb 0.55: 3 failed")
    assert "Failed (must, section 4.1): r-must [r-must]\n  frame 6 /a: First." in text
    assert "Inconclusive (must" in text
    assert "r-pass" not in text
    assert "response: Why." in view(finding("r", "must", "fail")).text


@pytest.mark.parametrize(
    ("protocol", "binding", "version", "subject"),
    [
        ("nlweb", "http", "0.54", "NLWeb 0.54"),
        ("nlweb", "mcp", "0.55", "NLWeb 0.55 over MCP"),
        ("agent-api", "http", "1", "Agent API"),
    ],
)
def test_says_what_it_was_judged_as(
    protocol: str, binding: str, version: str, subject: str
) -> None:
    found = view_of(ConformanceReport(version, FINDINGS, protocol, binding), PointerLocator())
    assert found.subject == subject
    assert found.text.startswith(f"Checked against {subject}: 3 failed")


@pytest.mark.parametrize(
    ("section", "source"),
    [
        ("4.1.1", "section 4.1.1"), ("A.1, A.2", "section A.1, A.2"), ("C", "section C"),
        ("HTTP examples 5", "HTTP examples 5"), ("Content Streaming", "Content Streaming"),
        ("MCP transports", "MCP transports"),
    ],
)  # fmt: skip
def test_a_section_is_called_by_its_number_or_its_name(section: str, source: str) -> None:
    rule = view(Finding("r", Level.MUST, section, Verdict.PASS, "", "Why.")).levels[0].rules[0]
    assert rule.source == source


def test_places_lead_from_the_end_of_a_reply_to_its_bytes() -> None:
    places = PointerLocator()
    kinds = [K.CALL, K.HEAD, K.BODY, K.BODY, K.END, K.HEAD, K.EVENT, K.END, K.HEAD, K.BODY, K.ERROR]
    frames = [Frame(n, n, kind, b"{}") for n, kind in enumerate(kinds, 1)]
    assert list(places.noting(frames)) == frames
    assert [places.wire(n) for n in (None, 1, 5, 7, 8, 11)] == [None, 1, 3, 7, 8, 10]
    found = view(finding("r", "must", "fail", 5), places=places)
    assert found.levels[0].rules[0].spots[0].shown == 3
    assert "frame 3 /a: Why." in found.text


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_every_rule_is_in_a_real_report(version: str) -> None:
    frames = [CALL, OPEN, HEAD, event('data: {"_meta": [], "results": [1]}'), END]
    numbered = [Frame(n, 0, frame.kind, frame.data) for n, frame in enumerate(frames, 1)]
    places = PointerLocator()
    found = view_of(run_rules(places.noting(numbered), {"query": {"text": "a"}}, version), places)
    rules = [rule for level in found.levels for rule in level.rules]
    assert {rule.id for rule in rules} == {rule.id for rule in ruleset("nlweb").rules}
    titles = {rule.id: rule.title for rule in ruleset("nlweb").rules}
    assert all(rule.title == titles[rule.id] for rule in rules)
    assert found.failed > 0
    assert sum(many for _, _, many in found.verdicts) == len(ruleset("nlweb").rules)
