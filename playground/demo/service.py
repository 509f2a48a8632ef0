"""The agent behind every protocol: a request document in, a response out.

`decide` chooses the response; here the request is read, the database used, and the document
of the response built.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from playground.demo import corpus, decide, lists, promises, requests
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from playground.demo.http import pace_of
from playground.demo.languages import ENGLISH, Language
from playground.demo.promises import PromiseRequest
from playground.demo.requests import AskRequest
from playground.demo.responses import Answer, Document, ListResponse, SingleResponse, meta


@dataclass(frozen=True, slots=True)
class ServedResponse:
    """A response, with the parts of its request that it repeats."""

    response: Answer | SingleResponse
    version: str
    session: Mapping[str, Any]
    streaming: bool = False
    #: Factor of every deliberate delay; 0 means none.
    pace: float = 1.0
    language: Language = ENGLISH
    started_at: float = field(default_factory=time.monotonic)

    @property
    def status(self) -> int:
        return self.response.status if isinstance(self.response, SingleResponse) else 200

    @property
    def milliseconds(self) -> int:
        """Return the time since the request was received."""
        return round((time.monotonic() - self.started_at) * 1000)

    def document(self) -> Document:
        """Return the response as one document (section 4)."""
        session, response = self.session, self.response
        if isinstance(response, SingleResponse):
            session = {**session, **response.session_update}
            body, more, kind = response.body, response.meta, response.kind
        else:
            body, kind = {"results": response.items}, "answer"
            # The same members as at the end of a stream.
            more = {**response.meta, "total_items": len(response.items)}
        if kind == "answer":
            more = {**more, "processing_time_ms": self.milliseconds}
        more = {**more, **self.language.meta}
        return {"_meta": meta(kind, self.version, session, **more), **body}


async def ask(
    request: HttpRequest, document: Mapping[str, Any], *, whole: bool = False
) -> ServedResponse:
    """Return the response to an `ask`; `whole` if the protocol cannot stream it.

    Raise `FailureError`.
    """
    started_at = time.monotonic()
    parsed = requests.read_ask(document, request.headers.get("Accept", ""), pace_of(request))
    if whole:
        parsed = replace(parsed, streaming=False)
    try:
        response = await _response(request, parsed)
    except FailureError as failure:
        failure.language = parsed.language
        raise
    return ServedResponse(
        response,
        parsed.version,
        parsed.session,
        parsed.streaming,
        parsed.pace,
        parsed.language,
        started_at,
    )


async def _response(request: HttpRequest, parsed: AskRequest) -> Answer | SingleResponse:
    response = decide.ask(await loaded_corpus(), parsed, links(request))
    if isinstance(response, PromiseRequest):
        return decide.promise(await promises.save_task(response))
    if isinstance(response, ListResponse):
        item = await lists.described(request, response.name, parsed.language)
        return decide.assembled_answer([item], response.ask)
    return response


async def await_(document: Mapping[str, Any]) -> ServedResponse:
    """Return the response to an `await` (section 4.2). Raise `FailureError`."""
    started_at = time.monotonic()
    parsed = requests.read_await(document)
    load_task = promises.cancel if parsed.action == "cancel" else promises.task
    task = await load_task(parsed.token)
    try:
        response = decide.await_(await loaded_corpus(), task)
    except FailureError as failure:
        failure.language = task.ask.language
        raise
    session = {**task.ask.session, **parsed.session}
    return ServedResponse(
        response, parsed.version, session, language=task.ask.language, started_at=started_at
    )


async def loaded_corpus() -> Corpus:
    """Return the corpus, which the first call reads from the database."""
    return corpus.loaded() or await sync_to_async(corpus.load)()


def links(request: HttpRequest) -> DemoUrls:
    return DemoUrls(
        # Without the hash of the manifest: the URL of an item's image is permanent.
        static=request.build_absolute_uri(settings.STATIC_URL),
        cookbook=request.build_absolute_uri(reverse("demo-cookbook")),
        cart=request.build_absolute_uri(reverse("demo-cart")),
        a2a=request.build_absolute_uri(reverse("demo-a2a")),
    )
