"""The tables of modules in the docstrings of packages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import playground

ROOT = Path(playground.__file__).parent
PACKAGES = sorted(
    path for path in ROOT.rglob("__init__.py") if path.parent.name not in {"migrations", "schemas"}
)


def named(path: Path) -> list[str]:
    """Return the first column of the last table in a package's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    tables = [part for part in docstring.split("\n\n") if part.startswith("===")]
    return re.findall(r"^`(\w+)`", tables[-1], re.MULTILINE) if tables else []


def modules(path: Path) -> set[str]:
    """Return the names of a package's modules and packages."""
    files = {file.stem for file in path.parent.glob("*.py")} - {"__init__"}
    return files | {file.parent.name for file in path.parent.glob("*/__init__.py")}


@pytest.mark.parametrize(
    "path", PACKAGES, ids=lambda path: str(path.parent.relative_to(ROOT.parent))
)
def test_a_package_names_its_modules(path: Path) -> None:
    found = named(path)
    assert len(found) == len(set(found))
    assert {*found} == modules(path)
