"""Result items of corpus items, and sentences about them. Deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.demo import actions, languages
from playground.demo.actions import DemoUrls
from playground.demo.corpus import CorpusItem
from playground.demo.languages import ENGLISH, Language
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


def summary(found: SearchResult, text: str, language: Language = ENGLISH) -> str:
    """Return a summary in sentences, made from the results alone."""
    entries = found.entries
    names = listed([entry.name for entry in entries[:3]], language)
    template = "One result matches “{query}”: {names}."
    if found.total > 3:
        template = "{count} results match “{query}”: {names} are the best matches."
    elif found.total != 1:
        template = "{count} results match “{query}”: {names}."
    sentences = [languages.say(language, template, count=found.total, query=text[:120],
                               names=names)]  # fmt: skip
    timed = [(entry.minutes, entry) for entry in entries if entry.minutes is not None]
    if len(timed) > 1:
        minutes, quickest = min(timed, key=lambda pair: pair[0])
        time = minutes_text(minutes, language)
        sentences.append(
            languages.say(
                language, "The quickest is {name}, ready in {time}.", name=quickest.name, time=time
            )
        )
    rated = [entry for entry in entries if entry.rating]
    if len(rated) > 1:
        best = max(rated, key=lambda entry: entry.rating)
        template = "{name} is rated highest, with {rating} out of 5."
        sentences.append(
            languages.say(language, template, name=best.name, rating=f"{best.rating:g}")
        )
    return " ".join(sentences)


def summary_item(text: str) -> Item:
    """Return a summary as a result item (section 4.1.1)."""
    return {"@type": "SearchSummary", "text": text}


def content(found: SearchResult, text: str, language: Language = ENGLISH) -> list[Item]:
    """Return the answer as text, for the language model of a ChatGPT app (section 4.1.1)."""
    parts = [languages.say(language, "Results for “{query}”:", query=text[:120])]
    for number, entry in enumerate(found.entries, 1):
        sentences = [str(entry.document.get("description") or "").strip()]
        if entry.minutes is not None:
            time = minutes_text(entry.minutes, language)
            sentences.append(languages.say(language, "Ready in {time}.", time=time))
        parts.append(f"{number}. **{entry.name}**: {' '.join(sentences)}")
    return [{"type": "text", "text": part} for part in parts]


def contents(items: Sequence[Item], language: Language = ENGLISH) -> str:
    """Return an answer as a sentence: the summary in it, or the names of its items."""
    for found in items:
        if found["@type"] == "SearchSummary":
            return str(found["text"])
    names = listed([str(found["name"]) for found in items], language)
    return languages.say(language, "Here is {names}.", names=names)


def listed(names: Sequence[str], language: Language = ENGLISH) -> str:
    """Return names as a phrase: `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    first = ", ".join(names[:-1])
    return languages.say(language, "{names} and {last}", names=first, last=names[-1])


def minutes_text(minutes: float, language: Language = ENGLISH) -> str:
    """Return minutes as text: `45 minutes`, `2 hours`, `1 hour 15 minutes`."""
    hours, rest = divmod(round(minutes), 60)
    counted = [(hours, "1 hour", "{count} hours")] if hours else []
    if rest or not hours:
        counted.append((rest, "1 minute", "{count} minutes"))
    return " ".join(
        languages.say(language, one if count == 1 else more, count=count)
        for count, one, more in counted
    )


def short(entry: CorpusItem) -> Mapping[str, Any]:
    """Return a reference to an entry: type, name and URL."""
    return {"@type": entry.kind, "name": entry.name, "url": entry.document["url"]}
