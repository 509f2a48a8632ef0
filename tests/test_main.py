"""The command line without a process: commands, version, help, errors of settings; the start."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import django.core.management
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import load_command_class

from playground import __main__ as command_line
from playground import __version__
from tests.support.command_reference import COMMANDS
from tests.support.playground_server import PlaygroundServer

Run = Callable[..., list[str] | None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `nlweb-playground` with arguments; return what Django gets."""
    given: list[list[str]] = []
    monkeypatch.setattr(django.core.management, "execute_from_command_line", given.append)
    monkeypatch.setattr(command_line.gc, "disable", lambda: None)

    def main(*arguments: str, program: str = "/usr/bin/nlweb-playground") -> list[str] | None:
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        command_line.main()
        return given.pop() if given else None

    return main


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("", "serve --browser"),
        ("--port 9000", "serve --browser --port 9000"),
        ("send demo --help", "send demo --help"),
    ],
)
def test_the_command(run: Run, arguments: str, given: str) -> None:
    assert run(*arguments.split()) == ["nlweb-playground", *given.split()]


def test_the_command_of_a_module(run: Run) -> None:
    assert run("serve", program=command_line.__file__) == ["python -m playground", "serve"]


class TestInformation:
    def test_version(self, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--version") is None
        assert capsys.readouterr().out == f"nlweb-playground {__version__}\n"

    def test_help_lists_the_commands_and_the_folder(
        self, run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        for option in ("--help", "-h"):
            assert run(option) is None
            text = capsys.readouterr().out
            assert sorted(re.findall(r"^  ([a-z_]+) +[A-Z]", text, re.MULTILINE)) == COMMANDS
            assert "PLAYGROUND_DATA_DIR" in text

    @pytest.mark.parametrize("name", COMMANDS)
    def test_its_texts_are_those_of_the_commands(self, name: str) -> None:
        help_text = load_command_class("playground", name).help
        assert help_text.startswith(command_line.COMMANDS[name].rstrip("."))


class BrokenSettings:
    """Settings that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    @property
    def INSTALLED_APPS(self) -> list[str]:  # noqa: N802
        raise self._error


@pytest.mark.parametrize(
    "error", [ImproperlyConfigured("DEBUG is wrong"), ValueError("DEBUG is wrong")]
)
def test_an_error_in_the_settings_is_a_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("django.conf.settings", BrokenSettings(error))
    with pytest.raises(SystemExit) as caught:
        run("send")
    assert caught.value.code == "Error in the settings: DEBUG is wrong"


@pytest.mark.process
def test_garbage_is_collected_after_the_start(tmp_path: Path) -> None:
    code = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 0)"
    done = PlaygroundServer(tmp_path).manage("shell", "-c", code)
    assert done.stdout.splitlines()[-1] == "True True"
