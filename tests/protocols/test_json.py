"""JSON texts: nesting, decoder errors, positions of members, and JSON Pointer (RFC 6901)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playground.protocols import json_decoder
from playground.protocols.json_members import MAX_ALIKE, MAX_LEVELS, scan
from playground.protocols.json_pointer import (
    descend,
    escape,
    keys_of,
    pointer_of,
    resolve,
    unescape,
)
from tests.support import json_values


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('"\\[]{}a'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\[{'), inner, max_size=3)
    ),
)


class TestDepth:
    @given(VALUES, st.integers(0, 6))
    def test_is_that_of_the_value(self, value: Any, limit: int) -> None:
        assert json_decoder.exceeds_depth(json.dumps(value), limit) is (depth_of(value) > limit)

    @pytest.mark.parametrize(
        ("text", "deeper_than_two"),
        [
            ("[[[", True),
            ("[[]][[", False),
            ("]]][[", False),
            ('["[[[', False),
            ('["\\"[[[', False),
            ('["\\\\"[[', True),
            ("[][][][]", False),
            ("", False),
            ('["a\\\\", [["b"]]]', True),
            (r'["\n\"[[", ["\ud800[[[', False),
            ('["","[",[""],"]"]', False),
            ('["[""[""["]', False),
            ("[é[\ud800[", True),
            ("[[[" + "]" * 50, True),
        ],
    )
    def test_of_broken_json(self, text: str, deeper_than_two: bool) -> None:
        assert json_decoder.exceeds_depth(text, 2) is deeper_than_two

    @given(st.lists(st.sampled_from(["[", "]", "{", "}", '"["', '"]\\""', "1"])), st.integers(0, 9))
    def test_is_that_of_counting(self, pieces: list[str], limit: int) -> None:
        pieces *= 9
        steps = [{"[": 1, "{": 1, "]": -1, "}": -1}.get(piece, 0) for piece in pieces]
        deepest = max(accumulate(steps, initial=0))
        assert json_decoder.exceeds_depth(" ".join(pieces), limit) is (deepest > limit)

    @pytest.mark.parametrize("deepest", [89, 90, 100, 101])
    def test_across_the_pieces_that_are_looked_at(self, deepest: int) -> None:
        shallow = "[" + "[]" * 70_000
        text = shallow + '"]"' * 7 + "[" * (deepest - 1) + "]" * (deepest - 1) + "]"
        assert json_decoder.exceeds_depth(text, 100) is (deepest > 100)

    @given(VALUES, st.integers(0, 6), st.integers(1, 5))
    def test_across_slices(self, value: Any, limit: int, size: int) -> None:
        with mock.patch.object(json_decoder, "_SLICE", size):
            found = json_decoder.exceeds_depth(json.dumps(value), limit)
        assert found is (depth_of(value) > limit)

    @pytest.mark.parametrize(
        ("inside", "depth"), [("\\" * 2_000_000 + '", [[]]', 4), ('\\"[' * 1_000_000 + '"', 2)]
    )
    def test_of_a_long_string(self, inside: str, depth: int) -> None:
        text = f'[[], [], ["{inside}]]'
        assert json_decoder.exceeds_depth(text, depth - 1)
        assert not json_decoder.exceeds_depth(text, depth)


class TestValues:
    @pytest.mark.parametrize("item", ["{}", "1", '"a"', '["b"]', '{"c": 1}', '{"c": [], "d": 2}'])
    @pytest.mark.parametrize("size", [1, 50, 10**6])
    def test_more_than_the_maximum(self, item: str, size: int) -> None:
        each = 1 + sum(map(item.count, "[{,"))  # The separator as well.
        count = 100 // each + 1
        text = f"[{','.join([item] * count)}]"
        with mock.patch.multiple(json_decoder, MAX_VALUES=100, _SLICE=size):
            if len(text) >= 200:
                with pytest.raises(json_decoder.TooManyValuesError):
                    json_decoder.decode(text)
            few = json.loads(text)[: (100 - 1) // each - 1]
            assert json_decoder.decode(json.dumps(few)) == few

    def test_what_is_in_strings_is_no_value(self) -> None:
        text = json.dumps([',[{\\"' * 1000])
        with mock.patch.object(json_decoder, "MAX_VALUES", 100):
            assert json_decoder.decode(text) == json.loads(text)


class TestDecode:
    @given(VALUES)
    def test_agrees_with_json(self, value: Any) -> None:
        assert json_decoder.decode(json.dumps(value)) == value
        assert json_decoder.decode(json.dumps(value, ensure_ascii=False)) == value

    @given(st.text(st.characters(), max_size=20))
    def test_makes_only_what_can_be_encoded(self, text: str) -> None:
        json_decoder.decode(json.dumps([text])).__repr__().encode()

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            (r'"\ud83e\udd5a"', "🥚"),
            (r'"\uD83E\uDD5A"', "🥚"),
            (r'"\ud83e"', "\ufffd"),
            (r'"\udd5a\ud83e"', "\ufffd\ufffd"),
            (r'"\ud83e\ud83e\udd5a"', "\ufffd🥚"),
            (r'"\\ud83e"', r"\ud83e"),
            (r'"\\\ud83e"', "\\\ufffd"),
            (r'"\\\\ud83e \" \ud83e\n"', '\\\\ud83e " \ufffd\n'),
            ("NaN", "NaN"),
            ("[Infinity, -Infinity]", ["Infinity", "-Infinity"]),
            ("1e999", "1e999"),
            ("-1e999", "-1e999"),
            ("1e3", 1000.0),
            ("9" * 5000, "9" * 5000),
            ('{"a": [1, -%s]}' % ("9" * 5000), {"a": [1, "-" + "9" * 5000]}),
            ("1.5", 1.5),
        ],
    )
    def test_what_cannot_be_written_as_json(self, text: str, value: Any) -> None:
        decoded = json_decoder.decode(text)
        assert decoded == value
        json.dumps(decoded, allow_nan=False, ensure_ascii=False).encode()

    @pytest.mark.parametrize("text", ["", "{", "nul", "[1] 2", " 9 9", r'"\ud8"', "\ufeff{}"])
    def test_what_is_not_json(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            json_decoder.decode(text)


#: Pieces of JSON texts, valid or not, that decoders are known to read in different ways.
PIECES = r"""
{ } [ ] , : " "a" "a": "\u0061": 1 - 0 . e E + 01 1. .5 -0 -0.0 0e5 1E+2 9007199254740993
18446744073709551616 -9223372036854775809 99999999999999999999 5e-324 1e308 1e309 -1e400 1e-400
2.2250738585072011e-308 null true nul NaN Infinity -Infinity \ud83d \ude00 "\ud83d\ude00"
"\ud83d" "\\ud83d" \u \u0000 \x \/ \n é 🥚 {"a":1,"a":2} [[]] /* // '
""".split()
NUMBER = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


class TestBothDecodersAgree:
    """msgspec decodes what it can; the standard library decides on everything else."""

    @given(
        st.lists(st.sampled_from([*PIECES, *" \t\n\r\v\0\x1f\x7f\xa0\ufeff\ud800"])).map("".join)
    )
    @example("9" * 5000)
    @example("[" * 5000 + "]" * 5000)
    def test_on_any_text(self, text: str) -> None:
        assert outcome(json_decoder.decode, text) == outcome(by_standard_library, text)

    @given(NUMBER)
    def test_on_numbers(self, text: str) -> None:
        assert outcome(json_decoder.decode, text) == outcome(by_standard_library, text)

    @given(VALUES, st.integers(0, 100), st.integers(0, 2), st.sampled_from(PIECES))
    def test_on_changed_json(self, value: Any, at: int, removed: int, added: str) -> None:
        text = json.dumps(value)
        text = text[:at] + added + text[at + removed :]
        assert outcome(json_decoder.decode, text) == outcome(by_standard_library, text)


def by_standard_library(text: str) -> Any:
    return json_decoder.StrictDecoder().decode(text)


def outcome(decode: Callable[[str], Any], text: str) -> str:
    """The value with its types, the sign of zero and the order of members; or the error."""
    try:
        return repr(decode(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error)} {error}"


class TestStrictDecoder:
    @pytest.mark.parametrize(
        ("text", "is_clean"),
        [
            ('{"a": [{"b": 1}, {"b": 1}], "b": 1.5}', True),
            ('["\\ud83d\\ude00", "\\\\ud83d", 1e999, 12345678901234567890]', True),
            ('{"a": 1, "b": 2, "a": 1}', False),
            ('[{"a": {"b": 1, "b": 1}}]', False),
            ("[NaN]", False),
            ("-Infinity", False),
            ('["\\ud83d"]', False),
            ("9" * 5000, False),
        ],
    )
    def test_tells_what_decoders_disagree_on(self, text: str, is_clean: bool) -> None:
        decoder = json_decoder.StrictDecoder()
        assert decoder.decode(text) == json_decoder.decode(text)
        assert decoder.is_clean is is_clean
        assert decoder.decode("{}") == {}
        assert decoder.is_clean


class TestSequence:
    @pytest.mark.parametrize("between", ["", "\n", " \r\n\t"])
    @given(st.lists(st.dictionaries(st.text('"\\[{'), VALUES, max_size=3), max_size=4))
    def test_of_values_one_after_another(self, between: str, values: list[Any]) -> None:
        text = between.join(["", *map(json.dumps, values), ""])
        assert json_decoder.decode_sequence(text) == values

    def test_makes_only_what_can_be_encoded(self) -> None:
        found = json_decoder.decode_sequence('{"a": NaN}{"b": "\\ud800"}')
        assert found == [{"a": "NaN"}, {"b": "\ufffd"}]

    @pytest.mark.parametrize("text", ["{}, {}", "{} and", "{}{", "soup", "{} 1", '{}"a""b"', "1 2"])
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(json.JSONDecodeError):
            json_decoder.decode_sequence(text)

    def test_has_no_more_values_than_a_document(self) -> None:
        with mock.patch.object(json_decoder, "MAX_VALUES", 10):
            assert len(json_decoder.decode_sequence("{}" * 5)) == 5
            with pytest.raises(json_decoder.TooManyValuesError):
                json_decoder.decode_sequence("{}" * 20)


#: How the sentences of the standard library's decoder begin.
THEIRS = re.compile(r"Expecting|Extra data|Unterminated|Invalid|Illegal|delimiter")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{,", "expected a property name in double quotes"),
        ("[x]", "expected a value"),
        ('{"a" 1}', "expected a colon"),
        ("[1 2]", "expected a comma or the end of the array or object"),
        ("[] []", "unexpected text after the end of the document"),
        ('["a', "unterminated string"),
        ('["a\nb"]', "control character in a string; write line breaks and tabs as \\n and \\t"),
        ('["\\u12x4"]', "invalid \\u escape: expected four hexadecimal digits"),
        ('["\\q"]', "invalid escape sequence"),
    ],
    ids=range(9),
)
def test_what_is_broken_is_said_in_plain_words(text: str, words: str) -> None:
    with pytest.raises(json.JSONDecodeError) as broken:
        json.loads(text)
    assert json_decoder.describe_error(broken.value) == words


@given(st.text('{}[]",:\\ntu1.- ', max_size=20))
def test_no_sentence_of_the_decoder_is_repeated(text: str) -> None:
    said = ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        said = json_decoder.describe_error(error)
    assert not THEIRS.search(said)


@pytest.mark.parametrize(
    ("text", "position", "wanted"),
    [("", 0, (1, 1)), ("ab", 1, (1, 2)), ("a\nb", 1, (1, 2)), ("a\nb", 2, (2, 1))],
    ids=range(4),
)
def test_the_place_of_an_error(text: str, position: int, wanted: tuple[int, int]) -> None:
    assert json_decoder.line_and_column(text, position) == wanted


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[[", None),
        ("[[[", 2),
        ('["[[[", {"a": [', 14),
        ("[[], [], {}, [[]]]", 14),
        (r'["\"[[", [[', 10),
        ('"[[[[', None),
    ],
    ids=range(6),
)
def test_where_a_text_is_too_deep(text: str, at: int | None) -> None:
    assert json_decoder.too_deep_at(text, 2) == at


@given(st.text('[]{}"\\a', max_size=60), st.integers(0, 5))
def test_what_has_a_place_is_what_is_refused(text: str, limit: int) -> None:
    if not json_decoder.exceeds_depth(text, limit):
        assert json_decoder.too_deep_at(text, limit) is None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[1, -2.5e3, 0]", None),
        ("[NaN]", 1),
        ('["NaN", "a\\"1e999", -Infinity]', 20),
        ("[1,\n Infinity]", 5),
        ("[1e308, 1e309]", 8),
        ("[1, " + "9" * 4301 + "]", 4),
        ("[" + "9" * 4300 + "]", None),
        ("[1-1.e]", None),
    ],
    ids=range(8),
)
def test_where_a_number_is_none(text: str, at: int | None) -> None:
    assert json_decoder.number_at(text) == at


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
        if part.kind and part.value_start < at:  # Its name is complete.
            assert whole.get(part.start, part.pointer) == part.pointer


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


#: The document of section 5.
EXAMPLE = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6,
    " ": 7, "m~n": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", EXAMPLE), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
        ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_section_5_the_examples(pointer: str, value: Any) -> None:
    assert resolve(EXAMPLE, pointer) == value
    assert pointer_of(keys_of(pointer)) == pointer


@pytest.mark.parametrize(
    ("key", "token"),
    [
        ("a", "a"), ("", ""), ("/", "~1"), ("~", "~0"), ("~1", "~01"), ("~0", "~00"),
        ("a/b~c", "a~1b~0c"), ("//~~", "~1~1~0~0"), (0, "0"), (12, "12"), ("é", "é"),
    ],
)  # fmt: skip
def test_section_3_what_is_escaped(key: object, token: str) -> None:
    assert escape(key) == token
    assert unescape(token) == str(key)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({}, "a"), ({"a": 1}, "A"), ([1], "1"), ([1], "-"), ([1], "-1"), ([1], "00"), ([1], "01"),
        ([1], ""), ([1], "a"), ([1], "٠"), ([1], "0.0"), ([1] * 20, "1_0"), ([1], "9" * 5_000),
        ("text", "0"), (1, "0"), (None, "a"), (True, "0"),
    ],
)  # fmt: skip
def test_section_4_what_leads_nowhere(value: Any, key: str) -> None:
    with pytest.raises(LookupError):
        descend(value, key)
    with pytest.raises(LookupError):
        resolve({"a": value}, pointer_of(["a", key]))


@given(st.lists(st.text()))
def test_a_pointer_has_its_keys(keys: list[str]) -> None:
    assert keys_of(pointer_of(keys)) == keys


@given(json_values.values(["a", "a/b", "~", "~1", "", "0"], []))
def test_every_place_of_a_document_is_found(document: Any) -> None:
    places: list[tuple[list[object], Any]] = [([], document)]
    while places:
        keys, value = places.pop()
        assert resolve(document, pointer_of(keys)) is value
        if isinstance(value, dict):
            places += [([*keys, name], inner) for name, inner in value.items()]
        elif isinstance(value, list):
            places += [([*keys, place], inner) for place, inner in enumerate(value)]
