"""Migrations of stored data."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

import playground
from playground.models import (
    CollectionRun,
    PolledPromise,
    QueuedWork,
    Run,
    TrashedItem,
    search_tables,
)
from playground.models.search_index import find_run_ids
from tests.support.stored_database import DATABASES, check_pages, migrate_and_read
from tests.support.stored_runs import Recording

FILES = sorted(Path(playground.__file__).parent.glob("**/migrations/0*.py"))
SQUASHED = "0001_squashed_0006_words"


def migrate_back(name: str = SQUASHED) -> Any:
    """Go back to the names of version 0.1, or another migration; the models as they were."""
    executor = MigrationExecutor(connection)
    executor.migrate([("playground", name)])
    return executor.loader.project_state([("playground", name)]).apps


def migrate() -> None:
    """Go to the newest migration, as users do: the signal after it repairs the search tables."""
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


class TestNames:
    """From the names of the glossary to those of version 0.1, and back."""

    STATUSES = {
        "following": "polling",
        "paused": "paused",
        "answered": "fulfilled",
        "cancelled": "cancelled",
        "failed": "failed",
        "gave_up": "timed_out",
    }

    @pytest.mark.slow
    @pytest.mark.database
    @pytest.mark.django_db(transaction=True)
    def test_rows_keep_their_values_in_both_directions(self) -> None:
        for old, new in self.STATUSES.items():
            run = Recording(text=old, source="recording", parent_entry_seq=4).run
            PolledPromise.objects.create(
                run=run, entry_seq=2, token='"t"', status=new, polling_seconds=60
            )
        trashed = {
            "requests": [{"slug": "soup", "recorded_run": None}],
            "collection": {"file_digest": "ab"},
        }
        others = ["[]", '{"declined": "tour"}\n[]']
        for kept in (f"{json.dumps(trashed)}\n[]", *others):
            TrashedItem.objects.create(label="R", fixture=kept)
        try:
            models = migrate_back()
            runs = models.get_model("playground", "Run").objects
            assert set(runs.values_list("made_by", "cause_seq")) == {("recording", 4)}
            trackers = models.get_model("playground", "Tracker").objects
            assert {each.run.text: each.status for each in trackers.all()} == {
                old: old for old in self.STATUSES
            }
            first, *rest = models.get_model("playground", "Removal").objects.order_by("pk")
            assert json.loads(first.fixture.split("\n")[0]) == {
                "requests": [{"slug": "soup", "replayed": None}],
                "collection": {"synced": "ab"},
            }
            assert [item.fixture for item in rest] == others
        finally:
            migrate()
        promises = PolledPromise.objects.all()
        assert {each.run.text: each.status for each in promises} == self.STATUSES
        found = {(run.source, run.parent_entry_seq) for run in Run.objects.all()}
        assert found == {("recording", 4)}
        first, *rest = TrashedItem.objects.order_by("pk")
        assert json.loads(first.fixture.split("\n")[0]) == trashed
        assert [item.fixture for item in rest] == others
        assert search_tables.is_complete(connection)
        assert len(find_run_ids(Run.objects.all(), "paused") or ()) == 1


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_what_waits_for_a_worker_is_interrupted_by_a_version_without_workers() -> None:
    """Nobody would take it: it has no driver, and no request."""
    waiting, driven = Recording(state="queued").run, Recording(state="queued", driver="other").run
    runs = CollectionRun.objects.create(name="Waiting"), CollectionRun.objects.create(name="Driven")
    for run in runs:
        run.steps.create(number=1, name="One")
    QueuedWork.objects.create(run=waiting, queued_at=timezone.now())
    QueuedWork.objects.create(collection_run=runs[0], queued_at=timezone.now())
    try:
        models = migrate_back("0017_stored_bytes")
        stored = models.get_model("playground", "Run").objects.in_bulk()
    finally:
        migrate()
    assert [stored[run.pk].state for run in (waiting, driven)] == ["interrupted", "queued"]
    assert [CollectionRun.objects.get(pk=run.pk).state for run in runs] == [
        "interrupted",
        "running",
    ]
    assert [(step.verdict, step.reason) for run in runs for step in run.steps.all()] == [
        ("skipped", "Not started: the playground stopped."),
        ("waiting", ""),
    ]


@pytest.mark.process
def test_a_database_of_version_0_1_is_migrated_with_all_its_runs(tmp_path: Path) -> None:
    stored = gzip.decompress((DATABASES / "version-0.1.sqlite3.gz").read_bytes())
    (tmp_path / "playground.sqlite3").write_bytes(stored)
    check_pages(migrate_and_read(tmp_path))
