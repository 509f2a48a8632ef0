"""Imports: what the contracts of import-linter (pyproject.toml) cannot say."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "playground"


@cache
def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports, whether at its top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if part_of(path) in {"protocols", "elicitation"}],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_protocols_need_the_standard_library_only(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)} - {"playground", "__future__"}
    assert outside <= sys.stdlib_module_names


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if part_of(path) == "expectations"],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_expectations_need_three_libraries_only(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)} - {"playground", "__future__"}
    assert outside - sys.stdlib_module_names <= {"jsonpath_rfc9535", "re2", "jsonschema"}


def test_the_demo_imports_nothing_of_the_playground() -> None:
    for path in modules():
        if part_of(path) == "demo":
            ours = {name for name in imports(path) if name.startswith("playground.")}
            assert all(name.startswith("playground.demo") for name in ours), path


def test_only_the_root_urls_and_the_settings_mention_the_demo() -> None:
    mentioning = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if part_of(path) != "demo" and "playground.demo" in path.read_text()
    }
    assert mentioning == {"settings.py", "urls.py"}


def test_nothing_in_the_protocols_reads_a_clock() -> None:
    clocks = {"time", "datetime", "random", "asyncio", "socket"}
    for path in modules():
        if part_of(path) == "protocols":
            assert not {name.split(".")[0] for name in imports(path)} & clocks, path


def test_the_architecture_page_has_the_layers_of_the_contract() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    block = re.search(r"## Layers\n\n.*?```\n(.*?)```", page, re.DOTALL)
    assert block
    rows = re.sub(r"\|\n\s+", "| ", block[1]).splitlines()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert [re.split(r" {2,}", row)[0] for row in rows] == contracts["contracts"][0]["layers"]
