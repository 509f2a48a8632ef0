"""Keys that are generated once and kept in the data directory, readable by their owner only.

Imported by the settings, so it may import nothing of Django.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

#: Seconds that another process has for writing a key whose file it has created.
PATIENCE = 2.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def read_or_create_key(path: Path) -> str:
    """The key in `path`; a new one, written with mode 0600, when there is none yet.

    Two processes that start at once agree on one key: the file is created exclusively and
    whoever comes second reads the first one's. Raises `ValueError` for a file that stays empty:
    no key is not a key.
    """
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        _create(path, secrets.token_urlsafe(48))
    return _read(path)


def decryption_keys(environment: Mapping[str, str], path: Path) -> list[str]:
    """Keys beside the one that is written with, for what was written with them.

    PLAYGROUND_OLD_KEY; the key that is to take the place of the one in `path`, because where a
    rotation was interrupted some of what is stored may have been written with that; and the key
    before it, with which a process that was not stopped may have gone on to write.
    """
    found = [environment.get("PLAYGROUND_OLD_KEY", "").strip()]
    for other in (next_key_path(path), previous_key_path(path)):
        with contextlib.suppress(FileNotFoundError):
            found.append(other.read_text().strip())
    return [key for key in found if key]


def next_key_path(path: Path) -> Path:
    """Where the key waits that takes the place of the one in `path`."""
    return path.with_name(f"{path.name}.next")


def previous_key_path(path: Path) -> Path:
    """Where the key is kept that the one in `path` has taken the place of."""
    return path.with_name(f"{path.name}.previous")


def replace_key(path: Path) -> None:
    """Put the successor in the place of the key in `path`, and that beside it."""
    before = path.read_text().strip()
    previous_key_path(path).unlink(missing_ok=True)
    _create(previous_key_path(path), before)
    next_key_path(path).replace(path)
    _keep_names(path.parent)


def _keep_names(directory: Path) -> None:
    """See to it that the names in a directory are on the disk, and not its files alone."""
    with contextlib.suppress(OSError):
        opened = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _read(path: Path) -> str:
    """The key; where `_create` could not be atomic, a moment may pass until it is there."""
    until = time.monotonic() + PATIENCE
    while not (key := path.read_text().strip()):
        if time.monotonic() >= until:
            raise ValueError(f"{path} is empty. Delete it, and a new key is made.")
        time.sleep(0.01)
    return key


def _create(path: Path, key: str) -> None:
    """Write a key that nobody has written yet; raises `FileExistsError` where somebody has."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write(draft, key)
        # link() is atomic and fails when the key is there already.
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links. Whatever else is wrong is wrong here, too.
        _write(path, key)
    finally:
        draft.unlink(missing_ok=True)
    _keep_names(path.parent)


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, _NEW, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
