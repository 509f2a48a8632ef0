"""Fixtures of commands: the demo agent, and an exported file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from playground.server.startup import load_samples
from tests.support import example_collections
from tests.support.playground_server import PlaygroundServer


@pytest.fixture
def demo(playground: PlaygroundServer, transactional_db: None) -> str:
    """Save the demo's agents, and return the address of their server."""
    load_samples(playground.url)
    return playground.url


@pytest.fixture
def exported_file(tmp_path: Path) -> Path:
    """Return the file of a collection that was exported and deleted."""
    path = tmp_path / "soups.json"
    collection = example_collections.example()
    call_command("export_collection", "soups", output=str(path), stderr=io.StringIO())
    collection.delete()
    return path
