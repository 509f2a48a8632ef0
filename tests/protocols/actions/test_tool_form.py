"""The arguments of a tool as a form: any schema, any arguments, any answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.actions.tool_form import ToolControl, arguments_of, controls_of
from tests.support.json_values import objects, values

SCHEMA = {
    "type": "object",
    "required": ["dish", "servings", "cold"],
    "properties": {
        "dish": {"type": "string", "title": "The dish", "description": "What to cook"},
        "servings": {"type": "integer", "default": 2},
        "salt": {"type": "number"},
        "cold": {"type": "boolean"},
        "size": {"enum": ["small", "large", 3]},
        "notes": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "object"},
    },
}


def filled(**texts: str) -> dict[str, str]:
    """What a form sends, by the names of the arguments."""
    numbers = {control.name: control.field for control in controls_of(SCHEMA, {})}
    return {numbers[name]: text for name, text in texts.items()}


def read(**texts: str) -> tuple[dict[str, Any], list[str]]:
    return arguments_of(controls_of(SCHEMA, {}), filled(**texts), {})


def test_each_type_has_its_control() -> None:
    kinds = {control.name: control.kind for control in controls_of(SCHEMA, {})}
    assert kinds == {
        "dish": "string", "servings": "integer", "salt": "number", "cold": "boolean",
        "size": "choice", "notes": "lines", "more": "json",
    }  # fmt: skip


def test_a_control_says_what_the_schema_says() -> None:
    dish, servings, *_, size, _, _ = controls_of(SCHEMA, {"dish": "soup"})
    assert dish == ToolControl(0, "dish", "string", "The dish", "What to cook", True, "soup")
    assert (servings.value, servings.field) == ("2", "argument-1")
    assert size.choices == [('"small"', "small"), ('"large"', "large"), ("3", "3")]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("notes", ["a", "b"], "a\nb"),
        ("size", "large", '"large"'),
        ("cold", False, "false"),
        ("salt", 0.5, "0.5"),
        ("more", {"a": "é"}, '{"a": "é"}'),
        ("more", None, ""),
    ],
)
def test_a_control_holds_what_the_agent_gave(name: str, value: Any, shown: str) -> None:
    (control,) = (each for each in controls_of(SCHEMA, {name: value}) if each.name == name)
    assert (control.kind != "json" or name == "more", control.value) == (True, shown)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dish", 7), ("servings", "two"), ("salt", True), ("cold", "yes"), ("size", "huge"),
        ("notes", "a"), ("notes", ["a\nb"]), ("notes", [""]), ("notes", [1]),
    ],
)  # fmt: skip
def test_what_a_control_cannot_hold_is_json(name: str, value: Any) -> None:
    (control,) = (each for each in controls_of(SCHEMA, {name: value}) if each.name == name)
    assert (control.kind, json.loads(control.value)) == ("json", value)


def test_a_form_becomes_arguments() -> None:
    found, problems = read(
        dish="soup", servings="4.0", salt="1.5", cold="true", size="3", notes=" a \n\nb\r\n",
        more='{"x": [1]}',
    )  # fmt: skip
    assert problems == []
    assert found == {
        "dish": "soup", "servings": 4, "salt": 1.5, "cold": True, "size": 3, "notes": ["a", "b"],
        "more": {"x": [1]},
    }  # fmt: skip
    assert type(found["servings"]) is int


def test_what_is_empty_is_left_out_and_missed_only_where_it_must_be() -> None:
    assert read() == (
        {}, ["The dish is missing.", "servings is missing.", "cold is missing."],
    )  # fmt: skip
    assert read(dish=" ", servings="1", cold="false")[0]["dish"] == " "


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ({"servings": "1.5"}, "servings: This is not an integer."),
        ({"servings": '"1"'}, "servings: This is not a number."),
        (
            {"salt": "much"},
            "salt: Invalid JSON: expected a value (line 1, column 1).",
        ),
        ({"cold": "1"}, "cold: Choose yes or no."),
        ({"size": '"huge"'}, "size: This is not one of the choices."),
        ({"more": "[" * 60}, "more: The JSON is nested too deeply."),
        ({"salt": "1e999"}, "salt: This is not a number."),
    ],
)
def test_what_is_wrong_with_a_form(text: dict[str, str], problem: str) -> None:
    found, problems = read(**{"dish": "a", "servings": "1", "cold": "true", **text})
    assert problems == [problem]
    assert not text.keys() & found.keys()


def test_what_has_no_control_is_kept() -> None:
    found, _ = arguments_of(controls_of(SCHEMA, {}), filled(dish="a"), {"dish": "b", "x": 1})
    assert found == {"x": 1, "dish": "a"}


@pytest.mark.parametrize("schema", [None, [], {}, {"properties": []}, {"properties": {}}])
def test_a_schema_that_says_nothing_has_no_controls(schema: Any) -> None:
    assert controls_of(schema, {"a": 1}) == []


def test_a_form_has_an_end() -> None:
    many = {"properties": {f"p{number}": {} for number in range(500)}}
    assert len(controls_of(many, {})) == 100
    choices = {"properties": {"a": {"enum": list(range(500))}}}
    assert controls_of(choices, {})[0].kind == "json"


NAMES = ["properties", "required", "type", "enum", "items", "title", "description", "default", "a"]
WORDS = ["string", "integer", "number", "boolean", "array", "object", "a", "b"]
SCHEMAS = st.fixed_dictionaries({"properties": objects(NAMES, WORDS)}) | values(NAMES, WORDS)


@given(SCHEMAS, values(NAMES, WORDS))
def test_any_arguments_come_back_from_their_form(schema: Any, given_: Any) -> None:
    controls = controls_of(schema, given_)
    data = {control.field: control.value for control in controls}
    found, _ = arguments_of(controls, data, given_)
    for control in controls:
        if isinstance(given_, dict) and given_.get(control.name) not in (None, ""):
            assert found[control.name] == given_[control.name]


@given(SCHEMAS, st.dictionaries(st.sampled_from([f"argument-{n}" for n in range(6)]), st.text()))
def test_any_form_is_read(schema: Any, data: dict[str, str]) -> None:
    found, problems = arguments_of(controls_of(schema, {}), data, {})
    json.dumps(found, allow_nan=False)
    assert all(problem.endswith(".") for problem in problems)
