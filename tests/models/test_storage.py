"""The bytes that are stored for an owner, and whose they are."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection

from playground.models import (
    Collection,
    Conversation,
    FrameBatch,
    Run,
    RunState,
    SavedRequest,
    Share,
    TrashedItem,
    storage,
)
from playground.models.batches import FramePart, build_batches
from playground.models.runs import FINAL_STATES
from playground.models.storage import (
    COUNT_LIFETIME,
    FRAME_BYTES,
    ROW_BYTES,
    RUN_BYTES,
    StorageUsage,
    no_room,
    stored_bytes,
)
from playground.protocols.frames import Frame, FrameKind

#: Bytes of an empty request: the document, and three empty lists.
EMPTY = len("{}") + 3 * len("[]")

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    storage._counts.clear()


def make(owner: User | None = None, **fields: Any) -> Run:
    given = {
        "agent_name": "A", "url": "http://a.example", "protocol": "nlweb", "binding": "http",
        "version": "0.55", "request": {}, "state": "completed", **fields,
    }  # fmt: skip
    found: Run = Run.objects.create(owner=owner, **given)
    return found


class TestWhoseByteItIs:
    def test_nobodys(self) -> None:
        assert stored_bytes(None) == 0

    @pytest.mark.parametrize("state", RunState.values)
    def test_a_run_in_any_state(self, state: str) -> None:
        make(state=state, bytes=1000, frames=3)
        assert stored_bytes(None) == 1000 + 3 * FRAME_BYTES + RUN_BYTES + EMPTY

    def test_a_request_is_stored_with_its_run_and_in_a_frame(self) -> None:
        run = make(request={"q": "x"}, headers=[["A", "b"]], answers={"n": 1}, other_bytes=100)
        size = len('{"q": "x"}') + len('[["A", "b"]]') + len('{"n": 1}') + 2 * len("[]")
        assert run.stored_bytes == size
        assert stored_bytes(None) == size + 100 + RUN_BYTES

    def test_child_runs_are_their_owners(self) -> None:
        owner = User.objects.create_user("owner")
        turn = make(owner, bytes=10, conversation=Conversation.objects.create(owner=owner))
        make(owner, bytes=20, kind="action", parent=turn, conversation=turn.conversation)
        make(None, bytes=500)
        assert stored_bytes(owner.pk) == 30 + 2 * (RUN_BYTES + EMPTY)
        assert stored_bytes(None) == 500 + RUN_BYTES + EMPTY

    def test_a_share_is_the_owners(self) -> None:
        owner, reader = User.objects.create_user("owner"), User.objects.create_user("reader")
        Share.objects.create(owner=owner, run=make(owner, bytes=10))
        assert stored_bytes(owner.pk) == 10 + RUN_BYTES + EMPTY + ROW_BYTES
        assert stored_bytes(reader.pk) == 0

    def test_collections_with_recorded_responses_and_the_trash(self) -> None:
        owner = User.objects.create_user("owner")
        collection = Collection.objects.create(owner=owner, name="C")
        saved = SavedRequest.objects.create(collection=collection, name="S", notes="n" * 100)
        # The document, authentication and captures; headers and expectations.
        empty = 2 * ROW_BYTES + 3 * len("{}") + 2 * len("[]")
        assert stored_bytes(owner.pk) == 100 + empty
        saved.reply = {"frames": "f" * 1000}
        saved.save()
        assert stored_bytes(owner.pk) == 100 + empty + len('{"frames": ""}') + 1000
        collection.delete()
        TrashedItem.objects.create(owner=owner, label="C", fixture="x" * 300)
        assert stored_bytes(owner.pk) == 300 + ROW_BYTES

    def test_what_is_deleted_is_not_counted(self) -> None:
        make(bytes=10).delete()
        assert stored_bytes(None) == 0


def test_the_index_has_every_final_state() -> None:
    index = next(each for each in Run._meta.indexes if each.name == "run_stored_bytes")
    assert dict(index.condition.children) == {"state__in": FINAL_STATES}  # type: ignore[union-attr, arg-type]
    assert set(FINAL_STATES) == {state for state in RunState if state.is_final}


@pytest.mark.sqlite
def test_counting_uses_the_index() -> None:
    runs = Run.objects.filter(owner=1).order_by()
    assert "run_stored_bytes" in runs.filter(storage._HAS_ENDED).values("bytes").explain()
    assert "run_history_state" in runs.unfinished().values("bytes").explain()
    assert connection.vendor == "sqlite"


@pytest.mark.sqlite
@pytest.mark.parametrize(("model", "lookup"), storage._COUNTED)
def test_counting_reads_no_whole_table(model: Any, lookup: str) -> None:
    plan = storage._rows(model, lookup, 1).order_by().values("pk").explain()
    assert "SEARCH" in plan
    assert "SCAN" not in plan


@pytest.mark.sqlite
def test_promises_are_found_by_the_outcome_of_their_runs() -> None:
    plan = storage._promises(1).order_by().values("pk").explain()
    assert "run_history_outcome" in plan
    assert "SCAN" not in plan


def test_the_frames_of_earlier_runs_are_counted() -> None:
    run = make(bytes=5, frames=3)
    frames = [Frame(1, 0, FrameKind.CALL, b"call"), Frame(2, 0, FrameKind.HEAD, b"head of it"),
              Frame(3, 0, FrameKind.BODY, b"12345")]  # fmt: skip
    FrameBatch.objects.bulk_create(build_batches(run, [FramePart(frames)]))
    without_frames = make(bytes=5, frames=3)
    migration = import_module("playground.migrations.0017_stored_bytes")
    migration.count_other_frames(apps, SimpleNamespace(connection=connection))
    run.refresh_from_db()
    without_frames.refresh_from_db()
    assert (run.other_bytes, without_frames.other_bytes) == (len(b"callhead of it"), 0)


class TestQuota:
    def test_off(self, settings: Any, django_assert_num_queries: Any) -> None:
        settings.QUOTA = 0
        make(bytes=10**9)
        with django_assert_num_queries(0):
            assert no_room(None) == ""
        usage = StorageUsage.of(None)
        assert (usage.text, usage.is_full, usage.is_nearly_full) == ("953.7 MB", False, False)

    @pytest.mark.parametrize(
        ("stored", "full", "warns"),
        [(0, False, False), (89_000, False, False), (90_000, False, True),
         (99_999, False, True), (100_000, True, True), (200_000, True, True)],
    )  # fmt: skip
    def test_levels(self, stored: int, full: bool, warns: bool) -> None:
        usage = StorageUsage(stored, 100_000)
        assert (usage.is_full, usage.is_nearly_full) == (full, warns)

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
