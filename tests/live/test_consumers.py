"""The WebSockets of a run and of a share: catch up from a cursor, follow, end."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any, Self
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from playground.base import executors
from playground.base.jobs import start_task
from playground.collection_runs.page import CollectionRunUpdates
from playground.conversation import updates as live
from playground.live import broadcast, consumers
from playground.live.broadcast import run_feeds
from playground.models import CollectionRun, Run, Share, Step
from playground.notifications import notify_viewers
from tests.support.markup import read
from tests.support.metrics import value
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, recorded, result

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

HEADERS = [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000")]
record = sync_to_async(Recording)


class Viewer:
    """A page that watches a run."""

    def __init__(
        self,
        run: Run | Share | str,
        query: str = "",
        headers: Any = HEADERS,
        application: Any = None,
    ) -> None:
        from playground import asgi  # Importing it needs the database.

        path = run if isinstance(run, str) else f"/ws/runs/{run.pk}/"
        if isinstance(run, Share):
            path = f"/ws/shares/{run.token}/"
        application = application or asgi.application
        self.socket = WebsocketCommunicator(application, f"{path}{query}", headers=headers)
        self.seen: list[int] = []
        #: The last message.
        self.html = ""
        self.final = False

    @classmethod
    async def opened(cls, *args: Any, **options: Any) -> Self:
        """A viewer whose connection was accepted."""
        viewer = cls(*args, **options)
        assert await viewer.open()
        return viewer

    async def open(self) -> bool:
        """Whether the connection was accepted."""
        return bool((await self.socket.connect(timeout=5))[0])

    async def is_refused(self) -> bool:
        """Whether it receives nothing: no connection, or one that is closed for good at once."""
        if not await self.open():
            return True
        return await self.is_closed(consumers.NOT_FOUND)

    async def read(self) -> list[int]:
        """The numbers of the frames that the next message announces."""
        self.html = await self.socket.receive_from(timeout=5)
        (cursor,) = read(self.html).find("run-cursor")
        first, last = (int(cursor.attributes[f"data-{n}"] or "") for n in ("first", "last"))
        self.final = "data-final" in cursor.attributes
        self.seen += range(first, last + 1)
        return list(range(first, last + 1))

    async def is_closed(self, code: int) -> bool:
        """Whether the server closes the connection with this code next."""
        output = await self.socket.receive_output(timeout=5)
        return bool(output == {"type": "websocket.close", "code": code})

    async def to_the_end(self) -> None:
        """Read until the run says that it has ended, and the close that follows."""
        while not self.final:
            await self.read()
        assert await self.is_closed(consumers.ENDED)


async def end(recording: Recording) -> None:
    await sync_to_async(recording.end)()
    await notify_viewers(recording.run)


@pytest.fixture(autouse=True)
async def database(transactional_db: None) -> None:
    """The application is imported once, outside the event loop's thread."""
    await sync_to_async(lambda: __import__("playground.asgi"))()


async def test_a_run_that_is_over_is_told_from_the_start() -> None:
    run = await sync_to_async(recorded)([[CALL, OPEN, HEAD], [result(0), result(1)], [END]])
    viewer = await Viewer.opened(run)
    await viewer.to_the_end()
    assert viewer.seen == [1, 2, 3, 4, 5, 6]


async def test_open_sockets_are_a_metric() -> None:
    run = await sync_to_async(recorded)([[CALL, OPEN, HEAD]], state="streaming")
    before = value("playground_websockets")
    viewer = await Viewer.opened(run)
    assert value("playground_websockets") == before + 1
    await viewer.socket.disconnect()
    assert value("playground_websockets") == before


@pytest.mark.parametrize("after", [1, 4, 6])
async def test_it_catches_up_from_the_cursor(after: int) -> None:
    run = await sync_to_async(recorded)([[CALL, OPEN, HEAD], [result(0), result(1)], [END]])
    viewer = await Viewer.opened(run, f"?after={after}")
    await viewer.to_the_end()
    assert viewer.seen == list(range(after + 1, 7))


@pytest.mark.parametrize(
    "after", ["-1", "x", "", "1e3", "٣", "99999999999999999999", "0x10", "1&after=9"]
)
async def test_a_garbage_cursor(after: str) -> None:
    run = await sync_to_async(recorded)([[CALL, OPEN], [END]])
    viewer = await Viewer.opened(run, f"?after={after}")
    await viewer.to_the_end()
    assert viewer.seen == ([2, 3] if after.startswith("1&") else [1, 2, 3])


