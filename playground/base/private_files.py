"""Files that no other user of the machine may read: the database of SQLite, and the keys.

The data directory may have been created before the playground, with any mode. A key is generated
once, and can be replaced. Imported by the settings, so it must not import Django.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import logging
import os
import secrets
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

#: Ends of the names of files beside a database: those of SQLite, such as `-wal`, and copies of the
#: database, such as `.bak`. Not a letter or digit, with which another name begins.
_BESIDE = "[!0-9A-Za-z]*"

#: Seconds that another process has for writing a key whose file it has created.
WRITE_TIMEOUT = 2.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def database_file(database: Mapping[str, Any]) -> Path | None:
    """Return the file of a database, as of `DATABASES`; None if it is on a server or in memory."""
    name = str(database["NAME"])
    is_file = "sqlite" in database["ENGINE"] and name and not name.startswith((":", "file:"))
    return Path(name).resolve() if is_file else None


def private_files(directory: Path, database: Path | None) -> list[Path]:
    """Return the private files that exist: keys in a data directory, a database and its copies."""
    found = sorted((*directory.glob("*-key*"), *directory.glob(".*-key*")))
    if database is not None:
        found += [database, *sorted(database.parent.glob(glob.escape(database.name) + _BESIDE))]
    return [path for path in found if path.is_file()]


def is_private(path: Path) -> bool:
    return os.name != "posix" or not path.stat().st_mode & 0o077


def prepare_directory(path: Path) -> None:
    """Create a directory for private files unless it exists. Raise `OSError` if it is read-only."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it is read-only")


def create_private_file(path: Path) -> None:
    """Create an empty file with mode 0600 unless there is a file.

    SQLite would create its database with the mode that the umask leaves. An error is not
    reported here: SQLite gives the reason when it opens the file.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, _NEW, 0o600))


def restrict_access(path: Path) -> None:
    """Deny other users access to a file, and log it; log it as well if that is not possible."""
    # By name: closing any descriptor of a database would release this process's locks of it.
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if is_private(path):
            return
        path.chmod(mode & 0o700)
    except OSError as error:
        logger.warning("Restricting access to %s failed: %s", path, error.strerror)
        return
    logger.warning("%s was accessible to other users (mode %04o). It no longer is.", path, mode)


# Keys


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
