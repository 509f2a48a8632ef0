"""Isolation of the tests from settings and data of the developer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import SynchronousOnlyOperation

from playground.models import Run
from tests.support.environment import without_settings
from tests.support.isolation import DATABASE
from tests.support.playground_server import ROOT, PlaygroundServer

DEVELOPER = {
    "DATABASE_URL": "postgres://db.example/real",
    "REDIS_URL": "redis://r.example",
    "DEBUG": "true",
    "SECRET_KEY": "real",
    "ALLOWED_HOSTS": "play.example",
    "PLAYGROUND_MODE": "hosted",
    "PLAYGROUND_KEY": "real",
}


def test_every_variable_of_the_settings_is_known() -> None:
    source = "".join(
        (ROOT / "playground" / name).read_text() for name in ("settings.py", "checks.py")
    )
    names = set(re.findall(r'(?:environ\.get|_flag|_list)\(\s*"(\w+)"', source))
    assert names >= {"DATABASE_URL", "PLAYGROUND_MODE", "DEBUG", "WEB_CONCURRENCY"}
    assert without_settings(dict.fromkeys(names, "x") | {"PATH": "y"}) == {"PATH": "y"}


def test_a_server_of_the_tests_has_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in DEVELOPER.items():
        monkeypatch.setenv(name, text)
    server = PlaygroundServer(tmp_path, PLAYGROUND_MAX_RUNS="2")
    ours = {"PLAYGROUND_DATA_DIR": str(tmp_path), "PLAYGROUND_MAX_RUNS": "2"}
    assert server.environment.items() >= ours.items()
    assert not server.environment.keys() & DEVELOPER.keys()
    assert server.environment["PATH"] == os.environ["PATH"]


def run_pytest(
    directory: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A pytest beside this one, of the file test_inner.py."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("pytest")), "-p", "no:cacheprovider",
         "-c", str(ROOT / "pyproject.toml"), *arguments, str(directory / "test_inner.py")],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip


#: Tests that start processes, then one that says so.
STARTS = """
import asyncio, os, subprocess
import pytest

def test_popen():
    subprocess.run(['true'])

def test_asyncio():
    asyncio.run(asyncio.create_subprocess_exec('true'))

def test_fork():
    os.fork() or os._exit(0)

def test_system():
    os.system('true')

@pytest.mark.process
def test_marked():
    subprocess.run(['true'])
"""


@pytest.mark.process
def test_pytest_has_data_of_its_own(tmp_path: Path) -> None:
    """A second pytest beside this one, started by a developer with settings."""
    others = [str(tmp_path), str(settings.DATA_DIR)]
    code = (
        "def test_it():\n"
        "    from django.conf import settings\n"
        f"    assert str(settings.DATA_DIR) not in {others!r}\n"
        "    assert not settings.HOSTED\n"
        "    assert str(settings.DATA_DIR) in settings.DATABASES['default']['NAME']\n"
        "    print('data in', settings.DATA_DIR)\n"
    )
    (tmp_path / "test_inner.py").write_text(STARTS + code)
    environment = {**DEVELOPER, "PLAYGROUND_DATA_DIR": str(tmp_path)}
    del environment["DATABASE_URL"]
    done = run_pytest(tmp_path, "-s", **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    used = re.search(r"data in (\S+)", done.stdout)
    assert used
    assert not Path(used[1]).exists()
    assert [path.name for path in tmp_path.iterdir() if path.suffix] == ["test_inner.py"]


@pytest.mark.process
def test_an_unmarked_test_starts_no_process_in_a_quick_run(tmp_path: Path) -> None:
    (tmp_path / "test_inner.py").write_text(STARTS)
    refused = run_pytest(tmp_path, "-m", "not browser and not process").stdout
    assert refused.count("mark it with @pytest.mark.process\n") >= 4
    assert "4 failed, 1 deselected" in refused


@pytest.mark.process
def test_on_ci_what_did_not_run_is_red_with_workers_too(tmp_path: Path) -> None:
    code = (
        "import pytest\n\n"
        "@pytest.mark.django_db\n"
        "@pytest.mark.database\n"
        "def test_it():\n"
        "    pytest.skip('not today')\n"
    )
    (tmp_path / "test_inner.py").write_text(code)
    database = {DATABASE: f"sqlite:///{tmp_path / 'x.sqlite3'}"}
    options = ("-p", "tests.conftest", "--nomigrations", "-n", "1")
    done = run_pytest(tmp_path, *options, CI="true", **database)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "CI: 1 skipped, and no test of tests/qa/scale" in done.stdout


@pytest.mark.django_db
async def test_the_orm_on_the_event_loop_is_an_error() -> None:
    with pytest.raises(SynchronousOnlyOperation):
        Run.objects.exists()
