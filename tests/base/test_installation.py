"""The installation: folders in a checkout and in an installed package, and the command lines."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from playground.base import installation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("is_installed", "data", "fixtures", "commands"),
    [
        (False, ROOT / "var", ROOT / "fixtures",
         ("make run PORT=8001", "make setup", "manage.py send")),
        (True, Path("/home/nlweb-playground"), Path("/data/fixtures"),
         ("nlweb-playground --port 8001", 'pip install "nlweb-playground[uvicorn]"',
          "nlweb-playground send")),
    ],
    ids=["checkout", "package"],
)  # fmt: skip
def test_folders_and_commands(
    monkeypatch: pytest.MonkeyPatch,
    is_installed: bool,
    data: Path,
    fixtures: Path,
    commands: tuple[str, ...],
) -> None:
    """Data of a package is in the folder of the user."""
    platformdirs = SimpleNamespace(user_data_dir=lambda name, appauthor: f"/home/{name}")
    monkeypatch.setitem(sys.modules, "platformdirs", platformdirs)
    monkeypatch.setattr(installation, "INSTALLED", is_installed)
    assert installation.FILES_DIR == ROOT
    assert installation.default_data_dir() == data
    assert installation.default_fixtures_dir(Path("/data")) == fixtures
    assert commands == (
        installation.start_command(8001),
        installation.install_command("uvicorn"),
        installation.command_line("send"),
    )
