"""Actions of results: buttons of a card, headers of a call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from playground.models import Run
from playground.protocols.actions import Action, actions_of
from playground.rendering.action_buttons import (
    HeaderRow,
    action_at,
    action_buttons,
    action_key,
    headers_of,
    is_plain_data,
    label_of,
)
from tests.support.nlweb_values import VALUES
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

SAVE = {"name": "save_recipe", "protocol": "HTTP", "method": "POST", "endpoint": "/save"}


def only(raw: Any) -> Action:
    (found,) = actions_of({"actions": [raw]})
    return found


class TestButtons:
    def test_a_button_for_every_action_at_any_depth(self) -> None:
        inner = {"actions": {"name": "Open", "endpoint": "/open"}}
        item = {"actions": [SAVE, {**SAVE, "protocol": "mcp"}], "hasPart": [inner]}
        found = [(each.number, each.label, each.protocol) for each in action_buttons(item)]
        assert found == [(0, "Save recipe", "HTTP"), (1, "Save recipe", "MCP"), (2, "Open", "HTTP")]

    @pytest.mark.parametrize(
        ("marks", "order"),
        [
            ([None, None], [0, 1]),
            ([None, True], [1, 0]),
            ([None, True, True], [1, 0, 2]),
            (["yes", 1, None], [0, 1, 2]),
        ],
    )
    def test_the_primary_action_is_the_first_marked_one_else_the_first(
        self, marks: list[Any], order: list[int]
    ) -> None:
        found = action_buttons({"actions": [{**SAVE, "primary": mark} for mark in marks]})
        assert [button.number for button in found] == order

    @pytest.mark.parametrize("item", [None, "text", [], {}, {"actions": []}, {"actions": None}])
    def test_most_items_have_none(self, item: Any) -> None:
        assert action_buttons(item) == []

    def test_what_is_no_action_has_a_button_that_says_so(self) -> None:
        (found,) = action_buttons({"actions": ["nonsense"]})
        assert (found.label, found.protocol) == ("Action", "?")


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ({"name": "save_recipe", "description": "Save it"}, "Save recipe"),
        ({"name": "addToCart"}, "Add to cart"),
        ({"name": "Add to cart, now"}, "Add to cart, now"),
        ({"name": "Поставить"}, "Поставить"),
        ({"name": "x" * 200}, "x" * 69 + "…"),
        ({"description": "Save it"}, "Save it"),
        ({"description": "d" * 71, "@type": "SaveAction"}, "Save action"),
        ({}, "Action"),
        ({"name": "___"}, "___"),
    ],
)
def test_labels(raw: dict[str, Any], label: str) -> None:
    assert label_of(only(raw)) == label


@pytest.mark.django_db
class TestActionAt:
    @pytest.fixture
    def run(self) -> Run:
        items = [{"name": "A", "actions": [SAVE]}, {"name": "B"}]
        return recorded([[CALL, OPEN, HEAD], [event(f"event: result\ndata: {json.dumps(items)}"),
                         event("event: content\ndata: {}")], [END]])  # fmt: skip

    def test_finds_the_action(self, run: Run) -> None:
        found = action_at(run, (4, 0), 0)
        assert found is not None
        assert found.name == "save_recipe"

    @pytest.mark.parametrize(
        ("place", "number"),
        [
            ((4, 0), 1),
            ((4, 1), 0),
            ((4, 2), 0),
            ((5, 0), 0),
            ((1, 0), 0),
            ((0, 0), 0),
            ((99, 0), 0),
        ],
    )
    def test_or_nothing(self, run: Run, place: tuple[int, int], number: int) -> None:
        assert action_at(run, place, number) is None


@given(VALUES)
def test_no_action_is_passed_over(value: Any) -> None:
    for item in (value, {"a": [value, {"b": {"actions": value}}]}):
        assert len(action_buttons(item)) == len(actions_of(item))


def test_runs_of_one_action_are_told_from_others() -> None:
    def run(**changes: Any) -> Run:
        request = {"action": "a", "method": "GET", "url": "http://e.example/a?q=1", **changes}
        return Run(request=request)

    assert action_key(run()) == action_key(run(url="http://e.example/a?q=2"))
    assert action_key(run()) == action_key(run(body={"q": 1}))
    others = [run(url="http://e.example/b"), run(method="POST"), run(action="b"), Run(request=[])]
    assert all(action_key(other) != action_key(run()) for other in others)


@pytest.mark.parametrize(
    ("item", "plain"),
    [
        ({"saved": True}, True), ([1], True), ("ok", True), (None, True), ({"@type": ""}, True),
        ({"@type": "Recipe"}, False), ({"name": "Soup"}, False),
    ],
)  # fmt: skip
def test_data_and_things(item: Any, plain: bool) -> None:
    assert is_plain_data(item) is plain


def test_headers_say_where_they_come_from() -> None:
    shown = [("Accept", "*/*", False), ("X-Cart", "1", False), ("X-Mine", "2", False),
             ("Authorization", "••", True)]  # fmt: skip
    action = only({**SAVE, "headers": {"x-cart": "1", "X-Mine": "0"}})
    found = headers_of(shown, action, yours=["x-mine"], credentials=["authorization"])
    assert found == [
        HeaderRow("Accept", "*/*", False, ""),
        HeaderRow("X-Cart", "1", False, "action"),
        HeaderRow("X-Mine", "2", False, "yours"),
        HeaderRow("Authorization", "••", True, "credentials"),
    ]


def test_headers_that_are_no_object() -> None:
    shown = [("Accept", "*/*", False)]
    for headers in ([], "x", 7, None):
        assert headers_of(shown, only({**SAVE, "headers": headers}))[0].source == ""
    assert headers_of(shown, only("nonsense"))[0].source == ""
