"""The pages of docs/: their links, the settings, options and files that they name."""

from __future__ import annotations

import pkgutil
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from playground import __version__
from playground.base import metrics
from playground.base.limits import RunLimits
from playground.engine import process
from tests.support import command_reference

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
#: Pages that name files as they were.
HISTORY = {"CHANGELOG.md", "glossary.md"}


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    return {slug(title) for title in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(((?!https?:|mailto:)[^)\s]+)\)", page.read_text())
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in HISTORY],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"`((?:playground|templates|tests|static|docs)/[\w./-]*)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(((?!https?:)[^)\s]+)\)", page.read_text())
    }
    assert {page for page in PAGES if ROOT / "docs" in page.parents} <= linked


class TestSettings:
    ROWS = dict(
        re.findall(
            r"^\| `(\w+)` \| (.*?) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE
        )
    )
    #: Read elsewhere: by the system checks, and for `rotate_key`.
    ELSEWHERE = {"WEB_CONCURRENCY", "PLAYGROUND_OLD_KEY"}

    def test_every_setting_has_a_row_and_every_row_is_a_setting(self) -> None:
        text = (ROOT / "playground/settings.py").read_text()
        read = set(re.findall(r"(?:environ\.get|_flag|_number|_list)\(\s*\"([A-Z_]+)\"", text))
        limits = {f"PLAYGROUND_{field.name.upper()}" for field in fields(RunLimits)}
        assert len(read) > 15
        assert self.ROWS.keys() == read | limits | self.ELSEWHERE

    def test_settings_that_are_read_elsewhere_are_read_there(self) -> None:
        code = "".join(path.read_text() for path in (ROOT / "playground").rglob("*.py"))
        assert all(f'"{name}"' in code for name in self.ELSEWHERE)

    def test_the_limits_have_their_defaults(self) -> None:
        for field in fields(RunLimits):
            default = f"`{int(field.default)}`"
            assert self.ROWS[f"PLAYGROUND_{field.name.upper()}"] == default


def test_every_metric_has_a_row_and_every_row_is_a_metric() -> None:
    """Gauges are registered by the modules that know their values."""
    import_module("playground.live.consumers")
    text = (ROOT / "docs/operations.md").read_text()
    rows = re.findall(r"^\| `(playground_\w+?)(?:\{\w+\})?` \|", text, re.MULTILINE)
    suffixes = {"counter": "_total", "info": "_info"}
    found = {
        family.name + suffixes.get(family.type, "")
        for family in metrics.registry.collect()
        if family.name.startswith("playground_")
    }
    # Those of the queue are registered with workers only.
    with_workers = re.findall(r'"(playground_\w+)"', Path(process.__file__).read_text())
    assert with_workers
    assert sorted(rows) == sorted({*found, *with_workers})


class TestCommands:
    TEXT = command_reference.PAGE.read_text()

    def test_every_command_has_a_section(self) -> None:
        sections = re.findall(r"^## `(\w+)`$", self.TEXT, re.MULTILINE)
        assert sorted(sections) == command_reference.COMMANDS

    def test_every_command_with_options_has_a_table_of_them(self) -> None:
        tables = [name for name, _ in command_reference.BLOCK.findall(self.TEXT)]
        expected = filter(command_reference.options_table, command_reference.COMMANDS)
        assert sorted(tables) == list(expected)

    def test_the_tables_are_those_of_the_commands(self) -> None:
        written = "python -m tests.support.command_reference writes them"
        assert command_reference.with_tables(self.TEXT) == self.TEXT, written

    @pytest.mark.parametrize("name", command_reference.COMMANDS)
    def test_every_option_has_a_meaning(self, name: str) -> None:
        assert "|  |" not in command_reference.options_table(name)


def test_wheels_that_pages_name_are_of_this_version() -> None:
    text = "".join(page.read_text() for page in PAGES)
    named = re.findall(r"nlweb_playground-(\d[\w.]*)-py3", text)
    assert set(named) == {__version__}


class TestReadme:
    def test_it_is_read_in_five_minutes(self) -> None:
        assert len((ROOT / "README.md").read_text().splitlines()) <= 130


_PARTS = "|".join(path.parent.name for path in (ROOT / "playground").glob("*/__init__.py"))
#: A name within the package, as comments of templates write it.
NAME = re.compile(rf"(?<![.\w])(?:{_PARTS})(?:\.\w+)+(?![\w/.]*\.html)")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.stem
)
def test_names_in_comments_of_templates_are_there(path: Path) -> None:
    comments = re.findall(r"{% comment %}(.*?){% endcomment %}|{#(.*?)#}", path.read_text(), re.S)
    for name in NAME.findall(" ".join("".join(each) for each in comments)):
        pkgutil.resolve_name(f"playground.{name}")
