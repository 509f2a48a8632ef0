"""The type of a scenario, its request, and the events and responses that scenarios send."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import event_stream, json_response
from playground.demo.requests import read_json
from playground.demo.responses import event, failure

VERSION = "0.55"
_MAX_COUNT = 100_000
_MAX_SECONDS = 60.0
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


Play = Callable[[ScenarioRequest], Awaitable[HttpResponseBase]]


async def await_unknown(request: ScenarioRequest) -> HttpResponseBase:
    """Refuse an `await` of a scenario without promises (section 4.2)."""
    raise FailureError("INVALID_QUERY", "This scenario has no promises.")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A row of the table of scenarios."""

    slug: str
    title: str
    #: What the agent does.
    description: str
    #: What the playground shows.
    demonstrates: str
    #: The response to `ask`.
    play: Play
    #: State and outcome of a run that is not cancelled.
    state: str = "completed"
    outcome: str = "answer"
    #: The response to `await`.
    await_: Play = await_unknown
    #: The number of results of the run; None if it depends on the time.
    results: int | None = 0
    #: The stage of the problem that ends the run, and the limit that is exceeded.
    problem: str = ""
    #: Parameters of the URL in the collection of scenarios.
    query: str = ""
    #: The state with `query`, if that closes the connection and the state differs.
    closed_state: str = ""

    @property
    def is_endless(self) -> bool:
        """Return True if only a time limit ends the run."""
        return self.problem.endswith("total_timeout")


class Scenarios(list[Scenario]):
    """The scenarios of a group, in the order of the demo page."""

    def add(
        self, slug: str, title: str, description: str, demonstrates: str, **facts: Any
    ) -> Callable[[Play], Play]:
        """Return a decorator that adds the function as a scenario."""

        def register(play: Play) -> Play:
            self.append(Scenario(slug, title, description, demonstrates, play, **facts))
            return play

        return register


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


def dish(number: int) -> dict[str, Any]:
    """Return a small Recipe, a different one for each number."""
    name, description, time = _DISHES[number % len(_DISHES)]
    round_ = number // len(_DISHES)
    return {
        "@type": "Recipe",
        "name": f"{name} {round_ + 1}" if round_ else name,
        "url": f"https://recipes.example/scenario/{number}",
        "description": description,
        "cookTime": time,
    }


def start(**meta: Any) -> bytes:
    block = {"response_type": "answer", "version": VERSION, "streaming": True, **meta}
    return event("start", {"_meta": block})


def result(index: int, item: Any = None) -> bytes:
    """Return a result event, by default with a dish."""
    return event("result", {"index": index, "item": dish(index) if item is None else item})


def complete(**meta: Any) -> bytes:
    block = {
        "response_type": "answer",
        "version": VERSION,
        "session_context": {"conversation_id": "conv_scenario"},
        **meta,
    }
    return event("complete", {"_meta": block})


async def paced(chunks: Iterable[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield the chunks with a pause before each but the first."""
    first = True
    for chunk in chunks:
        if not first:
            await asyncio.sleep(seconds)
        first = False
        yield chunk


def document(kind: str, **body: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": VERSION}, **body}


async def respond(request: ScenarioRequest, *items: Any, pause: float = _PAUSE) -> HttpResponseBase:
    """Return a valid answer of `items`, as a stream or as JSON, whichever is preferred."""
    if not request.streaming:
        return json_response(document("answer", results=list(items)))
    results = (result(index, item) for index, item in enumerate(items))
    return event_stream(paced((start(), *results, complete()), request.pause(pause)))


def failed(error: FailureError, headers: Mapping[str, str] | None = None) -> HttpResponseBase:
    """Return a failure with the status of its code (section 7.4)."""
    return json_response(failure(error, VERSION, None), error.status(VERSION), headers)
