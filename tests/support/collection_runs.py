"""Collections that are built request by request, and collection runs of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from asgiref.sync import sync_to_async

from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import (
    CollectionRunOptions,
    CollectionRunPlan,
    plan_run,
    record,
)
from playground.models import Collection, CollectionRun, Folder, SavedRequest, Step
from playground.models.collections import requests_in_order
from tests.support.servers import closing, reply

OK = [{"type": "status", "equals": 200}]


class CollectionBuilder:
    """A collection that is put together request by request."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.collection = Collection.objects.create(name="Kept")
        self.folders: dict[str, Folder] = {}

    def ask(self, text: Any, folder: str = "", **fields: Any) -> SavedRequest:
        number = self.collection.requests.count() + 1
        if folder and folder not in self.folders:
            self.folders[folder] = Folder.objects.create(
                collection=self.collection, name=folder, position=len(self.folders)
            )
        fields.setdefault("address", self.url)
        fields.setdefault("document", {"query": {"text": text}})
        return SavedRequest.objects.create(
            collection=self.collection,
            folder=self.folders.get(folder),
            name=f"{text}",
            position=number,
            **fields,
        )

    def plan(self, options: CollectionRunOptions | None = None) -> CollectionRunPlan:
        requests = list(requests_in_order(self.collection))
        return plan_run("Kept", requests, options or CollectionRunOptions(), None, self.collection)


#: The arguments of `CollectionBuilder.ask`.
Request = tuple[tuple[Any, ...], dict[str, Any]]


def request(*args: Any, **fields: Any) -> Request:
    """A request for `new_collection`."""
    return args, fields


@sync_to_async
def new_collection(url: str = "", *requests: Request) -> CollectionBuilder:
    """A collection of these requests, which go to an address."""
    builder = CollectionBuilder(url)
    for args, fields in requests:
        builder.ask(*args, **fields)
    return builder


async def start(
    builder: CollectionBuilder, **options: Any
) -> tuple[CollectionRun, asyncio.Task[None]]:
    def prepare() -> tuple[CollectionRun, CollectionRunPlan]:
        planned = builder.plan(CollectionRunOptions(**options))
        return record(planned), planned

    run, planned = await sync_to_async(prepare)()
    return run, runner.start(run, planned)


async def run_to_end(builder: CollectionBuilder, **options: Any) -> CollectionRun:
    """Run it to its end; the run as it was stored."""
    run, task = await start(builder, **options)
    await task
    await run.arefresh_from_db()
    return run


@sync_to_async
def steps_of(run: CollectionRun) -> list[Step]:
    return list(run.steps.select_related("run").order_by("number"))


async def verdicts(run: CollectionRun) -> list[str]:
    return [step.verdict for step in await steps_of(run)]


def answer(*, keep: bool = False, **meta: Any) -> bytes:
    """A response, after which the server closes the connection unless it is to `keep` it."""
    body = {"_meta": {"response_type": "answer", **meta}, "results": [{"url": "https://a.example"}]}
    response = reply(json.dumps(body).encode())
    return response if keep else closing(response)


def sent_documents(requests: Sequence[bytes]) -> list[dict[str, Any]]:
    return [json.loads(each.partition(b"\r\n\r\n")[2]) for each in requests]


def texts(requests: Sequence[bytes]) -> list[str]:
    return [document["query"]["text"] for document in sent_documents(requests)]
