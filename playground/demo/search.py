"""Finds and ranks what a request asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.demo import criteria as filtering
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.criteria import ANSWERS, Criteria
from playground.demo.failures import FailureError
from playground.demo.index import words_of
from playground.demo.query_parser import ParsedQuery, diets_in, excluded, parse_query
from playground.demo.requests import AskRequest

#: How much a synonym, and a word from the context, counts beside a word of the question.
_RELATED, _CONTEXT = 0.3, 0.15
#: More words than this of one question are not looked at.
_MAX_WORDS = 40
#: Entries that fit less than this share of the best are noise: one common word in common.
_CUTOFF = 0.2
#: What can be asked for less of.
_FIGURES: Mapping[str, Callable[[CorpusItem], float | None]] = {
    "calories": lambda entry: entry.calories,
    "minutes": lambda entry: entry.minutes,
    "price": lambda entry: entry.price,
}
#: So many of the best are put into another order: beyond them, little fits.
_REORDERED = 30


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: the best entries, best first."""

    entries: list[CorpusItem]
    #: How many fit, including those beyond the limit.
    total: int
    criteria: Criteria


def answers(ask: AskRequest) -> dict[str, Any]:
    """Answers to this agent's questions, from the query or from a context object."""
    return {
        name: source[name]
        for source in (ask.context, ask.filters, ask.answers)
        for name in ANSWERS
        if source.get(name) is not None
    }


def find(corpus: Corpus, ask: AskRequest) -> SearchResult:
    """What fits the request best.

    Raises `FailureError`: INVALID_QUERY for a text without words, INVALID_PARAMETER for an
    impossible filter, NO_RESULTS when nothing fits.
    """
    if not words_of(ask.text):
        raise FailureError("INVALID_QUERY", "There is no word in query.text.")
    wish = parse_query(ask.text)
    criteria = _criteria(ask, wish)
    if criteria.site and criteria.site not in corpus.sites:
        raise FailureError(
            "NO_RESULTS",
            f"There is no site {criteria.site} here; there are {', '.join(corpus.sites)}.",
        )
    entries = _ranked(corpus, wish, ask.context, criteria)
    # A sauce or a protein is a preference: better another dish than none.
    entries = [entry for entry in entries if criteria.prefers(entry)] or entries
    if wish.order:
        entries = _ordered(entries, wish.order)
    if not entries:
        raise FailureError("NO_RESULTS", f"Nothing here fits “{ask.text[:200]}”.")
    return SearchResult(entries[: criteria.limit], len(entries), criteria)


def _ordered(entries: Sequence[CorpusItem], order: str) -> list[CorpusItem]:
    """Those of the best that have least of something first; what has no figure goes last."""
    figure = _FIGURES[order]

    def least(entry: CorpusItem) -> float:
        value = figure(entry)
        return math.inf if value is None else value

    return [*sorted(entries[:_REORDERED], key=least), *entries[_REORDERED:]]


def diets_in_text(ask: AskRequest) -> frozenset[str]:
    """The diets that the question or its context mentions in words."""
    return diets_in(f"{ask.text}\n{_said(ask)}")


def _said(ask: AskRequest) -> str:
    """What the context says about the person and the occasion."""
    parts = (part for name in ("memory", "text") for part in strings(ask.context.get(name)))
    return "\n".join(parts)


def _criteria(ask: AskRequest, wish: ParsedQuery) -> Criteria:
    """The filters, and the constraints said in words where no filter says otherwise."""
    criteria = filtering.read({**ask.filters, **answers(ask)})
    said = _said(ask)
    minutes = criteria.max_minutes if criteria.max_minutes is not None else wish.max_minutes
    return replace(
        criteria,
        kinds=criteria.kinds or wish.kinds,
        dishes_for=diets_in_text(ask),
        without=wish.without | excluded(said),
        max_minutes=minutes,
    )


def _fit(corpus: Corpus, words: Sequence[str]) -> dict[int, float]:
    """Scores by position: bm25 summed over the words, more for having more of them.

    Without the second part, one rare word outweighs the rest of the question.
    """
    scores: dict[int, float] = {}
    matched: dict[int, int] = {}
    wanted = list(dict.fromkeys(words))[:_MAX_WORDS]
    for word in wanted:
        for position, score in corpus.index.scores([word]).items():
            scores[position] = scores.get(position, 0) + score
            matched[position] = matched.get(position, 0) + 1
    return {at: score * matched[at] / len(wanted) for at, score in scores.items()}


def _ranked(
    corpus: Corpus, wish: ParsedQuery, context: Mapping[str, Any], criteria: Criteria
) -> list[CorpusItem]:
    """The entries that meet the criteria and have to do with the question, best first."""
    admitted = {at: entry for at, entry in enumerate(corpus.entries) if criteria.admits(entry)}
    if not wish.search_terms:
        return sorted(admitted.values(), key=lambda entry: -entry.rating)
    scores = _fit(corpus, wish.search_terms)
    _add(scores, corpus.index.scores(wish.related), _RELATED, new=True)
    said = [text for name in ("prev", "text", "memory") for text in strings(context.get(name))]
    _add(scores, corpus.index.scores(parse_query(" ".join(said)).search_terms), _CONTEXT, new=False)
    scores = {at: score for at, score in scores.items() if at in admitted}
    least = max(scores.values(), default=0) * _CUTOFF
    best = sorted(scores, key=lambda at: (-scores[at], at))
    return [admitted[at] for at in best if scores[at] >= least]


def _add(scores: dict[int, float], more: Mapping[int, float], weight: float, *, new: bool) -> None:
    """Add weighted scores; what has none so far gets one only if it may be `new`."""
    for at, score in more.items():
        if new or at in scores:
            scores[at] = scores.get(at, 0) + score * weight
