"""Every rule: facts, the rows of the tables with levels and locations, and the pages' examples."""

from __future__ import annotations

import re
from typing import Any

import pytest

from playground import generated
from playground.conformance import RULES as NLWEB_RULES
from playground.conformance import RULESETS, Level, Verdict, ruleset
from playground.conformance.examples import examples_of, read_examples
from playground.conformance.mcp import RULES as MCP_RULES
from tests.conformance import examples
from tests.conformance.agent_api.scripts import message, numbered, response
from tests.conformance.case import Case
from tests.conformance.pointers import resolves
from tests.conformance.scripts import ScriptedResponse, document, locations
from tests.conformance.tables import CASES

RULES: dict[str, Any] = {rule.id: rule for each in RULESETS.values() for rule in each.rules}
#: Rules on JSON text, of all protocols: `test_json_text` has bytes for them.
ON_TEXT = {rule.id for group in ruleset("nlweb").groups[-1:] for rule in group.rules}
GOOD = [
    pytest.param(case, version, id=f"{case.rule}-{version}")
    for case in CASES
    for version in case.levels
]
BAD = [
    pytest.param(case, reply, where, version, id=f"{case.rule}-{version}-{at}")
    for case in CASES
    for version in case.levels
    for at, (reply, where) in enumerate(case.bad)
]


@pytest.mark.parametrize(("case", "version"), GOOD)
def test_kept(case: Case, version: str) -> None:
    report = case.good.report_for(version)
    assert locations(report, case.rule) == []
    assert report.verdicts[case.rule] is Verdict.PASS


@pytest.mark.parametrize(("case", "reply", "where", "version"), BAD)
def test_broken(case: Case, reply: ScriptedResponse, where: tuple[Any, ...], version: str) -> None:
    report = reply.report_for(version)
    assert tuple(locations(report, case.rule)) == where
    found = [each for each in report.findings if each.rule == case.rule]
    assert {each.level for each in found} == {case.levels[version]}
    for finding in report.problems:
        assert finding.message.endswith(".")
        assert resolves(reply.frames, finding.seq, finding.pointer), finding


def test_every_rule_has_a_row_in_every_version_with_its_level() -> None:
    """Beside it, a row may have a milder one: 0.54 shows some types in examples only."""
    stated = {(c.rule, version, c.levels[version]) for c in CASES if c.bad for version in c.levels}
    required = {
        (rule.id, version, requirement.level)
        for rule in RULES.values()
        if rule.id not in ON_TEXT
        for version, requirement in rule.requirements.items()
    }
    assert required <= stated
    assert {each[:2] for each in stated} == {each[:2] for each in required}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_facts(rule: Any) -> None:
    assert rule.id == rule.id.lower().replace("_", "-")
    assert rule.title.endswith(".")
    assert rule.why
    for level, section in rule.requirements.values():
        assert level in Level
        assert section


@pytest.mark.parametrize(
    ("key", "prefix"),
    [
        (("nlweb", "mcp"), "mcp."),
        (("agent-api", "http"), "agent-api."),
        (("chat-completions", "http"), "chat-completions."),
    ],
)
def test_a_binding_names_its_own_rules(key: tuple[str, str], prefix: str) -> None:
    shared = {rule.id for rule in NLWEB_RULES} | ON_TEXT
    own = [rule.id for rule in RULESETS[key].rules if rule.id not in shared]
    assert own
    assert all(name.startswith(prefix) for name in own)


def test_a_rule_is_listed_once() -> None:
    for each in RULESETS.values():
        assert len({rule.id for rule in each.rules}) == len(each.rules)


def test_the_rules_of_nlweb_stand_in_the_order_of_sections() -> None:
    sections = [rule.requirement("0.55").section.split(".") for rule in NLWEB_RULES]
    assert sections == sorted(sections)


def test_no_rule_about_http_and_streams_is_asked_of_nlweb_over_mcp() -> None:
    content, own, _ = ruleset("nlweb", "mcp").groups
    left = {rule.id for rule in NLWEB_RULES} - {rule.id for rule in content.rules}
    assert left == {
        "reply-object", "http-400-failure", "http-error-failure", "one-reply", "http-retry-after",
        "http-method", "http-header-values", "stream-meta-agrees", "format-named-stream",
        "http-content-type", "http-status", "http-status-fits-code", "http-no-redirect",
        "streaming-honoured", "stream-closed", "stream-bom", "stream-compression",
        "stream-data-json", "stream-data-present", "stream-events-named", "stream-events-known",
        "stream-start-first",
        "stream-start-once", "stream-start-meta", "stream-complete-present",
        "stream-complete-once", "stream-complete-last", "stream-complete-meta", "error-event",
        "error-event-meta", "error-event-last", "result-event", "result-index",
        "result-index-unique", "result-index-gapless", "result-order", "schema-event",
    }  # fmt: skip
    assert own.rules == MCP_RULES


def test_an_array_of_messages_is_judged_as_an_array() -> None:
    """Older servers send it; nothing in it is a response."""
    report = document([{"message_type": "nlws"}, {"message_type": "complete"}]).report_for("0.55")
    assert [finding.rule for finding in report.problems] == ["reply-object"]


@pytest.mark.parametrize(
    ("kind", "rule", "remark"),
    [
        ("novel", "message-type-known", "Clients may not support it."),
        ("reasoning", "message-type-used", "Some agents use this value."),
        ("assistant", "message-type-used", "Examples of the specification use this value."),
    ],
)
def test_an_unlisted_type_is_told_from_one_that_is_used(kind: str, rule: str, remark: str) -> None:
    report = numbered(response(), message(type=kind)).report_for("1")
    (found,) = (each for each in report.findings if each.rule == f"agent-api.{rule}")
    assert found.message.endswith(remark)


def test_examples_can_be_read_as_they_were_written() -> None:
    made = examples.examples()
    assert read_examples(examples.write_examples(made)) == made
    assert set(made) == set(RULES)


def test_examples_are_of_the_latest_version_and_keep_or_break_the_rule() -> None:
    for name in RULES:
        found = examples_of(name)
        assert found
        rules = RULESETS[found.protocol, found.binding].rules
        (rule,) = (each for each in rules if each.id == name)
        assert found.version == max(rule.requirements)
        assert examples.report_for(found, found.conforming).verdicts[name] is Verdict.PASS
        assert examples.report_for(found, found.violating).verdicts[name] is Verdict.FAIL


def test_nothing_is_left_of_the_tables_placeholders() -> None:
    text = generated.RULE_EXAMPLES.read_text("utf-8")
    assert "Whatever" not in text
    assert "@version" not in text


def test_the_texts_of_the_pages_are_sentences() -> None:
    for rule in RULES.values():
        text = rule.why
        for paragraph in text.split("\n\n"):
            # A name of the protocol may begin a sentence.
            assert re.match(r'[A-Z0-9`"]|[a-z]+[_A-Z]|created ', paragraph), paragraph
            assert paragraph.endswith((".", '."')), paragraph
        # Other rules are named, so that the page links to them.
        assert "another rule" not in text.lower()
        for name in re.findall(r"`([a-z][\w.]*-[\w-]+)`", text):
            assert name in RULES, text
