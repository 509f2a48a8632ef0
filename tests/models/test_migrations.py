"""Migrations of stored data."""

from __future__ import annotations

import ast
import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

import playground
from playground.collections import trash
from playground.collections.fixture import dump
from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Folder,
    PolledPromise,
    QueuedWork,
    Retention,
    Run,
    SavedRequest,
    Share,
    SkippedCollection,
)
from playground.models.storage import RUN_BYTES, stored_bytes
from tests.support.stored_database import DATABASES, check_pages, migrate_and_read
from tests.support.stored_runs import Recording

FILES = sorted(Path(playground.__file__).parent.glob("**/migrations/0*.py"))
SQUASHED = "0001_squashed_0006_words"


def migrate_back(name: str) -> Any:
    """Go back to a migration; return the models as they were."""
    executor = MigrationExecutor(connection)
    executor.migrate([("playground", name)])
    return executor.loader.project_state([("playground", name)]).apps


def migrate() -> None:
    """Go to the newest migration, as users do."""
    call_command("migrate", "playground", verbosity=0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_migration_imports_nothing_of_the_project(path: Path) -> None:
    """A migration describes the past and must not change with the code."""
    imported = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported
    assert {name.partition(".")[0] for name in imported} <= {"django", "json", "logging", "uuid"}


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_the_column_of_a_protocol_takes_one_that_is_added_later() -> None:
    rows = migrate_back("0022_storage").get_model("playground", "Agent").objects
    rows.create(name="A", slug="a", url="http://a.example", protocol="agent-api", version="1")
    migrate()
    Agent.objects.create(name="B", slug="b", url="http://b.example", protocol="next-one")
    assert [*Agent.objects.values_list("protocol", flat=True)] == ["agent-api", "next-one"]
    SavedRequest.objects.create(
        collection=Collection.objects.create(name="C", slug="c"),
        name="R", slug="r", document={}, protocol="next-one", version="9",
    )  # fmt: skip
    try:
        models = migrate_back("0022_storage")
        rows = models.get_model("playground", "Agent").objects
        assert [*rows.values_list("protocol", flat=True)] == ["agent-api", "nlweb"]
        rows = models.get_model("playground", "SavedRequest").objects
        assert rows.get(slug="r").protocol == "nlweb"
    finally:
        migrate()


@pytest.mark.django_db
def test_a_database_with_the_replaced_migrations_needs_not_their_replacement() -> None:
    for name in ("0001_squashed_0006_words", "0007_squashed_0017_stored_bytes"):
        MigrationRecorder(connection).record_unapplied("playground", name)
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes("playground")) == []


@pytest.mark.slow
@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_back_to_version_0_1() -> None:
    """It has other names, and no workers: nobody would take what waits for one."""
    statuses = {"following": "polling", "paused": "paused", "answered": "fulfilled",
                "cancelled": "cancelled", "failed": "failed", "gave_up": "timed_out"}  # fmt: skip
    for old, new in statuses.items():
        run = Recording(text=old, source="recording", parent_entry_seq=4).run
        promise = {"entry_seq": 2, "token": '"t"', "polling_seconds": 60}
        PolledPromise.objects.create(run=run, status=new, **promise)
    waiting, driven = Recording(state="queued").run, Recording(state="queued", driver="other").run
    runs = CollectionRun.objects.create(name="Waiting"), CollectionRun.objects.create(name="Driven")
    for run in runs:
        run.steps.create(number=1, name="One")
    QueuedWork.objects.create(run=waiting, queued_at=timezone.now())
    QueuedWork.objects.create(collection_run=runs[0], queued_at=timezone.now())
    try:
        models = migrate_back(SQUASHED)
        stored = models.get_model("playground", "Run").objects.in_bulk()
        trackers = models.get_model("playground", "Tracker").objects
        found = {each.run.text: each.status for each in trackers.all()}
    finally:
        migrate()
    assert found == {old: old for old in statuses}
    before = {(run.made_by, run.cause_seq) for run in stored.values() if run.text in statuses}
    assert before == {("recording", 4)}
    promises = PolledPromise.objects.all()
    assert {each.run.text: each.status for each in promises} == statuses
    assert {(each.run.source, each.run.parent_entry_seq) for each in promises} == before
    assert [stored[run.pk].state for run in (waiting, driven)] == ["interrupted", "queued"]
    assert [CollectionRun.objects.get(pk=run.pk).state for run in runs] == [
        "interrupted",
        "running",
    ]
    assert [(step.verdict, step.reason) for run in runs for step in run.steps.all()] == [
        ("skipped", "Not started: the playground stopped."),
        ("waiting", ""),
    ]


