"""`import_collection` and `export_collection`: changes, remarks and errors; and `loaddata`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from playground.collections.fixture import dump
from playground.models import Collection, SavedRequest
from tests.support import example_collections
from tests.support.example_collections import COLLECTION, FOLDER, REQUEST, with_fields

pytestmark = pytest.mark.django_db


def export(capfdbinary: Any, slug: str) -> bytes:
    capfdbinary.readouterr()
    call_command("export_collection", slug)
    sys.stdout.flush()
    return capfdbinary.readouterr().out


def imported(source: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("import_collection", source, stdout=out, **options)
    return out.getvalue()


def refused(command: str, *args: str) -> CommandError:
    with pytest.raises(CommandError) as error:
        call_command(command, *args)
    return error.value


def test_what_is_changed_is_told(exported_file: Path) -> None:
    imported(str(exported_file))
    text = exported_file.read_text("utf-8").replace("About Leek.", "Of leeks.")
    exported_file.write_text(text, "utf-8")
    assert imported(str(exported_file)).splitlines() == [
        "~ request leek (Leek): notes",
        "soups: 0 added, 1 changed, 6 unchanged.",
    ]


def test_a_dry_run_does_nothing(exported_file: Path) -> None:
    told = imported(str(exported_file), dry_run=True)
    assert told.endswith("7 added, 0 changed, 0 unchanged (dry run, nothing was imported).\n")
    assert not Collection.objects.exists()


def test_the_standard_input(exported_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(exported_file.read_bytes()), "latin-1")
    monkeypatch.setattr(sys, "stdin", given)
    assert "7 added" in imported("-")


def test_what_is_left_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = with_fields(REQUEST, headers=[["Authorization", "confidential"]])
    path = tmp_path / "a.json"
    path.write_text(json.dumps([COLLECTION, FOLDER, item]))
    call_command("import_collection", str(path))
    told = capsys.readouterr()
    assert told.err.startswith("! Item 3, playground.savedrequest, /fields/headers: A credential")
    assert "confidential" not in told.out + told.err
    assert SavedRequest.objects.get().headers == [["Authorization", ""]]


def test_a_file_with_mistakes_is_not_imported(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([COLLECTION, with_fields(FOLDER, name="\x1b[31m", parent=None)]))
    error = refused("import_collection", str(path))
    assert error.returncode == 1
    assert str(error).splitlines() == [
        f"{path}: nothing was imported.",
        "Item 2, playground.folder, /fields/parent: Folders cannot be nested: "
        "a folder has no parent.",
    ]
    assert not Collection.objects.exists()


def test_several_files(exported_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{")
    with pytest.raises(CommandError) as error:
        call_command("import_collection", str(wrong), str(exported_file), stdout=io.StringIO())
    assert error.value.returncode == 1
    assert str(error.value).startswith(f"{wrong}: nothing was imported.\n")
    assert Collection.objects.get().slug == "soups"


def test_names_cannot_drive_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([COLLECTION, with_fields(FOLDER, name="\x1b[31mred")]))
    assert "\x1b" not in imported(str(path))


def test_there_is_no_such_file_or_collection(tmp_path: Path) -> None:
    error = refused("import_collection", str(tmp_path / "missing.json"))
    assert error.returncode == 2
    assert "No such file" in str(error)
    error = refused("export_collection", "missing")
    assert error.returncode == 2
    assert str(error) == (
        "Unknown collection “missing”. Saved collections: none. Start the playground once to add"
        " the samples: manage.py serve"
    )
    example_collections.example()
    assert str(refused("export_collection", "missing")).endswith("Saved collections: soups")


def test_the_collections_of_users_are_not_meant(django_user_model: Any, tmp_path: Path) -> None:
    owner = django_user_model.objects.create_user("owner")
    text = dump(example_collections.example(owner=owner))
    assert refused("export_collection", "soups").returncode == 2
    (tmp_path / "a.json").write_text(text, "utf-8")
    imported(str(tmp_path / "a.json"))
    assert Collection.objects.filter(slug="soups").count() == 2


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
