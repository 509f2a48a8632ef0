"""Files of collections in fixtures/: their status against the stored collection, load and save.

Local mode only: users of a hosted playground have no directory there. Contents are compared and not
layout, so a file that was edited by hand and means the same is the same. `Collection.file_digest`
is the SHA-256 of the dump when the file was loaded or written last; whichever differs from it was
changed since.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from playground.collections import disk
from playground.collections.fixture import (
    Fixture,
    FixtureError,
    FixtureProblem,
    dump,
    fixture_of,
    fixture_text,
)
from playground.collections.fixture_parser import MAX_BYTES, decode_file, parse_fixture
from playground.collections.import_diff import ItemChange, compare_fixtures
from playground.collections.importer import (
    ImportPlan,
    apply_import,
    groups_of,
    plan_import,
    summary,
)
from playground.models import Collection
from playground.ui.helpers import get_collection, is_htmx

#: State of the file against the collection: there is no file; both are equal; the file has changed
#: since the last load or save, the collection has, both have; unknown which; the file cannot be
#: read, or is of another collection.
State = Literal["none", "same", "file", "here", "both", "apart", "unreadable"]
_FILE_NAME = re.compile(r"[-a-zA-Z0-9_]{1,130}")


class DiskError(Exception):
    """A file that cannot be written or loaded; the message is the reason."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A collection compared with its file."""

    collection: Collection
    state: State
    path: Path
    #: SHA-256 of the bytes of the file, "" if there is none: the version that the user has seen.
    digest: str = ""
    modified_at: datetime | None = None
    #: Reasons why the file cannot be read.
    problems: tuple[FixtureProblem, ...] = ()
    #: The import that loading it would be.
    loading: ImportPlan | None = None
    #: The changes that saving would make to the file.
    saving: tuple[ItemChange, ...] = ()

    @property
    def name(self) -> str:
        """Return the file's name with its directory's."""
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
    path = _path(collection)
    data = _read_bytes(path)
    if data is None:
        return FileStatus(collection, "none", path)
    digest = _digest(data)
    modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        in_file = _read_fixture(path, data, collection.slug)
    except FixtureError as error:
        return FileStatus(
            collection, "unreadable", path, digest, modified_at, problems=error.problems
        )
    stored = fixture_of(collection).ordered()
    state = _state(collection, stored, in_file)
    return FileStatus(
        collection,
        state,
        path,
        digest,
        modified_at,
        loading=plan_import(in_file, None, exact=state == "file"),
        saving=tuple(compare_fixtures(in_file, stored, missing="removed")),
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
    _store_digest(collection, text)
    return status.path


def load(collection: Collection, digest: str) -> ImportPlan:
    """Load the file of a collection, keeping items that the file does not have; return the plan.

    Only if the collection has not changed since the last load or save is it made equal to the file:
    items missing there were removed from it. Raise `DiskError` like `save`, and `FixtureError`.
    """
    status = file_status(collection)
    if status.loading is None:
        problems = status.problems or (FixtureProblem("", f"{status.name} does not exist."),)
        raise FixtureError(*problems)
    _check_digest(status, digest)
    loaded = apply_import(status.loading)
    _store_digest(loaded, fixture_text(status.loading.fixture))
    return status.loading


def load_file(path: Path) -> Collection | None:
    """Load a file of fixtures/ when the playground starts; return the collection if it was changed.

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
    loaded = apply_import(plan_import(in_file, None, exact=True))
    _store_digest(loaded, fixture_text(in_file))
    return loaded


def _path(collection: Collection) -> Path:
    if settings.HOSTED or collection.owner_id is not None:
        raise DiskError("A hosted playground does not save collections to files.")
    # A slug that was not validated by a form could lead out of the directory.
    if not _FILE_NAME.fullmatch(collection.slug):
        raise DiskError("The slug of this collection is not a valid file name.")
    return Path(settings.FIXTURE_DIRS[0]) / f"{collection.slug}.json"


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


def _read_fixture(path: Path, data: bytes, slug: str) -> Fixture:
    """Return the fixture of a file. Raise `FixtureError` if it is of another collection."""
    fixture = parse_fixture(decode_file(data))
    if fixture.slug != slug:
        message = f"{path.name} contains another collection, “{fixture.slug}”."
        raise FixtureError(message)
    return fixture


def _state(collection: Collection, stored: Fixture, in_file: Fixture) -> State:
    stored_digest, file_digest = (
        _digest(fixture_text(stored).encode()),
        _digest(fixture_text(in_file).encode()),
    )
    if stored_digest == file_digest:
        if collection.file_digest != file_digest:
            _store_digest(collection, fixture_text(in_file))
        return "same"
    if not collection.file_digest:
        return "apart"
    if collection.file_digest == stored_digest:
        return "file"
    return "here" if collection.file_digest == file_digest else "both"


def _check_digest(status: FileStatus, digest: str) -> None:
    if status.digest != digest:
        raise DiskError(
            f"{status.name} has changed since the page was loaded. Review the differences again."
        )


def _write(path: Path, data: bytes) -> None:
    """Replace a file atomically."""
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


def _store_digest(collection: Collection, text: str) -> None:
    collection.file_digest = _digest(text.encode())
    Collection.objects.filter(pk=collection.pk).update(file_digest=collection.file_digest)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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
    loads = request.POST.get("do") == "load"
    try:
        message = _load(request, found) if loads else _save(request, found)
    except (disk.DiskError, FixtureError) as error:
        return _section(request, found, str(error), status=422)
    messages.success(request, message)
    if not is_htmx(request):
        return redirect(found)
    return HttpResponseClientRefresh()


def _load(request: HttpRequest, collection: Collection) -> str:
    result = disk.load(collection, request.POST.get("seen", ""))
    return f"{collection.name} was loaded from its file: {summary(result.changes)}."


def _save(request: HttpRequest, collection: Collection) -> str:
    path = disk.save(collection, request.POST.get("seen", ""))
    return f"{collection.name} was saved to {path.parent.name}/{path.name}."


def _section(
    request: HttpRequest, collection: Collection, error_message: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {"collection": collection, "trouble": error_message}
    try:
        file_status = disk.file_status(collection)
    except disk.DiskError as error:
        context["impossible"] = str(error)
    else:
        loading = file_status.loading.changes if file_status.loading else []
        context |= {
            "standing": file_status,
            "loading": groups_of(loading),
            "loading_told": summary(loading),
            "saving": groups_of(file_status.saving),
            "saving_told": summary(file_status.saving),
        }
    return render(request, "collections/disk.html", context, status=status)
