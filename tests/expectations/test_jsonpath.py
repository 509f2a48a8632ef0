"""JSONPath, regular expressions and values, as checks use them: results, errors, and their cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jsonpath_rfc9535 as library
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import RunFacts, evaluate, regex
from playground.expectations.jsonpath import MAX_VALUES, PathError, member_segment, select
from playground.expectations.regex import PatternError, filter_match, matches
from playground.expectations.step_limit import StepLimit, StepLimitError
from playground.expectations.values import (
    MAX_TEXT,
    truncated_value,
    truncated_values,
    value_as_text,
)
from tests.expectations.samples import RUN
from tests.support.json_values import values

#: RFC 9535, figure 1.
STORE: dict[str, Any] = {
    "store": {
        "book": [
            {"category": "reference", "author": "Nigel Rees", "title": "Sayings", "price": 8.95},
            {"category": "fiction", "author": "Evelyn Waugh", "title": "Honour", "price": 12.99},
            {"category": "fiction", "author": "Herman Melville", "title": "Moby Dick",
             "isbn": "0-553-21311-3", "price": 8.99},
            {"category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord",
             "isbn": "0-395-19395-8", "price": 22.99},
        ],
        "bicycle": {"color": "red", "price": 399},
    }
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.store.book[*].author", ["Nigel Rees", "Evelyn Waugh", "Herman Melville",
                                    "J. R. R. Tolkien"]),
        ("$.store..price", [8.95, 12.99, 8.99, 22.99, 399]),
        ("$..book[2].title", ["Moby Dick"]),
        ("$..book[-1].title", ["The Lord"]),
        ("$..book[0,1].title", ["Sayings", "Honour"]),
        ("$..book[:2].title", ["Sayings", "Honour"]),
        ("$..book[?@.isbn].title", ["Moby Dick", "The Lord"]),
        ("$..book[?@.price<10].title", ["Sayings", "Moby Dick"]),
        ("$..book[?match(@.author, '.*e.')].title", ["Sayings", "The Lord"]),
        ("$..book[?search(@.author, '[JE]')].title", ["Honour", "The Lord"]),
        ("$..book[?length(@.title) == 8].price", [22.99]),
        ("$.store[?count(@.*) > 2].color", []),
        ("$..book[?value(@..isbn) == '0-553-21311-3'].title", ["Moby Dick"]),
        ("$..book[?@.isbn == @.nothing].title", ["Sayings", "Honour"]),
        ("$..book[?!@.isbn && @.price > 9 || @.price >= 22.99].title", ["Honour", "The Lord"]),
        ("$..book[::0]", []),
        ("$..book[3:0:-2].title", ["The Lord", "Honour"]),
        ("$.store.book[?@ == $.store.book[0]].title", ["Sayings"]),
    ],
)  # fmt: skip
def test_examples(path: str, found: list[Any]) -> None:
    assert select(path, STORE).values == found


def test_a_boolean_in_a_list_is_no_number() -> None:
    """The library takes [true] for [1], as Python does."""
    assert select("$[?@.a == @.b]", [{"a": [True], "b": [1]}, {"a": [1.0], "b": [1]}]).values == [
        {"a": [1.0], "b": [1]}
    ]


@pytest.mark.parametrize("name", ["a'b", "\n\u0001", "a\\b", "é", ""])
def test_a_segment_selects_the_member_of_its_name(name: str) -> None:
    assert select(f"${member_segment(name)}", {name: 1, "other": 2}).values == [1]


NAMES = ("a", "b", "c")
_SELECTORS = st.sampled_from(
    (
        "['a']", ".b", "..c", "[*]", "..*", "[0]", "[-1]", "[1:]", "[::-1]", "[::2]", "['a', 0]",
        "[?@.a]", "[?@.a == 1]", "[?@.b < 'm']", "[?@.a >= $.a]", "[?!@.c]", "[?@.a && @.b]",
        "[?@.a != @.b || @.c]", "[?count(@.*) == 2]", "[?length(@) > 1]", "[?@ == 'a']",
        "[?value(@..a) == 1]", "[?@[0]]", "..[?@.a]", "[?match(@.a, 'a.*')]",
        "[?search(@.b, '[ab]')]", "[?@.a == null]", "[?@.x == @.y]", "[?@..a]",
    )
)  # fmt: skip
PATHS = st.lists(_SELECTORS, max_size=3).map(lambda parts: "$" + "".join(parts))


def without_booleans(value: Any) -> bool:
    """Inside lists and objects the library takes true for 1: see the test above."""
    if isinstance(value, dict | list):
        return all(map(without_booleans, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, bool)


@given(PATHS, values(NAMES, ("a", "b", "ab")).filter(without_booleans))
def test_selects_what_the_library_selects(path: str, document: Any) -> None:
    expected = library.find(path, document)
    assert select(path, document).values == expected.values()


@pytest.fixture(scope="module")
def million() -> dict[str, Any]:
    """A document of a million values and more."""
    return {"results": [{"id": at, "tags": [at, str(at), {"n": at}]} for at in range(170_000)]}


class TestMillions:
    """Paths that select everything, or look at everything for everything."""

    def test_a_selection_is_cut_and_says_so(self, million: Any) -> None:
        found = select("$..*", million)
        assert (len(found.values), found.more) == (MAX_VALUES, True)
        assert found.count == "more than 10,000 values"

    @pytest.mark.slow
    def test_what_one_value_decides_is_decided(self, million: Any) -> None:
        run = RunFacts("completed", "answer", document=million)
        wanted: list[Any] = [
            {"type": "json", "path": "$..*", "exists": True},
            {"type": "json", "path": "$..id", "equals": 7},
            {"type": "json", "path": "$..id", "is": "string", "every": True},
            {"type": "json", "path": "$..id", "equals": "nowhere"},
        ]
        checks = evaluate(wanted, run)
        assert [check.met for check in checks] == [True, True, False, None]
        assert checks[-1].actual == "The path selects more than 10,000 values."

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "path",
        [
            "$..[?@..x]",
            "$..[?@ == $]",
            "$.results[?count($..*) > 1]",
            "$.results[?$.results[?$.results[?@.x == 1]]]",
            "$..[?@..[?@..[?@..x]]]",
            "$.results[?search(@.tags[1], '(a|b)*a(a|b){500}')]",
        ],
    )
    def test_a_path_that_would_take_ages_ends(self, million: Any, path: str) -> None:
        with pytest.raises(PathError, match="too many values"):
            select(path, million)

    def test_one_greedy_path_leaves_something_for_the_others(self, million: Any) -> None:
        run = RunFacts("completed", "answer", document=million)
        greedy = {"type": "json", "path": "$..[?@..x]", "exists": True}
        checks = evaluate([greedy, {"type": "json", "path": "$.results[9].id", "equals": 9}], run)
        assert [check.met for check in checks] == [None, True]


class Whole(str):
    """A text that must not be gone through character by character."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("It was gone through.")