@pytest.mark.slow
@pytest.mark.database
@pytest.mark.django_db(transaction=True)
class TestTrash:
    """From text with the relations of what was deleted to rows with a time of deletion."""

    MOMENT = datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)

    def migrated(self, *texts: str, **fields: Any) -> None:
        """Migrate a database with these items in the trash, the latest first."""
        try:
            items = migrate_back("0019_valid_columns").get_model("playground", "TrashedItem")
            for number, text in enumerate(texts):
                moment = self.MOMENT - timedelta(minutes=number)
                items.objects.create(label="the item", fixture=text, created_at=moment, **fields)
        finally:
            migrate()

    @staticmethod
    def item(model: str, **fields: Any) -> dict[str, Any]:
        return {"model": f"playground.{model}", "fields": fields}

    def request(self, slug: str, folder: str = "") -> dict[str, Any]:
        key = ["soups", folder] if folder else None
        return self.item(
            "savedrequest", collection=["soups"], folder=key, name=slug.title(), slug=slug,
            position=7, protocol="nlweb", binding="mcp", version="0.54", document={"a": "\0"},
            headers=[["A", "{{b}}"]],
        )  # fmt: skip

    def folder(self, slug: str) -> dict[str, Any]:
        return self.item("folder", collection=["soups"], name=slug.title(), slug=slug, position=5)

    def text(self, *items: Any, **relations: Any) -> str:
        empty: dict[str, Any] = {"requests": [], "runs": {}, "steps": {}}
        return f"{json.dumps(empty | relations)}\n{json.dumps(items)}"

    def test_a_collection_comes_back_with_its_relations(self) -> None:
        owner = User.objects.create_user("owner")
        run, reply, foreign = (Recording(owner=user).run for user in (owner, owner, None))
        done = CollectionRun.objects.create(owner=owner, name="Soups")
        step = done.steps.create(number=1, name="Leek")
        moment = self.MOMENT.isoformat()
        times = {"created_at": moment, "modified_at": moment}
        requests = [{"slug": "leek", "recorded_run": str(reply.pk), **times}]
        text = self.text(
            self.item("collection", name="Soups", slug="soups", description="Of *soups*."),
            self.folder("hot"), self.request("first"), self.request("leek", "hot"),
            requests=requests, runs={"leek": [str(run.pk), str(foreign.pk)]},
            steps={"leek": [step.pk]}, collection_runs=[str(done.pk)],
            collection={"position": 9, "file_digest": "ab", **times},
            shares=[{"token": "open", "created_at": moment, "expires_at": None}],
        )  # fmt: skip
        self.migrated(text, owner_id=owner.pk)
        assert not Collection.objects.exists()
        assert not Share.objects.exists()
        soups = Collection.with_trashed.get()
        assert (soups.owner, soups.deleted_at) == (owner, self.MOMENT)
        trash.restore(soups)
        assert [item["fields"] for item in json.loads(dump(soups))] == [
            {"name": "Soups", "slug": "soups", "description": "Of *soups*."},
            self.folder("hot")["fields"],
            {name: value for name, value in self.request("first")["fields"].items() if value},
            self.request("leek", "hot")["fields"],
        ]
        assert (soups.position, soups.file_digest) == (9, "ab")
        assert (soups.created_at, soups.modified_at) == (self.MOMENT, self.MOMENT)
        leek = soups.requests.get(slug="leek")
        assert (leek.created_at, leek.modified_at) == (self.MOMENT, self.MOMENT)
        assert (leek.recorded_run, list(leek.runs.all())) == (reply, [run])
        step.refresh_from_db()
        assert step.saved_request == leek
        assert list(soups.collection_runs.all()) == [done]
        assert soups.shares.get().token == "open"

    def test_parts_come_back_to_their_collection(self) -> None:
        soups = Collection.objects.create(name="Soups", slug="soups")
        run = Recording().run
        texts = (
            self.text(self.folder("hot"), self.request("leek", "hot")),
            self.text(self.request("gone", "hot"), runs={"gone": [str(run.pk)]}),
        )
        self.migrated(*texts)
        assert not soups.requests.exists()
        folder = Folder.with_trashed.get()
        gone = SavedRequest.with_trashed.get(slug="gone")
        assert list(gone.runs.all()) == [run]
        trash.restore(folder)
        assert [each.slug for each in folder.requests.all()] == ["leek"]
        trash.restore(gone)
        assert {each.slug for each in folder.requests.all()} == {"leek", "gone"}

    def test_parts_of_a_collection_that_was_deleted_after_them(self) -> None:
        Collection.objects.create(name="A later one", slug="soups")
        self.migrated(
            self.text(self.item("collection", name="Soups", slug="soups")),
            self.text(self.request("leek")),
        )
        assert SavedRequest.with_trashed.get().collection.name == "Soups"

    def test_a_part_whose_collection_is_gone_comes_back_in_one_with_its_slug(self) -> None:
        self.migrated(self.text(self.request("leek")), self.text(self.request("older")))
        soups = trash.restore(Collection.with_trashed.get())
        assert (soups.slug, [each.slug for each in soups.requests.all()]) == ("soups", ["leek"])
        trash.restore(SavedRequest.with_trashed.get(slug="older"))
        assert soups.requests.count() == 2

    BROKEN = {
        "no JSON": '{"requests": [',
        "nothing": "[]",
        "unknown model": '[{"model": "x", "fields": {}}]',
        "a slug that the database refuses": (
            '[{"model": "playground.collection", "fields": {"name": "A", "slug": "a/b"}}]'
        ),
        "another shape": '{"requests": 5}\n[{"model": "playground.folder", "fields": []}]',
    }

    def test_what_cannot_be_read_is_kept_as_text(self) -> None:
        texts = list(self.BROKEN.values())
        self.migrated(*texts)
        found = trash.recently_deleted(Collection.with_trashed.all())
        assert {Collection.with_trashed.get(pk=each.pk).description for each in found} == {*texts}
        assert {each.name for each in found} == {"Text of the item"}
        for each in found:
            trash.restore(each)
        assert Collection.objects.count() == len(texts)

    def test_items_of_a_fixture_alone(self) -> None:
        items = [self.item("collection", name="Soups", slug="soups"), self.request("leek")]
        self.migrated(json.dumps(items))
        assert trash.restore(Collection.with_trashed.get()).requests.count() == 1

    def test_shipped_collections_stay_deleted_in_both_directions(self) -> None:
        self.migrated('{"declined": "tour"}')
        assert SkippedCollection.objects.get().slug == "tour"
        self.migrated()
        assert SkippedCollection.objects.get().slug == "tour"

    def test_on_the_way_back_nothing_deleted_is_seen_again(self) -> None:
        kept = Collection.objects.create(name="Kept")
        request = kept.requests.create(name="Leek")
        run = Recording(saved_request=request).run
        trash.delete(request)
        trash.delete(Collection.objects.create(name="Gone"))
        self.migrated()
        assert list(Collection.with_trashed.all()) == [kept]
        assert not SavedRequest.with_trashed.exists()
        assert Run.objects.get(pk=run.pk).saved_request_id is None


