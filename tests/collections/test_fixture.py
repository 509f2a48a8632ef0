"""Text of a fixture: stable to the byte after a round trip, with small diffs."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.collections.fixture import Fixture, dump, fixture_text
from playground.collections.fixture_parser import parse_fixture
from playground.collections.importer import apply_import, plan_import
from playground.models import Collection, SavedRequest
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.database]

KEYS = ["model", "fields"]


def _load(text: str, path: Path) -> None:
    path.write_bytes(text.encode())
    call_command("loaddata", str(path), verbosity=0)


def _exported(slug: str) -> str:
    return dump(Collection.objects.get(slug=slug))


@pytest.mark.slow
@given(example_collections.fixtures(), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_loaddata_and_our_import_both_give_the_file_back(
    tmp_path: Path, fixture: Fixture, over: bool
) -> None:
    text = fixture_text(fixture)
    _load(text, tmp_path / "one.json")
    assert _exported(fixture.slug) == text
    if over:  # What is there is not what is in the file, and loaddata sets it right.
        SavedRequest.objects.update(notes="other", position=7, headers=[["a", "b"]])
    _load(text, tmp_path / "two.json")
    assert _exported(fixture.slug) == text
    Collection.objects.all().delete()
    apply_import(plan_import(parse_fixture(text), None))
    assert _exported(fixture.slug) == text
    assert plan_import(parse_fixture(text), None).changes_nothing
    Collection.objects.all().delete()


@given(example_collections.fixtures())
def test_what_is_written_can_be_read(fixture: Fixture) -> None:
    found = parse_fixture(fixture_text(fixture))
    assert fixture_text(found) == fixture_text(fixture)
    assert found.remarks == ()


def test_the_text_of_a_file() -> None:
    text = dump(example_collections.example())
    assert text.endswith("}\n]\n")
    items: list[dict[str, Any]] = json.loads(text)
    assert [list(item) for item in items] == [KEYS] * 7
    assert [item["model"].partition(".")[2] for item in items] == [
        "collection", *["folder"] * 2, *["savedrequest"] * 4
    ]  # fmt: skip
    assert [item["fields"]["slug"] for item in items[3:]] == [
        "first", "lentils", "leek", "gazpacho"
    ]  # fmt: skip
    assert items[4]["fields"]["folder"] == ["soups", "hot"]
    for word in (
        "pk",
        "owner",
        "created_at",
        "modified_at",
        "file_digest",
        "recorded_run",
        "reply",
    ):
        assert f'"{word}"' not in text


def _changed(before: str, after: str) -> list[str]:
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [row for row in list(rows)[2:] if not row.startswith("@@")]


def test_a_new_name_changes_one_line() -> None:
    collection = example_collections.example()
    before = dump(collection)
    collection.requests.filter(slug="leek").update(name="Leek soup")
    assert _changed(before, dump(collection)) == [
        '-      "name": "Leek",',
        '+      "name": "Leek soup",',
    ]


def test_a_request_that_moves_moves_alone() -> None:
    collection = example_collections.example()
    before = dump(collection)
    collection.requests.filter(slug="leek").update(position=512)
    changed = _changed(before, dump(collection))
    gone = [row[1:] for row in changed if row.startswith("-")]
    come = [row[1:] for row in changed if row.startswith("+")]
    # Its lines move, and only its position changes.
    assert len(gone) == len(come) < before.count("\n") / 3
    assert set(gone) ^ set(come) == {'      "position": 3072,', '      "position": 512,'}


def test_other_collections_are_not_in_it() -> None:
    example_collections.example("broths")
    text = dump(example_collections.example())
    assert "broths" not in text


@pytest.mark.parametrize("name", ["Lentils\0", "half \ud800"])
def test_text_that_no_database_takes_is_replaced_when_written(name: str) -> None:
    collection = example_collections.example()
    if "\0" in name and connection.vendor == "sqlite":  # PostgreSQL refuses it, too.
        collection.requests.filter(slug="lentils").update(notes=name)
        assert parse_fixture(dump(collection)).requests["lentils"]["notes"] == "Lentils\ufffd"
    collection.requests.filter(slug="lentils").update(document={"text": name})
    again = parse_fixture(dump(collection))
    assert again.requests["lentils"]["document"] == {"text": name}
