"""The file of a collection in fixtures/: where it is, which of both has changed, load and save.

Local mode only: a hosted playground's users have no directory there. What is compared is what
the file says and not how it is laid out, so a file that was edited by hand and means the same is
the same. `Collection.file_digest` is the SHA-256 of that text when the file was loaded or written
last; whatever differs from it has changed since.
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

from playground.library.comparing import ItemChange, compare_fixtures
from playground.library.dumping import dump, fixture_of
from playground.library.parsing import parse_fixture
from playground.library.planning import ImportPlan, apply_import, plan_import
from playground.library.reading import MAX_BYTES, text_of
from playground.library.shape import Fixture, FixtureError, FixtureProblem, render
from playground.models import Collection

#: How the file and the collection stand to each other: there is no file; both say the same; the
#: file has changed since, the collection has, both have; nobody knows which; the file cannot be
#: read, or is about something else.
State = Literal["none", "same", "file", "here", "both", "apart", "unreadable"]

_NAME = re.compile(r"[-a-zA-Z0-9_]{1,130}")


class DiskError(Exception):
    """The file cannot be written or loaded; says why."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A collection beside its file."""

    collection: Collection
    state: State
    path: Path
    #: SHA-256 of the bytes of the file, "" where there is none: what somebody has seen of it.
    digest: str = ""
    modified_at: datetime | None = None
    #: Why the file cannot be read.
    problems: tuple[FixtureProblem, ...] = ()
    #: What loading it would do.
    loading: ImportPlan | None = None
    #: What saving would change in the file.
    saving: tuple[ItemChange, ...] = ()

    @property
    def name(self) -> str:
        """The file as one says it: its directory's name and its own."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def file_is_newer(self) -> bool:
        """Whether the file was written after the collection was changed last."""
        return self.modified_at is not None and self.modified_at > self.collection.modified_at


def file_status(collection: Collection) -> FileStatus:
    """How a collection and its file stand to each other.

    Where both say the same, that is noted: from then on either's changes can be told. Raises
    `DiskError` where there are no files: in hosted mode, for somebody's own collection.
    """
    path = _path(collection)
    data = _bytes(path)
    if data is None:
        return FileStatus(collection, "none", path)
    seen = _digest(data)
    modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        there = _fixture(path, data, collection.slug)
    except FixtureError as error:
        return FileStatus(
            collection, "unreadable", path, seen, modified_at, problems=error.problems
        )
    here = fixture_of(collection).ordered()
    state = _state(collection, here, there)
    return FileStatus(
        collection,
        state,
        path,
        seen,
        modified_at,
        loading=plan_import(there, None, exact=state == "file"),
        saving=tuple(compare_fixtures(there, here, missing="removed")),
    )


def save(collection: Collection, seen: str) -> Path:
    """Write the file of a collection, as a whole or not at all; returns where it is.

    `seen` is the `Standing.seen` that the decision was made by. Raises `DiskError` where the
    file is another one by now, or cannot be written.
    """
    found = file_status(collection)
    if found.state == "unreadable":
        raise DiskError(f"{found.name} is not overwritten: {found.problems[0]}")
    _still(found, seen)
    text = dump(collection)
    try:
        _write(found.path, text.encode())
    except OSError as error:
        raise DiskError(f"{found.name} cannot be written: {error.strerror}.") from error
    _note(collection, text)
    return found.path


def load(collection: Collection, seen: str) -> ImportPlan:
    """Load the file of a collection, what it does not have being kept; returns what was done.

    Only where the collection has not changed since is it made just like the file: then what the
    file does not have was taken out there. Raises `DiskError` as `save`, and `FixtureError`.
    """
    found = file_status(collection)
    if found.loading is None:
        problems = found.problems or (FixtureProblem("", f"There is no {found.name}."),)
        raise FixtureError(*problems)
    _still(found, seen)
    loaded = apply_import(found.loading)
    _note(loaded, render(found.loading.fixture))
    return found.loading


def load_file(path: Path) -> Collection | None:
    """Load a file of fixtures/ as a start of the playground does; returns what was changed.

    A collection that is not there is added. One that has not changed since is made like the
    file; one that was changed here, or was never loaded from there, is left alone. Raises
    `FixtureError`.
    """
    if (data := _bytes(path)) is None:
        return None
    there = parse_fixture(text_of(data))
    found = Collection.objects.filter(owner=None, slug=there.slug).first()
    if found is not None and _state(found, fixture_of(found).ordered(), there) != "file":
        return None
    loaded = apply_import(plan_import(there, None, exact=True))
    _note(loaded, render(there))
    return loaded


def _path(collection: Collection) -> Path:
    if settings.HOSTED or collection.owner_id is not None:
        raise DiskError("A hosted playground keeps no files.")
    # A slug that did not come through a form could lead out of the directory.
    if not _NAME.fullmatch(collection.slug):
        raise DiskError("The slug of this collection is no name for a file.")
    return Path(settings.FIXTURE_DIRS[0]) / f"{collection.slug}.json"


def _bytes(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none. Raises `DiskError` for what is no file."""
    if path.is_symlink():
        raise DiskError(f"{path.name} is a link to somewhere else, which is not followed.")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskError(f"{path.name} cannot be read: {error.strerror}.") from error


def _fixture(path: Path, data: bytes, slug: str) -> Fixture:
    """What a file says. Raises `FixtureError` where that is not the collection of this slug."""
    found = parse_fixture(text_of(data))
    if found.slug != slug:
        message = f"{path.name} is the file of another collection, “{found.slug}”."
        raise FixtureError(FixtureProblem("", message))
    return found


def _state(collection: Collection, here: Fixture, there: Fixture) -> State:
    mine, its = _digest(render(here).encode()), _digest(render(there).encode())
    if mine == its:
        if collection.file_digest != its:
            _note(collection, render(there))
        return "same"
    if not collection.file_digest:
        return "apart"
    if collection.file_digest == mine:
        return "file"
    return "here" if collection.file_digest == its else "both"


def _still(found: FileStatus, seen: str) -> None:
    if found.digest != seen:
        raise DiskError(f"{found.name} was changed since you looked. Look at the difference again.")


def _write(path: Path, data: bytes) -> None:
    """Replace a file at once: whoever reads it sees the old one or the new one."""
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


def _note(collection: Collection, text: str) -> None:
    collection.file_digest = _digest(text.encode())
    Collection.objects.filter(pk=collection.pk).update(file_digest=collection.file_digest)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
