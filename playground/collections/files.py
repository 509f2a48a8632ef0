"""Files of collections in fixtures/: their status, load and save, and the ones that are shipped.

Local mode only: users of a hosted playground have no directory there. Contents are compared and not
layout, so a file that was edited by hand and means the same is the same. `Collection.file_digest`
is the SHA-256 of the dump when the file was loaded or written last; whichever differs from it was
changed since.

Files are loaded when the playground starts. A collection that was deleted stays deleted, although
its file still exists, until it is loaded again on purpose (`SkippedCollection`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.contrib import messages
from django.core.validators import slug_re
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from playground.collections.fixture import (
    Fixture,
    FixtureError,
    FixtureProblem,
    dump,
    fixture_of,
    fixture_text,
)
from playground.collections.fixture_parser import MAX_BYTES, decode_file, parse_fixture
from playground.collections.importer import (
    Changes,
    ImportPlan,
    apply_import,
    compare_fixtures,
    plan_import,
)
from playground.models import Collection, SkippedCollection
from playground.ui.helpers import get_collection, is_htmx

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

#: State of the file against the collection: there is no file; both are equal; the file has changed
#: since the last load or save, the collection has, both have; unknown which; the file cannot be
#: read, or is of another collection.
State = Literal["none", "same", "file", "here", "both", "apart", "unreadable"]
_FILE_NAME = re.compile(r"[-a-zA-Z0-9_]{1,130}")
#: Start of a collection's file, and the number of bytes that are read to recognise it.
_FIRST_ITEM = re.compile(rb'\s*\[\s*\{\s*"model":\s*"playground\.collection"')
_FIELD = re.compile(r'"(name|slug)":\s*("(?:[^"\\]|\\.)*")')
_HEAD_BYTES = 2000


class DiskError(Exception):
    """A file that cannot be written or loaded; the message is the reason."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A collection compared with its file."""

    collection: Collection
    path: Path
    state: State = "none"
    #: SHA-256 of the bytes of the file, "" if there is none: the version that the user has seen.
    digest: str = ""
    modified_at: datetime | None = None
    #: Reasons why the file cannot be read.
    problems: tuple[FixtureProblem, ...] = ()
    #: The import that loading it would be.
    loading: ImportPlan | None = None
    #: The changes that saving would make to the file.
    saving: Changes | None = None

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def file_is_newer(self) -> bool:
        """Return whether the file was written after the collection was modified last."""
        return self.modified_at is not None and self.modified_at > self.collection.modified_at


def file_status(collection: Collection) -> FileStatus:
    """Compare a collection with its file.

    If both are equal, the digest is stored: from then on changes of either can be told. Raise
    `DiskError` if there are no files: in hosted mode, or for a user's own collection.
    """
    if settings.HOSTED or collection.owner_id is not None:
        raise DiskError("A hosted playground does not save collections to files.")
    # A slug that was not validated by a form could lead out of the directory.
    if not _FILE_NAME.fullmatch(collection.slug):
        raise DiskError("The slug of this collection is not a valid file name.")
    path = Path(settings.FIXTURE_DIRS[0]) / f"{collection.slug}.json"
    data = _read_bytes(path)
    if data is None:
        return FileStatus(collection, path)
    digest = hashlib.sha256(data).hexdigest()
    modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        in_file = parse_fixture(decode_file(data))
        if in_file.slug != collection.slug:
            raise FixtureError(f"{path.name} contains another collection, “{in_file.slug}”.")
    except FixtureError as error:
        return FileStatus(collection, path, "unreadable", digest, modified_at, error.problems)
    stored = fixture_of(collection).ordered()
    state = _state(collection, stored, in_file)
    return FileStatus(
        collection,
        path,
        state,
        digest,
        modified_at,
        loading=plan_import(in_file, None, exact=state == "file"),
        saving=compare_fixtures(in_file, stored, missing="removed"),
    )


