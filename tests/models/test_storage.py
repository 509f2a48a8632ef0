"""The quota, which counts an owner's runs, and the limits on rows of other tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, models

from playground.collections import trash
from playground.models import (
    ActionServer,
    Agent,
    Collection,
    CollectionRun,
    Environment,
    Folder,
    FrameBatch,
    LessonProgress,
    Run,
    SavedRequest,
    Share,
    Step,
    Variable,
    storage,
)
from playground.models.columns import text_bytes
from playground.models.frames import Batch, build_rows
from playground.models.storage import (
    COUNT_LIFETIME,
    FRAME_BYTES,
    LIMITS,
    LimitError,
    check_rows,
    no_room,
    stored_bytes,
)
from playground.protocols.frames import Frame, FrameKind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

#: Bytes that a text has above a limit.
LARGE = 1000
LIMITED = pytest.mark.parametrize("model", LIMITS, ids=lambda model: model.__name__)


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


def test_runs_of_an_owner_and_of_nobody_else(owner: User) -> None:
    assert stored_bytes(owner.pk) == stored_bytes(None) == 0
    for state in ("completed", "streaming"):
        before = stored_bytes(owner.pk)
        make(owner, state=state, bytes=1000, other_bytes=100, frames=3)
        assert stored_bytes(owner.pk) - before >= 1100 + 3 * FRAME_BYTES
    before = stored_bytes(owner.pk)
    for _ in range(10):
        make(owner)
    assert stored_bytes(owner.pk) - before >= 10 * 100
    assert stored_bytes(None) == 0
    Run.objects.all().delete()
    assert stored_bytes(owner.pk) == 0


@pytest.mark.sqlite
def test_counting_reads_no_whole_table() -> None:
    counted = [model._base_manager.filter(**{each.owner: 1}) for model, each in LIMITS.items()]
    plans = [rows.order_by().values("pk").explain() for rows in counted]
    runs = Run.objects.filter(owner=1).order_by()
    plans.append(runs.filter(storage._HAS_ENDED).values("bytes", "frames").explain())
    assert "COVERING INDEX run_bytes" in plans[-1]
    for plan in plans:
        assert "SEARCH" in plan
        assert "SCAN" not in plan


def test_the_frames_of_earlier_runs_are_counted() -> None:
    run = make(bytes=5, frames=3)
    frames = [Frame(1, 0, FrameKind.CALL, b"call"), Frame(2, 0, FrameKind.HEAD, b"head of it"),
              Frame(3, 0, FrameKind.BODY, b"12345")]  # fmt: skip
    FrameBatch.objects.bulk_create(build_rows(run, [Batch(frames)]))
    migration = import_module("playground.migrations.0007_squashed_0017_stored_bytes")
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


def collection(owner: User) -> Collection:
    return Collection.objects.create(owner=owner, name="C")


#: A row of each table that is not saved yet; other rows that it needs are.
NEW: dict[type[models.Model], Callable[[User, int], models.Model]] = {
    Agent: lambda owner, n: Agent(owner=owner, name=f"A{n}", url="http://a.example"),
    Environment: lambda owner, n: Environment(owner=owner, name=f"E{n}"),
    Variable: lambda owner, n: Variable(
        environment=Environment.objects.create(owner=owner, name="E"), name="v"
    ),
    Collection: lambda owner, n: Collection(owner=owner, name=f"C{n}"),
    Folder: lambda owner, n: Folder(collection=collection(owner), name="F"),
    SavedRequest: lambda owner, n: SavedRequest(collection=collection(owner), name="S"),
    LessonProgress: lambda owner, n: LessonProgress(collection=collection(owner)),
    CollectionRun: lambda owner, n: CollectionRun(owner=owner, name="C"),
    Step: lambda owner, n: Step(
        collection_run=CollectionRun.objects.create(owner=owner, name="C"), number=1, name="S"
    ),
    ActionServer: lambda owner, n: ActionServer(
        owner=owner, protocol="mcp", identifier=f"i{n}", url="u"
    ),
    Share: lambda owner, n: Share(owner=owner, run=make(owner)),
}


class TestLimits:
    @pytest.fixture(autouse=True)
    def _hosted(self, settings: Any) -> None:
        settings.HOSTED, settings.QUOTA = True, 1024**3

    @LIMITED
    def test_of_rows(
        self, owner: User, model: type[models.Model], monkeypatch: pytest.MonkeyPatch, settings: Any
    ) -> None:
        other = User.objects.create_user("other")
        monkeypatch.setitem(LIMITS, model, replace(LIMITS[model], rows=2))
        for number in range(2):
            NEW[model](owner, number).save()
        one_more = NEW[model](owner, 2)
        with pytest.raises(LimitError) as refused:
            one_more.save()
        assert str(refused.value) == f"{refused.value.cause} {refused.value.fix}"
        assert refused.value.cause.startswith("No room left for 1 more: 2 of 2 ")
        assert model._base_manager.count() == 2
        NEW[model](other, 3).save()
        first = model._base_manager.filter(**{LIMITS[model].owner: owner}).first()
        assert first
        first.save()  # A change adds none.
        first.delete()
        one_more.save()
        settings.QUOTA = 0
        NEW[model](owner, 4).save()

    def test_rows_in_the_trash_count(self, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(LIMITS, Collection, replace(LIMITS[Collection], rows=1))
        trash.delete(collection(owner))
        with pytest.raises(LimitError, match="Those in the trash count until they are purged"):
            collection(owner)
        Collection.with_trashed.all().delete()
        collection(owner)

    @LIMITED
    def test_of_rows_in_bulk(
        self, owner: User, model: type[models.Model], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(LIMITS, model, replace(LIMITS[model], rows=2))
        rows = [NEW[model](owner, number) for number in range(3)]
        check_rows(rows[:2], added=2)
        check_rows(rows, added=2)
        with pytest.raises(LimitError):
            check_rows(rows, added=3)

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (model, field.attname)
            for model, limit in LIMITS.items()
            if limit.size
            for field in model._meta.concrete_fields
            if isinstance(field, models.TextField)
        ],
        ids=lambda value: value if isinstance(value, str) else value.__name__,
    )
    def test_of_bytes_in_every_column(
        self, owner: User, model: type[models.Model], name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = NEW[model](owner, 0)
        is_text = isinstance(getattr(row, name), str)
        before = text_bytes(row)

        def fill(count: int) -> None:
            text = "x" * count
            setattr(
                row, name, text if is_text else [["x", text]] if name == "headers" else {"x": text}
            )

        fill(2 * LARGE)
        size = text_bytes(row)
        assert size - before >= LARGE
        monkeypatch.setitem(LIMITS, model, replace(LIMITS[model], size=size - 1))
        with pytest.raises(LimitError, match=r" is too large: .* of at most "):
            row.save()
        assert not model._base_manager.exists()
        monkeypatch.setitem(LIMITS, model, replace(LIMITS[model], size=size))
        row.save()
        # What was stored beyond a limit can be made smaller, and not larger.
        monkeypatch.setitem(LIMITS, model, replace(LIMITS[model], size=1))
        fill(LARGE)
        row.save()
        fill(2 * LARGE)
        with pytest.raises(LimitError):
            row.save()

    def test_bytes_and_not_characters(self) -> None:
        assert text_bytes(Folder(description="\N{SLICE OF PIZZA}" * LARGE)) == 4 * LARGE
        assert text_bytes(Folder(description="\0" * LARGE)) == LARGE

    def test_a_handshake_beyond_the_limit_is_not_stored(
        self, owner: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        agent = Agent.objects.create(owner=owner, name="A", url="http://a.example")
        monkeypatch.setitem(LIMITS, Agent, replace(LIMITS[Agent], size=10 * LARGE))
        for tools, kept in ((LARGE, LARGE), (10 * LARGE, LARGE)):
            agent.save_handshake({"tools": "x" * tools})
            assert Agent.objects.get().handshake == {"tools": "x" * kept}

    def test_the_limits_of_forms_and_files_fit(self, owner: User) -> None:
        """What a form or a file may have is not refused because of its size."""
        from playground.collections.fixture import MAX_TEXT
        from playground.collections.fixture_parser import MAX_DOCUMENT
        from playground.collections.recordings import MAX_BYTES
        from playground.environments.views import MAX_VALUE
        from playground.lesson_format.lesson import MAX_LESSON

        wide = "\N{SLICE OF PIZZA}"
        rows = [
            Variable(value=wide * MAX_VALUE, kind="text"),
            Variable(secret=wide * MAX_VALUE, kind="secret"),
            Collection(description=wide * MAX_TEXT, lesson={"x": "x" * MAX_LESSON}),
            Folder(description=wide * MAX_TEXT),
            SavedRequest(document={"x": "x" * MAX_DOCUMENT}, notes=wide * MAX_TEXT),
            SavedRequest(reply={"x": "x" * (MAX_BYTES * 4 // 3)}, notes=wide * MAX_TEXT),
        ]
        for row in rows:
            assert text_bytes(row) <= LIMITS[type(row)].size