class Compilations:
    """How often RE2 is asked to read a pattern."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._compile: Callable[..., Any] = re2.compile
        monkeypatch.setattr(re2, "compile", self)

    def __call__(self, *arguments: Any) -> Any:
        self.count += 1
        return self._compile(*arguments)


class TestWhatTheReplyBrings:
    """An agent says what a filter compares and which patterns it tries: that costs steps, too."""

    def test_a_pattern_of_megabytes_is_not_even_looked_at(self) -> None:
        budget = StepLimit()
        document = {"long": Whole("x" * 4_000_000), "r": ["a"] * 20}
        assert (
            select("$.r[?search('a', $.long) || match(@, $.long)]", document, budget).values == []
        )
        assert StepLimit().remaining - budget.remaining < 1_000

    @pytest.mark.parametrize(
        "pattern", ["\\pL{{40}}[a-z]{{50}}{}", "({}", "(?:\\pL\\pN){{900}}{}", "[\\pL]{}"],
        ids=["large", "none", "too large", "letters"],
    )  # fmt: skip
    @pytest.mark.parametrize("function", ["search", "match"])
    def test_one_pattern_after_another_comes_to_an_end(
        self, pattern: str, function: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compilations = Compilations(monkeypatch)
        document = [pattern.format(at) for at in range(1_000)]
        with pytest.raises(PathError, match="too many values"):
            select(f"$[?{function}('a', @)]", document)
        assert compilations.count <= 200

    def test_classes_of_letters_cost_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        compilations = Compilations(monkeypatch)
        with pytest.raises(PathError, match="too many values"):
            select("$[?search('a', @)]", ["\\pL" * 300 + str(at) for at in range(100)])
        assert compilations.count <= 20

    @pytest.mark.parametrize("pattern", ["^a", "("], ids=["a pattern", "none"])
    def test_the_same_pattern_is_read_and_paid_for_once(
        self, pattern: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        regex._compile.cache_clear()
        compilations, budget = Compilations(monkeypatch), StepLimit()
        select(f"$[?search(@, '{pattern}')]", ["ab"] * 5_000, budget)
        assert compilations.count == 1
        assert StepLimit().remaining - budget.remaining < 100_000

    def test_three_hundred_in_turn_are_not_read_again_and_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compilations, budget = Compilations(monkeypatch), StepLimit(100_000_000)
        document = [f"turn{at}" for at in range(300)] * 3
        assert select("$[?search('a', @)]", document, budget).values == []
        assert compilations.count <= 300

    @pytest.mark.parametrize(
        "document",
        [
            {"a": "x" * 4_000_000, "b": "x" * 3_999_999 + "x"},
            {"a": {"x" * 4_000_000: 1}, "b": {"x" * 3_999_999 + "x": 1}},
            {
                "a": dict.fromkeys(map(str, range(4_000)), 1),
                "b": dict.fromkeys(map(str, range(1, 4_001)), 1),
            },
        ],
        ids=["texts", "names", "many names"],
    )
    @pytest.mark.parametrize("operator", ["==", "<="])
    def test_long_ones_that_are_compared_again_and_again_come_to_an_end(
        self, document: dict[str, Any], operator: str
    ) -> None:
        with pytest.raises(PathError, match="too many values"):
            select(f"$.r[?$.a {operator} $.b]", {**document, "r": [1] * 2_000})

    def test_texts_of_two_lengths_are_told_apart_for_nothing(self) -> None:
        document = {"a": "x" * 4_000_000, "b": "x" * 3_999_999, "r": [1] * 2_000}
        assert select("$.r[?$.a == $.b]", document).values == []


@pytest.mark.parametrize(
    "path",
    [
        "", "a", "$.", "$[", "$..", "$.a b", "$[?]", "$[?@.a ==]", "$[?@.a == ]", "$['a",
        "$[1:2:3:4]", "$[9999999999999999999]", "$[?foo(@)]", "$[?length(@)]", "$[?@..a == 1]",
        "$[01]", "$ ",
        "$" + "[?@" * 245 + "]" * 245, "$" * 1001,
        "$['\\ud800']", "$[?@ == 1e999999]", "$[?match(@, 1, 2)]", "\ud800", "$.\x00",
    ],
    ids=lambda path: ascii(path)[:24],
)  # fmt: skip
def test_what_is_no_path_is_told(path: str) -> None:
    with pytest.raises(PathError) as found:
        select(path, {"a": 1})
    assert str(found.value).startswith(("The path ", "Invalid JSONPath"))


@given(st.text(st.sampled_from("$.[]*?@'\"(),:=<>!&|ab01 -"), max_size=20), values(NAMES))
def test_any_text_is_a_path_or_is_told(text: str, document: Any) -> None:
    told = ""
    try:
        select(f"${text}", document)
    except PathError as error:
        told = str(error)
    assert told.startswith(("The path ", "Invalid JSONPath") if told else "")


class TestPatterns:
    def test_part_and_whole(self) -> None:
        assert matches("b", "abc", StepLimit())
        assert not matches("^b", "abc", StepLimit())
        assert filter_match("a|abc", "abc", StepLimit())
        assert not filter_match("a|ab", "abc", StepLimit())

    def test_the_dot_of_a_filter_stands_for_no_end_of_a_line(self) -> None:
        document = ["a\rb", "a\nb", "a.b", "axb"]
        assert select(r"$[?match(@, 'a.b')]", document).values == ["a.b", "axb"]
        assert select(r"$[?match(@, 'a[.]b')]", document).values == ["a.b"]
        assert select(r"$[?match(@, 'a\\.b')]", document).values == ["a.b"]

    @pytest.mark.parametrize("pattern", ["(x+x+)+y", "(a|a)*b", "(.*)*$x", "^(([a-z])+.)+[A-Z]$"])
    def test_what_runs_for_ever_elsewhere_is_harmless(self, pattern: str) -> None:
        assert not matches(pattern, "x" * 100_000, StepLimit())

    @pytest.mark.parametrize(
        "pattern", ["(", "[", "a{1001}", "(a{100}){100}", r"\1", "x" * 1001, "\ud800"], ids=ascii
    )
    def test_what_re2_does_not_take_is_told(self, pattern: str) -> None:
        with pytest.raises(PatternError, match="pattern"):
            matches(pattern, "", StepLimit())

    def test_a_parenthesis_does_not_leave_the_group(self) -> None:
        with pytest.raises(PatternError):
            filter_match("a)|(b", "a", StepLimit())

    def test_a_large_pattern_on_a_large_text_is_too_much(self) -> None:
        with pytest.raises(StepLimitError):
            matches("(a|b)*a(a|b){500}", "ab" * 1_000_000, StepLimit())

    @given(st.text(max_size=20), st.text(max_size=20))
    def test_any_text_is_a_pattern_or_is_told(self, pattern: str, text: str) -> None:
        told = "."
        try:
            matches(pattern, text, StepLimit())
        except PatternError as error:
            told = str(error)
        assert told.endswith(".")


#: Characters of JSON that a value may come to: 4,000 of texts and numbers, and what 200 values
#: of all kinds have around them.
MOST = 12_000


#: A list that leaves room for ten characters.
FULL = [*["x" * 200] * 19, "x" * 190]


def nested(width: int, depth: int, leaf: Any) -> Any:
    return leaf if depth == 0 else [nested(width, depth - 1, leaf) for _ in range(width)]


def linked(width: int, depth: int, leaf: Any) -> Any:
    """As `nested`, with objects, and each level only once in memory."""
    value = leaf
    for _ in range(depth):
        value = {f"name {at}": value for at in range(width)}
    return value


HUGE: dict[str, Any] = {
    "lists": nested(10, 5, "x" * 60),
    "objects": linked(30, 6, "x" * 1_000),
    "empty ones": linked(20, 5, []),
    "numbers": nested(20, 3, 1e100),
    "long numbers": nested(20, 3, 2**255),
    "longer numbers": nested(20, 3, 2**70_000),
    "long names": {str(at) * 5_000: {"y" * 5_000: 1} for at in range(100)},
    "a text": "x" * 1_000_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_what_is_kept_of_a_huge_value_is_little(name: str) -> None:
    kept = truncated_value(HUGE[name])
    assert len(json.dumps(kept, ensure_ascii=False)) <= MOST
    assert "…" in json.dumps(kept, ensure_ascii=False)
    assert len(value_as_text(HUGE[name])) == MAX_TEXT


@pytest.mark.parametrize("name", HUGE)
def test_several_huge_values_take_no_more_than_one(name: str) -> None:
    kept = truncated_values([HUGE[name]] * 5)
    assert len(kept) == 5
    assert len(json.dumps(kept, ensure_ascii=False)) <= MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"path": "$.results[*,0,0,0,0]", "exists": True},
        {"path": "$.results[*,0,0,0,0]", "exists": False},
        {"path": "$.results", "is": "array"},
        {"path": "$.results[*]", "is": "string", "every": True},
        {"path": "$..*", "equals": "nowhere"},
    ],
    ids=lambda each: each["path"],
)
def test_a_verdict_on_a_huge_reply_is_little(expectation: dict[str, Any]) -> None:
    document = {"results": [{"name": "a", "n": nested(10, 5, "x" * 60)}]}
    observed = RunFacts("completed", "answer", document=document)
    (check,) = evaluate([{"type": "json", **expectation}], observed)
    assert len(json.dumps(check.to_json(), ensure_ascii=False)) <= 2 * MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"type": "response_type", "equals": "answer"},
        {"type": "failure", "code": "NONE"},
    ],
    ids=lambda each: each["type"],
)
def test_a_word_of_megabytes_is_told_in_short(expectation: dict[str, Any]) -> None:
    word = "x" * 1_000_000
    observed = replace(RUN, response_type=word, failures=(word,) * 9)
    (check,) = evaluate([expectation], observed)
    assert check.met is False
    assert len(json.dumps(check.to_json())) <= MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"type": "no_gap_over", "ms": 1e9},
        {"type": "order", "events": ["result"]},
        {"type": "failure", "code": "y"},
    ],
    ids=lambda each: each["type"],
)
def test_what_is_looked_through_is_counted(expectation: dict[str, Any]) -> None:
    """A hundred may be expected, of a run of millions of events or megabytes of codes."""
    run = replace(RUN, failures=("x" * 10_000_000,) * 101, events=RUN.events * 300_000)
    (check,) = evaluate([expectation], run)
    assert (check.met, check.actual) == (None, "The evaluation of this response takes too long.")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a": [1, 2.5, True, None, "x"]}, {"a": [1, 2.5, True, None, "x"]}),
        (list(range(25)), [*range(20), "… 5 more"]),
        ({str(at): at for at in range(22)},
         {**{str(at): at for at in range(20)}, "…": "2 more"}),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 200, "x" * 200),
        (2**256, "a very large number"),
        (nested(1, 6, 7), nested(1, 6, 7)),
        (nested(1, 7, 7), nested(1, 6, "…")),
        ([[], {}], [[], {}]),
        ([FULL, "y" * 20], [FULL, "y" * 9 + "…"]),
        ([["x" * 210] * 20, "y"], [["x" * 199 + "…"] * 20, "… 1 more"]),
    ],
    ids=["small", "elements", "members", "text", "short", "digits", "deep", "deeper", "empty",
         "all but some characters", "characters"],
)  # fmt: skip
def test_where_values_are_cut(value: Any, kept: Any) -> None:
    assert truncated_value(value) == kept


@given(values(("a", "b")))
def test_what_is_small_is_kept_as_it_is(value: Any) -> None:
    if len(json.dumps(value)) < MAX_TEXT and "[[[[[" not in json.dumps(value):
        assert value_as_text(value) == json.dumps(value, ensure_ascii=False)
        assert truncated_value(value) == value
