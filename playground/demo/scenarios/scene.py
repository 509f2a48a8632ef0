"""What scripted scenarios are written with: the request's knobs, and the usual events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import event_stream, json_response
from playground.demo.responses import event, failure

VERSION = "0.55"
_MAX_COUNT = 100_000
_MAX_EVERY = 60.0
_PAUSE = 0.05
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


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """One playing of a scenario."""

    request: HttpRequest
    #: `?n=`: how many results, where the scenario leaves that open.
    count: int | None
    #: `?every=`: seconds between two events, where the scenario is about time.
    every: float | None
    #: `?for=`: seconds after which what has no end loses its connection.
    seconds: float | None
    #: The request's document; anything unreadable is an empty one.
    document: Mapping[str, Any]

    @property
    def streaming(self) -> bool:
        """Whether a stream is preferred; scenarios that are about streams do not ask."""
        prefer = self.document.get("prefer")
        return not isinstance(prefer, dict) or prefer.get("streaming") is not False

    def pause(self, seconds: float) -> float:
        """How long to wait between two events: as asked for, else `seconds`."""
        return seconds if self.every is None else self.every


def read_scene(request: HttpRequest) -> ScenarioRequest:
    """The scene that a request asks for. Raises `FailureError` for impossible knobs."""
    count = _number(request, "n", _MAX_COUNT)
    return ScenarioRequest(
        request,
        None if count is None else int(count),
        _number(request, "every", _MAX_EVERY),
        _number(request, "for", _MAX_EVERY),
        _document(request.body),
    )


def _number(request: HttpRequest, name: str, most: float) -> float | None:
    if (text := request.GET.get(name)) is None:
        return None
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text, re.ASCII) and float(text) <= most:
        return float(text)
    raise invalid_parameter(name, text, "number", f"a number from 0 to {most:g}")


def _document(body: bytes) -> Mapping[str, Any]:
    """Scenarios read their request with one eye only."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def dish(number: int) -> dict[str, Any]:
    """A small Recipe, a different one for each number."""
    name, description, time = _DISHES[number % len(_DISHES)]
    lap = number // len(_DISHES)
    return {
        "@type": "Recipe",
        "name": f"{name} {lap + 1}" if lap else name,
        "url": f"https://recipes.example/scenario/{number}",
        "description": description,
        "cookTime": time,
    }


def start(**meta: Any) -> bytes:
    """The event that opens a stream."""
    block = {"response_type": "answer", "version": VERSION, "streaming": True, **meta}
    return event("start", {"_meta": block})


def result(index: int, item: Any = None) -> bytes:
    """One result; a dish unless another item is given."""
    return event("result", {"index": index, "item": dish(index) if item is None else item})


def complete(**meta: Any) -> bytes:
    """The event that ends a stream."""
    block = {
        "response_type": "answer",
        "version": VERSION,
        "session_context": {"conversation_id": "conv_scenario"},
        **meta,
    }
    return event("complete", {"_meta": block})


async def paced(chunks: Iterable[bytes], seconds: float) -> AsyncIterator[bytes]:
    """The chunks, with a pause before each but the first."""
    first = True
    for chunk in chunks:
        if not first:
            await asyncio.sleep(seconds)
        first = False
        yield chunk


def document(kind: str, **body: Any) -> dict[str, Any]:
    """A reply in one piece."""
    return {"_meta": {"response_type": kind, "version": VERSION}, **body}


async def respond(scene: ScenarioRequest, *items: Any) -> HttpResponseBase:
    """An answer as it should be, however it was preferred: what is odd is in the items."""
    if not scene.streaming:
        return json_response(document("answer", results=list(items)))
    results = (result(index, item) for index, item in enumerate(items))
    return event_stream(paced((start(), *results, complete()), scene.pause(_PAUSE)))


def failed(error: FailureError, headers: Mapping[str, str] | None = None) -> HttpResponseBase:
    """A failure of the agent with the status of its code (section 7.4)."""
    return json_response(failure(error, VERSION, None), error.status, headers)
