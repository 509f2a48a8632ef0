"""Skills of the agent: their descriptions, and the plan that each makes of a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from playground.demo import items as result_items
from playground.demo import search
from playground.demo.a2a.tasks import Part, TaskWork
from playground.demo.corpus import Corpus, CorpusItem, strings, words_of
from playground.demo.failures import FailureError
from playground.demo.jsonrpc import INVALID_PARAMS, RpcError
from playground.demo.requests import MAX_TEXT, VERSIONS, AskRequest
from playground.demo.responses import Document

#: The agent card, with the name of its URL in braces. It serves both versions: clients of 0.3 read
#: `url` and `preferredTransport`, those of 1.0 `supportedInterfaces`.
CARD: Document = json.loads(Path(__file__).with_name("card.json").read_text("utf-8"))
SKILLS: Sequence[Document] = CARD["skills"]
SKILL_IDS = frozenset(skill["id"] for skill in SKILLS)
_FAILS = re.compile(r"\bthat fails\b", re.I)
_TABLE = re.compile(r"\b(?:a table|reserve|reservation|book)\b", re.I)
_SHOPPING = re.compile(r"\b(?:shopping|groceries)\b", re.I)
#: An hour with minutes, with am or pm, or with both; a number alone is ambiguous.
_TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d\d)(?:\s*(am|pm))?|\s*(am|pm|o'clock))(?!\w)", re.I)
_NUMBERS = {
    name: number
    for number, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
}
_PARTY = re.compile(rf"\bfor\s+(\d{{1,4}}|{'|'.join(_NUMBERS)})\b(?!\s*(?:am|pm|o'clock|:))", re.I)
_PLACE = re.compile(r"\bat (?!\d)(?:the )?([^,.?!\n]{2,60})", re.I)
#: Words of a request that name no dish.
_COMMON = frozenset("plan my the a of for shopping groceries list please write that fails".split())
_MOST_GUESTS = 12
_DISHES = 2


@dataclass(frozen=True, slots=True)
class InputRequired:
    """The task needs input: the question to ask."""

    question: str


@dataclass(frozen=True, slots=True)
class TaskRejected:
    """The task is rejected."""

    message: str


Plan = TaskWork | InputRequired | TaskRejected


def choose(named: str, text: str) -> str:
    """Return the skill that is named, or that fits the text. Raise `RpcError`."""
    if named and named not in SKILL_IDS:
        known = ", ".join(sorted(SKILL_IDS))
        raise RpcError(INVALID_PARAMS, f"Unknown skill: {named[:80]}. Skills: {known}.")
    if named:
        return named
    if _SHOPPING.search(text):
        return "plan_shopping"
    return "reserve_table" if _TABLE.search(text) else "ask"


def plan(skill: str, corpus: Corpus, text: str) -> Plan:
    """Return the work on a request, or why there is none."""
    return _PLANS[skill](corpus, text)


def find(corpus: Corpus, text: str, **filters: str) -> search.SearchResult:
    """Search the corpus. Raise `FailureError`."""
    return search.find(corpus, AskRequest(VERSIONS[-1], text[:MAX_TEXT], filters, {}, {}))


def _plan_shopping(corpus: Corpus, text: str) -> Plan:
    dishes = " ".join(word for word in words_of(text) if word not in _COMMON)
    if not dishes:
        return InputRequired("Which dishes would you like to shop for?")
    try:
        entries = find(corpus, dishes, itemType="Recipe").entries[:_DISHES]
    except FailureError as failure:
        return TaskRejected(failure.message)
    names = result_items.listed([entry.name for entry in entries])
    pieces: list[list[Part]] = [[{"text": f"Shopping list for {names}\n"}]]
    if _FAILS.search(text):
        failed = "The pencil broke in the middle of the list."
        return TaskWork("Reading the recipes…", "shopping list", pieces, "failed", failed)
    pieces += [[{"text": _ingredients(entry)}] for entry in entries]
    items = [item for entry in entries for item in strings(entry.document["recipeIngredient"])]
    pieces.append([{"data": {"@type": "ItemList", "name": names, "itemListElement": items}}])
    done = f"The list has {len(items)} items for {names}."
    return TaskWork("Reading the recipes…", "shopping list", pieces, final_message=done)


def _ingredients(entry: CorpusItem) -> str:
    lines = [f"- {item}" for item in strings(entry.document["recipeIngredient"])]
    return "\n".join([f"\n{entry.name}:", *lines, ""])


def _reserve_table(_: Corpus, text: str) -> Plan:
    party = _party(text)
    if party > _MOST_GUESTS:
        return TaskRejected(f"No table for {party} available: the largest seats {_MOST_GUESTS}.")
    if (time := _time(text)) is None:
        return InputRequired("What time would you like to come? For example: 7 pm.")
    place = _PLACE.search(text)
    name = place[1].strip() if place else "the restaurant"
    message = f"Calling {name}…"
    if _FAILS.search(text):
        return TaskWork(message, "reservation", [], "failed", "No one answered the phone.")
    guests = "one" if party == 1 else str(party)
    final_message = f"A table for {guests} at {name} is reserved for {time}."
    number = uuid4().hex[:6].upper()
    data = {
        "@type": "FoodEstablishmentReservation",
        "reservationNumber": number,
        "reservationStatus": "https://schema.org/ReservationConfirmed",
        "reservationFor": {"@type": "FoodEstablishment", "name": name},
        "partySize": party,
        "startTime": time,
    }
    text = f"{final_message} The reservation number is {number}."
    return TaskWork(
        message,
        "reservation",
        [[{"text": text}], [{"data": data}]],
        final_message=final_message,
    )


def _party(text: str) -> int:
    match = _PARTY.search(text)
    if not match:
        return 2
    word = match[1].lower()
    return _NUMBERS[word] if word in _NUMBERS else int(word)


def _time(text: str) -> str | None:
    """Return the time in a request as `19:30`; None if it has no valid one."""
    if re.search(r"\bnoon\b", text, re.I):
        return "12:00"
    for match in _TIME.finditer(text):
        hour, minute = int(match[1]), int(match[2] or 0)
        half = (match[3] or match[4] or "").lower()
        if half in ("am", "pm"):
            hour = hour % 12 + (12 if half == "pm" else 0)
        if hour < 24 and minute < 60:
            return f"{hour:02}:{minute:02}"
    return None


_PLANS: Mapping[str, Callable[[Corpus, str], Plan]] = {
    "plan_shopping": _plan_shopping,
    "reserve_table": _reserve_table,
}
