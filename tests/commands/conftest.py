"""Commands that talk to the demo agent."""

from __future__ import annotations

import pytest

from playground.samples import load_samples
from tests.playground_server import PlaygroundServer


@pytest.fixture
def demo(playground: PlaygroundServer, transactional_db: None) -> str:
    """The saved agents of the demo; gives the address of the server that they are on."""
    load_samples(playground.url)
    return playground.url
