"""The installation: folders in a checkout and in an installed package, and the command lines."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from playground.base import installation

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "INSTALLED", True)


class TestCheckout:
    def test_files_and_data_are_at_the_top(self) -> None:
        assert installation.FILES_DIR == ROOT
        assert installation.default_data_dir() == ROOT / "var"
        assert installation.default_fixtures_dir(Path("/data")) == ROOT / "fixtures"

    def test_commands(self) -> None:
        assert installation.start_command(8001) == "make run PORT=8001"
        assert installation.install_command("uvicorn") == "make setup"
        assert installation.command_line("send") == "manage.py send"


@pytest.mark.usefixtures("installed")
class TestInstalledPackage:
    def test_data_is_in_the_folder_of_the_user(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def user_data_dir(name: str, appauthor: bool) -> str:
            return str(tmp_path / name)

        fake = SimpleNamespace(user_data_dir=user_data_dir)
        monkeypatch.setitem(sys.modules, "platformdirs", fake)
        assert installation.default_data_dir() == tmp_path / "nlweb-playground"
        assert installation.default_fixtures_dir(Path("/data")) == Path("/data/fixtures")

    def test_commands(self) -> None:
        assert installation.start_command(8001) == "nlweb-playground --port 8001"
        assert installation.install_command("uvicorn") == 'pip install "nlweb-playground[uvicorn]"'
        assert installation.command_line("send") == "nlweb-playground send"
