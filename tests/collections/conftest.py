"""Fixtures of a directory of fixtures/ with the file of one collection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Edit = Callable[[str, str], None]


@pytest.fixture
def directory(settings: Any, tmp_path: Path) -> Path:
    """Return the directory of collections' files, the test's only one."""
    settings.FIXTURE_DIRS = [tmp_path]
    settings.DEMO_ENABLED = False
    return tmp_path


@pytest.fixture
def path(directory: Path) -> Path:
    """Return the path of the collection “Soups”, which may not exist."""
    return directory / "soups.json"


@pytest.fixture
def edit(path: Path) -> Edit:
    """Return a function that replaces a text of the file."""

    def replace(old: str, new: str) -> None:
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    return replace
