"""Keys that are generated once and kept in the data directory, readable by their owner only.

Imported by the settings, so it may import nothing of Django.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def read_or_create(path: Path) -> str:
    """The key in `path`; a new one, written with mode 0600, when there is none yet.

    Two processes that start at once agree on one key: the file is created exclusively and
    whoever comes second reads the first one's.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        # link() is atomic and fails when the key is there already.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text().strip()
