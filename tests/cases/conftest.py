"""The database and the pages of the cases."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def database_and_pages(transactional_db: None, settings: Any) -> None:
    """A database that commands can write to, and pages that need no `collectstatic` before them."""
    backend = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}
