from __future__ import annotations

from typing import Any

import pytest

from playground.protocols.actions import Action, actions_of
from playground.protocols.actions.extract import MAX_ACTIONS, MAX_TEXT

CALL = {
    "name": "cook", "description": "Cook it", "protocol": "HTTP", "method": "GET",
    "endpoint": "/cook",
}  # fmt: skip


def only(**changes: Any) -> Action:
    """The action of an item whose one action has these attributes; None takes one away."""
    raw = {name: value for name, value in {**CALL, **changes}.items() if value is not None}
    (action,) = actions_of({"actions": [raw]})
    return action


def test_an_action_as_the_specification_has_it() -> None:
    assert only() == Action("/actions/0", "cook", "Cook it", "HTTP", CALL)


@pytest.mark.parametrize(
    ("item", "pointers"),
    [
        ({"actions": CALL}, ["/actions"]),
        ({"actions": [CALL, CALL]}, ["/actions/0", "/actions/1"]),
        ([{"actions": CALL}], ["/0/actions"]),
        ({"a/b": {"c~d": [1, {"actions": [CALL]}]}}, ["/a~1b/c~0d/1/actions/0"]),
        (
            {"first": {"actions": CALL}, "actions": [CALL], "x": [{"actions": [CALL]}]},
            ["/actions/0", "/first/actions", "/x/0/actions/0"],
        ),
        ({"actions": [{**CALL, "params": {"actions": [CALL]}}]}, ["/actions/0"]),
        ({"actions": None}, []),
        ({"actions": []}, []),
        ({"name": "Soup"}, []),
        ("actions", []),
        (None, []),
    ],
)
def test_actions_are_found_at_any_depth(item: Any, pointers: list[str]) -> None:
    assert [action.pointer for action in actions_of(item)] == pointers


def test_nesting_has_no_limit_and_the_number_has() -> None:
    item: Any = {"actions": [CALL] * 70}
    for _ in range(5000):
        item = {"inner": [item]}
    found = actions_of(item)
    assert len(found) == MAX_ACTIONS
    assert found[-1].pointer == "/inner/0" * 5000 + "/actions/49"


@pytest.mark.parametrize("raw", ["cook", 5, True, ["cook"]])
def test_what_is_no_object_is_shown_as_what_it_is(raw: Any) -> None:
    (action,) = actions_of({"actions": [raw]})
    assert (action.raw, action.name, action.protocol) == (raw, "action", "")
    assert action.problems == ("The action is not an object.",)


def test_a_missing_protocol_is_http() -> None:
    action = only(protocol=None)
    assert (action.protocol, action.inferred) == ("HTTP", {"protocol"})
    assert action.problems == ("The action has no protocol.",)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("BuyAction", "BuyAction"), (["A", "B"], "A"), (5, "action"), ([], "action"), ([5], "action")],
)
def test_a_missing_name_is_that_of_the_type(kind: Any, name: str) -> None:
    action = only(**{"name": " ", "@type": kind})
    assert (action.name, action.inferred) == (name, {"name"})
    assert action.problems == ("The action’s name is empty.",)


def test_a_protocol_is_known_in_any_capitalisation() -> None:
    assert only(protocol=" http ").protocol == "HTTP"


@pytest.mark.parametrize("protocol", ["gRPC", "g" * 1000])
def test_another_protocol_is_a_problem(protocol: str) -> None:
    action = only(protocol=protocol)
    assert action.protocol == protocol
    (problem,) = action.problems
    assert problem.startswith("“g")
    assert len(problem) < 150


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"description": None}, ["The action has no description."]),
        ({"endpoint": None, "url": "/cook"}, ["The action has no endpoint; its url is used."]),
        ({"protocol": "MCP", "url": "http://a.example/mcp", "tool": "t"},
         ["The action has no server; its url is used."]),
        ({"method": None, "endpoint": None},
         ["The action has no method.", "The action has no endpoint."]),
        ({"method": 5}, ["The action’s method is not a string."]),
        ({"params": "some"}, ["The action’s params are not an object."]),
        ({"headers": [["a", "b"]]}, ["The action’s headers are not an object."]),
        ({"protocol": "MCP"}, ["The action has no server.", "The action has no tool."]),
        ({"protocol": "MCP", "server": "s", "tool": "t", "arguments": []},
         ["The action’s arguments are not an object."]),
        ({"protocol": "A2A"}, ["The action has no agent_url.", "The action has no skill."]),
        ({"protocol": "A2A", "agent_url": "u", "skill": "s", "message": {}}, []),
    ],
)  # fmt: skip
def test_what_is_missing_or_of_another_type(changes: dict[str, Any], problems: list[str]) -> None:
    assert only(**changes).problems == tuple(problems)


def test_long_names_are_cut() -> None:
    action = only(name="n" * 10**6, description="d" * 10**6)
    assert (len(action.name), len(action.description)) == (MAX_TEXT, MAX_TEXT)
