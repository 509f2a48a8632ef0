"""Imports: what the contracts of import-linter (pyproject.toml) cannot say."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from playground.protocols.registry import PROTOCOLS

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
def test_protocols_need_the_standard_library_and_msgspec_only(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)} - {"playground", "__future__"}
    assert outside - sys.stdlib_module_names <= {"msgspec"}


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


#: A name of a protocol as a value: quoted, alone or before the names of a version and a schema.
_PROTOCOL = re.compile(rf"""(["'])(?:{"|".join(PROTOCOLS)})(?:\1|/)""")
_COMMENT = re.compile(r"^\s*(?://|/?\*).*$", re.MULTILINE)


def test_only_the_registry_and_what_it_names_know_a_protocol_by_name() -> None:
    """Everything else reads the row of a protocol, so that a new one is a row."""
    found = []
    for path in modules():
        if part_of(path) not in {"protocols", "conformance", "demo"}:
            texts = (each.value for each in ast.walk(ast.parse(path.read_text()))
                     if isinstance(each, ast.Constant) and isinstance(each.value, str))  # fmt: skip
            found += [f"{path}: {text}" for text in texts if text.partition("/")[0] in PROTOCOLS]
    sources = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static").rglob("*.[jc]s*")]
    for path in sources:
        if "build" not in path.parts:
            text = _COMMENT.sub("", path.read_text())
            found += [f"{path}: {each[0]}" for each in _PROTOCOL.finditer(text)]
    assert found == []


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


#: For each contract a module and an import that it forbids there.
FORBIDDEN = {
    "Imports run downwards": ("engine/heartbeat.py", "playground.live.broadcast"),
    "Pure packages know no Django, no network and no database": ("protocols/events.py", "django"),
    "Models and what prepares a page know no transport": (
        "conversation/cards.py",
        "playground.transport",
    ),
    "Commands know no views and no consumers": ("cli/output.py", "playground.agents.views"),
    "Views and forms know no consumers": ("shares/views.py", "playground.live.consumers"),
    "What is pure and what is called with settings does not read them": (
        "transport/policy.py",
        "playground.settings",
    ),
    "Only the transport speaks HTTP": ("engine/calls.py", "httpx"),
    "The consumers know neither engine nor transport": (
        "live/consumers.py",
        "playground.engine.driver",
    ),
    "The demo agent imports nothing of the playground": (
        "demo/corpus.py",
        "playground.models.runs",
    ),
}


@pytest.mark.process
@pytest.mark.slow
def test_each_contract_finds_an_import_that_it_forbids(tmp_path: Path) -> None:
    """Import-linter on a copy of the package in which each contract is broken once."""
    shutil.copytree(PACKAGE, tmp_path / "playground", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, forbidden in FORBIDDEN.values():
        path = tmp_path / "playground" / module
        path.write_text(f"{path.read_text()}\n\nimport {forbidden}\n")
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = re.findall(r"^(.+) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.MULTILINE)
    assert dict(found) == dict.fromkeys(FORBIDDEN, "BROKEN"), done.stdout + done.stderr
