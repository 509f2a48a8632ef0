"""Migrations of the demo agent's rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


@pytest.mark.django_db(transaction=True)
def test_tasks_with_the_members_of_version_0_1_are_deleted() -> None:
    executor = MigrationExecutor(connection)
    try:
        executor.migrate([("demo", "0001_squashed_0003_memory")])
        old = executor.loader.project_state([("demo", "0001_squashed_0003_memory")]).apps
        memory = old.get_model("demo", "Memory")
        for area in ("a2a-task", "agent-api"):
            memory.objects.create(area=area, key="k", touched=0.0, state="{}")
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate([("demo", "0002_names")])
    new = executor.loader.project_state([("demo", "0002_names")]).apps
    stored = new.get_model("demo", "StoredState").objects
    assert [(row.area, row.state) for row in stored.all()] == [("agent-api", "{}")]
    stored.all().delete()
