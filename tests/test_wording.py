"""The texts that users see: which are found, and the phrases that none of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from tests import strings


def tidied(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return texts with single spaces, without empty ones."""
    return [(line, " ".join(text.split())) for line, text in found if text.strip()]


class TestTemplates:
    @pytest.mark.parametrize(
        ("source", "found"),
        [
            ("<p>\n  Not sent.\n</p>", [(2, "Not sent.")]),
            ("<p>Write <code>{{ name }}</code> anywhere</p>", [(1, "Write … anywhere")]),
            ("<p>{% if a %}One{% else %}Two{% endif %} left</p>", [(1, "One | Two left")]),
            ('<b title="Open it" href="/x">Run</b>', [(1, "Open it"), (1, "Run")]),
            ('<input type="submit" value="Send it">', [(1, "Send it")]),
            ('<input type="hidden" value="Send it">', []),
            ('<i data-empty="Nothing yet" data-url="/x/" data-key="a"></i>', [(1, "Nothing yet")]),
            ('{% include "a.html" with hint="A schema.org type." %}', [(1, "A schema.org type.")]),
            ('<p>{{ name|default:"No name" }}</p>', [(1, "No name"), (1, "…")]),
            ('{{ at|date:"j M Y, H:i" }}', [(1, "…")]),
            ('{% url "run-page" %}{% if a == "Left over" %}{% endif %}', []),
            ("{# Not shown #}{% comment %}Not shown{% endcomment %}<style>a b {}</style>", []),
        ],
    )
    def test_text_nodes_attributes_and_literals_of_tags(
        self, source: str, found: list[tuple[int, str]]
    ) -> None:
        assert tidied(strings.template_texts(source)) == found


class TestScripts:
    @pytest.mark.parametrize(
        ("source", "found"),
        [
            ('// A "comment here"\ntoast("Not saved.")', ["Not saved."]),
            ("toast(`${count} lines were sent`)", ["… lines were sent"]),
            ('make("b", {}, "Copy")', ["Copy"]),
            ('say(`Sent now${again ? "once more" : ""}.`)', ["Sent now….", "once more"]),
            ('text.replace(/"a b"/g, "")', []),
        ],
    )
    def test_literals_that_look_like_words(self, source: str, found: list[str]) -> None:
        assert [text for _, text in strings.script_texts(source)] == found


class TestPython:
    @pytest.mark.parametrize(
        ("source", "found"),
        [
            ('"""A docstring here."""', []),
            ('def f():\n    """Do it now."""\n    return "Not valid."', ["Not valid."]),
            ('raise Refused(f"No agent {name}.")', ["No agent …."]),
            ('DONE = "done", "Promise fulfilled"', ["Promise fulfilled"]),
            ('f("It is " "one text.")', ["It is one text."]),
        ],
    )
    def test_literals_that_people_read(self, source: str, found: list[str]) -> None:
        assert [text for _, text in strings.python_texts(source)] == found


def test_of_a_fixture_names_and_notes_and_no_data() -> None:
    source = r"""[
{"model": "playground.savedrequest", "fields": {
 "name": "One by one",
 "document": {"query": {"text": "somebody else"}},
 "notes": "First.\nSecond."}},
{"model": "demo.item", "fields": {"name": "Not shown"}}]"""
    found = [*strings.fixture_texts(source)]
    assert found == [(3, "One by one"), (5, "First."), (5, "Second.")]


def test_of_a_page_paragraphs_items_and_rows_and_no_code() -> None:
    source = "# Title\n\nOne\nparagraph.\n- item\n  goes on\n\n| a | b |\n|---|---|\n```\nno\n```"
    assert tidied(strings.markdown_texts(source)) == [
        (1, "# Title"),
        (3, "One paragraph."),
        (5, "- item goes on"),
        (8, "| a | b |"),
    ]


@cache
def refused() -> dict[str, list[str]]:
    """Return the texts with refused phrases, written as in the list of allowed ones."""
    return {strings.as_allowed(each): hits for each, hits in strings.refused_texts().items()}


class TestPhrases:
    @pytest.mark.parametrize(
        "text",
        [
            "This is no JSON.",
            "Your credentials go along.",
            "What came: text",
            "Nobody has asked after it yet.",
            "Put right what is marked below.",
            "It suggests what to mend.",
            "What the server told about its work",
            "What stands below was sent by the agent.",
        ],
    )
    def test_refused(self, text: str) -> None:
        assert any(phrase.pattern.search(text) for phrase in strings.refused_phrases())

    @pytest.mark.parametrize(
        "text",
        [
            "There is no environment yet.",
            "The session is no longer valid.",
            "Recommended settings",
            "A standard client",
            "Enter a value.",
        ],
    )
    def test_not_refused(self, text: str) -> None:
        assert not any(phrase.pattern.search(text) for phrase in strings.refused_phrases())


@pytest.mark.slow
class TestTexts:
    def test_every_source_has_some(self) -> None:
        counts = Counter(each.path.partition("/")[0] for each in strings.user_texts())
        for source in ("templates", "static", "playground", "fixtures", "docs", "README.md"):
            assert counts[source] > 20

    def test_no_new_one_has_a_refused_phrase(self) -> None:
        allowed = set(strings.ALLOWED.read_text().splitlines())
        assert {text: hits for text, hits in refused().items() if text not in allowed} == {}

    def test_every_allowed_one_still_has_one(self) -> None:
        allowed = strings.ALLOWED.read_text().splitlines()
        assert allowed == sorted(set(allowed))
        assert [text for text in allowed if text not in refused()] == []
