"""Pages of rules: texts, requirements, and examples with their findings."""

from __future__ import annotations

import pytest

from playground.conformance.examples import examples_of
from playground.rendering.rules import ExampleView, RuleView, rule_groups, rule_view

EVERY = [(group.slug, rule.id) for group in rule_groups() for rule in group.rules]


def view(group: str, rule: str) -> RuleView:
    found = rule_view(group, rule)
    assert found
    return found


def violating(group: str, rule: str) -> ExampleView:
    return view(group, rule).examples[1]


def marked(example: ExampleView) -> list[str]:
    return [
        text
        for block in example.blocks
        for chunk in block.chunks
        for text, is_marked in chunk.pieces
        if is_marked
    ]


@pytest.mark.parametrize(("group", "rule"), EVERY)
def test_every_finding_is_shown_once_and_every_byte(group: str, rule: str) -> None:
    found = view(group, rule)
    for shown, stored in zip(
        found.examples, (examples_of(rule).conforming, examples_of(rule).violating), strict=True
    ):
        notes = [*shown.notes]
        for block in shown.blocks:
            notes += [*block.notes, *(note for chunk in block.chunks for note in chunk.notes)]
            text = "".join(text for chunk in block.chunks for text, _ in chunk.pieces)
            whole = block.wire.text if block.wire else ""
            assert "".join(text.split()) == "".join(whole.split())
        assert sorted(note.message for note in notes) == sorted(
            finding.message for finding in stored.findings
        )


def test_an_unknown_rule() -> None:
    assert rule_view("nlweb", "nope") is None
    assert rule_view("nope", "item-type") is None
    assert rule_view("json", "item-type") is None


class TestText:
    def test_the_id_of_a_rule_is_known_as_one(self) -> None:
        (first, *_) = view("nlweb", "version-present").paragraphs
        assert [(part.text, part.group) for part in first if part.is_code] == [
            ("version-asked", "nlweb")
        ]

    def test_other_code_is_not(self) -> None:
        parts = view("nlweb", "http-method").paragraphs[0]
        assert [(part.text, part.group) for part in parts if part.is_code] == [
            ("/ask", ""), ("/await", ""),
        ]  # fmt: skip


class TestRequirements:
    def test_of_each_version(self) -> None:
        rows = view("nlweb", "stream-start-first").requirements
        assert [(row.subject, row.level, row.source) for row in rows] == [
            ("NLWeb 0.54", "should", "HTTP examples 5"),
            ("NLWeb 0.55", "must", "section 6.1"),
        ]

    def test_of_a_version_without_the_rule(self) -> None:
        rows = view("nlweb", "error-event").requirements
        assert [(row.subject, row.level) for row in rows] == [
            ("NLWeb 0.54", ""), ("NLWeb 0.55", "must"),
        ]  # fmt: skip

    def test_over_mcp_and_of_every_protocol(self) -> None:
        subjects = [row.subject for row in view("mcp", "mcp.log").requirements]
        assert subjects == ["NLWeb 0.54 over MCP", "NLWeb 0.55 over MCP"]
        subjects = [row.subject for row in view("json", "json-utf8").requirements]
        assert subjects == ["NLWeb 0.54", "NLWeb 0.55", "Agent API"]


class TestLocations:
    def test_a_member(self) -> None:
        assert marked(violating("nlweb", "version-present")) == ['"version": 0.55']

    def test_indents_are_not_marked(self) -> None:
        assert marked(violating("nlweb", "item-type-string")) == [
            '"@type": [', '"Recipe",', '"Thing"', "]",
        ]  # fmt: skip

    def test_of_a_long_value_the_first_line_is(self) -> None:
        assert marked(violating("mcp", "mcp.tool-ask")) == ['"tools": [']

    def test_a_missing_member_is_marked_at_its_object(self) -> None:
        example = violating("agent-api", "agent-api.message-members")
        assert set(marked(example)) == {"{"}
        notes = [n for block in example.blocks for chunk in block.chunks for n in chunk.notes]
        assert all(note.is_missing for note in notes)

    def test_in_an_event(self) -> None:
        assert marked(violating("agent-api", "agent-api.delta-sum")) == ['"text": "Hello you"']

    def test_a_whole_frame(self) -> None:
        example = violating("nlweb", "http-content-type")
        (block,) = [block for block in example.blocks if block.notes]
        assert block.wire
        assert block.wire.kind == "head"
        assert marked(example) == []

    def test_of_a_document_they_are_with_its_bytes(self) -> None:
        example = violating("nlweb", "item-type-string")
        assert [block.wire.kind for block in example.blocks if block.wire] == ["head", "body"]


class TestContext:
    def test_the_request(self) -> None:
        example = violating("nlweb", "mode-list-honoured")
        assert '"mode": "list"' in example.request
        assert example.endpoint == "POST /ask"
        assert violating("nlweb", "await-reply").endpoint == "POST /await"

    def test_earlier_responses(self) -> None:
        (fact,) = violating("nlweb", "promise-progress-monotone").facts
        assert fact == "Earlier responses for the same promise reported progress 0.1, 0.5."

    def test_many_frames_are_cut_short(self) -> None:
        blocks = violating("mcp", "mcp.tools-whole").blocks
        assert sum(block.skipped for block in blocks) > 0
        assert len(blocks) < 12


def test_each_rule_leads_to_the_next() -> None:
    group = rule_groups()[0]
    first, second = (view(group.slug, rule.id) for rule in group.rules[:2])
    assert first.previous == ""
    assert first.following == second.id
    assert second.previous == first.id
    assert view(group.slug, group.rules[-1].id).following == ""
