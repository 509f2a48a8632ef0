"""`export_collection`, and its file with `import_collection` and `loaddata`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.commands.test_import_collection import export, imported, refused
from tests.support import example_collections

pytestmark = pytest.mark.django_db


def test_out_and_in_again(capfdbinary: Any, exported_file: Path) -> None:
    assert imported(str(exported_file)).splitlines() == [
        "+ collection soups (Soups)",
        "+ folder hot (Hot)",
        "+ folder cold (Cold)",
        "+ request first (First)",
        "+ request lentils (Lentils)",
        "+ request leek (Leek)",
        "+ request gazpacho (Gazpacho)",
        "soups: 7 added, 0 changed, 0 unchanged.",
    ]
    assert export(capfdbinary, "soups") == exported_file.read_bytes()
    assert imported(str(exported_file)) == "soups: 0 added, 0 changed, 7 unchanged.\n"


def test_loaddata_takes_what_was_exported(capfdbinary: Any, exported_file: Path) -> None:
    for _ in range(2):
        call_command("loaddata", str(exported_file), verbosity=0)
        assert export(capfdbinary, "soups") == exported_file.read_bytes()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    example_collections.example()
    error = refused("export_collection", "soups", f"--output={tmp_path}/missing/a.json")
    assert error.returncode == 1
    assert "No such file" in str(error)
