"""Search of the corpus: filtering, scoring and ranking for a request."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.demo.corpus import Corpus, CorpusItem, strings, words_of
from playground.demo.failures import FailureError
from playground.demo.filters import ANSWERS, Criteria, read_filters
from playground.demo.query_parser import ParsedQuery, diets_in, excluded, parse_query
from playground.demo.requests import AskRequest

#: Weights of a synonym and of a word of the context, relative to a word of the query.
_SYNONYM_WEIGHT, _CONTEXT_WEIGHT = 0.3, 0.15
#: Words of a query that are scored.
_MAX_WORDS = 40
#: Share of the best score below which items are dropped: one common word is noise.
_CUTOFF = 0.2
#: Values to order by, ascending.
_ORDER_VALUES: Mapping[str, Callable[[CorpusItem], float | None]] = {
    "calories": lambda entry: entry.calories,
    "minutes": lambda entry: entry.minutes,
    "price": lambda entry: entry.price,
}
#: Best items that are reordered; the others hardly match.
_REORDERED = 30


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The items found by a search, best first."""

    entries: list[CorpusItem]
    #: Number of matches, including those beyond the limit.
    total: int
    criteria: Criteria


def answers(ask: AskRequest) -> dict[str, Any]:
    """Return the answers to this agent's questions, from the query or a context object."""
    return {
        name: source[name]
        for source in (ask.context, ask.filters, ask.answers)
        for name in ANSWERS
        if source.get(name) is not None
    }


def find(corpus: Corpus, ask: AskRequest) -> SearchResult:
    """Return the best matches for a request.

    Raise `FailureError`: INVALID_QUERY for a text without words, INVALID_PARAMETER for an
    invalid filter, NO_RESULTS if nothing matches.
    """
    if not words_of(ask.text):
        raise FailureError("INVALID_QUERY", "query.text has no words.")
    query = parse_query(ask.text)
    criteria = _criteria(ask, query)
    if criteria.site and criteria.site not in corpus.sites:
        raise FailureError(
            "NO_RESULTS",
            "Unknown site: {site}. Sites: {sites}.",
            site=criteria.site,
            sites=", ".join(corpus.sites),
        )
    entries = _ranked(corpus, query, ask.context, criteria)
    # Soft criteria, such as a sauce or a protein, are dropped if nothing meets them.
    entries = [entry for entry in entries if criteria.prefers(entry)] or entries
    if query.order:
        entries = _reordered(entries, query.order)
    if not entries:
        raise FailureError("NO_RESULTS", "No results match “{query}”.", query=ask.text[:200])
    return SearchResult(entries[: criteria.limit], len(entries), criteria)


def _reordered(entries: Sequence[CorpusItem], order: str) -> list[CorpusItem]:
    """Reorder the best entries by a value, ascending; those without the value go last."""
    value_of = _ORDER_VALUES[order]

    def sort_key(entry: CorpusItem) -> float:
        value = value_of(entry)
        return math.inf if value is None else value

    return [*sorted(entries[:_REORDERED], key=sort_key), *entries[_REORDERED:]]


def diets_in_text(ask: AskRequest) -> frozenset[str]:
    """Return the diets in the text of the query or of its context."""
    return diets_in(f"{ask.text}\n{_context_text(ask)}")


def _context_text(ask: AskRequest) -> str:
    """Return the text of the context: `memory` and `text` (section 3.2)."""
    parts = (part for name in ("memory", "text") for part in strings(ask.context.get(name)))
    return "\n".join(parts)


def _criteria(ask: AskRequest, query: ParsedQuery) -> Criteria:
    """Return the filters, and the constraints in the text, over which filters take precedence."""
    criteria = read_filters({**ask.filters, **answers(ask)})
    context_text = _context_text(ask)
    minutes = criteria.max_minutes if criteria.max_minutes is not None else query.max_minutes
    return replace(
        criteria,
        kinds=criteria.kinds or query.kinds,
        dishes_for=diets_in_text(ask),
        without=query.without | excluded(context_text),
        max_minutes=minutes,
    )


def _scores(corpus: Corpus, words: Sequence[str]) -> dict[int, float]:
    """Return scores by position: the sum of bm25 over the words, times the share of words found.

    Without the factor, one rare word outweighs the rest of the query.
    """
    scores: dict[int, float] = {}
    matched: dict[int, int] = {}
    terms = list(dict.fromkeys(words))[:_MAX_WORDS]
    for word in terms:
        for position, score in corpus.index.scores([word]).items():
            scores[position] = scores.get(position, 0) + score
            matched[position] = matched.get(position, 0) + 1
    return {at: score * matched[at] / len(terms) for at, score in scores.items()}


def _ranked(
    corpus: Corpus, query: ParsedQuery, context: Mapping[str, Any], criteria: Criteria
) -> list[CorpusItem]:
    """Return the entries that meet the criteria and match the query, best first."""
    admitted = {at: entry for at, entry in enumerate(corpus.entries) if criteria.admits(entry)}
    if not query.search_terms:
        return sorted(admitted.values(), key=lambda entry: -entry.rating)
    scores = _scores(corpus, query.search_terms)
    _add(scores, corpus.index.scores(query.related), _SYNONYM_WEIGHT, new=True)
    members = ("prev", "text", "memory")
    context_texts = [text for name in members for text in strings(context.get(name))]
    context_terms = parse_query(" ".join(context_texts)).search_terms
    _add(scores, corpus.index.scores(context_terms), _CONTEXT_WEIGHT, new=False)
    scores = {at: score for at, score in scores.items() if at in admitted}
    least = max(scores.values(), default=0) * _CUTOFF
    best = sorted(scores, key=lambda at: (-scores[at], at))
    return [admitted[at] for at in best if scores[at] >= least]


def _add(scores: dict[int, float], more: Mapping[int, float], weight: float, *, new: bool) -> None:
    """Add weighted scores; an item without a score gets one only if `new`."""
    for at, score in more.items():
        if new or at in scores:
            scores[at] = scores.get(at, 0) + score * weight
