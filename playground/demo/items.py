"""Result items of corpus items, and sentences about them. Deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.demo import actions
from playground.demo.actions import DemoUrls
from playground.demo.corpus import CorpusItem
from playground.demo.search import SearchResult

Item = dict[str, Any]


def item(entry: CorpusItem, links: DemoUrls) -> Item:
    """Return a result item: the document of an entry, its grounding and its actions (section 5)."""
    result = dict(entry.document)
    image = result.get("image")
    if isinstance(image, str) and "://" not in image:
        # Served from this site, so that images show without a network.
        result["image"] = links.static + image
    result["grounding"] = _grounding(entry)
    result["actions"] = actions.actions_of(entry, links)
    return result


def _grounding(entry: CorpusItem) -> Item:
    """Return the sources of an entry, a citation and a rating (section 4.1.1)."""
    doc = entry.document
    reviews = (doc.get("aggregateRating") or {}).get("reviewCount", 0)
    quote = str(doc.get("description") or "").partition(";")[0].rstrip(".")
    return {
        "source_urls": [doc["url"]],
        "site": entry.site,
        "citations": [
            {"@type": "Quotation", "name": entry.name, "url": doc["url"], "text": f"{quote}."}
        ],
        "rating": {
            "@type": "Rating",
            "ratingValue": entry.rating or 5,
            "bestRating": 5,
            "ratingExplanation": f"Average of {reviews} reviews."
            if entry.rating
            else "Original content of this site.",
        },
    }


def summary(found: SearchResult, text: str) -> str:
    """Return a summary in sentences, made from the results alone."""
    entries = found.entries
    names = listed([entry.name for entry in entries[:3]])
    count = f"{found.total} results match" if found.total != 1 else "One result matches"
    best_matches = " are the best matches" if found.total > 3 else ""
    sentences = [f"{count} “{text[:120]}”: {names}{best_matches}."]
    timed = [(entry.minutes, entry) for entry in entries if entry.minutes is not None]
    if len(timed) > 1:
        minutes, quickest = min(timed, key=lambda pair: pair[0])
        sentences.append(f"The quickest is {quickest.name}, ready in {minutes_text(minutes)}.")
    rated = [entry for entry in entries if entry.rating]
    if len(rated) > 1:
        best = max(rated, key=lambda entry: entry.rating)
        sentences.append(f"{best.name} is rated highest, with {best.rating:g} out of 5.")
    return " ".join(sentences)


def summary_item(text: str) -> Item:
    """Return a summary as a result item (section 4.1.1)."""
    return {"@type": "SearchSummary", "text": text}


def content(found: SearchResult, text: str) -> list[Item]:
    """Return the answer as text, for the language model of a ChatGPT app (section 4.1.1)."""
    parts = [f"Results for “{text[:120]}”:"]
    for number, entry in enumerate(found.entries, 1):
        description = str(entry.document.get("description") or "").strip()
        time = f" Ready in {minutes_text(entry.minutes)}." if entry.minutes is not None else ""
        parts.append(f"{number}. **{entry.name}**: {description}{time}")
    return [{"type": "text", "text": part} for part in parts]


def contents(items: Sequence[Item]) -> str:
    """Return an answer as a sentence: the summary in it, or the names of its items."""
    for found in items:
        if found["@type"] == "SearchSummary":
            return str(found["text"])
    return f"Here is {listed([str(found['name']) for found in items])}."


def listed(names: Sequence[str]) -> str:
    """Return names as a phrase: `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def minutes_text(minutes: float) -> str:
    """Return minutes as text: `45 minutes`, `2 hours`, `1 hour 15 minutes`."""
    hours, rest = divmod(round(minutes), 60)
    parts = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    if rest or not hours:
        parts.append(f"{rest} minute{'s' if rest != 1 else ''}")
    return " ".join(parts)


def short(entry: CorpusItem) -> Mapping[str, Any]:
    """Return a reference to an entry: type, name and URL."""
    return {"@type": entry.kind, "name": entry.name, "url": entry.document["url"]}
