"""The wheel: what is in it, the same from the sdist, and a start in an empty environment.

`make test-wheel` runs these tests, because they need the package index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import httpx
import pytest

from playground import __version__, generated
from tests.support.environment import without_settings
from tests.support.playground_server import ROOT

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

NAME = f"nlweb_playground-{__version__}"
WHEEL = f"{NAME}-py3-none-any.whl"
UV = Path(sys.executable).with_name("uv")


def build(source: Path, target: Path, kind: str) -> Path:
    """Build the wheel or the sdist of a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return target / (WHEEL if kind == "wheel" else f"{NAME}.tar.gz")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    if not (ROOT / "static/build/site/app.js").exists():
        pytest.skip("the front end was not built")
    return build(ROOT, tmp_path_factory.mktemp("dist"), "wheel")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))


def under(*folders: str) -> set[str]:
    """Return the files of folders at the top of the repository, as the wheel names them."""
    return {
        f"playground/files/{path.relative_to(ROOT)}"
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }


class TestContents:
    def test_files_that_are_not_code(self, wheel: Path) -> None:
        found = names(wheel)
        assert under("templates", "static", "fixtures") <= found
        assert "playground/files/static/build/site/app.js" in found
        assert any(name.endswith(".json") and "/schemas/" in name for name in found)

    def test_what_git_ignores_is_generated(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            for path in generated.FILES:
                assert archive.read(f"playground/generated/{path.name}") == path.read_bytes()

    def test_nothing_of_the_repository_alone(self, wheel: Path) -> None:
        tops = {name.partition("/")[0] for name in names(wheel)}
        assert tops == {"playground", f"{NAME}.dist-info"}
        alone = re.compile(r"node_modules|\.pyc$|^tests|/var/|\.sqlite3$|-key$")
        assert not [name for name in names(wheel) if alone.search(name)]

    def test_types_and_licence_are_part_of_it(self, wheel: Path) -> None:
        assert {"playground/py.typed", f"{NAME}.dist-info/licenses/LICENSE"} <= names(wheel)

    def test_the_description_needs_no_file_of_the_repository(self, wheel: Path) -> None:
        text = str(metadata(wheel).get_payload())
        assert "# NLWeb Playground" in text
        assert "| Guide |" in text
        assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []

    def test_developers_tools_are_no_extra(self, wheel: Path) -> None:
        assert set(metadata(wheel).get_all("Provides-Extra") or []) == {"otel", "scale", "uvicorn"}

    def test_versions_of_dependencies_are_ranges(self, wheel: Path) -> None:
        found = metadata(wheel)
        required = [each for each in found.get_all("Requires-Dist") or [] if "extra" not in each]
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert len(required) == len(project["dependencies"])
        assert not [each for each in required if "==" in each]

    def test_the_sdist_builds_the_same_wheel_without_node(
        self, wheel: Path, tmp_path: Path
    ) -> None:
        with tarfile.open(build(ROOT, tmp_path, "sdist")) as archive:
            archive.extractall(tmp_path, filter="data")
        again = build(tmp_path / NAME, tmp_path / "again", "wheel")
        assert again.read_bytes() == wheel.read_bytes()


def _run(*command: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True)


class Installed:
    """The wheel in an environment of its own, for a user whose home is empty."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.bin = folder / "environment" / "bin"
        venv.create(folder / "environment", with_pip=False)
        # As in the Dockerfile: the lock for users has all that the wheel needs.
        self._install("--require-hashes", "-r", str(ROOT / "requirements.lock"))
        self._install(str(wheel))
        self._pip("check")

    def _install(self, *arguments: str) -> None:
        """Install with uv, or with pip if uv does not find the index."""
        install = ["install", "--quiet", "--no-deps", *arguments]
        python = str(self.bin / "python")
        if not UV.exists() or _run(UV, "pip", *install, "--python", python).returncode:
            self._pip(*install, "--no-compile")

    def _pip(self, *arguments: str) -> None:
        pip = (sys.executable, "-m", "pip", "--python", self.bin / "python")
        _run(*pip, *arguments).check_returncode()

    @property
    def environment(self) -> dict[str, str]:
        """An environment without Node."""
        kept = {
            name: text for name, text in without_settings(os.environ).items() if "PY" not in name
        }
        paths = {"HOME": str(self.home), "XDG_DATA_HOME": "", "PATH": str(self.bin)}
        return {**kept, **paths, "PYTHONUNBUFFERED": "1"}

    def run(self, *arguments: str) -> str:
        """Return what a command writes."""
        return subprocess.run(
            [self.bin / "nlweb-playground", *arguments],
            cwd=self.home,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def serve(self) -> subprocess.Popen[str]:
        """Start the playground on a free port."""
        return subprocess.Popen(
            [self.bin / "nlweb-playground", "--port", "0"],
            cwd=self.home,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


def test_the_first_start_in_an_empty_environment(installed: Installed) -> None:
    assert installed.run("--version") == f"nlweb-playground {__version__}\n"
    process = installed.serve()
    try:
        assert process.stdout
        address = re.findall(r"http://[\d.:]+", process.stdout.readline())[0]
        with httpx.Client(transport=httpx.HTTPTransport(retries=10), timeout=20) as client:
            page = client.get(f"{address}/").text
            script = re.findall(r'"(/static/build/[^"]+\.css)"', page)[0]
            assert client.get(address + script).status_code == 200
        answer = installed.run("send", "demo", "--text", "soup with lentils")
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert "Lentil" in answer
    assert process.returncode == 0
    data = installed.home / ".local/share/nlweb-playground"
    assert {path.name for path in data.iterdir()} >= {"playground.sqlite3", "static", "fixtures"}
