"""Elicitations (section 4.1.3): the questions, when they are asked, and how answers are read.

NLWeb says how to ask and not how the answers are returned, so this agent looks for them in
attributes of the query named after the questions, in a context object of any type, and in
sentences appended to the text. Lists and strings joined by commas mean the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from playground.demo import languages
from playground.demo.corpus import words_of
from playground.demo.failures import invalid_parameter
from playground.demo.languages import Language, wordings
from playground.demo.query_parser import parse_query
from playground.demo.requests import MAX_TEXT, AskRequest

Question = Mapping[str, Any]
#: Text and questions, as they are sent.
Elicitation = Mapping[str, Any]

#: The id of the answer to an elicitation without a list of questions.
IN_WORDS = "answer"

_TEXTS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def _elicitation(text: str, questions: Mapping[str, Question] | None = None) -> Elicitation:
    """Return an elicitation of these questions, each with what differs from its usual form."""
    if questions is None:
        return {"text": text}
    usual = _TEXTS["questions"]
    return {
        "text": text,
        "questions": [{"id": name, **usual[name], **own} for name, own in questions.items()],
    }


#: By name. A menu is asked for in two rounds: the second is the elicitation of the occasion. The
#: examples of 0.54 (section 3) ask without a list of questions.
ELICITATIONS: Mapping[str, Elicitation] = {
    name: _elicitation(**row) for name, row in _TEXTS["elicitations"].items()
}
#: Asked before a surprise; over MCP it is asked by an elicitation of MCP's own.
SURPRISE = ELICITATIONS["surprise"]


@dataclass(frozen=True, slots=True)
class Questions:
    """An elicitation to send, with the answers to keep until it is answered."""

    elicitation: Elicitation
    #: Answers of an earlier round; they travel in the session context.
    answers: Mapping[str, Any] = field(default_factory=dict)


def questions_or_request(ask: AskRequest) -> AskRequest | Questions:
    """Return the elicitation to send first, or the request with its answers checked.

    Raise `FailureError` INVALID_PARAMETER for an answer that does not fit its question.
    """
    if is_menu(ask):
        return _menu_questions(ask)
    elicitation = _elicitation_for(ask)
    if elicitation is None:
        return ask
    if set(ask.answers) & set(ids_of(elicitation)):
        checked = check_answers(elicitation, ask.answers)
        return replace(ask, answers={**ask.answers, **checked})
    if not (is_party(ask) or is_surprise(ask.text)) and _is_specific(ask):
        return ask
    return Questions(elicitation)


def presented(elicitation: Elicitation, version: str, language: Language) -> Elicitation:
    """Return an elicitation as a version has it, in a language.

    The examples of 0.54 have selections only: there, yes or no is a selection, and what else is
    asked is asked in the text, without a default, which 0.54 does not have either.
    """
    texts = [elicitation["text"]]
    questions: list[Question] = []
    for question in elicitation.get("questions", []):
        if version != "0.54" or question["type"] in _SELECTIONS:
            questions.append(question)
        elif question["type"] == "boolean":
            questions.append({**question, "type": "single_select", "options": ["yes", "no"]})
        else:
            texts.append(question["text"])
    text = " ".join(languages.say(language, text) for text in texts)
    translated = [_translated(question, version, language) for question in questions]
    return {"text": text, "questions": translated} if translated else {"text": text}


def _translated(question: Question, version: str, language: Language) -> Question:
    """Return a question in a language; answers may be in any."""
    found = {**question, "text": languages.say(language, question["text"])}
    for name in ("options", "default"):
        match found.get(name):
            case list(values):
                found[name] = [languages.say(language, value) for value in values]
            case str(value):
                found[name] = languages.say(language, value)
    if version == "0.54":
        found.pop("default", None)
    return found


def is_party(ask: AskRequest) -> bool:
    """Return True for a dinner party, which takes one round of questions."""
    return "dinner party" in ask.text.lower()


def is_menu(ask: AskRequest) -> bool:
    """Return True for a menu, which takes two rounds of questions."""
    return bool({"menu", "menus"} & set(words_of(ask.text))) and not is_party(ask)


def is_surprise(text: str) -> bool:
    """Return True for a text that asks for a surprise and for questions before it."""
    return bool(_SURPRISE.search(text))


def ids_of(elicitation: Elicitation) -> list[str]:
    """Return the ids of the questions; IN_WORDS where there is no list of them."""
    return [str(q["id"]) for q in elicitation.get("questions", [])] or [IN_WORDS]


def labels() -> dict[str, str]:
    """Return the labels of answers in a text: each wording of each question, with its id."""
    found: dict[str, str] = {}
    for elicitation in ELICITATIONS.values():
        for question in elicitation.get("questions", []):
            found[str(question["text"])] = str(question["id"])
        if "questions" not in elicitation:
            found[str(elicitation["text"])] = IN_WORDS
    return {wording: name for text, name in found.items() for wording in wordings(text)}


#: Every id that an answer can have.
IDS = frozenset(name for elicitation in ELICITATIONS.values() for name in ids_of(elicitation))
#: The types of questions of 0.54.
_SELECTIONS = frozenset({"single_select", "multi_select"})
_MEALS = frozenset({"dinner", "supper", "lunch", "hungry", "tonight", "evening"})
_SURPRISE = re.compile(r"\bsurprise me\b.*\bask first\b", re.I | re.S)
#: Filters that do not make a request specific.
_VAGUE = frozenset({"site", "itemType", "num_results"})


def _menu_questions(ask: AskRequest) -> AskRequest | Questions:
    """Ask for the occasion first, then the questions of the occasion."""
    earlier = {**ask.pending, **ask.answers}
    menu = ELICITATIONS["menu"]
    first = check_answers(menu, earlier)
    if "occasion" not in first:
        return Questions(menu)
    second = ELICITATIONS[first["occasion"]]
    checked = check_answers(second, ask.answers)
    if not checked:
        return Questions(second, first)
    return replace(ask, answers={**first, **checked})


def _elicitation_for(ask: AskRequest) -> Elicitation | None:
    """Return the elicitation for a request, answered or not; None if there is none."""
    if is_party(ask):
        return ELICITATIONS["dinner party"]
    if is_surprise(ask.text):
        return SURPRISE
    words = set(parse_query(ask.text).search_terms)
    if words == {"pasta"}:
        return ELICITATIONS["pasta in words" if ask.version == "0.54" else "pasta"]
    if words <= _MEALS and bool(set(words_of(ask.text)) & (_MEALS | {"eat", "cook", "meal"})):
        return ELICITATIONS["dinner"]
    return None


def _is_specific(ask: AskRequest) -> bool:
    """Return True if an answer, or any filter but site and type, narrows the request."""
    query = parse_query(ask.text)
    narrows = query.diets or query.max_minutes is not None or query.kinds - {"Recipe"}
    return bool(set(ask.filters) - _VAGUE or ask.answers or narrows or query.order or query.without)


_LABELS = {text.lower(): name for text, name in labels().items()}
#: The wording of a question, or its id and a colon; the answer follows.
_LABEL = re.compile(
    "|".join(
        [
            *(rf"(?:{re.escape(text)})[\s:]*" for text in sorted(_LABELS, key=len, reverse=True)),
            *(rf"(?<!\w){re.escape(name)}\s*[:=]\s*" for name in sorted(IDS)),
        ]
    ),
    re.I,
)
#: Separators of an answer with several parts.
_LISTED = re.compile(rf"\s*(?:,\s*and\b|,|;|\b(?:{'|'.join(wordings('and'))})\b)\s*", re.I)
_YES = frozenset({"true", "y", "1", *wordings("yes")})
_NO = frozenset({"false", "n", "0", *wordings("no")})


def gather_answers(ask: AskRequest) -> AskRequest:
    """Return the request with its answers moved out of text, context and filters.

    A filter takes precedence over the context, and the context over the text. Never raise.
    """
    text, in_text = _in_text(ask.text)
    answers = {**in_text, **dict(_in_context(ask.context))}
    answers |= {name: value for name, value in ask.filters.items() if name in IDS}
    answers = {name: value for name, value in answers.items() if value not in (None, "")}
    if isinstance(words := answers.get(IN_WORDS), str):
        text = f"{text}. {words}"[:MAX_TEXT]
    filters = {name: value for name, value in ask.filters.items() if name not in IDS}
    return replace(ask, text=text, filters=filters, answers=answers)


def check_answers(elicitation: Elicitation, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers to these questions in the types of the questions; drop others.

    Raise `FailureError` INVALID_PARAMETER for an answer that does not fit.
    """
    return {
        str(question["id"]): _CHECKS[str(question["type"])](question, answers[question["id"]])
        for question in elicitation.get("questions", [])
        if question["id"] in answers
    }


