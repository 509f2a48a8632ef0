"""Dependencies: the page that explains them, the imports that need them, and the locks."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PACKAGE_JSON = json.loads((ROOT / "package.json").read_text())
#: A pin of a lock: name and version.
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)", re.MULTILINE)


def names(*requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for some in requirements for each in some}


RUNTIME = names(PROJECT["dependencies"])
EXTRAS = names(*PROJECT["optional-dependencies"].values())
DEV = names(PYPROJECT["dependency-groups"]["dev"])
#: Packages that are imported as a part of the interface of another one, which requires them.
COMES_WITH = {
    "anyio": "mcp",
    "asgiref": "django",
    "attrs": "jsonschema",
    "mcp-types": "mcp",
    "packaging": "pytest",
    "protobuf": "a2a-sdk",
    "pydantic": "mcp",
    "redis": "channels-redis",
    "referencing": "jsonschema",
    "starlette": "mcp",
}
LOCKS = {name: (ROOT / name).read_text() for name in ("requirements.lock", "requirements-dev.lock")}


@cache
def sections() -> dict[str, list[str]]:
    """Return the packages of the tables in docs/dependencies.md by the heading above."""
    parts = (ROOT / "docs/dependencies.md").read_text().split("\n## ")[1:]
    return {
        part.partition("\n")[0]: [
            cell for cell in re.findall(r"^\| (\S+) \|", part, re.MULTILINE) if cell != "package"
        ]
        for part in parts
    }


@pytest.mark.parametrize(
    ("section", "declared"),
    [
        ("Runtime", RUNTIME),
        ("Extras", EXTRAS),
        ("Development", DEV),
        ("Node", set(PACKAGE_JSON["devDependencies"])),
    ],
    ids=["runtime", "extras", "development", "node"],
)
def test_the_page_has_a_row_for_each_dependency(section: str, declared: set[str]) -> None:
    rows = sections()[section]
    if section != "Node":
        rows = [canonicalize_name(name) for name in rows]
    assert sorted(rows) == sorted(declared)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a module, however deep, and none of their expressions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from statements(node)


def imported(folder: str) -> set[str]:
    """Return the names of packages that the modules of a folder import, wherever they do."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if "peers" in path.parts or "node_modules" in path.parts:
            continue  # Servers with locks of their own.
        for node in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"playground", "tests"}


@pytest.mark.parametrize(
    ("folder", "declared"),
    [("playground", RUNTIME | EXTRAS | {"pytest"}), ("tests", RUNTIME | EXTRAS | DEV)],
    ids=["playground", "tests"],
)
def test_each_import_is_of_a_declared_package(folder: str, declared: set[str]) -> None:
    """A package that another one happens to bring disappears when that one no longer needs it."""
    found = packages_distributions()
    known = declared | {name for name, parent in COMES_WITH.items() if parent in declared}
    assert [
        name
        for name in sorted(imported(folder))
        if not known & {canonicalize_name(each) for each in found.get(name, [])}
    ] == []


@pytest.mark.parametrize(("name", "parent"), COMES_WITH.items(), ids=COMES_WITH)
def test_a_package_that_comes_with_another_is_required_by_it(name: str, parent: str) -> None:
    assert name in names(requires(parent) or [])


class TestLocks:
    def test_the_users_have_the_versions_that_the_developers_test(self) -> None:
        users, developers = (dict(PIN.findall(lock)) for lock in LOCKS.values())
        assert users.keys() >= RUNTIME
        assert users.items() <= developers.items()
        assert developers.keys() >= DEV | EXTRAS
        assert not (DEV - EXTRAS - RUNTIME) & users.keys()

    @pytest.mark.parametrize("text", LOCKS.values(), ids=LOCKS)
    def test_versions_are_permitted_and_hashed(self, text: str) -> None:
        pins = dict(PIN.findall(text))
        extras = PROJECT["optional-dependencies"].values()
        for requirement in map(
            Requirement, [*PROJECT["dependencies"], *(x for e in extras for x in e)]
        ):
            version = pins.get(canonicalize_name(requirement.name))
            assert version is None or requirement.specifier.contains(version), requirement
        entries = re.split(r"\n(?=\S)", text.strip())
        assert all("--hash=sha256:" in entry for entry in entries)

    @pytest.mark.parametrize("text", LOCKS.values(), ids=LOCKS)
    def test_no_address_of_an_index(self, text: str) -> None:
        assert "://" not in text
        assert "index" not in text
