"""Positions of the members of a JSON text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.json_members import MAX_ALIKE, MAX_LEVELS, JsonPart, scan
from playground.protocols.json_pointer import resolve


def parts(text: str) -> list[tuple[str, str]]:
    """Return the pointers of a text with what they cover."""
    return [(part.pointer, text[part.start : part.end]) for part in scan(text).parts]


def test_a_member_begins_with_its_name() -> None:
    assert parts('{"a": 1, "b": [true, {"c": "x"}]}') == [
        ("", '{"a": 1, "b": [true, {"c": "x"}]}'),
        ("/a", '"a": 1'),
        ("/b", '"b": [true, {"c": "x"}]'),
        ("/b/1", '{"c": "x"}'),
        ("/b/1/c", '"c": "x"'),
    ]


@pytest.mark.parametrize(
    ("text", "stopped", "is_cut"),
    [
        ('{"a": 1} ', None, False),
        ('"x"', None, False),
        ("", 0, True),
        ('{"a": tr', 8, True),
        ('{"a": "x', 8, True),
        ('{"a', 3, True),
        ('{"a"', 4, True),
        ("[1,", 3, True),
        ('{"a": nope, "b": 1}', 6, False),
        ('{"a" 1}', 5, False),
        ("{} {}", 3, False),
        ("]", 0, False),
        ("[1}", 2, False),
    ],
)
def test_where_a_text_stops_being_json(text: str, stopped: int | None, is_cut: bool) -> None:
    found = scan(text)
    assert (found.stopped, found.is_cut) == (stopped, is_cut)
    assert all(part.end <= (len(text) if stopped is None else stopped) for part in found.parts)


def test_elements_with_the_same_members_become_one_part() -> None:
    elements = [{"n": n} for n in range(8)] + [{"n": 8, "other": None}, {"n": 9}]
    text = json.dumps(elements)
    found = {part.pointer: part for part in scan(text).parts if part.is_element}
    assert list(found) == ["/0", "/1", "/2", "/3", "/4", f"/{MAX_ALIKE}", "/8", "/9"]
    assert [part.alike for part in found.values()] == [0, 0, 0, 0, 0, 3, 0, 1]
    group = found[f"/{MAX_ALIKE}"]
    assert text[group.start : group.end] == '{"n": 5}, {"n": 6}, {"n": 7}'


def test_counts_are_exact() -> None:
    many = {f"m{n}": n for n in range(5_000)}
    found = scan(json.dumps({"list": [[]] * 3_000, "object": many}))
    counts = {part.pointer: part.count for part in found.parts}
    assert (counts["/list"], counts["/object"]) == (3_000, 5_000)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_not_listed(opening: str) -> None:
    found = scan(opening * 20_000)
    assert found.is_cut
    assert len(found.parts) <= 2 * MAX_LEVELS


def test_members_below_a_long_name_are_not_listed() -> None:
    text = '{"' + "k" * 50_000 + '": {' + ", ".join(f'"m{n}": 1' for n in range(2_000)) + "}}"
    found = scan(text)
    assert found.stopped is None
    assert len(found.parts) == 2
    assert found.parts[1].count == 2_000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_every_part_covers_its_value(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = scan(text)
    assert found.stopped is None
    for part in found.parts:
        if not part.alike:
            assert json.loads(text[part.value_start : part.end]) == resolve(value, part.pointer)


@given(VALUES, st.integers(0, 200))
def test_a_cut_text_has_the_same_parts_up_to_the_cut(value: Any, at: int) -> None:
    text = json.dumps(value)
    whole = {part.start: part.pointer for part in scan(text).parts}
    cut = scan(text[:at])
    for part in cut.parts:
        assert part.end <= at
        if is_named(text[:at], part):
            assert whole.get(part.start, part.pointer) == part.pointer


def is_named(text: str, part: JsonPart) -> bool:
    """Return whether the name of a part is complete."""
    return bool(part.kind) and part.value_start < len(text)


@given(st.text(alphabet='{}[]",:\\ab1 \ntrue', max_size=60))
def test_any_text_is_scanned(text: str) -> None:
    found = scan(text)
    try:
        json.loads(text, strict=False)
    except ValueError:
        assert found.stopped is not None
    else:
        assert found.stopped is None
    open_ends: list[int] = []
    for part in found.parts:
        assert 0 <= part.start <= part.end <= len(text)
        while open_ends and open_ends[-1] <= part.start:
            open_ends.pop()
        assert not open_ends or part.end <= open_ends[-1]
        open_ends.append(part.end)
