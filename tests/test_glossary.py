"""The glossary beside the code: what its tables name exists, under one name or the other."""

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


class Row(NamedTuple):
    """A rename: today's name and the words that may take its place."""

    today: str
    words: tuple[str, ...]
    is_module: bool
    #: Whether it is about something of which one is left: then the name may be anywhere.
    is_merged: bool


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


@cache
def renames() -> list[Row]:
    """The rows of Part 2 that name something in the code."""
    found = []
    for today, words, *rest in cells(part(2)):
        if rest and re.fullmatch(r"`[\w.:/-]+`", today) and words.startswith("`"):
            new = tuple(re.findall(r"`([^`]+)`", words))
            is_module = rest[0] in ("module", "package")
            is_merged = any("†" in cell for cell in rest)
            found.append(Row(today.strip("`"), new, is_module, is_merged))
    return found


@cache
def words_of() -> dict[str, tuple[str, ...]]:
    """The words of each of today's names."""
    return {row.today: row.words for row in renames()}


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


@cache
def url_names() -> frozenset[str]:
    """The names of all URL patterns."""
    texts = (path.read_text() for path in PACKAGE.rglob("*urls*.py"))
    return frozenset(name for text in texts for name in re.findall(r'name="([\w-]+)"', text))


def is_there(name: str) -> bool:
    """Whether a name of the tables exists as it is written."""
    if name.startswith("url:"):
        return name.removeprefix("url:") in url_names()
    if "/" in name:
        return (ROOT / name).is_file()
    return name in names().modules or name in names().qualified


def spellings(name: str) -> Iterator[str]:
    """A name as it was, as it will be, and as it is while only its module or class has moved."""
    owner, dot, last = name.rpartition(".")
    words = words_of().get(name, ())
    yield from (word for word in words if "." in word)
    for place in spellings(owner) if dot else [""]:
        for spelling in (last, *(word for word in words if "." not in word)):
            yield f"{place}.{spelling}".lstrip(".")


def holds(row: Row) -> bool:
    """Whether a row is about something that is there: under the old name or a new one.

    A new name may be anywhere in the package, because things move as well.
    """
    if any(map(is_there, (*row.words, *spellings(row.today)))):
        return True
    anywhere = () if row.is_module else row.words
    if row.is_merged:
        anywhere = (*anywhere, row.today.rpartition(".")[2])
    return not names().bare.isdisjoint(anywhere)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class TestTerms:
    def test_no_term_is_defined_twice(self) -> None:
        bold = re.findall(r"^\| \*\*(.+?)\*\* \|", part(1), re.MULTILINE)
        assert len(bold) > 150
        terms = Counter(term.lower() for each in bold for term in each.split(", "))
        assert not [term for term, count in terms.items() if count > 1]

    def test_every_term_has_a_meaning_and_a_place(self) -> None:
        assert all(len(row) == 3 and all(row) for row in cells(part(1)))

    def test_classes_that_terms_name_are_in_the_code_or_will_be(self) -> None:
        known = names().bare.union(*words_of().values())
        for term, _, places in cells(part(1)):
            for name in re.findall(r"`([A-Z]+[a-z]\w*(?:\.\w+)*)`", places):
                assert known.issuperset(name.split(".")), f"{term}: {name}"


class TestRenames:
    def test_of_every_row_one_name_is_there(self) -> None:
        assert len(renames()) > 1000
        lost = [row for row in renames() if not holds(row)]
        assert not lost, "Rows of which neither name is there: say in the table what they became."

    def test_no_name_is_renamed_twice(self) -> None:
        counts = Counter(row.today for row in renames())
        assert not [name for name, count in counts.items() if count > 1]

    def test_no_new_name_is_taken_in_its_module(self) -> None:
        """Both names side by side are two things with one word, unless the other goes first."""
        there = names().qualified - words_of().keys()
        taken = [
            row
            for row in renames()
            if row.today in names().qualified
            and f"{row.today.rpartition('.')[0]}.{row.words[0]}" in there
        ]
        assert not taken

    def test_no_two_names_of_a_module_become_one(self) -> None:
        becoming = Counter(
            (row.today.rpartition(".")[0], row.words[0])
            for row in renames()
            if row.today in names().qualified and not row.is_merged
        )
        assert not [name for name, count in becoming.items() if count > 1]

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
    def test_links_lead_somewhere(self) -> None:
        anchors = {slug(heading) for heading in re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)}
        for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
            path, _, anchor = target.partition("#")
            assert (GLOSSARY.parent / path).exists() if path else anchor in anchors, target

    def test_the_readme_leads_here(self) -> None:
        assert "(docs/glossary.md)" in (ROOT / "README.md").read_text()
