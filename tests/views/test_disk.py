"""The file of a collection in fixtures/, over its page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from playground.collections import fixture
from playground.models import SavedRequest
from tests.support import example_collections

pytestmark = pytest.mark.database


def text_in(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.fixture
def fixture_dir(settings: Any, tmp_path: Path) -> Path:
    settings.FIXTURE_DIRS = [tmp_path]
    return tmp_path


class TestDisk:
    PATH = "/collections/soups/disk/"

    def section(self, client: Client) -> str:
        return client.get(self.PATH).text

    def post(self, client: Client, do: str, seen: str | None = None) -> Any:
        html = self.section(client)
        found = re.search(r'name="seen" value="([^"]*)"', html)
        known = found[1] if found else ""
        return client.post(self.PATH, {"do": do, "seen": known if seen is None else seen})

    def test_a_file_is_written_and_followed(self, client: Client, fixture_dir: Path) -> None:
        collection = example_collections.example()
        assert "Not saved to disk yet." in self.section(client)
        assert self.post(client, "save").status_code == 302
        path = fixture_dir / "soups.json"
        assert path.read_text("utf-8") == fixture.dump(collection)
        assert "In sync with" in self.section(client)

        path.write_text(path.read_text("utf-8").replace("About Leek.", "Of leeks."), "utf-8")
        shown = text_in(self.section(client))
        assert "The file is newer." in shown
        assert "Load the file into this collection (1 changed)" in shown
        assert "− About Leek. + Of leeks." in shown
        assert self.post(client, "load").status_code == 302
        assert collection.requests.get(slug="leek").notes == "Of leeks."
        assert "In sync with" in self.section(client)

        collection.requests.filter(slug="leek").update(name="Leeks")
        assert "Changed here" in self.section(client)
        path.write_text(path.read_text("utf-8").replace("Of leeks.", "About leeks."), "utf-8")
        assert "Conflict:" in self.section(client)
        assert self.post(client, "save").status_code == 302
        assert '"name": "Leeks"' in path.read_text("utf-8")

    def test_it_does_nothing_by_what_somebody_saw_before(
        self, client: Client, fixture_dir: Path
    ) -> None:
        example_collections.example()
        self.post(client, "save")
        path = fixture_dir / "soups.json"
        path.write_text(path.read_text("utf-8").replace("About Leek.", "Of leeks."), "utf-8")
        for do in ("save", "load"):
            answer = self.post(client, do, seen="older")
            assert answer.status_code == 422
            assert "has changed since the page was loaded" in answer.text
        assert "Of leeks." in path.read_text("utf-8")
        assert not SavedRequest.objects.filter(notes="Of leeks.").exists()

    def test_a_file_that_cannot_be_read_is_left_alone(
        self, client: Client, fixture_dir: Path
    ) -> None:
        example_collections.example()
        path = fixture_dir / "soups.json"
        path.write_text("[\n<<<<<<< HEAD\n", "utf-8")
        html = self.section(client)
        assert "is invalid and is not overwritten" in html
        assert "Line 2, column 1" in html
        for do in ("save", "load"):
            assert self.post(client, do).status_code == 422
        assert path.read_text("utf-8") == "[\n<<<<<<< HEAD\n"

    def test_htmx_is_told_to_load_the_page_again(self, client: Client, fixture_dir: Path) -> None:
        example_collections.example()
        answer = client.post(self.PATH, {"do": "save", "seen": ""}, headers={"HX-Request": "true"})
        assert answer["HX-Refresh"] == "true"

    def test_there_are_no_files_in_hosted_mode(
        self, client: Client, fixture_dir: Path, settings: Any, django_user_model: Any
    ) -> None:
        settings.HOSTED = True
        owner = django_user_model.objects.create_user("owner")
        example_collections.example(owner=owner)
        client.force_login(owner)
        assert client.get(self.PATH).content == b""
        assert client.post(self.PATH, {"do": "save", "seen": ""}).status_code == 403
        assert list(fixture_dir.iterdir()) == []

    def test_another_collection_is_not_found(self, client: Client) -> None:
        assert client.get("/collections/other/disk/").status_code == 404