def _in_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the text before the first label, and the answers by id."""
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
    """Yield answers in the context or one level down: `{id: value}` or `{id, answer}`."""
    for name, value in context.items():
        if name in IDS:
            yield name, value
        elif isinstance(value, dict):
            yield from ((inner, value[inner]) for inner in value if inner in IDS)
        elif isinstance(value, list):
            yield from (pair for part in value if (pair := _pair(part)))


def _pair(part: Any) -> tuple[str, Any] | None:
    """Read an entry of a list of answers, such as `{"id": "guests", "answer": 4}`."""
    if isinstance(part, dict) and isinstance(name := part.get("id"), str) and name in IDS:
        for key in ("answer", "value"):
            if key in part:
                return name, part[key]
    return None


def _invalid(question: Question, value: Any, expected: str) -> Exception:
    return invalid_parameter(str(question["id"]), value, expected, expected)


def _option(question: Question, value: Any, given: Any) -> str:
    options = [str(option) for option in question["options"]]
    by_wording = {wording.lower(): option for option in options for wording in wordings(option)}
    if isinstance(value, str) and (option := by_wording.get(value.strip().lower())):
        return option
    raise _invalid(question, given, f"one of: {', '.join(options)}")


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
        raise _invalid(question, value, "at least one of the options")
    return list(dict.fromkeys(_option(question, part, value) for part in parts))


def _number(question: Question, value: Any) -> float:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,6}(\.\d{1,3})?\s*", value, re.ASCII):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 10_000:
        raise _invalid(question, value, "a number from 1 to 10,000")
    return value


def _boolean(question: Question, value: Any) -> bool:
    word = str(value).strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise _invalid(question, value, "true or false")


def _free_text(question: Question, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = ", ".join(value)
    if not isinstance(value, str):
        raise _invalid(question, value, "a string")
    return value.strip()


_CHECKS = {
    "single_select": _one,
    "multi_select": _several,
    "number": _number,
    "boolean": _boolean,
    "free_text": _free_text,
}
