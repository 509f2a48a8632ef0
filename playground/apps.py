"""Django app configuration: system checks, private files."""

import gc
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.models.signals import pre_migrate

from playground.base.private_files import (
    create_private_file,
    database_file,
    private_files,
    restrict_access,
)


class PlaygroundConfig(AppConfig):
    """The app of the playground."""

    name = "playground"
    verbose_name = "NLWeb Playground"

    def ready(self) -> None:
        """Register the system checks, and end the start-up.

        This is before the first connection, so that SQLite finds its file with the right mode.
        """
        from playground import checks  # noqa: F401

        database = database_file(settings.DATABASES["default"])
        if database is not None:
            create_private_file(database)
        for path in private_files(settings.DATA_DIR, database):
            restrict_access(path)
        pre_migrate.connect(_allow_long_statements, sender=self, dispatch_uid="playground.timeout")
        if not gc.isenabled():  # Disabled by manage.py.
            gc.freeze()
            gc.enable()


def _allow_long_statements(using: str, **_: Any) -> None:
    """Let the statements of migrations take any time in this connection."""
    if connections[using].vendor == "postgresql":
        connections[using].cursor().execute("SET statement_timeout = 0")
