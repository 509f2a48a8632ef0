"""Follow-up queries: `something lighter` after `pasta with cream` means lighter pasta."""

from __future__ import annotations

import re
from dataclasses import replace

from playground.demo.corpus import strings
from playground.demo.index import words_of
from playground.demo.query_parser import parse_query
from playground.demo.requests import MAX_TEXT, AskRequest

_MARKER = re.compile(r"\s*(?:and|but|what about|how about|make it|only|or rather|with)\b", re.I)
#: Words that refine an earlier query and name nothing to look for.
_REFINING = frozenset("vegetarian vegan gluten free dairy lactose other others different".split())
#: Previous queries that are used.
_MAX_PREVIOUS = 8


def complete_from_context(ask: AskRequest) -> AskRequest:
    """Return the request, completed from `context.prev` (section 3.2).

    A follow-up is appended to the last query that is complete in itself, and to the follow-ups
    since. Any other request is returned unchanged.
    """
    previous = strings(ask.context.get("prev"))[-_MAX_PREVIOUS:]
    earlier = [query[:MAX_TEXT] for query in previous]
    if not earlier or not _is_follow_up(ask.text):
        return ask
    chain = [ask.text]
    for query in reversed(earlier):
        chain.append(query)
        if not _is_follow_up(query):
            break
    # The newest comes last, where it counts most.
    text = ", ".join(part.strip(" .") for part in reversed(chain))[-MAX_TEXT:]
    return replace(ask, text=text)


def _is_follow_up(text: str) -> bool:
    """Return True if a text refines another instead of naming what to look for."""
    if not words_of(text):
        return False
    parsed = parse_query(text)
    if parsed.kinds:
        return False
    refines = bool(parsed.order or parsed.without or parsed.diets or parsed.max_minutes is not None)
    return bool(_MARKER.match(text)) or (refines and set(parsed.search_terms) <= _REFINING)
