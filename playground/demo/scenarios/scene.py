"""What scripted scenarios are written with: the request's knobs, and the usual events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from playground.demo.failures import invalid_parameter
from playground.demo.replying import event

VERSION = "0.55"
_MAX_COUNT = 100_000
_MAX_EVERY = 60.0
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
class Scene:
    """One playing of a scenario."""

    request: HttpRequest
    #: `?n=`: how many results, where the scenario leaves that open.
    count: int | None
    #: `?every=`: seconds between two events, where the scenario is about time.
    every: float | None
    #: Whether the request prefers a stream; scenarios that are about streams do not ask.
    streaming: bool

    def pause(self, seconds: float) -> float:
        """How long to wait between two events: as asked for, else `seconds`."""
        return seconds if self.every is None else self.every


def read_scene(request: HttpRequest) -> Scene:
    """The scene that a request asks for. Raises `FailureError` for impossible knobs."""
    count = _number(request, "n", _MAX_COUNT)
    return Scene(
        request,
        None if count is None else int(count),
        _number(request, "every", _MAX_EVERY),
        _prefers_stream(request.body),
    )


def _number(request: HttpRequest, name: str, most: float) -> float | None:
    if (text := request.GET.get(name)) is None:
        return None
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text, re.ASCII) and float(text) <= most:
        return float(text)
    raise invalid_parameter(name, text, "number", f"a number from 0 to {most:g}")


def _prefers_stream(body: bytes) -> bool:
    """Scenarios read their request with one eye only: anything unreadable prefers a stream."""
    try:
        document = json.loads(body)
        return document["prefer"]["streaming"] is not False
    except (ValueError, RecursionError, KeyError, TypeError):
        return True


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
