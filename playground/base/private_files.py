"""Files that no other user of the machine may read: the database of SQLite, and the keys.

The data directory may have been created before the playground, with any mode.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

#: Ends of the names of files beside a database: those of SQLite, such as `-wal`, and copies of the
#: database, such as `.bak`. Not a letter or digit, with which another name begins.
_BESIDE = "[!0-9A-Za-z]*"


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
    """Return whether only the owner of a file can read and write it."""
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
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


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
