"""Start-up of the app."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.playground_server import PlaygroundServer


@pytest.mark.process
def test_garbage_is_collected_after_the_start(tmp_path: Path) -> None:
    code = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 0)"
    done = PlaygroundServer(tmp_path).manage("shell", "-c", code)
    assert done.stdout.splitlines()[-1] == "True True"
