"""Follow-up questions: `something lighter` after `pasta with cream` means lighter pasta."""

from __future__ import annotations

import re
from dataclasses import replace

from playground.demo.corpus import strings
from playground.demo.index import words_of
from playground.demo.query_parser import parse_query
from playground.demo.requests import MAX_TEXT, AskRequest

_MARKER = re.compile(r"\s*(?:and|but|what about|how about|make it|only|or rather|with)\b", re.I)
#: Words that refine what was asked before and name nothing themselves.
_REFINING = frozenset("vegetarian vegan gluten free dairy lactose other others different".split())
#: Questions of a conversation that are looked back at.
_LOOKED_BACK = 8


def complete_from_context(ask: AskRequest) -> AskRequest:
    """The request with what it leaves unsaid, from `context.prev` (section 3.2).

    A follow-up is added to the last question that stands on its own, and to the follow-ups
    since. Any other request comes back as it is.
    """
    asked = strings(ask.context.get("prev"))[-_LOOKED_BACK:]
    earlier = [question[:MAX_TEXT] for question in asked]
    if not earlier or not _is_follow_up(ask.text):
        return ask
    chain = [ask.text]
    for question in reversed(earlier):
        chain.append(question)
        if not _is_follow_up(question):
            break
    # The newest wish comes last, where it counts most.
    text = ", ".join(part.strip(" .") for part in reversed(chain))[-MAX_TEXT:]
    return replace(ask, text=text)


def _is_follow_up(text: str) -> bool:
    """Whether a text refines another, rather than naming what to look for."""
    if not words_of(text):
        return False
    wish = parse_query(text)
    if wish.kinds:
        return False
    refines = bool(wish.order or wish.without or wish.diets or wish.max_minutes is not None)
    return bool(_MARKER.match(text)) or (refines and set(wish.search_terms) <= _REFINING)
