"""WebSockets of a hosted playground end with the session of their user."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from playground.live import broadcast, consumers
from playground.models import CollectionRun, Share, rows
from tests.live.test_consumers import HEADERS, Viewer, record
from tests.support.stored_runs import CALL, HEAD, OPEN

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
async def hosted_mode(transactional_db: None, settings: Any) -> None:
    settings.HOSTED = True
    await sync_to_async(lambda: __import__("playground.asgi"))()


class Browser:
    """A user who is logged in."""

    def __init__(self, name: str) -> None:
        self.user = User.objects.create_user(name)
        self.client = Client()
        self.client.force_login(self.user)
        cookie = f"playground_session={self.client.session.session_key}"
        self.headers = [*HEADERS, (b"cookie", cookie.encode())]

    def end(self, way: str) -> None:
        """End the session."""
        match way:
            case "log-out":
                self.client.logout()
            case "deactivation":
                User.objects.filter(pk=self.user.pk).update(is_active=False)
            case "password":
                self.user.set_password("another one")
                self.user.save()
            case "deletion of the session":
                self.client.session.flush()


def test_they_are_checked_in_time() -> None:
    assert broadcast.POLL < 2


@pytest.mark.parametrize("way", ["log-out", "deactivation", "password", "deletion of the session"])
async def test_sockets_end_with_the_session(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "POLL", 0.05)
    asked: list[set[str]] = []
    valid = rows.valid_sessions
    monkeypatch.setattr(broadcast, "valid_sessions", lambda keys: asked.append(keys) or valid(keys))
    leaving, staying = await sync_to_async(Browser)("leaving"), await sync_to_async(Browser)("b")
    recording = await record(owner=leaving.user)
    await sync_to_async(recording.add)(CALL, OPEN, HEAD)
    other = await record(owner=staying.user)
    await sync_to_async(other.add)(CALL, OPEN, HEAD)
    collection_run = await CollectionRun.objects.acreate(owner=leaving.user, name="a", planned=1)
    share = await Share.objects.acreate(owner=leaving.user, run=recording.run)
    theirs = [
        Viewer(recording.run, headers=leaving.headers),
        Viewer(recording.run, "?after=3", headers=leaving.headers),
        Viewer(
            f"/ws/collection-runs/{collection_run.pk}/all/1/none/?after=0&final=0",
            headers=leaving.headers,
        ),
    ]
    kept = [Viewer(other.run, headers=staying.headers), Viewer(share)]
    for viewer in (*theirs, *kept):
        assert await viewer.open()
    for viewer in (theirs[0], *kept):
        await viewer.read()
    await sync_to_async(leaving.end)(way)
    for viewer in theirs:
        while (output := await viewer.socket.receive_output(timeout=5))[
            "type"
        ] != "websocket.close":
            pass
        assert output["code"] == consumers.NOT_FOUND
    asked.clear()
    while not asked:
        assert await kept[0].socket.receive_nothing(timeout=0.1)
    # One call for all sockets of the process; a reader of a share needs no session.
    assert len(asked[0]) == 2
    for viewer in kept:
        await viewer.socket.disconnect()
    assert await Viewer(recording.run, headers=leaving.headers).is_refused()
