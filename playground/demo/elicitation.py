"""What the agent asks back when a request is too vague (section 4.1.3), and when it does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.demo import elicitation_answers
from playground.demo import questions as asking
from playground.demo.index import words_of
from playground.demo.query_parser import parse_query
from playground.demo.questions import Elicitation
from playground.demo.requests import AskRequest

_MEALS = frozenset({"dinner", "supper", "lunch", "hungry", "tonight", "evening"})
_SURPRISE = re.compile(r"\bsurprise me\b.*\bask first\b", re.I | re.S)
_VAGUE = frozenset({"site", "itemType", "num_results"})


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions to ask, with what has to be remembered until they are answered."""

    elicitation: Elicitation
    #: Answers of an earlier round; they travel in the session context.
    answers: Mapping[str, Any] = field(default_factory=dict)


def is_party(ask: AskRequest) -> bool:
    """Whether a dinner for guests is asked for, which takes one round of questions."""
    return "dinner party" in ask.text.lower()


def is_menu(ask: AskRequest) -> bool:
    """Whether a menu is asked for, which takes two rounds of questions."""
    return bool({"menu", "menus"} & set(words_of(ask.text))) and not is_party(ask)


def is_surprise(text: str) -> bool:
    """Whether a text wants to be surprised, and asked before."""
    return bool(_SURPRISE.search(text))


def questions_or_request(ask: AskRequest) -> AskRequest | Questions:
    """What to ask before answering, or the request with its answers checked.

    Raises `FailureError` INVALID_PARAMETER for an answer that does not fit its question.
    """
    if is_menu(ask):
        return _examine_menu(ask)
    elicitation = _elicitation_for(ask)
    if elicitation is None:
        return ask
    if set(ask.answers) & set(asking.ids_of(elicitation)):
        checked = elicitation_answers.check(elicitation, ask.answers)
        return replace(ask, answers={**ask.answers, **checked})
    if not (is_party(ask) or is_surprise(ask.text)) and _says_enough(ask):
        return ask
    return Questions(elicitation)


def _examine_menu(ask: AskRequest) -> AskRequest | Questions:
    """The occasion first, then what the occasion makes one ask."""
    earlier = {**ask.pending, **ask.answers}
    first = elicitation_answers.check(asking.MENU, earlier)
    if "occasion" not in first:
        return Questions(asking.MENU)
    second = asking.MENU_FOR[first["occasion"]]
    checked = elicitation_answers.check(second, ask.answers)
    if not checked:
        return Questions(second, first)
    return replace(ask, answers={**first, **checked})


def _elicitation_for(ask: AskRequest) -> Elicitation | None:
    """The questions that belong to a request, whether or not it answers them."""
    if is_party(ask):
        return asking.DINNER_PARTY
    if is_surprise(ask.text):
        return asking.SURPRISE
    words = set(parse_query(ask.text).search_terms)
    if words == {"pasta"}:
        return asking.PASTA_IN_WORDS if ask.version == "0.54" else asking.PASTA
    if words <= _MEALS and bool(set(words_of(ask.text)) & (_MEALS | {"eat", "cook", "meal"})):
        return asking.DINNER
    return None


def _says_enough(ask: AskRequest) -> bool:
    """Whether anything narrows the request: an answer, or any filter but site and type."""
    wish = parse_query(ask.text)
    said = wish.diets or wish.max_minutes is not None or wish.kinds - {"Recipe"}
    return bool(set(ask.filters) - _VAGUE or ask.answers or said or wish.order or wish.without)
