"""Base class of the commands that use the database: migrated, with errors in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import Error, connection

from playground.base.executors import UNAVAILABLE
from playground.server.migrations import migrate_if_needed

#: Exit code for a database that is unavailable, or that refuses a value.
DATABASE_FAILED = 3


class DatabaseCommand(BaseCommand):
    """Command that migrates SQLite, and prints an error of the database without a traceback."""

    requires_migrations_checks = True
    # Those of `playground.checks`. Others of Django load every page, which takes longer than
    # all the rest of a short command. Servers run all.
    requires_system_checks: list[str] | Literal["__all__"] = ["playground"]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return Django's parser, in which a command's own --version replaces Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Execute the command. Raise `CommandError` for an error of the database."""
        try:
            return super().execute(*args, **options)
        except Error as error:
            text = explain(error, connection.vendor, connection.settings_dict)
            raise CommandError(text, returncode=DATABASE_FAILED) from error

    def check_migrations(self) -> None:
        """Migrate SQLite if migrations are missing. Django would only print a notice."""
        migrate_if_needed()


def explain(error: Error, vendor: str, database: Mapping[str, Any]) -> str:
    """Return an error of the database in `DATABASES`, with what to check, without its password."""
    reason = next(iter(str(error).splitlines()), "")
    password = database.get("PASSWORD")
    if not reason or (password and password in reason):
        reason = type(error).__name__
    return f"Database error: {reason}.{_hint(error, vendor, database)}"


def _hint(error: Error, vendor: str, database: Mapping[str, Any]) -> str:
    if not isinstance(error, UNAVAILABLE):
        return ""
    if vendor != "postgresql":
        return (
            f" Check that {database['NAME']} can be written, that its disk has space, and that no"
            " other process locks it."
        )
    host, port = database.get("HOST"), database.get("PORT")
    address = f"{host}, port {port or 5432}" if host else "a local socket"
    return (
        f" Check that PostgreSQL runs at {address}, and the user, the password and the database in"
        " DATABASE_URL."
    )