def save(collection: Collection, digest: str) -> Path:
    """Write the file of a collection, as a whole or not at all; return its path.

    `digest` is the `FileStatus.digest` that the user has seen. Raise `DiskError` if the file has
    changed since, or cannot be written.
    """
    status = file_status(collection)
    if status.state == "unreadable":
        raise DiskError(f"{status.name} was not overwritten: {status.problems[0]}")
    _check_digest(status, digest)
    text = dump(collection)
    try:
        _write(status.path, text.encode())
    except OSError as error:
        raise DiskError(f"Writing {status.name} failed: {error.strerror}.") from error
    _store_digest(collection, _digest(text))
    return status.path


def load(collection: Collection, digest: str) -> ImportPlan:
    """Load the file of a collection, keeping items that the file does not have; return the plan.

    Only if the collection has not changed since the last load or save is it made equal to the file:
    items missing there were removed from it. Raise `DiskError` like `save`, and `FixtureError`.
    """
    status = file_status(collection)
    if status.loading is None:
        raise FixtureError(*(status.problems or [f"{status.name} does not exist."]))
    _check_digest(status, digest)
    _import(status.loading)
    return status.loading


def load_shipped(slug: str) -> Collection | None:
    """Load a missing collection; return None if no file has it.

    Raise `FixtureError` or `DiskError` if its file cannot be read.
    """
    found = next((each for each in missing() if each.slug == slug), None)
    if found is None:
        return None
    with transaction.atomic():
        SkippedCollection.objects.filter(slug=slug).delete()
        return _load_file(found.path)


def load_new_and_changed() -> Iterator[tuple[Path, Exception]]:
    """Load new and changed files; yield those that could not be loaded, with the error."""
    # One that exists again is loaded all the same.
    skipped = {*SkippedCollection.objects.values_list("slug", flat=True)} - _stored_slugs()
    for found in in_files():
        try:
            if found.slug not in skipped:
                _load_file(found.path)
        except (FixtureError, DiskError) as error:
            yield found.path, error


def _load_file(path: Path) -> Collection | None:
    """Load a file of fixtures/; return the collection if it was changed.

    A collection that does not exist is added. One that has not changed since the last load is made
    equal to the file; one that was changed here, or never loaded from there, is left alone. Raise
    `FixtureError`.
    """
    if (data := _read_bytes(path)) is None:
        return None
    in_file = parse_fixture(decode_file(data))
    collection = Collection.objects.filter(owner=None, slug=in_file.slug).first()
    if collection is not None:
        stored = fixture_of(collection).ordered()
        if _state(collection, stored, in_file) != "file":
            return None
    return _import(plan_import(in_file, None, exact=True))


@dataclass(frozen=True, slots=True)
class FileOfCollection:
    """A file of fixtures/ that holds a collection, by its first lines."""

    path: Path
    slug: str
    name: str

    @property
    def is_lesson(self) -> bool:
        return self.path.name in LESSON_FILES

    def read(self) -> Fixture:
        """Return its fixture. Raise `FixtureError` if it cannot be read."""
        try:
            return parse_fixture(decode_file(self.path.read_bytes()))
        except OSError as error:
            raise FixtureError(f"Reading failed: {error.strerror}.") from error


def in_files() -> Iterator[FileOfCollection]:
    """Yield the collections in files of fixtures/, the tour first."""
    for path in sorted(fixtures("*.json"), key=lambda path: path.name != _TOUR):
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
        except OSError:
            continue
        if not _FIRST_ITEM.match(head):
            continue
        fields: dict[str, str] = {}
        for name, text in _FIELD.findall(head.decode("utf-8", "replace")):
            with contextlib.suppress(ValueError):
                fields.setdefault(name, json.loads(text, strict=False))
        slug = fields.get("slug", path.stem)  # Where the first lines do not have it.
        yield FileOfCollection(path, slug, fields.get("name", slug))


def fixtures(pattern: str) -> list[Path]:
    """Return the fixtures that match; of files with the same name that of the first directory."""
    found: dict[str, Path] = {}
    for folder in settings.FIXTURE_DIRS:
        for path in sorted(Path(folder).glob(pattern)):
            found.setdefault(path.name, path)
    return list(found.values())