async def test_two_viewers_follow_a_run_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "POLL", 60.0)  # Notifications alone.
    recording = await record()
    add = sync_to_async(recording.add)
    await add(CALL, OPEN)
    one = await Viewer.opened(recording.run)
    two = await Viewer.opened(recording.run, "?after=1")
    assert await one.read() == [1, 2]
    assert await two.read() == [2]
    await add(HEAD)
    await notify_viewers(recording.run)
    assert await one.read() == await two.read() == [3]
    await add(result(0), result(1))
    await notify_viewers(recording.run)
    assert await one.read() == await two.read() == [4, 5]
    await one.socket.disconnect()
    await add(END)
    await end(recording)
    await two.to_the_end()
    assert two.seen == [2, 3, 4, 5, 6]


async def test_a_lost_nudge_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "POLL", 0.05)
    recording = await record()
    viewer = await Viewer.opened(recording.run)
    await viewer.read()
    await sync_to_async(recording.add)(CALL, OPEN, HEAD)
    await sync_to_async(recording.end)("failed")
    await viewer.to_the_end()
    assert viewer.seen == [1, 2, 3]


async def test_a_long_catch_up_comes_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 10)
    parts = [[CALL, OPEN, HEAD], *([result(n)] for n in range(40)), [END]]
    run = await sync_to_async(recorded)(parts)
    viewer = await Viewer.opened(run)
    assert len(await viewer.read()) == 10
    await viewer.to_the_end()
    assert viewer.seen == list(range(1, 45))


async def test_a_run_that_is_deleted_under_its_viewer() -> None:
    recording = await record()
    viewer = await Viewer.opened(recording.run)
    await viewer.read()
    run = recording.run
    group = Run(pk=run.pk)
    await run.adelete()
    await notify_viewers(group)
    assert await viewer.is_closed(consumers.ENDED)


