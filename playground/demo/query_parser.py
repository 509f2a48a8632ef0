"""Parser of queries in plain words: search terms, constraints within the text, follow-ups.

`something lighter` after `pasta with cream` means lighter pasta.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from playground.demo.corpus import diet_key, strings, words_of
from playground.demo.requests import MAX_TEXT, AskRequest
from playground.demo.vocabulary import ORDERS, STOP_WORDS, SYNONYMS, TYPES

#: Words that do not help to choose a restaurant.
_MEALS = frozenset({"dinner", "lunch", "supper"})
_DIETS = re.compile(
    r"(?<!non-)(?<!not )\b(vegetarian|vegan|gluten[- ]free|dairy[- ]free|lactose[- ]free)\b", re.I
)
_TIME = re.compile(
    r"\b(?:under|within|in|less than|at most|below|max(?:imum)?|up to|only)\s+(?:about\s+)?"
    r"(\d{1,3}|an|one|half an)[- ]?(min(?:ute)?s?|h(?:ou)?rs?)\b",
    re.I,
)
_WITHOUT = re.compile(
    r"\b(?:without|allergic to|no|avoid(?:s|ing)?|free of)\s+(?:any\s+)?(\w+)", re.I
)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query with its search terms and constraints."""

    #: Empty when the query has only a type or a constraint.
    search_terms: Sequence[str]
    #: Synonyms of the search terms.
    related: Sequence[str]
    kinds: frozenset[str]
    diets: frozenset[str]
    #: Excluded ingredients.
    without: frozenset[str]
    max_minutes: float | None
    #: The value to order by, ascending: calories, minutes or price; "" for relevance.
    order: str = ""


def parse_query(text: str) -> ParsedQuery:
    """Parse a query. Never raise."""
    without = excluded(text)
    words = [w for w in words_of(text) if w not in STOP_WORDS and w not in without]
    kinds = {TYPES[word] for word in words if word in TYPES}
    searched = [w for w in words if w not in TYPES and w not in ORDERS and not w.isdigit()]
    if kinds == {"Restaurant"}:
        searched = [word for word in searched if word not in _MEALS]
    related = [other for word in words for other in SYNONYMS.get(word, ())]
    return ParsedQuery(
        search_terms=searched,
        related=related,
        kinds=frozenset(kinds),
        diets=diets_in(text),
        without=without,
        max_minutes=_minutes_in(text),
        order=next((ORDERS[word] for word in reversed(words) if word in ORDERS), ""),
    )


def diets_in(text: str) -> frozenset[str]:
    return frozenset(diet_key(found) for found in _DIETS.findall(text))


def excluded(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WITHOUT.findall(text) if len(word) > 2)


def _minutes_in(text: str) -> float | None:
    if not (match := _TIME.search(text)):
        return None
    number, unit = match[1].lower(), match[2].lower()
    amount = {"an": 1.0, "one": 1.0, "half an": 0.5}.get(number)
    amount = float(number) if amount is None else amount
    return amount * 60 if unit.startswith("h") else amount


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