def lessons() -> list[FileOfCollection]:
    """Return the lessons that come with the playground, in order; in hosted mode, too."""
    return [found for found in in_files() if found.is_lesson]


def shipped_slugs() -> frozenset[str]:
    """Return the slugs of the collections that come with the playground; none in hosted mode."""
    if settings.HOSTED:
        return frozenset()
    return frozenset(found.slug for found in in_files() if found.path.name in SHIPPED_FILES)


def missing() -> list[FileOfCollection]:
    """Return the collections that could be loaded and are not stored; none in hosted mode."""
    if settings.HOSTED:
        return []
    stored = _stored_slugs()
    # An invalid slug would have no URL. Loading it on start reports the error.
    return [each for each in in_files() if each.slug not in stored and slug_re.fullmatch(each.slug)]


def mark_deleted(collection: Collection) -> None:
    """Have a collection stay deleted, if it is one that would be loaded on start."""
    if settings.HOSTED or collection.owner_id is not None:
        return
    if any(found.slug == collection.slug for found in in_files()):
        SkippedCollection.objects.get_or_create(slug=collection.slug)


def _stored_slugs() -> set[str]:
    return set(Collection.objects.filter(owner=None).values_list("slug", flat=True))


def _read_bytes(path: Path) -> bytes | None:
    """Return the bytes of a file, None if there is none. Raise `DiskError` if it is no file."""
    if path.is_symlink():
        raise DiskError(f"{path.name} is a symbolic link. Links are not followed.")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskError(f"Reading {path.name} failed: {error.strerror}.") from error


def _state(collection: Collection, stored: Fixture, in_file: Fixture) -> State:
    here, there = _digest(fixture_text(stored)), _digest(fixture_text(in_file))
    if here == there:
        if collection.file_digest != there:
            _store_digest(collection, there)
        return "same"
    if not collection.file_digest:
        return "apart"
    if collection.file_digest == here:
        return "file"
    return "here" if collection.file_digest == there else "both"


def _check_digest(status: FileStatus, digest: str) -> None:
    if status.digest != digest:
        raise DiskError(
            f"{status.name} has changed since the page was loaded. Review the differences again."
        )


def _import(plan: ImportPlan) -> Collection:
    loaded = apply_import(plan)
    _store_digest(loaded, _digest(fixture_text(plan.fixture)))
    return loaded


def _write(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode if path.exists() else 0o644
        Path(name).chmod(mode & 0o777)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _store_digest(collection: Collection, digest: str) -> None:
    collection.file_digest = digest
    Collection.objects.filter(pk=collection.pk).update(file_digest=digest)


@require_http_methods(["GET", "HEAD", "POST"])
def collection_disk(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how the collection and its file differ (GET); load (`do=load`) or save it (POST).

    A fragment of the collection's page; empty in hosted mode, where POST is refused.
    """
    found = get_collection(request, slug)
    if settings.HOSTED:
        return HttpResponseForbidden() if request.method == "POST" else HttpResponse()
    if request.method != "POST":
        return _section(request, found)
    seen = request.POST.get("seen", "")
    try:
        if request.POST.get("do") == "load":
            changes = load(found, seen).changes
            message = f"{found.name} was loaded from its file: {changes.summary}."
        else:
            path = save(found, seen)
            message = f"{found.name} was saved to {path.parent.name}/{path.name}."
    except (DiskError, FixtureError) as error:
        return _section(request, found, str(error), status=422)
    messages.success(request, message)
    if not is_htmx(request):
        return redirect(found)
    return HttpResponseClientRefresh()


def _section(
    request: HttpRequest, collection: Collection, error_message: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {"collection": collection, "trouble": error_message}
    try:
        context["standing"] = file_status(collection)
    except DiskError as error:
        context["impossible"] = str(error)
    return render(request, "collections/files.html", context, status=status)
