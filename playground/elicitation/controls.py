"""Controls of questions: what each shows, accepts as a default and reads as an answer.

A new type of question is a row of `CONTROLS`. A type that no version of NLWeb defines is an
extension: the rule `question-type-known` says so, and the form asks all the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The most characters of a text that is shown, and of an option.
MAX_TEXT = 20_000

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
#: The most characters of a number; Python parses no longer integers.
_LONGEST_NUMBER = 100

#: The values of a question's options.
Options = Sequence[str]


class RefusedError(Exception):
    """An invalid answer; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Control:
    """A kind of control, and the type of question that has it (NLWeb 0.55 section 4.1.3)."""

    question_type: str
    #: Return the agent's default as the control shows it, None if it is not valid.
    default: Callable[[Any, Options], Any]
    #: What a default has to be.
    wanted: str
    #: Return the answer in the non-blank texts of a submitted form. Raises `RefusedError`.
    read: Callable[[Options, Sequence[str]], Any]
    #: The error of a required question without an answer.
    missing: str
    #: Whether the user chooses among the agent's options; without any, a text field is shown.
    chooses: bool = False
    #: Whether the agent's options are kept: as choices, or as suggestions.
    has_options: bool = False
    #: Labels by value, if the control has choices of its own.
    choices: Mapping[str, str] | None = None
    #: Attributes of an `input`. Without any, a text field grows with its text.
    attributes: tuple[tuple[str, str], ...] = ()


def _normalized(text: str) -> str:
    """Normalize line ends, which a browser sends as CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _one(given: Sequence[str]) -> str:
    if len(given) > 1:
        raise RefusedError("Enter exactly one answer.")
    return given[0]


def _chosen(options: Options, given: Sequence[str]) -> list[str]:
    """Return the options among the submitted texts, in the form's order."""
    texts = {_normalized(text) for text in given}
    return [option for option in options if _normalized(option) in texts]


def _read_option(options: Options, given: Sequence[str]) -> str:
    chosen = _chosen(options, [_one(given)])
    if not chosen:
        raise RefusedError("This is not one of the options.")
    return chosen[0]


def _read_options(options: Options, given: Sequence[str]) -> list[str]:
    chosen = _chosen(options, given)
    if {_normalized(text) for text in given} != {_normalized(option) for option in chosen}:
        raise RefusedError("Some of the choices are not among the options.")
    return chosen


def _read_text(_options: Options, given: Sequence[str]) -> str:
    return _normalized(_one(given))


def _read_number(_options: Options, given: Sequence[str]) -> int | float:
    text = _one(given).strip()
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise RefusedError("Enter a number such as 12 or 2.5.")
    number = int(text) if _INTEGER.fullmatch(text) else float(text)
    if isinstance(number, float) and not math.isfinite(number):
        raise RefusedError("This number is too large.")
    return number


def _read_boolean(_options: Options, given: Sequence[str]) -> bool:
    value = _one(given)
    if value not in _YES_NO:
        raise RefusedError("Answer yes or no.")
    return value == "true"


def _text(value: Any, _options: Options) -> str | None:
    """Return a string, or a number converted to an option by the reader."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else None
    return str(value) if type(value) in (int, float) else None


def _option(value: Any, options: Options) -> str | None:
    text = _text(value, options)
    return text if text in options else None


def _several(value: Any, options: Options) -> tuple[str, ...] | None:
    values = value if isinstance(value, list | tuple) else [value]
    chosen = [_text(one, options) for one in values]
    if not all(text in options for text in chosen):
        return None
    return tuple(option for option in options if option in chosen)


def _number(value: Any, _options: Options) -> int | float | None:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if type(value) is int else None


def _boolean(value: Any, _options: Options) -> bool | None:
    return value if isinstance(value, bool) else None


_YES_NO = {"true": "Yes", "false": "No"}

CONTROLS: Mapping[str, Control] = {
    "radio": Control(
        "single_select",
        default=_option,
        wanted="one of the options",
        read=_read_option,
        missing="Choose one of the options.",
        chooses=True,
        has_options=True,
    ),
    "checkboxes": Control(
        "multi_select",
        default=_several,
        wanted="a list of options",
        read=_read_options,
        missing="Choose at least one option.",
        chooses=True,
        has_options=True,
    ),
    "text": Control(
        "free_text",
        default=_text,
        wanted=f"text of at most {MAX_TEXT:,} characters",
        read=_read_text,
        missing="Enter an answer.",
        has_options=True,
    ),
    "number": Control(
        "number",
        default=_number,
        wanted="a number",
        read=_read_number,
        missing="Enter a number.",
        # Not type=number, which would drop invalid input before it could be reported.
        attributes=(("type", "text"), ("inputmode", "decimal")),
    ),
    "boolean": Control(
        "boolean",
        default=_boolean,
        wanted="true or false",
        read=_read_boolean,
        missing="Answer yes or no.",
        choices=_YES_NO,
    ),
}
