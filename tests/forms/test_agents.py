"""The field of headers in the form of an agent."""

from __future__ import annotations

from playground.forms.agents import HeadersField


def test_the_form_shows_what_was_stored_or_typed() -> None:
    field = HeadersField()
    assert field.prepare_value([["A", "1"]]) == '[["A", "1"]]'
    assert field.prepare_value("[typed") == "[typed"
    assert field.prepare_value(None) == "[]"
    assert field.clean('[["A", "1"]]') == [["A", "1"]]
