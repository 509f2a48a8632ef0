"""Migrations that carry over what there is."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from playground.models import Run, word_tables
from playground.models.text_index import keys_of

pytestmark = pytest.mark.database

LATEST = ("playground", "0006_words")


def migrate(name: str) -> Any:
    """Go to a migration; returns the models as they are there."""
    executor = MigrationExecutor(connection)
    executor.migrate([("playground", name)])
    return executor.loader.project_state([("playground", name)]).apps


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_runs_keep_what_they_were_made_by_and_are_found_by_their_words() -> None:
    fields = {"agent_name": "Recipes", "url": "http://a.example", "request": {}}
    try:
        models = migrate("0004_collections")
        runs = models.get_model("playground", "Run").objects
        by_user = runs.create(text="by a user", **fields)
        recorded = runs.create(text="from a file", recorded=True, **fields)
        sent = runs.create(text="in a suite", **fields)
        collection_run = models.get_model("playground", "CollectionRun").objects.create(name="C")
        collection_run.steps.create(number=1, name="R", run=sent)
    finally:
        migrate(LATEST[1])
    assert {run.pk: run.made_by for run in Run.objects.all()} == {
        by_user.pk: "user",
        recorded.pk: "recording",
        sent.pk: "collection",
    }
    assert word_tables.is_whole(connection)
    assert keys_of(Run.objects.all(), "suite") == [sent.pk]
    try:
        models = migrate("0004_collections")
        runs = models.get_model("playground", "Run").objects
        assert list(runs.filter(recorded=True).values_list("pk", flat=True)) == [recorded.pk]
    finally:
        migrate(LATEST[1])
