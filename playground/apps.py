"""Django app configuration: registers system checks, repairs the search after migrations."""

import gc
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class PlaygroundConfig(AppConfig):
    """The app of the playground."""

    name = "playground"
    verbose_name = "NLWeb Playground"

    def ready(self) -> None:
        """Register the system checks and the repair of the search tables; end the start-up."""
        from playground import checks  # noqa: F401

        post_migrate.connect(_repair_search, sender=self, dispatch_uid="playground.search")
        if not gc.isenabled():  # Disabled by manage.py.
            gc.freeze()
            gc.enable()


def _repair_search(using: str, **_: Any) -> None:
    from playground.models import search_tables

    search_tables.repair(connections[using])
