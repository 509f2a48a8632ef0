"""What `manage.py check` says of the settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from playground.checks import key_file_permissions
from playground.encryption import read_or_create_key


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file has no mode")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604])
def test_a_key_that_others_can_read(settings: Any, tmp_path: Path, mode: int) -> None:
    settings.DATA_DIR = tmp_path / "data"
    read_or_create_key(settings.DATA_DIR / "encryption-key")
    assert key_file_permissions() == []
    (settings.DATA_DIR / "encryption-key").chmod(mode)
    assert [found.id for found in key_file_permissions()] == ["playground.W002"] * (mode != 0o600)


def test_a_new_directory_is_its_owners_alone(tmp_path: Path) -> None:
    read_or_create_key(tmp_path / "data" / "encryption-key")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
