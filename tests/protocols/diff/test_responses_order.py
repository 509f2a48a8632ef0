"""Comparisons in which the order counts, folded differences, and documents."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import events as ev
from playground.protocols.diff import MAX_LISTED, OrderScope, compare, compare_documents
from tests.protocols.diff.test_responses import EGGS, SOUP, reply, results, rows
from tests.support.json_values import values

BREAD = {"@type": "Recipe", "name": "Bread"}
json_values = values(["url", "@id", "name", "request_id"], ["a", "b"])
STEPS = [{"name": "Chop", "n": 1}, {"name": "Fry", "n": 2}, {"name": "Serve", "n": 3}]


def documents(
    left: Any, right: Any, order: OrderScope = OrderScope.EVERYWHERE
) -> list[tuple[Any, ...]]:
    found = compare_documents(left, right, order)
    return [(d.change, d.pointer, d.left, d.right) for d in found.differences]


#: Two documents, what differs where the order counts, and where it does not.
DOCUMENTS: list[tuple[str, Any, Any, list[Any], list[Any]]] = [
    (
        "what has a name, moved",
        STEPS,
        [STEPS[2], STEPS[0], STEPS[1]],
        [("moved", "/2", 3, 1)],
        [],
    ),
    (
        "what has a name, moved and changed",
        {"steps": STEPS},
        {"steps": [STEPS[1], {**STEPS[0], "n": 9}, STEPS[2]]},
        [("moved", "/steps/0", 1, 2), ("changed", "/steps/0/n", 1, 9)],
        [("changed", "/steps/0/n", 1, 9)],
    ),
    (
        "an address tells more than a name",
        [{"url": "u1", "name": "A"}, {"url": "u2", "name": "B"}],
        [{"url": "u2", "name": "A"}, {"url": "u1", "name": "B"}],
        [("changed", "/0/name", "A", "B"), ("moved", "/0", 1, 2), ("changed", "/1/name", "B", "A")],
        [("changed", "/0/name", "A", "B"), ("changed", "/1/name", "B", "A")],
    ),
    (
        "elements in another order",
        {"a": ["x", "y"]},
        {"a": ["y", "x"]},
        [("changed", "/a/0", "x", "y"), ("changed", "/a/1", "y", "x")],
        [],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "ordered", "in_any_order"),
    [row[1:] for row in DOCUMENTS],
    ids=[row[0] for row in DOCUMENTS],
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


@given(json_values, json_values, st.sampled_from(list(OrderScope)))
def test_any_two_documents(left: Any, right: Any, order: OrderScope) -> None:
    assert compare_documents(left, left, order).total == 0
    found, back = (compare_documents(*both, order) for both in ((left, right), (right, left)))
    assert found.total == back.total
    turned = {"added": "removed", "removed": "added", "changed": "changed", "moved": "moved"}
    assert Counter(each.change for each in found.differences) == (
        Counter(turned[each.change] for each in back.differences)
    )


@given(
    st.lists(json_values, max_size=6).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v)))
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
