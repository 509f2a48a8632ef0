"""Base class of the commands that use the database: it is migrated first."""

from __future__ import annotations

from django.core.management import BaseCommand

from playground.startup import migrate_if_needed


class DatabaseCommand(BaseCommand):
    """A command that needs no `serve` or `migrate` before it."""

    requires_migrations_checks = True

    def check_migrations(self) -> None:
        """Migrate the database instead of printing what is missing, as Django does."""
        migrate_if_needed()
