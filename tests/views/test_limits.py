"""Limits on the rows of an owner: every page that creates or changes rows says what is too much."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from playground.collections.fixture import fixture_of, fixture_text
from playground.models import Agent, Collection, Environment, Folder, SavedRequest, Share
from playground.models.storage import LIMITS
from tests.support.commands import run_command

pytestmark = pytest.mark.database

AGENT = {"name": "N", "url": "http://a.example", "version": "0.55", "auth": "none"}
LESSON = {"version": 1, "steps": [{"slug": "one", "title": "One", "text": "Read."}]}
#: Makes a row larger.
TEXT = "text " * 100


@pytest.fixture(autouse=True)
def _rows() -> None:
    collection = Collection.objects.create(name="C", slug="c", lesson=LESSON)
    Folder.objects.create(collection=collection, name="F", slug="f")
    SavedRequest.objects.create(collection=collection, name="S", slug="s")
    found = Environment.objects.create(name="E", slug="e")
    found.variables.create(name="v", value="1")
    Agent.objects.create(name="A", slug="a", url="http://a.example")
    Share.objects.create(collection=collection, token="token")


@pytest.fixture
def full(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No table has room for another row."""
    settings.QUOTA = 1024**3
    for model, limit in LIMITS.items():
        monkeypatch.setitem(LIMITS, model, replace(limit, rows=0))


@pytest.fixture
def large(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row can be larger than it is."""
    settings.QUOTA = 1024**3
    for model, limit in LIMITS.items():
        monkeypatch.setitem(LIMITS, model, replace(limit, size=1))


def values() -> Iterator[dict[str, Any]]:
    for model in LIMITS:
        yield from model._base_manager.order_by("pk").values()


def fixture(slug: str) -> str:
    """A file with the collection under another slug."""
    return fixture_text(fixture_of(Collection.objects.get()).renamed(slug))


def post(client: Client, path: str, fields: dict[str, str], htmx: bool) -> str:
    """The text of the page that the user sees."""
    headers = {"HX-Request": "true"} if htmx else {}
    headers["Referer"] = "http://testserver/collections/"
    response = client.post(path, fields, headers=headers, follow=True)
    if target := response.headers.get("HX-Redirect"):
        response = client.get(target)
    return response.text


#: Paths that create rows, with their fields.
CREATED: dict[str, dict[str, str]] = {
    "/agents/": AGENT,
    "/collections/": {"name": "N"},
    "/collections/c/duplication/": {},
    "/collections/c/folders/": {"name": "N"},
    "/collections/c/folders/f/duplication/": {},
    "/collections/c/requests/s/duplication/": {},
    "/environments/": {"name": "N"},
    "/environments/new/variable/": {"environment_name": "N", "name": "v", "value": "1"},
    "/environments/e/copy/": {},
    "/lessons/": {"name": "N"},
    "/lessons/c/progress/": {},
    "/collection-runs/": {"collection": "c"},
    "/shares/": {"collection": "c"},
    "/s/token/copy/": {},
    "/saved-requests/": {"name": "S", "collection": "N", "protocol": "nlweb", "document": "{}"},
}


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
class TestRows:
    @pytest.mark.parametrize("path", CREATED)
    def test_nothing_is_created(self, client: Client, path: str, htmx: bool) -> None:
        before = list(values())
        assert "No room left for 1 more: " in post(client, path, CREATED[path], htmx)
        assert list(values()) == before

    def test_nothing_is_imported(self, client: Client, htmx: bool) -> None:
        before = list(values())
        fields = {"text": fixture("another"), "confirmed": "1"}
        assert "No room left for 1 more: " in post(client, "/collections/import/", fields, htmx)
        assert list(values()) == before


#: Paths that change rows, with their fields.
CHANGED: dict[str, dict[str, str]] = {
    "/agents/a/": AGENT | {"notes": TEXT},
    "/collections/c/details/": {"name": "N", "description": TEXT},
    "/collections/c/folders/f/details/": {"name": "N", "description": TEXT},
    "/collections/c/requests/s/details/": {"name": "N", "notes": TEXT},
    "/collections/c/requests/s/notes/": {"notes": TEXT},
    "/collections/c/requests/s/": {"document": json.dumps({"x": TEXT}), "version": "0.55"},
    "/environments/e/": {
        "variables-TOTAL_FORMS": "1", "variables-INITIAL_FORMS": "0",
        "variables-0-name": "w", "variables-0-kind": "text", "variables-0-value": TEXT,
    },
    "/lessons/c/edit/": {},
    "/lessons/c/edit/one/": {"title": "N", "text": TEXT, "kind": ""},
}  # fmt: skip


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
@pytest.mark.parametrize("path", CHANGED)
def test_nothing_becomes_too_large(
    client: Client, path: str, htmx: bool, request: pytest.FixtureRequest, settings: Any
) -> None:
    before = list(values())
    request.getfixturevalue("large")
    assert " is too large: " in post(client, path, CHANGED[path], htmx)
    assert list(values()) == before
    settings.QUOTA = 0
    assert " is too large: " not in post(client, path, CHANGED[path], htmx)
    assert list(values()) != before


@pytest.mark.usefixtures("full")
class TestElsewhere:
    def test_a_command_imports_nothing(self, tmp_path: Any) -> None:
        file = tmp_path / "new.json"
        file.write_text(fixture("another"))
        done = run_command("import_collection", str(file))
        assert done.returncode != 0
        assert "No room left for 1 more: 1 of 0 collections are stored." in done.stderr

    def test_a_collection_run_of_the_command_line(self) -> None:
        done = run_command("run_collection", "c")
        assert done.returncode == 3
        assert "No room left for 1 more: 0 of 0 collection runs are stored." in done.stderr

    def test_a_page_elsewhere_is_not_opened(self, client: Client) -> None:
        headers = {"Referer": "http://other.example/collections/"}
        response = client.post("/lessons/", {"name": "N"}, headers=headers)
        assert (response.status_code, response.headers["Location"]) == (302, "/")
