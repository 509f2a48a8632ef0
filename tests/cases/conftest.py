"""The database of the cases."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def database(transactional_db: None) -> None:
    """A database that commands can write to."""
