"""The type of a scenario: a row of the table, and the response that it describes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.http import event_stream, json_response
from playground.demo.responses import encode
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.parts import (
    Play,
    ScenarioRequest,
    document,
    event_of,
    filled,
    paced,
    respond,
)
from playground.demo.scenarios.promises import Promise

#: Seconds between two events.
_PAUSE = 0.2
#: The functions of the scenarios whose response takes more than a row, by slug.
SCRIPTS: dict[str, Play] = {}


def script(slug: str) -> Callable[[Play], Play]:
    """Return a decorator that makes a function the response of the scenario `slug`."""

    def register(play: Play) -> Play:
        SCRIPTS[slug] = play
        return play

    return register


@dataclass(frozen=True, slots=True)
class Scenario:
    """A row of the table of scenarios: its description, and the response that it sends."""

    slug: str
    title: str
    #: What the agent does.
    description: str
    #: What the playground shows.
    demonstrates: str
    #: State and outcome of a run that is not cancelled.
    state: str = "completed"
    outcome: str = "answer"
    #: The number of results of the run; None if it depends on the time.
    results: int | None = 0
    #: The stage of the problem that ends the run, and the limit that is exceeded.
    problem: str = ""
    #: Parameters of the URL in the collection of scenarios.
    query: str = ""
    #: The state with `query`, if that closes the connection and the state differs.
    closed_state: str = ""

    #: The bearer token without which `document` is sent, and not the answer.
    token: str = ""
    #: The result items of a valid answer, as a stream or as JSON, whichever is preferred.
    items: Sequence[Any] = ()
    #: The events of a stream, as `event_of` reads them. With `items`, JSON can be preferred.
    events: Sequence[Any] = ()
    #: Bytes of the last event that are sent; None for all.
    cut: int | None = None
    #: How the connection is closed after the events: close or reset; "" for not at all.
    hang_up: str = ""
    #: A response in one piece: a JSON document or a text, with its status and headers.
    document: Any = None
    body: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The media type of the stream or the response, if it is not the usual one.
    content_type: str = ""
    #: Sent until a request has anything that could be an answer.
    elicitation: Mapping[str, Any] | None = None
    promise: Promise | None = None

    @property
    def is_endless(self) -> bool:
        """Return True if only a time limit ends the run."""
        return self.problem.endswith("total_timeout")

    async def play(self, request: ScenarioRequest) -> HttpResponseBase:
        """Return the response to `ask`. Raise `FailureError`."""
        if script := SCRIPTS.get(self.slug):
            return await script(request)
        if self.promise:
            return self.promise.begin(request)
        if self.elicitation:
            return asked(request, self.elicitation)
        given = request.http_request.headers.get("Authorization")
        is_refused = self.token and given != f"Bearer {self.token}"
        if is_refused or not (self.items or self.events):
            body = encode(filled(self.document)) if self.body is None else self.body
            kind = self.content_type or "application/json"
            return HttpResponse(body, kind, self.status, headers=self.headers)
        if self.items and not (self.events and request.streaming):
            return respond(request, *self.items)
        return event_stream(self._chunks(request), self.content_type or "text/event-stream")

    async def await_(self, request: ScenarioRequest) -> HttpResponseBase:
        """Return the response to `await` (section 4.2). Raise `FailureError`."""
        if self.promise is None:
            raise FailureError("INVALID_QUERY", "This scenario has no promises.")
        return self.promise.follow(request)

    async def _chunks(self, request: ScenarioRequest) -> AsyncIterator[bytes]:
        pause = request.pause(_PAUSE)
        *events, last = map(event_of, self.events)
        async for chunk in paced((*events, last[: self.cut]), pause):
            yield chunk
        if self.hang_up:
            # A reset discards what has not been sent yet: let it be sent first.
            await asyncio.sleep(pause)
            await hang_up(request.http_request, reset=self.hang_up == "reset")


def asked(request: ScenarioRequest, elicitation: Mapping[str, Any]) -> HttpResponseBase:
    """Return an elicitation, or an answer to a request that could answer it."""
    if request.answers(elicitation):
        return respond(request, 0, 1)
    return json_response(document("elicitation", elicitation=elicitation))
