"""Modes of the database and the keys, also in a directory that others can read."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from playground.base.private_files import (
    create_private_file,
    database_file,
    is_private,
    private_files,
    restrict_access,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a file has no mode")

SQLITE = "django.db.backends.sqlite3"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A data directory that its owner has created, with the usual umask."""
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o755)
    return directory


@pytest.mark.parametrize(
    ("engine", "name", "is_file"),
    [
        (SQLITE, "{tmp}/a.sqlite3", True),
        (SQLITE, ":memory:", False),
        (SQLITE, "file:memory?mode=memory", False),
        (SQLITE, "", False),
        ("django.db.backends.postgresql", "play", False),
    ],
)
def test_which_databases_are_files(tmp_path: Path, engine: str, name: str, is_file: bool) -> None:
    name = name.format(tmp=tmp_path)
    found = database_file({"ENGINE": engine, "NAME": name})
    assert found == (Path(name) if is_file else None)


def test_a_database_is_followed_to_where_its_log_is(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "disk" / "real.sqlite3")
    found = database_file({"ENGINE": SQLITE, "NAME": tmp_path / "link.sqlite3"})
    assert found == tmp_path / "disk" / "real.sqlite3"


def test_which_files_are_private(shared: Path) -> None:
    keys = ["secret-key", "encryption-key", "encryption-key.next", ".encryption-key.0a"]
    beside = ["p.sqlite3", "p.sqlite3-wal", "p.sqlite3-shm", "p.sqlite3-journal"]
    beside += ["p.sqlite3.bak", "p.sqlite3~", "p.sqlite3_2026-11-24"]
    for name in (*keys, *beside, "other.txt", "p.sqlite30", "p.sqlite3x.txt", "ap.sqlite3"):
        (shared / name).touch()
    (shared / "a-key-directory").mkdir()
    assert {path.name for path in private_files(shared, None)} == {*keys}
    assert {path.name for path in private_files(shared, shared / "p.sqlite3")} == {*keys, *beside}
    assert private_files(shared / "missing", shared / "missing.sqlite3") == []


def test_a_file_is_created_once(shared: Path) -> None:
    path = shared / "p.sqlite3"
    previous = os.umask(0)
    try:
        create_private_file(path)
    finally:
        os.umask(previous)
    assert mode(path) == 0o600
    path.write_text("data")
    create_private_file(path)
    assert path.read_text() == "data"
    create_private_file(shared / "missing" / "p.sqlite3")  # SQLite says what is wrong.


@pytest.mark.parametrize(
    ("before", "after"), [(0o644, 0o600), (0o660, 0o600), (0o604, 0o600), (0o440, 0o400)]
)
def test_access_of_others_ends(
    shared: Path, caplog: pytest.LogCaptureFixture, before: int, after: int
) -> None:
    path = shared / "encryption-key"
    path.touch()
    path.chmod(before)
    with caplog.at_level(logging.WARNING):
        restrict_access(path)
        restrict_access(path)
    assert mode(path) == after
    assert is_private(path)
    assert caplog.messages == [
        f"{path} was accessible to other users (mode {before:04o}). It no longer is."
    ]


def test_a_file_of_another_user_is_left_as_it_is(
    shared: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    path = shared / "p.sqlite3"
    path.touch(0o644)
    path.chmod(0o644)
    monkeypatch.setattr(os, "chmod", refuse)
    restrict_access(path)
    restrict_access(shared / "gone")
    assert caplog.messages == [
        f"Restricting access to {path} failed: Operation not permitted",
        f"Restricting access to {shared / 'gone'} failed: No such file or directory",
    ]
