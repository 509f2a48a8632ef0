"""Values of another type are read as none."""

import pytest

from playground.protocols import lenient

ROWS = [
    # value, text, number, items, texts, members
    ("a", "a", None, [], [], {}),
    ("", "", None, [], [], {}),
    (None, "", None, [], [], {}),
    (True, "", None, [], [], {}),
    (0, "", 0, [], [], {}),
    (1.5, "", 1.5, [], [], {}),
    (float("nan"), "", None, [], [], {}),
    (float("inf"), "", None, [], [], {}),
    (10**400, "", None, [], [], {}),
    (["a", 1, None], "", None, ["a", 1, None], ["a"], {}),
    ({"a": 1}, "", None, [], [], {"a": 1}),
]


@pytest.mark.parametrize(("value", "text", "number", "items", "texts", "members"), ROWS, ids=repr)
def test_a_value_is_read_as_each_type(value, text, number, items, texts, members):
    assert lenient.text(value) == text
    assert lenient.number(value) == number
    assert lenient.items(value) == items
    assert lenient.texts(value) == texts
    assert lenient.members(value) == members


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param('{"a": [1]}', {"a": [1]}, id="JSON"),
        pytest.param("null", None, id="null"),
        pytest.param("NaN", "NaN", id="a number that JSON has not"),
        pytest.param("", "none", id="empty"),
        pytest.param("{", "none", id="not JSON"),
        pytest.param("[" * 3 + "]" * 3, "none", id="nested deeper than the limit"),
        pytest.param("[" * 2 + "]" * 2, [[]], id="nested as deep as the limit"),
    ],
)
def test_a_text_is_decoded_or_has_the_default(document, expected):
    assert lenient.decode(document, "none", max_depth=2) == expected


def test_a_text_that_python_cannot_read_has_the_default():
    assert lenient.decode("[" * 100_000, "none") == "none"
