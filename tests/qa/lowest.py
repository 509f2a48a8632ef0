"""Run tests with the lowest versions that pyproject.toml permits; `make test-lowest` starts it.

Arguments are pytest's; without a path the tests run that cover most uses of the dependencies.
Packages that only others require have their newest versions, as for a user who installs today.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
#: The packages that call the dependencies.
TESTS = [
    f"tests/{name}"
    for name in "collections commands expectations formats models protocols transport views".split()
]


def floors() -> dict[str, Version]:
    """Return the lower bounds of the dependencies and of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    found = {}
    for text in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        requirement = Requirement(text)
        (bound,) = [each for each in requirement.specifier if each.operator == ">="]
        found[requirement.name.lower()] = Version(bound.version)
    return found


def resolve(lock: Path) -> None:
    """Write the lowest versions of what pyproject.toml names."""
    options = ["--quiet", "--resolution=lowest-direct", "--all-extras", "--group=dev"]
    versions = ["--no-header", "--no-annotate", f"--python={sys.executable}"]
    command = [UV, "pip", "compile", *options, *versions, "pyproject.toml", "-o", lock]
    subprocess.run(command, cwd=ROOT, check=True)


def untested(lock: Path) -> list[str]:
    """Return a line for each lower bound with which the tests would not run."""
    pins = dict(line.split("==") for line in lock.read_text().splitlines() if "==" in line)
    return [
        f"{name}: {bound} is permitted, but other packages need {pins[name]}."
        for name, bound in floors().items()
        if name in pins and Version(pins[name]) != bound
    ]


def main(arguments: list[str]) -> int:
    """Install and run pytest; return its exit code, 1 if a lower bound is not the version used."""
    with tempfile.TemporaryDirectory() as folder:
        lock, environment = Path(folder, "lowest.txt"), Path(folder, "environment")
        resolve(lock)
        if lines := untested(lock):
            print("\n".join(lines), file=sys.stderr)
            return 1
        python = environment / "bin" / "python"
        subprocess.run(
            [UV, "venv", "--quiet", f"--python={sys.executable}", environment], check=True
        )
        subprocess.run(
            [UV, "pip", "install", "--quiet", f"--python={python}", "-r", lock], check=True
        )
        named = any(Path(each.partition("::")[0]).exists() for each in arguments)
        options = ["-q", "--numprocesses=2"]
        command = [python, "-m", "pytest", *options, *([] if named else TESTS), *arguments]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
