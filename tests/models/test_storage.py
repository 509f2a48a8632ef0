"""The bytes that are stored for an owner: no table and no column is left out of the count."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection

from playground.models import (
    ActionServer,
    Agent,
    Collection,
    CollectionRun,
    Environment,
    Folder,
    FrameBatch,
    LessonProgress,
    PolledPromise,
    Run,
    SavedRequest,
    Share,
    Step,
    Variable,
    storage,
)
from playground.models.batches import FramePart, build_batches
from playground.models.storage import COUNT_LIFETIME, FRAME_BYTES, no_room, stored_bytes
from playground.protocols.frames import Frame, FrameKind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LARGE = 200_000
TEXT = "x" * (LARGE + 100)
#: Four bytes each in UTF-8.
WIDE = "\N{SLICE OF PIZZA}" * LARGE


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    storage._counts.clear()


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("owner")


def make(owner: User | None = None, **fields: Any) -> Run:
    return Run.objects.create(
        owner=owner, **{"agent_name": "A", "request": {}, "state": "completed", **fields}
    )


def rows(owner: User) -> dict[str, Any]:
    """A row of each table of an owner."""
    run, collection = make(owner, outcome="promise"), Collection(owner=owner, name="C")
    collection.save()
    collection_run = CollectionRun.objects.create(owner=owner, name="C")
    environment = Environment.objects.create(owner=owner, name="E")
    return {
        "agent": Agent.objects.create(owner=owner, name="A", url="http://a.example"),
        "variable": Variable.objects.create(environment=environment, name="v"),
        "collection": collection,
        "folder": Folder.objects.create(collection=collection, name="F"),
        "request": SavedRequest.objects.create(collection=collection, name="S"),
        "lesson": LessonProgress.objects.create(collection=collection),
        "collection run": collection_run,
        "step": Step.objects.create(collection_run=collection_run, number=1, name="S"),
        "promise": PolledPromise.objects.create(
            run=run, entry_seq=1, token="t", polling_seconds=1
        ),
        "server": ActionServer.objects.create(
            owner=owner, protocol="mcp", identifier="i", url="u"
        ),
    }  # fmt: skip


#: Columns that can be large, by table.
COLUMNS = {
    "agent": "headers notes handshake detected auth_secret answer_template",
    "variable": "value secret allowed_origins",
    "collection": "description",
    "folder": "description",
    "request": "auth captures document headers expectations notes reply",
    "lesson": "steps",
    "collection run": "options",
    "step": "checks reason",
    "promise": "token updates headers",
    "server": "description",
}
OF_RUN = "request session_override session_context detected handshake declined_elicitations"


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_counts(owner: User, table: str) -> None:
    row = rows(owner)[table]
    for name in COLUMNS[table].split():
        before = stored_bytes(owner.pk)
        is_text = isinstance(getattr(row, name), str)
        setattr(row, name, TEXT if is_text else [["x", TEXT]] if name == "headers" else {"x": TEXT})
        row.save()
        assert stored_bytes(owner.pk) - before >= LARGE, name


@pytest.mark.parametrize("name", OF_RUN.split())
def test_every_column_of_a_run_counts(owner: User, name: str) -> None:
    make(owner, **{name: {"value": TEXT}})
    assert stored_bytes(owner.pk) >= LARGE


def test_bytes_and_not_characters(owner: User) -> None:
    item = rows(owner)["collection"]
    before = stored_bytes(owner.pk)
    item.description = WIDE
    item.save()
    assert stored_bytes(owner.pk) - before == 4 * LARGE
    if connection.vendor == "sqlite":  # PostgreSQL refuses a null character.
        item.description = "\0" + TEXT
        item.save()
        assert stored_bytes(owner.pk) - before == LARGE + 101


def test_rows_of_an_owner_and_of_nobody_else(owner: User) -> None:
    assert stored_bytes(owner.pk) == stored_bytes(None) == 0
    for state in ("completed", "streaming"):
        before = stored_bytes(owner.pk)
        make(owner, state=state, bytes=1000, other_bytes=100, frames=3)
        assert stored_bytes(owner.pk) - before >= 1100 + 3 * FRAME_BYTES
    before = stored_bytes(owner.pk)
    for _ in range(10):
        Share.objects.create(owner=owner, run=make(owner))
        Environment.objects.create(owner=owner, name="E")
    assert stored_bytes(owner.pk) - before >= 30 * 100
    assert stored_bytes(None) == 0
    Run.objects.all().delete()
    Environment.objects.all().delete()
    assert stored_bytes(owner.pk) == 0


@pytest.mark.sqlite
def test_counting_reads_no_whole_table() -> None:
    plans = [
        storage._rows(model, lookup, 1).order_by().values("pk").explain()
        for model, lookup in storage._COUNTED
    ]
    plans.append(storage._promises(1).order_by().values("pk").explain())
    runs = Run.objects.filter(owner=1).order_by()
    plans.append(runs.filter(storage._HAS_ENDED).values("bytes").explain())
    for plan in plans:
        assert "SEARCH" in plan
        assert "SCAN" not in plan


def test_the_frames_of_earlier_runs_are_counted() -> None:
    run = make(bytes=5, frames=3)
    frames = [Frame(1, 0, FrameKind.CALL, b"call"), Frame(2, 0, FrameKind.HEAD, b"head of it"),
              Frame(3, 0, FrameKind.BODY, b"12345")]  # fmt: skip
    FrameBatch.objects.bulk_create(build_batches(run, [FramePart(frames)]))
    migration = import_module("playground.migrations.0017_stored_bytes")
    migration.count_other_frames(apps, SimpleNamespace(connection=connection))
    run.refresh_from_db()
    assert run.other_bytes == len(b"callhead of it")


class TestQuota:
    def test_off(self, settings: Any, django_assert_num_queries: Any) -> None:
        settings.QUOTA = 0
        make(bytes=10**9)
        with django_assert_num_queries(0):
            assert no_room(None) == ""

    def test_says_how_much_is_used(self, settings: Any) -> None:
        settings.QUOTA = 1024 * 1024
        make(bytes=2 * 1024 * 1024)
        assert no_room(None) == "No room left: 2.0 MB of 1.0 MB used."

    def test_a_count_is_used_again_to_allow_but_not_to_refuse(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
    ) -> None:
        now = 0.0
        monkeypatch.setattr(storage.time, "monotonic", lambda: now)
        settings.QUOTA = 100_000
        assert no_room(None) == ""
        run = make(bytes=200_000)
        with django_assert_num_queries(0):
            assert no_room(None) == ""
        now = COUNT_LIFETIME
        assert no_room(None)
        run.delete()
        assert no_room(None) == ""
