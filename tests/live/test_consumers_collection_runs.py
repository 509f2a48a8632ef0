"""The WebSocket of a collection run: catch up with the page, follow, end."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator

from playground.collection_runs.updates import CollectionRunUpdates
from playground.live import broadcast, consumers
from playground.live.broadcast import run_feeds
from playground.models import CollectionRun, Step
from playground.notifications import notify_viewers
from tests.live.test_consumers import HEADERS
from tests.support.markup import read

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
async def application(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application is imported once, outside the event loop's thread; no polling."""
    monkeypatch.setattr(broadcast, "POLL", 60.0)
    monkeypatch.setattr(consumers, "COLLECTION_RUN_INTERVAL", 0.0)
    await sync_to_async(lambda: __import__("playground.asgi"))()


@sync_to_async
def recorded(*verdicts: str, **fields: Any) -> CollectionRun:
    run = CollectionRun.objects.create(name="Tour", planned=len(verdicts), **fields)
    for number, verdict in enumerate(verdicts, 1):
        run.steps.create(number=number, name=f"Step {number}", verdict=verdict)
    return run


async def change(run: CollectionRun, number: int, verdict: str) -> None:
    await Step.objects.filter(collection_run=run, number=number).aupdate(verdict=verdict)
    await notify_viewers(run)


class Viewer:
    """A page that watches a collection run."""

    def __init__(self, run: CollectionRun | str, show: str = "all", known: str = "none") -> None:
        from playground.asgi import application

        pk = run if isinstance(run, str) else run.pk
        path = f"/ws/collection-runs/{pk}/{show}/1/{known}/?after=0&final=0"
        self.socket = WebsocketCommunicator(application, path, headers=HEADERS)

    async def open(self) -> bool:
        return bool((await self.socket.connect(timeout=5))[0])

    async def read(self) -> dict[str, str]:
        """The verdicts of the rows in the next message, by id."""
        markup = read(await self.socket.receive_from(timeout=5))
        rows = (row.attributes for row in markup.find("li"))
        return {
            str(row["id"]): str(row["data-verdict"])
            for row in rows
            if row.get("id", "").startswith("step-")  # type: ignore[union-attr]
        }

    async def closed(self) -> Any:
        return (await self.socket.receive_output(timeout=5))["code"]


async def test_it_catches_up_with_what_the_page_does_not_show() -> None:
    run = await recorded("met", "unmet", "running", "waiting")
    viewer = Viewer(run, known="1met-2running-3running-4waiting")
    assert await viewer.open()
    assert await viewer.read() == {"step-2": "unmet"}
    await viewer.socket.disconnect()


async def test_it_follows_to_the_end() -> None:
    run = await recorded("running", "waiting")
    one, two = (Viewer(run, known="1running-2waiting") for _ in range(2))
    for viewer in (one, two):
        assert await viewer.open()
        assert await viewer.read() == {}
    await change(run, 1, "met")
    assert await one.read() == await two.read() == {"step-1": "met"}
    await CollectionRun.objects.filter(pk=run.pk).aupdate(state="completed")
    await change(run, 2, "unmet")
    assert await one.read() == await two.read() == {"step-2": "unmet"}
    assert await one.closed() == await two.closed() == consumers.ENDED


async def test_of_those_not_met_new_ones_are_added() -> None:
    run = await recorded("unmet", "running", "running")
    viewer = Viewer(run, show="unmet", known="1unmet")
    assert await viewer.open()
    assert await viewer.read() == {}
    await change(run, 2, "met")
    assert await viewer.read() == {}
    await change(run, 3, "unsent")
    assert await viewer.read() == {"step-3": "unsent"}
    await viewer.socket.disconnect()


async def test_one_that_is_over_says_so_and_closes() -> None:
    run = await recorded("met", state="completed")
    viewer = Viewer(run, known="1met")
    assert await viewer.open()
    assert await viewer.read() == {}
    assert await viewer.closed() == consumers.ENDED


async def test_one_that_nobody_has() -> None:
    viewer = Viewer(str(uuid4()))
    assert await viewer.open()
    assert await viewer.closed() == consumers.NOT_FOUND


async def test_one_that_is_deleted() -> None:
    run = await recorded("running")
    viewer = Viewer(run, known="1running")
    assert await viewer.open()
    assert await viewer.read() == {}
    await CollectionRun.objects.filter(pk=run.pk).adelete()
    await notify_viewers(run)
    assert await viewer.closed() == consumers.ENDED


async def test_changes_without_a_notification_are_found_for_all_viewers_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broadcast, "POLL", 0.02)
    run = await recorded("running", "waiting")
    viewers = [Viewer(run, known="1running-2waiting") for _ in range(3)]
    for viewer in viewers:
        assert await viewer.open()
        await viewer.read()
    await Step.objects.filter(collection_run=run, number=1).aupdate(verdict="met")
    for viewer in viewers:
        # The numbers of the header can come first: they are read after the steps.
        assert (await viewer.read() or await viewer.read()) == {"step-1": "met"}
    reads: list[int] = []
    plain = CollectionRunUpdates.advance

    def advance(self: CollectionRunUpdates) -> Any:
        reads.append(1)
        return plain(self)

    await asyncio.sleep(0.5)
    monkeypatch.setattr(CollectionRunUpdates, "advance", advance)
    await asyncio.sleep(0.1)
    assert not reads
    await CollectionRun.objects.filter(pk=run.pk).aupdate(state="stopped")
    for viewer in viewers:
        await viewer.read()
        assert await viewer.closed() == consumers.ENDED
        await viewer.socket.disconnect()
    assert not run_feeds()._collection_runs
