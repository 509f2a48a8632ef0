"""Collections shipped in fixtures/: loaded when the playground starts, unless they were deleted.

A collection that was deleted stays deleted, although its file still exists, until it is loaded
again on purpose (`SkippedCollection`). Local mode only, as all access to files: see
`playground.collections.disk`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.validators import slug_re
from django.db import transaction

from playground.collections import disk
from playground.collections.fixture import Fixture, FixtureError
from playground.collections.fixture_parser import decode_file, parse_fixture
from playground.models import Collection, SkippedCollection

#: The collection for new users, which is listed first.
_TOUR = "tour.json"
#: The lessons that come with the playground, in order.
LESSON_FILES = (
    "lesson-01-the-first-question.json",
    "lesson-02-fields-and-filters.json",
    "lesson-03-context.json",
    "lesson-04-modes-and-formats.json",
    "lesson-05-streaming.json",
    "lesson-06-elicitation.json",
    "lesson-07-promises.json",
    "lesson-08-session-context.json",
    "lesson-09-actions.json",
    "lesson-10-failures.json",
    "lesson-11-mcp.json",
    "lesson-12-agent-api.json",
    "lesson-13-judge-an-agent.json",
)
#: The files that come with the playground; users save their own collections beside them.
SHIPPED_FILES = frozenset({_TOUR, "misbehaving.json", "specification-examples.json", *LESSON_FILES})

#: Start of a collection's file, and the number of bytes that are read to recognise it.
_FIRST_ITEM = re.compile(rb'\s*\[\s*\{\s*"model":\s*"playground\.collection"')
_FIELD = re.compile(r'"(name|slug)":\s*("(?:[^"\\]|\\.)*")')
_HEAD_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Shipped:
    """A collection in a file."""

    path: Path
    slug: str
    name: str

    @property
    def is_lesson(self) -> bool:
        return self.path.name in LESSON_FILES


def files() -> Iterator[Path]:
    """Yield the files of fixtures/ that hold collections, the tour first."""
    for path in sorted(fixtures("*.json"), key=lambda path: path.name != _TOUR):
        if _FIRST_ITEM.match(_head(path)):
            yield path


def fixtures(pattern: str) -> list[Path]:
    """Return the fixtures that match; of files with the same name that of the first directory."""
    found: dict[str, Path] = {}
    for folder in settings.FIXTURE_DIRS:
        for path in sorted(Path(folder).glob(pattern)):
            found.setdefault(path.name, path)
    return list(found.values())


def load() -> Iterator[tuple[Path, Exception]]:
    """Load new and changed files; yield those that could not be loaded, with the error."""
    # One that exists again is loaded all the same.
    skipped = {*SkippedCollection.objects.values_list("slug", flat=True)} - _stored_slugs()
    for path in files():
        try:
            if _describe(path).slug not in skipped:
                disk.load_file(path)
        except (FixtureError, disk.DiskError) as error:
            yield path, error


def shipped_slugs() -> frozenset[str]:
    """Return the slugs of the collections that come with the playground; none in hosted mode."""
    if settings.HOSTED:
        return frozenset()
    return frozenset(_describe(path).slug for path in files() if path.name in SHIPPED_FILES)


def lessons() -> list[Shipped]:
    """Return the lessons that come with the playground, in order; in hosted mode, too."""
    return [found for found in map(_describe, files()) if found.is_lesson]


def read(found: Shipped) -> Fixture:
    """Return the fixture of a file. Raise `FixtureError` if it cannot be read."""
    try:
        return parse_fixture(decode_file(found.path.read_bytes()))
    except OSError as error:
        raise FixtureError(f"Reading failed: {error.strerror}.") from error


def missing() -> list[Shipped]:
    """Return the collections that could be loaded and are not stored; none in hosted mode."""
    if settings.HOSTED:
        return []
    stored = _stored_slugs()
    found = [each for each in map(_describe, files()) if each.slug not in stored]
    # An invalid slug would have no URL. Loading it on start reports the error.
    return [each for each in found if slug_re.fullmatch(each.slug)]


def _stored_slugs() -> set[str]:
    return set(Collection.objects.filter(owner=None).values_list("slug", flat=True))


def reload(slug: str) -> Collection | None:
    """Load a missing collection; return None if no file has it.

    Raise `FixtureError` or `DiskError` if its file cannot be read.
    """
    found = next((each for each in missing() if each.slug == slug), None)
    if found is None:
        return None
    with transaction.atomic():
        SkippedCollection.objects.filter(slug=slug).delete()
        return disk.load_file(found.path)


def mark_deleted(collection: Collection) -> None:
    """Have a collection stay deleted, if it is one that would be loaded on start."""
    if settings.HOSTED or collection.owner_id is not None:
        return
    if any(_describe(path).slug == collection.slug for path in files()):
        SkippedCollection.objects.get_or_create(slug=collection.slug)


def _describe(path: Path) -> Shipped:
    """Return name and slug of a file's collection, from its first lines or else from its name."""
    fields: dict[str, str] = {}
    for name, text in _FIELD.findall(_head(path).decode("utf-8", "replace")):
        with contextlib.suppress(ValueError):
            fields.setdefault(name, json.loads(text, strict=False))
    slug = fields.get("slug", path.stem)
    return Shipped(path, slug, fields.get("name", slug))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
