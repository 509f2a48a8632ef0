"""JSONPath: the RFC's examples, the library as an oracle, and paths that would never end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonpath_rfc9535 as library
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import RunFacts, evaluate, regex
from playground.expectations.jsonpath import MAX_NODES, PathError, normalized_path, select
from playground.expectations.step_limit import StepLimit
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


def test_locations_are_normalized_paths() -> None:
    found = select("$..*", {"a'b": [{"\n\u0001": 1}]})
    assert [normalized_path(node) for node in found.nodes] == [
        "$['a\\'b']", "$['a\\'b'][0]", "$['a\\'b'][0]['\\n\\u0001']",
    ]  # fmt: skip
    for node in found.nodes:
        assert select(normalized_path(node), {"a'b": [{"\n\u0001": 1}]}).values == [node.value]


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
    found = select(path, document)
    assert found.values == expected.values()
    assert [node.location() for node in found.nodes] == [list(node.location) for node in expected]


@pytest.fixture(scope="module")
def million() -> dict[str, Any]:
    """A document of a million values and more."""
    return {"results": [{"id": at, "tags": [at, str(at), {"n": at}]} for at in range(170_000)]}


class TestMillions:
    """Paths that select everything, or look at everything for everything."""

    def test_a_selection_is_cut_and_says_so(self, million: Any) -> None:
        found = select("$..*", million)
        assert (len(found.nodes), found.more) == (MAX_NODES, True)
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
        assert select("$.r[?search('a', $.long) || match(@, $.long)]", document, budget).nodes == ()
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
        assert select("$[?search('a', @)]", document, budget).nodes == ()
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
        assert select("$.r[?$.a == $.b]", document).nodes == ()


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
