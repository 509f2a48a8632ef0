"""What the scaffold writes works in a copy of the checkout, as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_COPIED = (
    "docs",
    "fixtures",
    "manage.py",
    "playground",
    "pyproject.toml",
    "static",
    "templates",
    "tests",
)
#: Bytecode is copied: the copies of its sources have the same times.
_LEFT_OUT = shutil.ignore_patterns("build", "node_modules", ".venv")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=_LEFT_OUT)
        else:
            shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def _run(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env={**os.environ, "PLAYGROUND_DATA_DIR": str(checkout / "data")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.process
@pytest.mark.slow
def test_a_protocol_and_an_event(checkout: Path) -> None:
    written = _run(checkout, "-m", "tests.scaffold", "protocol", "parrot", "--label", "Parrot")
    assert "playground/protocols/schemas/parrot-1/request.json" in written
    assert "playground/protocols/registry.py" in written
    _run(checkout, "-m", "tests.scaffold", "event", "source_list")
    _run(checkout, "-m", "ruff", "check", "--quiet", "playground", "tests/protocols/parrot")
    _run(checkout, "-m", "ruff", "format", "--check", "playground", "tests/protocols/parrot")
    passed = _run(
        checkout,
        *("-m", "pytest", "-q", "tests/protocols/parrot", "tests/protocols/test_registry.py"),
        "tests/collections/test_fixture_schema.py",
        *("tests/cli/test_output.py", "tests/protocols/test_explanations.py"),
    )
    assert "failed" not in passed
