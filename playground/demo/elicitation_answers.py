"""Finds the answers to this agent's questions, wherever a caller put them, and checks them.

NLWeb says how to ask and not how the answers come back, so this agent looks everywhere: in
attributes of the query named after the questions, in a context object of any type, and in
sentences appended to the text. Lists and strings joined by commas mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from playground.demo.failures import invalid_parameter
from playground.demo.questions import IDS, IN_WORDS, Elicitation, Question, labels
from playground.demo.requests import MAX_TEXT, AskRequest

_LABELS = {text.lower(): name for text, name in labels().items()}
#: A question in its own words, or its id and a colon: what follows is the answer.
_LABEL = re.compile(
    "|".join(
        [
            *(rf"(?:{re.escape(text)})[\s:]*" for text in sorted(_LABELS, key=len, reverse=True)),
            *(rf"(?<!\w){re.escape(name)}\s*[:=]\s*" for name in sorted(IDS)),
        ]
    ),
    re.I,
)
#: What stands between the parts of an answer that names several.
_LISTED = re.compile(r"\s*(?:,\s*and\b|,|;|\band\b)\s*", re.I)
_YES = frozenset({"yes", "true", "y", "1"})
_NO = frozenset({"no", "false", "n", "0"})


def gather(ask: AskRequest) -> AskRequest:
    """The request with its answers taken out of text, context and filters. Never raises.

    A filter wins over the context, and the context over the text.
    """
    text, said = _in_text(ask.text)
    answers = {**said, **dict(_in_context(ask.context))}
    answers |= {name: value for name, value in ask.filters.items() if name in IDS}
    answers = {name: value for name, value in answers.items() if value not in (None, "")}
    if isinstance(words := answers.get(IN_WORDS), str):
        text = f"{text}. {words}"[:MAX_TEXT]
    filters = {name: value for name, value in ask.filters.items() if name not in IDS}
    return replace(ask, text=text, filters=filters, answers=answers)


def check(elicitation: Elicitation, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to these questions, each in the type of its question; others are left out.

    Raises `FailureError` INVALID_PARAMETER for an answer that does not fit.
    """
    return {
        str(question["id"]): _CHECKS[str(question["type"])](question, answers[question["id"]])
        for question in elicitation.get("questions", [])
        if question["id"] in answers
    }


def _in_text(text: str) -> tuple[str, dict[str, Any]]:
    """The text before the first label, and what stands between the labels."""
    found = list(_LABEL.finditer(text))
    if not found or not text[: found[0].start()].strip():
        return text, {}
    answers: dict[str, Any] = {}
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=True):
        label = re.sub(r"[\s:=]+$", "", match[0]).lower()
        answer = text[match.end() : end].strip().rstrip(".;,").strip()
        answers[_LABELS.get(label, label)] = answer
    return text[: found[0].start()].strip(), answers


def _in_context(context: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Answers in the context itself, or one level down: `{id: value}` or `{id, answer}`."""
    for name, value in context.items():
        if name in IDS:
            yield name, value
        elif isinstance(value, dict):
            yield from ((inner, value[inner]) for inner in value if inner in IDS)
        elif isinstance(value, list):
            yield from (pair for part in value if (pair := _pair(part)))


def _pair(part: Any) -> tuple[str, Any] | None:
    """An entry of a list of answers, such as `{"id": "guests", "answer": 4}`."""
    if isinstance(part, dict) and isinstance(name := part.get("id"), str) and name in IDS:
        for key in ("answer", "value"):
            if key in part:
                return name, part[key]
    return None


def _refuse(question: Question, value: Any, expected: str) -> Exception:
    return invalid_parameter(str(question["id"]), value, expected, expected)


def _option(question: Question, value: Any, given: Any) -> str:
    options = {str(option).lower(): str(option) for option in question["options"]}
    if isinstance(value, str) and (option := options.get(value.strip().lower())):
        return option
    raise _refuse(question, given, f"one of: {', '.join(options.values())}")


def _one(question: Question, value: Any) -> str:
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    return _option(question, only, value)


def _several(question: Question, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    parts = [
        part
        for each in values
        for part in (_LISTED.split(each.strip()) if isinstance(each, str) else [each])
    ]
    if not parts:
        raise _refuse(question, value, "at least one of the options")
    return list(dict.fromkeys(_option(question, part, value) for part in parts))


def _number(question: Question, value: Any) -> float:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,6}(\.\d{1,3})?\s*", value, re.ASCII):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 10_000:
        raise _refuse(question, value, "a number from 1 to 10,000")
    return value


def _boolean(question: Question, value: Any) -> bool:
    word = str(value).strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise _refuse(question, value, "true or false")


def _words(question: Question, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = ", ".join(value)
    if not isinstance(value, str):
        raise _refuse(question, value, "a string")
    return value.strip()


_CHECKS = {
    "single_select": _one,
    "multi_select": _several,
    "number": _number,
    "boolean": _boolean,
    "free_text": _words,
}
