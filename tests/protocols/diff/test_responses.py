"""Comparison of two responses: differences by table, invariants by properties."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import events as ev
from playground.protocols import registry
from playground.protocols.diff.responses import (
    MAX_LISTED,
    Comparison,
    OrderScope,
    ResponseSide,
    compare,
    compare_documents,
)
from playground.protocols.nlweb.reader import NLWebReader
from tests.support.json_values import values
from tests.support.strategies import events as any_events
from tests.support.strategies import json_values

VERSIONS = {version.name: version for version in registry.of("nlweb").versions}
EGGS = {"@type": "Recipe", "url": "http://a.example/eggs", "name": "Eggs"}
SOUP = {"@type": "Recipe", "name": "Soup", "duration": "PT1H"}

HOME = (1, 0)


def reply(*events: ev.Event, outcome: str = "answer", version: str = "0.55") -> ResponseSide:
    return ResponseSide(events, outcome, VERSIONS[version])


def results(*items: Any) -> ResponseSide:
    return reply(*(ev.Result(1, item, place) for place, item in enumerate(items)))


def rows(found: Comparison) -> list[tuple[str, str, str, Any, Any]]:
    """Every difference but for why it is there."""
    return [(d.change, d.label, d.pointer, d.left, d.right) for d in found.differences]


META = ev.Started(1, {"response_type": "Answer", "version": "0.55", "request_id": "r1"})
DONE = ev.Completed(9, {"processing_time_ms": 12, "model": "m"})


def session(conversation: str) -> ResponseSide:
    context = {"list": {"conversation_id": conversation, "n": 1}}
    return reply(ev.Started(1, {"session_context": context}))


def content(value: Any, kind: str = "text", *, seq: int = 1, **options: Any) -> ev.Content:
    return ev.Content(seq, HOME, "m", 0, kind, value, **options)


#: Pairs of replies that say the same.
SAME: dict[str, tuple[ResponseSide, ResponseSide]] = {
    "nothing": (reply(), reply()),
    "the order of results": (results(EGGS, SOUP), results(SOUP, EGGS)),
    "the order of members": (results(EGGS), results(dict(reversed(list(EGGS.items()))))),
    "a number written differently": (results({"n": 1}), results({"n": 1.0})),
    "frames and indexes": (reply(ev.Result(4, EGGS, 7)), reply(ev.Result(1, EGGS))),
    "a text in pieces": (
        reply(ev.Text(1, "one "), ev.Text(2, "two", delta=True)), reply(ev.Text(1, "one two"))),
    "metadata first, last and late": (
        reply(META, DONE),
        reply(ev.Started(1, {"response_type": "answer", "request_id": "r2"}),
              ev.Note(2, "_meta", {"_meta": {"version": "0.55", "model": "m"}}),
              ev.Completed(3, {"processingTimeMs": 9, "total_items": 3}))),
    "words of the way": (
        reply(ev.Progress(1, 0.5), ev.Log(1, "info", "x"), ev.Tools(1, ()), ev.Note(1, "end")),
        reply()),
    "a summary as an item, and in the metadata": (
        reply(ev.Result(1, {"@type": "SearchSummary", "text": "In short"}), version="0.55"),
        reply(ev.Started(1, {"summary": "In short"}), ev.Text(1, "In short", kind="summary"),
              version="0.54")),
    "tokens of promises": (
        reply(ev.Promise(1, "t1", 3.0, "Working", 0.1), outcome="promise"),
        reply(ev.Promise(1, "t2", 9.0, "Working", 0.7), outcome="promise")),
    "a session's volatile members at any depth": (session("a"), session("b")),
    "messages in pieces, and their names": (
        reply(ev.Message(1, "m", "message", "assistant"),
              content("Good ", delta=True), content("day", delta=True), content(None),
              ev.Status(5, "response", "r1", "completed", usage={"tokens": 3})),
        reply(ev.Message(1, "m9", "message", "assistant"),
              ev.Content(1, HOME, "m9", 0, "text", "Good day"),
              ev.Status(1, "response", "r9", "in_progress"),
              ev.Status(1, "response", "r9", "completed"))),
    "parts of two kinds, and of pieces that are no texts": (
        reply(content({"a": 1}, "data", delta=True), content("x"),
              content({"b": 2}, "data", delta=True)),
        reply(content("y"), content("x"), content([{"a": 1}, {"b": 2}], "data"))),
    "calls and their names": (
        reply(ev.ToolCall(1, HOME, "c1", "search", ""),
              ev.ToolCall(2, HOME, "c1", "search", '{"q": "eggs", "n": 1}')),
        reply(ev.ToolCall(1, HOME, "c2", "search", {"n": 1, "q": "eggs"}))),
}  # fmt: skip


def asked(text: str) -> ResponseSide:
    return reply(ev.Elicitation(1, "For whom?", (ev.Question("q", text, "free_text"),)))


def called(arguments: str, output: str, *, output_name: str = "f") -> ResponseSide:
    return reply(ev.ToolCall(1, HOME, "c", "f", arguments),
                 ev.ToolOutput(1, HOME, "c", output_name, output))  # fmt: skip


A_RECIPE, A_MOVIE = {"@type": "Recipe", "name": "A"}, {"@type": "Movie", "name": "A"}
NAMELESS = [ev.ToolOutput(1, HOME, call, "", "x") for call in "abc"]
REDIRECT = {"status": 301, "location": "/a"}

#: Pairs of responses, and their differences.
DIFFERENT: dict[
    str, tuple[ResponseSide, ResponseSide, list[tuple[str, str, str, Any, Any]]]
] = {
    "outcome": (reply(outcome="answer"), reply(outcome="failure"),
                [("changed", "Outcome", "", "answer", "failure")]),
    "one result more": (results(EGGS), results(SOUP, EGGS),
                        [("added", "Recipe “Soup”", "", None, SOUP)]),
    "one result less": (results(EGGS, SOUP), results(EGGS),
                        [("removed", "Recipe “Soup”", "", SOUP, None)]),
    "the same result twice": (results(EGGS, EGGS), results(EGGS),
                              [("removed", "Recipe “Eggs” (2)", "", EGGS, None)]),
    "a result identified by its address": (
        results(EGGS, SOUP), results(SOUP, {**EGGS, "name": "Omelette"}),
        [("changed", "Recipe “Eggs”", "/name", "Eggs", "Omelette")]),
    "a result identified by its id": (
        results({"@id": "#1", "name": "A"}), results({"@id": "#1", "name": "B"}),
        [("changed", "Result “A”", "/name", "A", "B")]),
    "a result identified by name and type": (
        results(SOUP), results({**SOUP, "duration": "PT2H"}),
        [("changed", "Recipe “Soup”", "/duration", "PT1H", "PT2H")]),
    "another type, another thing": (
        results(A_RECIPE), results(A_MOVIE),
        [("removed", "Recipe “A”", "", A_RECIPE, None), ("added", "Movie “A”", "", None, A_MOVIE)]),
    "results without a name": (results({"x": 1}), results({"x": 2}),
                               [("changed", "Result", "/x", 1, 2)]),
    "results that are no objects": (results("a", 1), results(1, "b"),
                                    [("changed", "Result (1)", "", "a", "b")]),
    "members that one side has": (
        results({"name": "A", "gone": 1, "a/b~c": [1, 2, 3]}),
        results({"name": "A", "come": None, "a/b~c": [1, 3]}),
        [("removed", "Result “A”", "/gone", 1, None),
         ("removed", "Result “A”", "/a~1b~0c/1", 2, None),
         ("added", "Result “A”", "/come", None, None)]),
    "true is not one": (results({"name": "A", "x": True}), results({"name": "A", "x": 1}),
                        [("changed", "Result “A”", "/x", True, 1)]),
    "a text": (
        reply(ev.Text(1, "one"), ev.Text(1, "In short", kind="summary")),
        reply(ev.Text(1, "two"), ev.Text(1, "In short", kind="summary")),
        [("changed", "Text", "", "one", "two")]),
    "a question": (asked("Who?"), asked("Whom?"),
                   [("changed", "The agent’s questions", "/questions/0/text", "Who?", "Whom?")]),
    "a failure": (
        reply(ev.Failure(1, "TIMEOUT", "Too late", {"timestamp": 1})),
        reply(ev.Failure(1, "TIMEOUT", "Far too late", {"timestamp": 2})),
        [("changed", "Failure", "/message", "Too late", "Far too late")]),
    "metadata": (reply(ev.Started(1, {"model": "a"})), reply(ev.Completed(1, {"model": "b"})),
                 [("changed", "Metadata", "/model", "a", "b")]),
    "what nobody knows": (
        reply(ev.Unknown(1, "ping", {"n": 1})), reply(ev.Unknown(1, "ping", {"n": 2})),
        [("changed", "Unknown “ping”", "/n", 1, 2)]),
    "a redirect": (reply(ev.Note(1, "redirect", REDIRECT)), reply(),
                   [("removed", "Redirect", "", REDIRECT, None)]),
    "a message": (reply(content("Hello")), reply(content("Bye")),
                  [("changed", "Message", "/content/0/value", "Hello", "Bye")]),
    "a call and its output": (
        called('{"a": 1}', "x"), called('{"a": 2}', "y"),
        [("changed", "Tool call “f”", "/a", 1, 2), ("changed", "Tool output “f”", "", "x", "y")]),
    "an output without a name has that of its call": (
        called("1", "x", output_name=""), called("1", "y", output_name=""),
        [("changed", "Tool output “f”", "", "x", "y")]),
    "several outputs without any name": (
        reply(*NAMELESS), reply(*NAMELESS[:2], ev.Unknown(1, "", 1)),
        [("removed", "Tool output (3)", "", "x", None), ("added", "Unknown", "", None, 1)]),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_replies_that_say_the_same(left: ResponseSide, right: ResponseSide) -> None:
    for ours, theirs in ((left, right), (right, left)):
        found = compare(ours, theirs)
        assert found.same, rows(found)
        version = ("changed", "Metadata", "/version", ours.version.name, theirs.version.name)
        assert rows(found) == [version] * found.total


@pytest.mark.parametrize(("left", "right", "expected"), DIFFERENT.values(), ids=DIFFERENT)
def test_replies_that_differ(
    left: ResponseSide, right: ResponseSide, expected: list[tuple[str, str, str, Any, Any]]
) -> None:
    found = compare(left, right)
    assert rows(found) == expected
    assert not found.same
    assert found.total == len(expected)


def test_results_are_counted() -> None:
    assert compare(results(EGGS), results(EGGS, SOUP, SOUP)).results == (1, 3)


class TestVersions:
    def test_what_the_versions_explain_is_told_last_and_makes_no_difference(self) -> None:
        left = reply(
            ev.Started(1, {"version": "0.54", "model": "a"}),
            ev.Elicitation(1, "?", (ev.Question("q", "Who?", "single_select"),)),
            version="0.54",
        )
        right = reply(
            ev.Started(1, {"version": "0.55", "model": "a"}),
            ev.Elicitation(1, "?", (ev.Question("q", "Who?", "free_text"),)),
        )
        found = compare(left, right)
        assert found.same
        assert [(d.pointer, d.expected) for d in found.differences] == [
            ("/questions/0/type", "NLWeb 0.54 has no type of question free_text."),
            ("/version", "Each response names its own version: NLWeb 0.54 and NLWeb 0.55."),
        ]
        changed = reply(*left.events, ev.Text(1, "more"), version="0.54")
        found = compare(changed, right)
        assert (found.same, found.total, found.expected) == (False, 3, 2)
        assert found.differences[0].label == "Text"

    def test_codes_that_one_version_has(self) -> None:
        old = reply(ev.Failure(1, "NO_RESULTS"), version="0.54")
        for code, same in (("TIMEOUT", True), ("MINE", False)):
            assert compare(old, reply(ev.Failure(1, code))).same is same

    def test_nothing_is_to_be_expected_of_the_same_version(self) -> None:
        found = compare(
            reply(ev.Started(1, {"version": "0.54"})), reply(ev.Started(1, {"version": "0.55"}))
        )
        assert not found.same


def test_a_list_of_differences_ends() -> None:
    found = compare(results(), results(*({"name": str(n)} for n in range(1_000))))
    assert (len(found.differences), found.total) == (MAX_LISTED, 1_000)


def test_thousands_of_results_are_no_trouble() -> None:
    """Each is found by its key; compared each with each, this would take minutes."""
    many = [{"@type": "Recipe", "name": f"Dish {n}", "steps": ["a", "b"]} for n in range(2_000)]
    same_key = [{"name": "Dish", "n": n} for n in range(2_000)]
    found = compare(results(*many, *same_key), results(*reversed(same_key), *reversed(many)))
    assert found.same
    moved = [{**item, "steps": ["a", "c"]} for item in many]
    assert compare(results(*many), results(*reversed(moved))).total == 2_000


def test_nesting_without_end_has_an_end() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert compare(results({"name": "A", "x": deep}), results({"name": "A", "x": deep})).same


def test_the_same_answer_streamed_and_whole() -> None:
    items = [EGGS, SOUP]
    meta = {"response_type": "answer", "version": "0.55"}
    whole, stream = NLWebReader("0.55"), NLWebReader("0.55")
    left = whole.document(1, {"_meta": meta, "results": items})
    right: list[ev.Event] = stream.message(1, "start", json.dumps({"_meta": meta}))
    for place, item in reversed(list(enumerate(items))):
        right += stream.message(2, "result", json.dumps({"index": place, "item": item}))
    right += stream.message(3, "complete", json.dumps({"_meta": {"processing_time_ms": 3}}))
    found = compare(
        ResponseSide(left, whole.outcome, VERSIONS["0.55"]),
        ResponseSide(right, stream.outcome, VERSIONS["0.55"]),
    )
    assert (found.total, found.results) == (0, (2, 2))


homes = st.tuples(st.just(7), st.integers(0, 1))
ids = st.sampled_from(["", "a", "b"])
of_messages: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.Message, seq=st.just(7), id=ids, type=ids, role=ids),
    st.builds(
        ev.Content,
        seq=st.just(7),
        message_ref=homes,
        msg_id=ids,
        index=st.integers(0, 2),
        kind=ids,
        value=json_values,
        delta=st.booleans(),
    ),
    st.builds(ev.Status, seq=st.just(7), object=st.just("response"), id=ids, status=ids),
    st.builds(
        ev.ToolCall, seq=st.just(7), message_ref=homes, call_id=ids, name=ids, arguments=json_values
    ),
    st.builds(
        ev.ToolOutput, seq=st.just(7), message_ref=homes, call_id=ids, name=ids, output=json_values
    ),
)
streams = st.lists(any_events | of_messages, max_size=6)


@given(streams)
def test_whatever_comes_is_the_same_as_itself(events: Sequence[ev.Event]) -> None:
    assert compare(reply(*events), reply(*events)).total == 0


@given(streams, streams)
def test_left_and_right_are_alike(left: Sequence[ev.Event], right: Sequence[ev.Event]) -> None:
    there, back = compare(reply(*left), reply(*right)), compare(reply(*right), reply(*left))
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    assert there.total == back.total
    assert Counter((d.kind, d.pointer, d.change, repr(d.left)) for d in there.differences) == (
        Counter((d.kind, d.pointer, turned[d.change], repr(d.right)) for d in back.differences)
    )


@given(streams.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))), streams)
def test_the_order_of_results_makes_no_difference(
    both: tuple[list[ev.Event], list[ev.Event]], other: list[ev.Event]
) -> None:
    one, shuffled = ([e for e in each if isinstance(e, ev.Result)] for each in both)
    assert compare(reply(*one), reply(*shuffled)).total == 0
    found = [compare(reply(*each), reply(*other)) for each in (one, shuffled)]
    # Results without a name are labelled by their position.
    unlabelled = [
        Counter(repr((d.change, d.kind, d.pointer, d.left, d.right)) for d in each.differences)
        for each in found
    ]
    assert unlabelled[0] == unlabelled[1]


def test_a_pointer_does_not_grow_with_what_an_agent_calls_things() -> None:
    left: Any = list(range(50))
    right: Any = list(range(50, 100))
    for name in ["n" * 100_000, *("m" * 150 for _ in range(100))]:
        left, right = {name: left}, {name: right}
    found = compare(results({"name": "Eggs", "x": left}), results({"name": "Eggs", "x": right}))
    assert found.total == 50
    assert max(len(each.pointer) for each in found.differences) < 1_500


BREAD = {"@type": "Recipe", "name": "Bread"}
keyed_values = values(["url", "@id", "name", "request_id"], ["a", "b"])
STEPS = [{"name": "Chop", "n": 1}, {"name": "Fry", "n": 2}, {"name": "Serve", "n": 3}]


def documents(
    left: Any, right: Any, order: OrderScope = OrderScope.EVERYWHERE
) -> list[tuple[Any, ...]]:
    found = compare_documents(left, right, order)
    return [(d.change, d.pointer, d.left, d.right) for d in found.differences]


#: Two documents, what differs where the order counts, and where it does not.
DOCUMENTS: dict[str, tuple[Any, Any, list[Any], list[Any]]] = {
    "what has a name, moved": (
        STEPS, [STEPS[2], STEPS[0], STEPS[1]], [("moved", "/2", 3, 1)], []),
    "what has a name, moved and changed": (
        {"steps": STEPS}, {"steps": [STEPS[1], {**STEPS[0], "n": 9}, STEPS[2]]},
        [("moved", "/steps/0", 1, 2), ("changed", "/steps/0/n", 1, 9)],
        [("changed", "/steps/0/n", 1, 9)]),
    "an address tells more than a name": (
        [{"url": "u1", "name": "A"}, {"url": "u2", "name": "B"}],
        [{"url": "u2", "name": "A"}, {"url": "u1", "name": "B"}],
        [("changed", "/0/name", "A", "B"), ("moved", "/0", 1, 2), ("changed", "/1/name", "B", "A")],
        [("changed", "/0/name", "A", "B"), ("changed", "/1/name", "B", "A")]),
    "elements in another order": (
        {"a": ["x", "y"]}, {"a": ["y", "x"]},
        [("changed", "/a/0", "x", "y"), ("changed", "/a/1", "y", "x")], []),
}  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "ordered", "in_any_order"), DOCUMENTS.values(), ids=DOCUMENTS
)
def test_documents(left: Any, right: Any, ordered: list[Any], in_any_order: list[Any]) -> None:
    assert sorted(documents(left, right), key=repr) == sorted(ordered, key=repr)
    assert documents(left, right, OrderScope.NOWHERE) == in_any_order


def test_ids_of_a_document_are_folded() -> None:
    found = compare_documents(
        {"meta": {"request_id": "a", "token": "kept"}}, {"meta": {"requestId": "b", "token": "x"}}
    )
    assert [d.pointer for d in found.differences] == ["/meta/token"]
    assert {(d.change, d.pointer) for d in found.folded} == {
        ("removed", "/meta/request_id"),
        ("added", "/meta/requestId"),
    }
    assert (found.total, found.folded_total) == (1, 2)


class TestReplies:
    def test_results_that_moved(self) -> None:
        left, right = results(EGGS, SOUP, BREAD), results(BREAD, EGGS, SOUP)
        assert compare(left, right).same
        assert rows(compare(left, right, OrderScope.EVERYWHERE)) == [
            ("moved", "Recipe “Bread”", "", 3, 1)
        ]
        assert compare(left, right, OrderScope.NOWHERE).same

    def test_the_order_is_that_of_the_indexes(self) -> None:
        left = reply(ev.Result(1, EGGS, 0), ev.Result(2, SOUP, 1))
        late = reply(ev.Result(1, SOUP, 1), ev.Result(2, EGGS, 0))
        assert compare(left, late, OrderScope.EVERYWHERE).total == 0
        # One without an index, or two with the same: then it is how they came.
        for index in (None, 1):
            vague = reply(ev.Result(1, SOUP, 1), ev.Result(2, EGGS, index))
            assert compare(left, vague, OrderScope.EVERYWHERE).total == 1

    def test_lists_within_a_result(self) -> None:
        left, right = results({**SOUP, "steps": STEPS}), results({**SOUP, "steps": STEPS[::-1]})
        changes = [row[0] for row in rows(compare(left, right))]
        assert changes == ["moved", "moved"]
        assert compare(left, right, OrderScope.NOWHERE).same

    def test_what_is_folded_is_told_when_asked_for(self) -> None:
        left = reply(
            ev.Started(1, {"request_id": "a", "model": "m"}), ev.Promise(2, "t1", 3.0, "W")
        )
        right = reply(
            ev.Started(1, {"request_id": "b", "model": "m"}), ev.Promise(2, "t2", 3.0, "W")
        )
        assert compare(left, right).folded == ()
        found = compare(left, right, folded=True)
        assert found.same
        assert {(d.label, d.pointer, d.left, d.right) for d in found.folded} == {
            ("Promise", "/promise_token", "t1", "t2"),
            ("Metadata", "/request_id", "a", "b"),
        }

    def test_messages_fold_their_names(self) -> None:
        sides = [
            reply(ev.Message(1, name, "message", "assistant"),
                  ev.Content(2, (1, 0), name, 0, "text", "Hello"))
            for name in ("m1", "m2")
        ]  # fmt: skip
        found = compare(*sides, folded=True)
        assert [(d.pointer, d.left, d.right) for d in found.folded] == [("/message_id", "m1", "m2")]
        assert found.same

    def test_the_folded_have_a_bound(self) -> None:
        many = [[{"name": f"{n}", "request_id": f"{side}{n}"} for n in range(250)] for side in "ab"]
        found = compare(results(*many[0]), results(*many[1]), folded=True)
        assert (len(found.folded), found.folded_total, found.total) == (MAX_LISTED, 250, 0)

    def test_ten_thousand_in_another_order_are_no_trouble(self) -> None:
        many = [{"name": f"Dish {n}"} for n in range(10_000)]
        found = compare(results(*many), results(*many[::-1]), OrderScope.EVERYWHERE, folded=True)
        assert found.total == 9_999


@given(keyed_values, keyed_values, st.sampled_from(list(OrderScope)))
def test_any_two_documents(left: Any, right: Any, order: OrderScope) -> None:
    assert compare_documents(left, left, order).total == 0
    found, back = (compare_documents(*both, order) for both in ((left, right), (right, left)))
    assert found.total == back.total
    turned = {"added": "removed", "removed": "added", "changed": "changed", "moved": "moved"}
    assert Counter(each.change for each in found.differences) == (
        Counter(turned[each.change] for each in back.differences)
    )


@given(
    st.lists(keyed_values, max_size=6).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v)))
)
def test_in_any_order_an_order_is_no_difference(both: tuple[list[Any], list[Any]]) -> None:
    assert compare_documents({"a": both[0]}, {"a": both[1]}, OrderScope.NOWHERE).total == 0


def longest_rising(numbers: list[int]) -> int:
    """Return the length of the longest rising selection."""
    lengths: list[int] = []
    for place, number in enumerate(numbers):
        before = (lengths[n] for n in range(place) if numbers[n] < number)
        lengths.append(1 + max(before, default=0))
    return max(lengths)


@given(st.permutations(range(7)))
def test_the_fewest_have_moved(numbers: list[int]) -> None:
    left, right = [[{"name": str(n)} for n in order] for order in (range(7), numbers)]
    changes = [change for change, *_ in documents(left, right)]
    assert changes == ["moved"] * (7 - longest_rising(numbers))


SCALARS = st.lists(st.integers(0, 5), max_size=8)


@given(SCALARS, SCALARS, st.sampled_from(list(OrderScope)))
def test_every_element_of_a_list_is_paired_added_or_removed(
    left: list[int], right: list[int], order: OrderScope
) -> None:
    count = Counter(change for change, *_ in documents(left, right, order))
    assert len(left) - count["removed"] == len(right) - count["added"]
    if order is OrderScope.NOWHERE:
        assert count["removed"] + count["changed"] == (Counter(left) - Counter(right)).total()


def test_the_order_received_does_not_change_what_is_compared() -> None:
    one, two, three, four = ({"@type": "Step", "n": number} for number in range(4))
    found = [
        {(left, right) for _, _, _, left, right in rows(compare(results(one, two), other))}
        for other in (results(three, four), results(four, three))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 2
