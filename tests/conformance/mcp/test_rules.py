"""Facts of every rule of MCP, and that `test_rulesets` has a case for each."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import RULES as HTTP_RULES
from playground.conformance import Level, ruleset
from playground.conformance.mcp import RULES
from tests.conformance.mcp.table import CASES


def test_the_table_has_every_rule() -> None:
    assert [case.rule for case in CASES if case.bad] == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_facts(rule: Any) -> None:
    assert rule.id.startswith("mcp.")
    assert rule.id == rule.id.lower().replace("_", "-")
    assert rule.title.endswith(".")
    assert rule.check.__doc__
    assert set(rule.requirements) == {"0.54", "0.55"}
    for level, section in rule.requirements.values():
        assert level in Level
        assert section


def test_no_rule_about_http_and_streams_is_asked_of_nlweb_over_mcp() -> None:
    content, own, _ = ruleset("nlweb", "mcp").groups
    left = {rule.id for rule in HTTP_RULES} - {rule.id for rule in content.rules}
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
    assert own.rules == RULES
