"""Requests to scenarios, and the parts that their responses are made of."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo.failures import invalid_parameter
from playground.demo.http import event_stream, json_response
from playground.demo.requests import read_json
from playground.demo.responses import event

VERSION = "0.55"
_MAX_COUNT = 100_000
_MAX_SECONDS = 60.0
_DISHES = (
    ("Miso Glazed Salmon", "Salmon under a lacquer of miso and mirin.", "PT12M"),
    ("Smoky Tomato Soup", "Fire-roasted tomatoes, blended until smooth.", "PT25M"),
    ("Chickpea and Spinach Curry", "A weeknight curry from two tins and a bag.", "PT20M"),
    ("Lemon Herb Roast Chicken", "Crisp skin, lemon, thyme and patience.", "PT1H20M"),
    ("Spaghetti Aglio e Olio", "Garlic, oil, chili and parsley.", "PT12M"),
    ("Apple Crumble", "Sharp apples beneath butter and brown sugar.", "PT35M"),
    ("Gazpacho", "Summer in a blender, served cold.", "PT0M"),
    ("Mushroom Risotto", "Half an hour of stirring, well spent.", "PT35M"),
)
#: Attributes of query and context that are not answers.
_USUAL = frozenset({"text", "site", "itemType", "prev", "memory", "@type", "@context"})


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """A request to a scenario, with the parameters of its URL."""

    http_request: HttpRequest
    #: `?n=`: number of results, if the scenario allows it.
    count: int | None
    #: `?every=`: seconds between two events, if the scenario is about time.
    every: float | None
    #: `?for=`: seconds after which an endless scenario closes the connection.
    seconds: float | None
    document: Mapping[str, Any]

    @property
    def streaming(self) -> bool:
        """Return True if a stream is preferred; malformed streams are always sent."""
        prefer = self.document.get("prefer")
        return not isinstance(prefer, dict) or prefer.get("streaming") is not False

    def pause(self, seconds: float) -> float:
        """Return the seconds between two events: `every`, or `seconds` by default."""
        return seconds if self.every is None else self.every

    def answers(self, elicitation: Mapping[str, Any]) -> bool:
        """Return True if it could have answers: a filter, a context, or a repeated label."""
        query, context = (
            part if isinstance(part, dict) else {}
            for part in (self.document.get("query"), self.document.get("context"))
        )
        text = str(query.get("text"))
        questions = elicitation.get("questions")
        asked = [q for q in (questions or [elicitation]) if isinstance(q, dict)]
        repeated = any(str(q["text"]) in text for q in asked if q.get("text"))
        return bool(repeated or (set(query) | set(context)) - _USUAL)


Play = Callable[[ScenarioRequest], Awaitable[HttpResponseBase]]


def read_request(request: HttpRequest) -> ScenarioRequest:
    """Read a request to a scenario, whose members are not checked.

    Raise `FailureError` for a body that is not a JSON object, and invalid parameters of the URL.
    """
    count = _number(request, "n", _MAX_COUNT)
    return ScenarioRequest(
        request,
        None if count is None else int(count),
        _number(request, "every", _MAX_SECONDS),
        _number(request, "for", _MAX_SECONDS),
        read_json(request.body),
    )


def _number(request: HttpRequest, name: str, most: float) -> float | None:
    if (text := request.GET.get(name)) is None:
        return None
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text, re.ASCII) and float(text) <= most:
        return float(text)
    raise invalid_parameter(name, text, "number", f"a number from 0 to {most:g}")


def dish(number: int, **changes: Any) -> dict[str, Any]:
    """Return a small Recipe, a different one for each number."""
    name, description, time = _DISHES[number % len(_DISHES)]
    round_ = number // len(_DISHES)
    return {
        "@type": "Recipe",
        "name": f"{name} {round_ + 1}" if round_ else name,
        "url": f"https://recipes.example/scenario/{number}",
        "description": description,
        "cookTime": time,
        **changes,
    }


def filled(value: Any) -> Any:
    """Return a value of the table with its dishes: `{"dish": 0}`, with the members that differ."""
    match value:
        case {"dish": int(number), **changes}:
            return dish(number) | changes
        case dict():
            return {name: filled(member) for name, member in value.items()}
        case list():
            return [filled(member) for member in value]
    return value


def document(kind: str, **body: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": VERSION}, **body}


def start() -> bytes:
    return event("start", {"_meta": {**document("answer")["_meta"], "streaming": True}})


def result(index: int, item: Any = None) -> bytes:
    """Return a result event, by default with a dish."""
    return event("result", {"index": index, "item": dish(index) if item is None else item})


def complete(**meta: Any) -> bytes:
    session = {"session_context": {"conversation_id": "conv_scenario"}}
    return event("complete", {"_meta": {**document("answer")["_meta"], **session, **meta}})


def event_of(value: Any) -> bytes:
    """Return an event of the table.

    `"start"` and `"complete"` are those of a valid answer, a number is a result with its dish,
    and an object has the name of the event, if any, and its data.
    """
    match value:
        case "start":
            return start()
        case "complete":
            return complete()
        case int():
            return result(value)
    return event(value.get("event", ""), filled(value["data"]))


async def paced(chunks: Iterable[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield the chunks with a pause before each but the first."""
    first = True
    for chunk in chunks:
        if not first:
            await asyncio.sleep(seconds)
        first = False
        yield chunk


def respond(request: ScenarioRequest, *items: Any, pause: float = 0.05) -> HttpResponseBase:
    """Return a valid answer, as a stream or as JSON, whichever is preferred; a number is a dish."""
    found = [dish(item) if isinstance(item, int) else filled(item) for item in items]
    if not request.streaming:
        return json_response(document("answer", results=found))
    results = (result(index, item) for index, item in enumerate(found))
    return event_stream(paced((start(), *results, complete()), request.pause(pause)))
