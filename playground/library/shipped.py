"""The collections that lie in fixtures/: loaded at the start, unless somebody has deleted them.

A collection that was deleted stays deleted, although its file is still there, until somebody
asks for it again. What says so is a row beside those of other removals, which is kept for good
(`Removal`, its text a JSON object with the slug and nothing else). Local mode only, as all that
is about files: see `playground.library.disk`.
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
from django.db.models import QuerySet

from playground.library import disk
from playground.library.fixtures import FixtureError
from playground.models import Collection, TrashedItem

#: What new collections begin with: what somebody new looks at first.
_TOUR = "tour.json"
#: How the file of a collection begins, and how many bytes of it tell.
_COLLECTION = re.compile(rb'\s*\[\s*\{\s*"model":\s*"playground\.collection"')
_FIELD = re.compile(r'"(name|slug)":\s*("(?:[^"\\]|\\.)*")')
_BEGINNING = 2000
#: How the text of a row begins that says that a collection is to stay deleted.
_MARK = '{"declined": '


@dataclass(frozen=True, slots=True)
class Shipped:
    """A collection in a file."""

    path: Path
    slug: str
    name: str


def files() -> Iterator[Path]:
    """The files of fixtures/ that hold collections, the tour first."""
    for path in sorted(fixtures("*.json"), key=lambda path: path.name != _TOUR):
        if _COLLECTION.match(_beginning(path)):
            yield path


def fixtures(pattern: str) -> list[Path]:
    """Fixtures; of several directories' files with one name the first directory's."""
    found: dict[str, Path] = {}
    for folder in settings.FIXTURE_DIRS:
        for path in sorted(Path(folder).glob(pattern)):
            found.setdefault(path.name, path)
    return list(found.values())


def load() -> Iterator[tuple[Path, Exception]]:
    """Load what is new or has changed; yields the files that could not be, and why."""
    declined = _declined() - _there()
    for path in files():
        try:
            if _about(path).slug not in declined:
                disk.load_file(path)
        except (FixtureError, disk.DiskError) as error:
            yield path, error


def missing() -> list[Shipped]:
    """What could be loaded and is not there, in hosted mode nothing."""
    if settings.HOSTED:
        return []
    there = _there()
    found = [each for each in map(_about, files()) if each.slug not in there]
    # What is no slug would have no address. Loading it at the start says what is wrong.
    return [each for each in found if slug_re.fullmatch(each.slug)]


def _there() -> set[str]:
    return set(Collection.objects.filter(owner=None).values_list("slug", flat=True))


def reload(slug: str) -> Collection | None:
    """Load a collection that is missing; None where no file has it.

    Raises `FixtureError` and `DiskError` where its file cannot be read.
    """
    found = next((each for each in missing() if each.slug == slug), None)
    if found is None:
        return None
    with transaction.atomic():
        _marks(slug).delete()
        return disk.load_file(found.path)


def mark_deleted(collection: Collection) -> None:
    """Have a collection stay deleted, if it is one that a start would load."""
    if settings.HOSTED or collection.owner_id is not None:
        return
    if any(_about(path).slug == collection.slug for path in files()):
        _marks(collection.slug).delete()
        mark = _MARK + json.dumps(collection.slug) + "}"
        TrashedItem.objects.create(owner=None, label=collection.name, fixture=mark)


def _declined() -> set[str]:
    """The slugs of what was deleted; what is there again follows its file all the same."""
    texts = _marks().values_list("fixture", flat=True)
    return {str(json.loads(text)["declined"]) for text in texts}


def restorable(removals: QuerySet[TrashedItem]) -> QuerySet[TrashedItem]:
    """Removals without the rows that only say what stays deleted."""
    return removals.exclude(fixture__startswith=_MARK)


def _marks(slug: str | None = None) -> QuerySet[TrashedItem]:
    marks = TrashedItem.objects.filter(owner=None)
    if slug is None:
        return marks.filter(fixture__startswith=_MARK)
    return marks.filter(fixture=_MARK + json.dumps(slug) + "}")


def _about(path: Path) -> Shipped:
    """What a file is about, by its first lines; where they do not say, by its name."""
    fields: dict[str, str] = {}
    for name, text in _FIELD.findall(_beginning(path).decode("utf-8", "replace")):
        with contextlib.suppress(ValueError):
            fields.setdefault(name, json.loads(text, strict=False))
    slug = fields.get("slug", path.stem)
    return Shipped(path, slug, fields.get("name", slug))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_BEGINNING)
    except OSError:
        return b""