@pytest.mark.parametrize(
    ("owner", "step", "error"),
    [
        (consumers.RunConsumer, "open", OperationalError("connection refused")),
        (consumers.RunConsumer, "follow", OperationalError("connection refused")),
        (live.RunUpdates, "advance", RuntimeError("a bug")),
    ],
)
async def test_our_own_failure_is_not_the_end(
    owner: type[Any], step: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page connects again after this code. Daphne cannot send 1011, that of an exception."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(executors, "REQUEST_PATIENCE", 0.0)
    monkeypatch.setattr(owner, step, fail)
    viewer = await Viewer.opened((await record()).run)
    assert await viewer.is_closed(consumers.FAILED)


async def test_sockets_of_a_server_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Viewers of runs that end get their last messages; all others are told to come back."""
    monkeypatch.setattr(consumers, "CLOSING_SECONDS", 20)
    recording, other = await record(), await record()
    viewer, of_other = await Viewer.opened(recording.run), await Viewer.opened(other.run)
    for each in (viewer, of_other):
        await each.read()
    closing = start_task(consumers.open_sockets().close_all({recording.run.pk}))
    await asyncio.sleep(0)
    await end(recording)
    await viewer.to_the_end()
    await viewer.socket.disconnect()
    assert await of_other.is_closed(consumers.RESTARTING)
    await of_other.socket.disconnect()
    await closing


@pytest.mark.parametrize("kind", ["run", "collection-run"])
async def test_sockets_that_connect_while_the_server_stops(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was being opened when the others were closed, one comes later."""
    opening, may_go_on = threading.Event(), threading.Event()
    names = {"run": "RunConsumer", "collection-run": "CollectionRunConsumer"}
    consumer = getattr(consumers, names[kind])
    open_record = consumer.open

    def open_slowly(*args: Any, **kwargs: Any) -> Any:
        opening.set()
        may_go_on.wait(20)
        return open_record(*args, **kwargs)

    monkeypatch.setattr(consumer, "open", open_slowly)
    if kind == "run":
        first, second = Viewer((await record()).run), Viewer((await record()).run)
    else:
        run = await CollectionRun.objects.acreate(name="Kept")
        path = f"/ws/collection-runs/{run.pk}/all/1/-/"
        first, second = Viewer(path), Viewer(path)
    await first.socket.send_input({"type": "websocket.connect"})
    await asyncio.to_thread(opening.wait, 20)
    await consumers.open_sockets().close_all(())
    may_go_on.set()
    accepted = await first.socket.receive_output(timeout=5)
    assert accepted["type"] == "websocket.accept"
    assert await second.open()
    for each in (first, second):
        assert await each.is_closed(consumers.RESTARTING)
        await each.socket.disconnect()


async def test_a_viewer_that_has_gone_is_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = await sync_to_async(recorded)([[CALL, OPEN, HEAD, result(0), END]])
    tried = asyncio.Event()

    async def send(self: Any, **_: Any) -> None:
        tried.set()
        raise ConnectionResetError("gone")

    monkeypatch.setattr(consumers.RunConsumer, "send", send)
    viewer = await Viewer.opened(run)
    await asyncio.wait_for(tried.wait(), 5)
    assert await viewer.socket.receive_nothing(timeout=0.2)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    await viewer.socket.disconnect()


async def test_a_viewer_that_is_gone_before_it_is_accepted_is_left_in_no_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def accept(*_: Any) -> None:
        raise OSError("gone")

    recording = await record()
    monkeypatch.setattr(consumers.RunConsumer, "accept", accept)
    viewer = Viewer(recording.run)
    await viewer.socket.send_input({"type": "websocket.connect"})
    with pytest.raises(OSError, match="gone"):
        await viewer.socket.wait(timeout=5)
    assert recording.run.group not in get_channel_layer().groups


async def test_what_a_viewer_says_is_ignored() -> None:
    recording = await record()
    viewer = await Viewer.opened(recording.run)
    await viewer.read()
    await viewer.socket.send_to(text_data='{"cancel": true}')
    await viewer.socket.send_to(bytes_data=b"\xff")
    await end(recording)
    await viewer.to_the_end()


class Unread:
    """An application whose `send()` waits while the viewer does not read."""

    def __init__(self, *, reads: bool = False) -> None:
        from playground import asgi

        self._application = asgi.application
        #: Set while the viewer reads.
        self.reads = asyncio.Event()
        if reads:
            self.reads.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def wait(message: Any) -> None:
            if message["type"] == "websocket.send":
                await self.reads.wait()
            await send(message)

        await self._application(scope, receive, wait)


async def grow(recording: Recording, messages: int, first: int) -> None:
    """Store results and notify, one by one."""
    for number in range(first, first + messages):
        await sync_to_async(recording.add)(result(number))
        await notify_viewers(recording.run)
        await asyncio.sleep(0)


@pytest.mark.slow
async def test_sockets_that_stop_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are closed when too much waits for them, others get everything, and they come back."""
    monkeypatch.setattr(consumers, "MAX_UNSENT", 5_000)
    recording = await record()
    await sync_to_async(recording.add)(CALL, OPEN, HEAD)
    stuck = [Viewer(recording.run, "?after=3", application=Unread()) for _ in range(50)]
    reader = Viewer(recording.run, "?after=3")
    for viewer in (*stuck, reader):
        assert await viewer.open()
    await reader.read()
    for number in range(20):
        await grow(recording, 1, number)
        while len(reader.seen) < 1 + number:
            await reader.read()
    for viewer in stuck:
        # Nothing of what waited is sent.
        assert await viewer.is_closed(consumers.BEHIND)
    monkeypatch.undo()
    back = await Viewer.opened(recording.run, "?after=5")
    await end(recording)
    for viewer in (reader, back):
        await viewer.to_the_end()
    assert back.seen == list(range(6, 24))


async def test_a_viewer_that_reads_late_gets_what_waits_in_order() -> None:
    recording = await record()
    await sync_to_async(recording.add)(CALL, OPEN, HEAD)
    server = Unread(reads=True)
    viewer = await Viewer.opened(recording.run, application=server)
    assert await viewer.read() == [1, 2, 3]
    server.reads.clear()
    await grow(recording, 3, 0)
    assert await viewer.socket.receive_nothing(timeout=0.05)
    server.reads.set()
    while len(viewer.seen) < 6:
        await viewer.read()
    assert viewer.seen == [1, 2, 3, 4, 5, 6]
    await viewer.socket.disconnect()


async def test_an_unknown_run_is_refused() -> None:
    assert await Viewer(f"/ws/runs/{uuid4()}/").is_refused()


async def cookie(name: str) -> list[tuple[bytes, bytes]]:
    """The headers of somebody who is logged in."""

    def login() -> str:
        client = Client()
        client.force_login(User.objects.get_or_create(username=name)[0])
        return client.cookies[settings.SESSION_COOKIE_NAME].value

    sent = f"{settings.SESSION_COOKIE_NAME}={await sync_to_async(login)()}"
    return [*HEADERS, (b"cookie", sent.encode())]


async def test_in_local_mode_a_session_makes_no_difference() -> None:
    run, owned = (await record()).run, await cookie("owner")
    owner = await User.objects.aget(username="owner")
    viewer = await Viewer.opened(run, headers=owned)
    await viewer.socket.disconnect()
    assert await Viewer((await record(owner=owner)).run, headers=owned).is_refused()


class TestHosted:
    @pytest.fixture(autouse=True)
    def hosted_mode(self, settings: Any) -> None:
        settings.HOSTED = True

    async def test_only_its_owner_sees_a_run(self) -> None:
        owner, stranger = await cookie("owner"), await cookie("stranger")
        run = (await record(owner=await User.objects.aget(username="owner"))).run
        assert await Viewer(run).is_refused()
        assert await Viewer(run, headers=stranger).is_refused()
        viewer = await Viewer.opened(run, headers=owner)
        await viewer.socket.disconnect()

    async def test_nobody_sees_what_belongs_to_nobody(self) -> None:
        run = (await record()).run
        assert await Viewer(run).is_refused()
        assert await Viewer(run, headers=await cookie("owner")).is_refused()


class TestShares:
    """In hosted mode, where readers are not logged in."""

    @pytest.fixture(autouse=True)
    def hosted_mode(self, settings: Any) -> None:
        settings.HOSTED = True

    async def test_a_reader_follows_a_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(broadcast, "POLL", 60.0)  # Notifications alone.
        recording = await record()
        add = sync_to_async(recording.add)
        await add(CALL, OPEN)
        reader = await Viewer.opened(await Share.objects.acreate(run=recording.run), "?after=1")
        assert await reader.read() == [2]
        await add(HEAD, result(0))
        await notify_viewers(recording.run)
        assert await reader.read() == [3, 4]
        assert "Dish 0" in reader.html
        await add(END)
        await end(recording)
        await reader.to_the_end()
        assert reader.seen == [2, 3, 4, 5]

    async def test_owner_and_readers_each_get_their_own_messages(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(broadcast, "POLL", 60.0)
        headers = await cookie("owner")
        recording = await record(owner=await User.objects.aget(username="owner"))
        one = await Share.objects.acreate(run=recording.run)
        other = await Share.objects.acreate(run=recording.run)
        owner, readers = Viewer(recording.run, headers=headers), [Viewer(one), Viewer(other)]
        for viewer in (owner, *readers):
            assert await viewer.open()
            await viewer.read()
        await sync_to_async(recording.add)(CALL, OPEN, HEAD, result(0), END)
        await end(recording)
        for viewer in (owner, *readers):
            await viewer.to_the_end()
            assert "Dish 0" in viewer.html
        assert f"/shares/new/?run={recording.run.pk}" in owner.html
        first, second = readers
        assert first.html == second.html
        for forbidden in ("/runs/", "/shares/", "hx-post", "<form", "<button", "run-actions"):
            assert forbidden not in first.html

    async def test_a_reader_has_no_websocket_of_the_owner(self) -> None:
        run = (await record()).run
        await Share.objects.acreate(run=run)
        assert await Viewer(run).is_refused()

    async def test_nobody_without_a_valid_link(self) -> None:
        run = (await record()).run
        past = timezone.now() - timedelta(seconds=1)
        assert await Viewer("/ws/shares/nothing/").is_refused()
        assert await Viewer(await Share.objects.acreate(run=run, expires_at=past)).is_refused()

    async def test_readers_of_a_revoked_link_are_disconnected(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(broadcast, "POLL", 0.05)
        recording = await record()
        revoked = await Share.objects.acreate(run=recording.run)
        expiring = await Share.objects.acreate(run=recording.run)
        other = await record()
        lasting = await Share.objects.acreate(run=other.run)
        readers = [Viewer(share) for share in (revoked, expiring, lasting)]
        for reader in readers:
            assert await reader.open()
            await reader.read()
        await revoked.adelete()
        assert await readers[0].is_closed(consumers.NOT_FOUND)
        expiring.expires_at = timezone.now()
        await expiring.asave()
        assert await readers[1].is_closed(consumers.NOT_FOUND)
        await end(other)
        await readers[2].to_the_end()

    async def test_readers_of_a_run_that_is_deleted(self) -> None:
        recording = await record()
        reader = await Viewer.opened(await Share.objects.acreate(run=recording.run))
        await reader.read()
        group = Run(pk=recording.run.pk)
        await recording.run.adelete()
        await notify_viewers(group)
        assert await reader.is_closed(consumers.NOT_FOUND)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [HEADERS[0]],
        [HEADERS[0], (b"origin", b"http://127.0.0.1:8001")],
        [HEADERS[0], (b"origin", b"https://127.0.0.1:8000")],
        [HEADERS[0], (b"origin", b"http://evil.example")],
        [(b"host", b"evil.example"), (b"origin", b"http://evil.example")],
    ],
)
async def test_pages_of_other_sites_are_refused(headers: list[tuple[bytes, bytes]]) -> None:
    run = (await record()).run
    assert not await Viewer(run, headers=headers).open()


# The WebSocket of a collection run: catch up with the page, follow, end


@pytest.fixture(autouse=True)
async def application(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application is imported once, outside the event loop's thread; no polling."""
    monkeypatch.setattr(broadcast, "POLL", 60.0)
    monkeypatch.setattr(consumers, "COLLECTION_RUN_INTERVAL", 0.0)
    await sync_to_async(lambda: __import__("playground.asgi"))()


@sync_to_async
def recorded_steps(*verdicts: str, **fields: Any) -> CollectionRun:
    run = CollectionRun.objects.create(name="Tour", planned=len(verdicts), **fields)
    for number, verdict in enumerate(verdicts, 1):
        run.steps.create(number=number, name=f"Step {number}", verdict=verdict)
    return run


async def change(run: CollectionRun, number: int, verdict: str) -> None:
    await Step.objects.filter(collection_run=run, number=number).aupdate(verdict=verdict)
    await notify_viewers(run)


class CollectionRunViewer(Viewer):
    """A page that watches a collection run."""

    def __init__(self, run: CollectionRun | str, show: str = "all", known: str = "none") -> None:
        pk = run if isinstance(run, str) else run.pk
        super().__init__(f"/ws/collection-runs/{pk}/{show}/1/{known}/?after=0&final=0")

    async def read(self) -> dict[str, str]:
        """The verdicts of the rows in the next message, by id."""
        markup = read(await self.socket.receive_from(timeout=5))
        rows = (row.attributes for row in markup.find("li"))
        return {
            str(row["id"]): str(row["data-verdict"])
            for row in rows
            if row.get("id", "").startswith("step-")  # type: ignore[union-attr]
        }


async def test_it_catches_up_with_what_the_page_does_not_show() -> None:
    run = await recorded_steps("met", "unmet", "running", "waiting")
    viewer = await CollectionRunViewer.opened(run, known="1met-2running-3running-4waiting")
    assert await viewer.read() == {"step-2": "unmet"}
    await viewer.socket.disconnect()


async def test_it_follows_to_the_end() -> None:
    run = await recorded_steps("running", "waiting")
    one, two = [await CollectionRunViewer.opened(run, known="1running-2waiting") for _ in "ab"]
    assert await one.read() == await two.read() == {}
    await change(run, 1, "met")
    assert await one.read() == await two.read() == {"step-1": "met"}
    await CollectionRun.objects.filter(pk=run.pk).aupdate(state="completed")
    await change(run, 2, "unmet")
    assert await one.read() == await two.read() == {"step-2": "unmet"}
    assert await one.is_closed(consumers.ENDED)
    assert await two.is_closed(consumers.ENDED)


async def test_of_those_not_met_new_ones_are_added() -> None:
    run = await recorded_steps("unmet", "running", "running")
    viewer = await CollectionRunViewer.opened(run, show="unmet", known="1unmet")
    assert await viewer.read() == {}
    await change(run, 2, "met")
    assert await viewer.read() == {}
    await change(run, 3, "unsent")
    assert await viewer.read() == {"step-3": "unsent"}
    await viewer.socket.disconnect()


async def test_one_that_is_over_says_so_and_closes() -> None:
    run = await recorded_steps("met", state="completed")
    viewer = await CollectionRunViewer.opened(run, known="1met")
    assert await viewer.read() == {}
    assert await viewer.is_closed(consumers.ENDED)


async def test_one_that_nobody_has() -> None:
    viewer = await CollectionRunViewer.opened(str(uuid4()))
    assert await viewer.is_closed(consumers.NOT_FOUND)


async def test_one_that_is_deleted() -> None:
    run = await recorded_steps("running")
    viewer = await CollectionRunViewer.opened(run, known="1running")
    assert await viewer.read() == {}
    await CollectionRun.objects.filter(pk=run.pk).adelete()
    await notify_viewers(run)
    assert await viewer.is_closed(consumers.ENDED)


async def test_changes_without_a_notification_are_found_for_all_viewers_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broadcast, "POLL", 0.02)
    run = await recorded_steps("running", "waiting")
    viewers = [await CollectionRunViewer.opened(run, known="1running-2waiting") for _ in range(3)]
    for viewer in viewers:
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
        assert await viewer.is_closed(consumers.ENDED)
        await viewer.socket.disconnect()
    assert not run_feeds()._collection_runs
