from __future__ import annotations

import json
from itertools import accumulate
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import json_decoder


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

    def test_of_a_long_string_of_backslashes(self) -> None:
        text = '[[], [], ["' + "\\" * 2_000_000 + '", [[]]]]'
        assert json_decoder.exceeds_depth(text, 3)
        assert not json_decoder.exceeds_depth(text, 4)

    def test_of_a_long_string_of_escapes(self) -> None:
        text = '[[], [], ["' + '\\"[' * 1_000_000 + '"]]'
        assert not json_decoder.exceeds_depth(text, 2)
        assert json_decoder.exceeds_depth(text, 1)


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
