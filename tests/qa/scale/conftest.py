"""Tests of several processes: they are collected by `make test-scale` only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.qa.scale.services import shared_settings
from tests.support.isolation import DATABASE
from tests.support.playground_server import PlaygroundServer

collect_ignore_glob = [] if os.environ.get(DATABASE) else ["test_*.py"]


@pytest.fixture
def shared(tmp_path: Path) -> dict[str, str]:
    """The settings of two web processes that share a new database and a channel layer."""
    return shared_settings(os.environ[DATABASE], os.environ["REDIS_URL"])


@pytest.fixture
def pair(tmp_path: Path, shared: dict[str, str]) -> Iterator[list[PlaygroundServer]]:
    """Two web processes; the keys are in the data directory that they share, too."""
    with (
        PlaygroundServer(tmp_path / "shared", **shared) as one,
        PlaygroundServer(tmp_path / "shared", **shared) as two,
    ):
        yield [one, two]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[PlaygroundServer]:
    """An agent that neither of them serves."""
    with PlaygroundServer(tmp_path / "agent") as server:
        yield server


@pytest.fixture
def rows(shared: dict[str, str]) -> Iterator[Any]:
    """Reads the database behind the back of the processes: (SQL) to rows."""
    with psycopg.connect(shared["DATABASE_URL"], autocommit=True) as connection:
        yield lambda sql: connection.execute(sql).fetchall()
