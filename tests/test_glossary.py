"""The glossary beside the code: what it names is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "playground"
GLOSSARY = ROOT / "docs" / "glossary.md"
TEXT = GLOSSARY.read_text()

#: Definitions: classes and functions, assignments to names and to attributes, fields of classes.
DEFINITION = re.compile(
    r"^( *)(?:async def|def|class) (\w+)"
    r"|^( *)((?:self\.)?\w+(?:, \w+)*)(?: *:[^=\n]*)? *=(?!=)"
    r"|^( +)(\w+): ",
    re.MULTILINE,
)


class Names(NamedTuple):
    """Everything that the package defines."""

    modules: frozenset[str]
    #: `module.name` and `module.Class.member`.
    qualified: frozenset[str]
    #: The last part of each.
    bare: frozenset[str]


def part(number: int) -> str:
    """The text of a part of the page."""
    return TEXT.split(f"\n## Part {number}: ", 1)[1].split("\n## ", 1)[0]


def cells(text: str) -> Iterator[list[str]]:
    """The rows of all tables in a text, without their heads."""
    lines = text.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        is_rule = re.fullmatch(r"\|(?:-+\|)+", line)
        is_head = line.startswith("| ") and not before.startswith("|")
        if line.startswith("| ") and not is_rule and not is_head:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def defined(module: str, text: str) -> Iterator[str]:
    """The qualified names of what a module defines: at its top, and in its classes."""
    scope = module
    for match in DEFINITION.finditer(text):
        indent = match[1] or match[3] or match[5] or ""
        names = match[2] or match[4] or match[6]
        if not indent:
            is_class = match[0].startswith("class ")
            scope = f"{module}.{names}" if is_class else ""
            yield from (f"{module}.{name}" for name in names.split(", "))
        elif scope not in ("", module) and (
            len(indent) == 4 or names.isupper() or names.startswith("self.")
        ):
            members = names.removeprefix("self.").split(", ")
            yield from (f"{scope}.{name}" for name in members)


@cache
def names() -> Names:
    """What there is in the tree now."""
    modules: set[str] = set()
    qualified: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if "migrations" not in path.parts:
            modules.add(module)
            qualified.update(defined(module, path.read_text()))
    bare = frozenset(name.rpartition(".")[2] for name in qualified)
    return Names(frozenset(modules), frozenset(qualified), bare)


def is_there(name: str) -> bool:
    """Return whether the package defines a name: a module, or a name at any level of its path."""
    known = names()
    if name in known.modules or name in known.qualified or name in known.bare:
        return True
    return any(each.endswith(f".{name}") for each in (*known.modules, *known.qualified))


class TestTerms:
    def test_no_term_is_defined_twice(self) -> None:
        bold = re.findall(r"^\| \*\*(.+?)\*\* \|", part(1), re.MULTILINE)
        assert len(bold) > 150
        terms = Counter(term.lower() for each in bold for term in each.split(", "))
        assert not [term for term, count in terms.items() if count > 1]

    def test_every_term_has_a_meaning_and_a_place(self) -> None:
        assert all(len(row) == 3 and all(row) for row in cells(part(1)))

    def test_names_of_the_code_are_there(self) -> None:
        for term, _, places in cells(part(1)):
            for name in re.findall(r"`([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)`", places):
                assert name.startswith("PLAYGROUND_") or is_there(name), f"{term}: {name}"


class TestContracts:
    def test_every_command_is_listed_as_a_contract(self) -> None:
        commands = PACKAGE / "management" / "commands"
        listed = next(row for row in cells(part(2)) if row[0] == "commands")[1]
        for path in commands.glob("[!_]*.py"):
            assert f"`{path.stem}`" in listed


class TestWordsNotToUse:
    def test_each_phrase_stands_once_with_a_better_one(self) -> None:
        phrases = list(cells(part(3)))
        assert all(len(row) == 2 and all(row) for row in phrases)
        counts = Counter(phrase.lower() for phrase, _ in phrases)
        assert not [phrase for phrase, count in counts.items() if count > 1]


class TestLinks:
    def test_the_readme_leads_here(self) -> None:
        assert "(docs/glossary.md)" in (ROOT / "README.md").read_text()
