"""An answer of this agent as every protocol needs it: one document in, one reply out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from playground.demo import corpus, decide, lists, requests, storage
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus
from playground.demo.promises import PromiseRequest
from playground.demo.responses import Answer, Document, ListResponse, SingleResponse, meta


@dataclass(frozen=True, slots=True)
class ServedResponse:
    """A reply, with what of its request shows in it."""

    response: Answer | SingleResponse
    version: str
    session: Mapping[str, Any]
    streaming: bool = False
    #: Multiplies every deliberate delay; 0 means none.
    pace: float = 1.0
    started_at: float = field(default_factory=time.monotonic)

    @property
    def status(self) -> int:
        """Its HTTP status."""
        return self.response.status if isinstance(self.response, SingleResponse) else 200

    @property
    def milliseconds(self) -> int:
        """How long it has taken so far."""
        return round((time.monotonic() - self.started_at) * 1000)

    def document(self) -> Document:
        """The whole reply in one piece (section 4)."""
        session, reply = self.session, self.response
        if isinstance(reply, SingleResponse):
            session = {**session, **reply.remember}
            body, more, kind = reply.body, reply.meta, reply.kind
        else:
            body, kind = {"results": reply.items}, "answer"
            # As at the end of a stream: the same answer says the same, however it travels.
            more = {**reply.meta, "total_items": len(reply.items)}
        if kind == "answer":
            more = {**more, "processing_time_ms": self.milliseconds}
        return {"_meta": meta(kind, self.version, session, **more), **body}


async def ask(
    request: HttpRequest, document: Mapping[str, Any], *, whole: bool = False
) -> ServedResponse:
    """The reply to an `ask`; `whole` where the protocol has no way to deliver it in parts.

    Raises `FailureError`.
    """
    began = time.monotonic()
    asked = requests.read_ask(document, request.headers.get("Accept", ""), request.GET.get("pace"))
    if whole:
        asked = replace(asked, streaming=False)
    reply = decide.ask(await known(), asked, links(request))
    if isinstance(reply, PromiseRequest):
        reply = decide.promise(await storage.save_task(reply))
    elif isinstance(reply, ListResponse):
        reply = decide.assembled_answer([await lists.described(request, reply.name)], reply.ask)
    return ServedResponse(reply, asked.version, asked.session, asked.streaming, asked.pace, began)


async def await_(document: Mapping[str, Any]) -> ServedResponse:
    """The reply to an `await` (section 4.2). Raises `FailureError`."""
    began = time.monotonic()
    awaited = requests.read_await(document)
    found = storage.cancel if awaited.action == "cancel" else storage.task
    task = await found(awaited.token)
    reply = decide.await_(await known(), task)
    session = {**task.ask.session, **awaited.session}
    return ServedResponse(reply, awaited.version, session, started_at=began)


async def known() -> Corpus:
    """The corpus, read from the database the first time."""
    return corpus.loaded() or await sync_to_async(corpus.load)()


def links(request: HttpRequest) -> DemoUrls:
    """Where the parts of this demo are, on the origin that the request came to."""
    return DemoUrls(
        # Without the hash of the manifest: an item's picture has one address for good.
        static=request.build_absolute_uri(settings.STATIC_URL),
        cookbook=request.build_absolute_uri(reverse("demo-cookbook")),
        cart=request.build_absolute_uri(reverse("demo-cart")),
        a2a=request.build_absolute_uri(reverse("demo-a2a")),
    )