class TestStorage:
    """Without stored bytes, without tables of the search, and without a limit of size."""

    #: Limits of days, runs and bytes, and the limits of days and runs that they become. Their
    #: owner has three runs of 1,000 bytes.
    LIMITS = (
        ((None, None, 6_000), (None, 6)),
        ((None, None, 10), (None, 3)),
        ((7, None, 10), (7, None)),
        ((None, 2, 10), (None, 2)),
        ((7, 2, None), (7, 2)),
    )

    @pytest.mark.database
    @pytest.mark.django_db(transaction=True)
    def test_what_counts_and_what_is_retained_stays(self, caplog: pytest.LogCaptureFixture) -> None:
        owners = [User.objects.create_user(f"u{number}") for number in range(len(self.LIMITS))]
        for owner in owners:
            for _ in range(3):
                Run.objects.create(
                    owner=owner, agent_name="A", request={}, bytes=1_000, other_bytes=50,
                    state="completed",
                )  # fmt: skip
        assert {stored_bytes(owner.pk) for owner in owners} == {3 * (1_050 + RUN_BYTES)}
        try:
            models = migrate_back("0021_trash_rows")
            retention = models.get_model("playground", "Retention").objects
            for owner, ((days, runs, size), _) in zip(owners, self.LIMITS, strict=True):
                retention.create(owner_id=owner.pk, max_days=days, max_runs=runs, max_bytes=size)
            stored = models.get_model("playground", "Run").objects
            stored.update(other_bytes=50, request='{"query": "eggs"}')
            ((before,),) = {*stored.values_list("stored_bytes")}
        finally:
            migrate()
        assert before > len('{"query": "eggs"}')
        assert set(Run.objects.values_list("other_bytes", flat=True)) == {50 + before}
        found = Retention.objects.order_by("pk").values_list("max_days", "max_runs")
        assert list(found) == [after for _, after in self.LIMITS]
        lines = [each.getMessage() for each in caplog.records if "retention" in each.getMessage()]
        assert len(lines) == 4
        assert lines[0].endswith(" was removed. The limits are now: any number of days, 6 runs.")

    @pytest.mark.sqlite
    @pytest.mark.django_db(transaction=True)
    def test_tables_and_triggers_of_the_search_are_dropped(self) -> None:
        """With a trigger that names another table, no table could be changed."""
        try:
            migrate_back("0021_trash_rows")
            with connection.cursor() as cursor:
                cursor.execute("CREATE VIRTUAL TABLE playground_run_words USING fts5 (words)")
                cursor.execute(
                    "CREATE TRIGGER playground_run_words_added AFTER INSERT ON playground_run BEGIN"
                    " INSERT INTO playground_run_words (words) VALUES (new.text); END"
                )
        finally:
            migrate()
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE name LIKE '%run_words%'")
            assert cursor.fetchall() == []


@pytest.mark.process
def test_a_database_of_version_0_1_is_migrated_with_all_its_runs(tmp_path: Path) -> None:
    stored = gzip.decompress((DATABASES / "version-0.1.sqlite3.gz").read_bytes())
    (tmp_path / "playground.sqlite3").write_bytes(stored)
    check_pages(migrate_and_read(tmp_path))
