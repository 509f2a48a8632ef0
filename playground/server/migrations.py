"""Migrations of the playground's database, before it is used."""

from __future__ import annotations

from functools import cache

from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from playground import __version__
from playground.base.installation import command_line

#: Exit code of a command that does not use the database of a newer version.
NEWER_DATABASE = 2
#: Exit code of a command that does not migrate a database that is shared.
NOT_MIGRATED = 3


def migrate_if_needed() -> None:
    """Migrate SQLite if migrations of the playground are missing.

    Raise `CommandError`, and write nothing, if a newer version of the playground has migrated the
    database, or if migrations are missing in PostgreSQL: other processes can be using it.
    """
    if not _missing_migrations():
        return
    if connection.vendor == "postgresql":
        raise CommandError(
            f"The database is not migrated. Run: {command_line('migrate')}",
            returncode=NOT_MIGRATED,
        )
    migrate()


def migrate() -> None:
    """Migrate the database, unless a newer version of the playground has; raise `CommandError`."""
    _missing_migrations()
    call_command("migrate", interactive=False, verbosity=0)


def _missing_migrations() -> set[tuple[str, str]]:
    """Return app and name of the playground's migrations that were not applied.

    Raise `CommandError` if there are migrations of a newer version, or some of those that one
    migration has replaced, which cannot be completed.
    """
    needed = _migrations()
    applied = set(MigrationRecorder(connection).applied_migrations())
    apps = {app for app, _ in needed}
    if any(app in apps for app, _ in applied.difference(needed, *needed.values())):
        raise CommandError(
            "The database was migrated by a newer version of the playground, and this one"
            f" ({__version__}) cannot use it. Install the newer version, or set"
            " PLAYGROUND_DATA_DIR to another folder.",
            returncode=NEWER_DATABASE,
        )
    for (_, name), replaced in needed.items():
        if applied & replaced and not replaced <= applied:
            raise CommandError(
                f"The database has a part of the migrations that {name} replaces: it is from a"
                " development version. Migrate it with a version that has them all, or set"
                " PLAYGROUND_DATA_DIR to another folder.",
                returncode=NOT_MIGRATED,
            )
    return needed.keys() - applied


@cache
def _migrations() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return app and name of the playground's migrations, each with those that it replaces."""
    return {
        key: set(migration.replaces)
        for key, migration in MigrationLoader(None).disk_migrations.items()
        # Procrastinate has its tables where there are workers.
        if migration.__module__.startswith(("playground.", "procrastinate."))
    }
