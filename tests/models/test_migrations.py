"""What migrations leave."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import playground

FILES = sorted(Path(playground.__file__).parent.glob("**/migrations/0*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_migration_imports_nothing_of_the_project(path: Path) -> None:
    """What it describes is past, and must not follow the code that changes."""
    imported = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported
    assert {name.partition(".")[0] for name in imported} <= {"django", "json", "uuid"}
