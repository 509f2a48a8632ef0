"""The direction of dependencies, read from the imports themselves."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "playground"
HTTP_LIBRARIES = {"httpx", "httpcore", "httpx_sse"}

#: Part of the playground -> parts that it must not know.
FORBIDDEN = {
    "protocols": {
        "conformance", "elicitation", "transport", "models", "engine", "rendering", "consumers",
        "views", "forms", "management", "demo", "settings", "limits",
    },
    "elicitation": {
        "conformance", "transport", "models", "engine", "rendering", "consumers", "views", "forms",
        "management", "demo", "settings", "limits",
    },
    "conformance": {"transport", "models", "engine", "rendering", "consumers", "views", "demo"},
    "transport": {"models", "engine", "rendering", "consumers", "views", "demo", "settings"},
    "models": {"transport", "engine", "rendering", "consumers", "views", "demo", "library"},
    "variables": {
        "conformance", "transport", "models", "engine", "rendering", "consumers", "views", "forms",
        "management", "demo", "settings", "limits", "library",
    },
    "expectations": {
        "conformance", "transport", "models", "engine", "rendering", "consumers", "views", "forms",
        "management", "demo", "settings", "limits", "library",
    },
    "reading": {
        "conformance", "elicitation", "expectations", "transport", "engine", "rendering",
        "consumers", "views", "forms", "management", "demo", "library",
    },
    "observing": {"transport", "engine", "rendering", "consumers", "views", "demo", "library"},
    "tally": {
        "conformance", "transport", "engine", "rendering", "consumers", "views", "forms",
        "management", "demo", "library",
    },
    "library": {"engine", "rendering", "consumers", "views", "management", "demo"},
    "engine": {"rendering", "consumers", "views", "management", "demo"},
    "rendering": {"transport", "engine", "consumers", "views", "management", "demo"},
    "consumers": {"transport", "engine", "views", "management", "demo"},
    "collection_consumer": {"transport", "engine", "views", "management", "demo"},
    "reporting": {
        "conformance", "transport", "models", "engine", "rendering", "consumers", "views", "forms",
        "management", "demo", "settings", "limits", "library",
    },
    "views": {"consumers", "management", "demo"},
    "forms": {"engine", "views", "demo"},
    "composer_form": {"transport", "engine", "rendering", "views", "management", "demo", "library"},
    "collection_run_forms": {"engine", "rendering", "views", "management", "demo"},
    "management": {"views", "consumers", "demo"},
    "demo": {
        "conformance", "transport", "models", "engine", "rendering", "consumers", "views", "forms",
        "management",
    },
}  # fmt: skip


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


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_knows_only_what_its_layer_may_know(path: Path) -> None:
    forbidden = FORBIDDEN.get(part_of(path), set())
    known = {name.split(".")[1] for name in imports(path) if name.startswith("playground.")}
    assert not known & forbidden


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


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_the_transport_speaks_http(path: Path) -> None:
    if part_of(path) != "transport":
        assert not {name.split(".")[0] for name in imports(path)} & HTTP_LIBRARIES


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
