"""The JSON files of the package have one layout, and can be read as data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tests.support.json_layout import files, laid_out
from tests.support.json_values import values


def test_files_have_the_layout_that_make_format_writes() -> None:
    texts = {path: path.read_text("utf-8") for path in files()}
    assert texts
    wrong = [str(path) for path, text in texts.items() if laid_out(json.loads(text)) != text]
    assert not wrong, f"Run `make format`: {wrong}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"a": [1, {}, []]}, '{"a": [1, {}, []]}\n', id="short"),
        pytest.param(["a" * 115], f'["{"a" * 115}"]\n', id="just-fits"),
        pytest.param(["a" * 116], f'[\n  "{"a" * 116}"\n]\n', id="just-too-long"),
        pytest.param({"é": "\ud800"}, '{"\\u00e9": "\\ud800"}\n', id="half-of-a-pair"),
    ],
)
def test_short_values_are_one_line(value: object, text: str) -> None:
    assert laid_out(value) == text


@given(values(["a", "é"], ["\ud800", "soup" * 30]))
def test_the_layout_keeps_the_value(value: object) -> None:
    assert json.dumps(json.loads(laid_out(value))) == json.dumps(value)
