"""Migrations of the demo agent's rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


@pytest.mark.django_db(transaction=True)
def test_what_lives_shorter_than_an_upgrade_takes_is_deleted() -> None:
    """Tasks with the members of version 0.1, and promises, which were a table."""
    executor = MigrationExecutor(connection)
    try:
        executor.migrate([("demo", "0001_squashed_0003_memory")])
        old = executor.loader.project_state([("demo", "0001_squashed_0003_memory")]).apps
        memory = old.get_model("demo", "Memory")
        for area in ("a2a-task", "agent-api"):
            memory.objects.create(area=area, key="k", touched=0.0, state="{}")
        old.get_model("demo", "Pending").objects.create(
            token="k", ask="{}", plot="plan", started=0.0, seconds=10.0
        )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes("demo"))
    new = executor.loader.project_state(executor.loader.graph.leaf_nodes("demo")).apps
    stored = new.get_model("demo", "StoredState").objects
    assert [(row.area, row.state) for row in stored.all()] == [("agent-api", "{}")]
    stored.all().delete()
