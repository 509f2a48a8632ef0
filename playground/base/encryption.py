"""Key files in the data directory: generated once, readable by their owner only, rotated.

Imported by the settings, so it must not import Django.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

#: Seconds that another process has for writing a key whose file it has created.
WRITE_TIMEOUT = 2.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def read_or_create_key(path: Path) -> str:
    """Return the key in `path`; create one, with mode 0600, if there is none.

    Two processes that start at once use the same key: the file is created exclusively, and the
    second process reads the key of the first. Raises `ValueError` for a file that stays empty.
    """
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        _create(path, secrets.token_urlsafe(48))
    return _read(path)


def decryption_keys(environment: Mapping[str, str], path: Path) -> list[str]:
    """Return the keys that decrypt but do not encrypt.

    PLAYGROUND_OLD_KEY; the next key, because an interrupted rotation may have encrypted some
    values with it; and the previous key, with which a process that was not stopped may still have
    encrypted values.
    """
    found = [environment.get("PLAYGROUND_OLD_KEY", "").strip()]
    for other in (next_key_path(path), previous_key_path(path)):
        with contextlib.suppress(FileNotFoundError):
            found.append(other.read_text().strip())
    return [key for key in found if key]


def next_key_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.next")


def previous_key_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.previous")


def replace_key(path: Path) -> None:
    """Replace the key in `path` by the next one, and store it as the previous one."""
    previous = path.read_text().strip()
    previous_key_path(path).unlink(missing_ok=True)
    _create(previous_key_path(path), previous)
    next_key_path(path).replace(path)
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Write the names in a directory to disk, and not its files only."""
    with contextlib.suppress(OSError):
        opened = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _read(path: Path) -> str:
    """Return the key; wait for it where `_create` was not atomic."""
    until = time.monotonic() + WRITE_TIMEOUT
    while not (key := path.read_text().strip()):
        if time.monotonic() >= until:
            raise ValueError(f"{path} is empty. Delete it to generate a new key.")
        time.sleep(0.01)
    return key


def _create(path: Path, key: str) -> None:
    """Write a new key file; raise `FileExistsError` if there is one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write(temporary, key)
        # link() is atomic and fails if the file exists.
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links. Any other error occurs again here.
        _write(path, key)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_directory(path.parent)


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, _NEW, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
