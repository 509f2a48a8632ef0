"""The schema of the test database: made by the models, and recorded as if by the migrations.

Migrations take three quarters of the time of a short run of pytest. What they make and models do
not is made by a signal (`playground.apps`). tests/models/test_schema.py compares both databases.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate


def disable_migrations() -> pytest.MonkeyPatch:
    """Let `migrate` create the tables of all models, until the patch that is returned is undone."""
    patch = pytest.MonkeyPatch()
    patch.setattr(
        settings, "MIGRATION_MODULES", {app.label: None for app in apps.get_app_configs()}
    )
    return patch


def delete_instead_of_truncate() -> None:
    """Let PostgreSQL empty tables after a test with DELETE.

    TRUNCATE writes new files for each table and index, which takes 200 ms for tables with a few
    rows.
    """
    if connection.vendor != "postgresql":
        return

    def sql_flush(style: object, tables: Sequence[str], **_: object) -> list[str]:
        # Without the triggers of foreign keys, tables have no order.
        rows = (f"DELETE FROM {connection.ops.quote_name(table)};" for table in tables)
        return ["SET LOCAL session_replication_role = replica;" + "".join(rows)]

    connection.ops.sql_flush = sql_flush


def disable_permissions() -> None:
    """Let `migrate` make no permissions and content types, now or after a test that commits.

    Nothing uses them, and making them takes longer than all else that such a test is followed by.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


def record_migrations() -> None:
    """Record all migrations as applied: commands look for those that are not."""
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    migrations = MigrationLoader(connection).disk_migrations
    replaced = (name for migration in migrations.values() for name in migration.replaces)
    missing = {*migrations, *replaced} - recorder.applied_migrations().keys()
    rows = [recorder.Migration(app=app, name=name) for app, name in sorted(missing)]
    recorder.migration_qs.bulk_create(rows)
