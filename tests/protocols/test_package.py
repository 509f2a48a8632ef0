"""Imports of the package: the standard library only."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import playground.protocols

PACKAGE = Path(playground.protocols.__file__).parent


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_imports_the_standard_library_only(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module or "")
    foreign = {
        name
        for name in imported
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != "playground"
        and not name.startswith("playground.protocols")
    }
    assert foreign == set()
