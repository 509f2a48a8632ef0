"""Tests of several processes: they are collected by `make test-scale` only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support.isolation import DATABASE
from tests.support.playground_server import PlaygroundServer

collect_ignore_glob = [] if os.environ.get(DATABASE) else ["test_*.py"]


@pytest.fixture
def shared(tmp_path: Path) -> dict[str, str]:
    """The settings of two web processes that share a new database and a channel layer."""
    name = f"scale_{secrets.token_hex(6)}"
    with psycopg.connect(os.environ[DATABASE], autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = urlsplit(os.environ[DATABASE])._replace(path=f"/{name}").geturl()
    return {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"], "WEB_CONCURRENCY": "2"}


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
