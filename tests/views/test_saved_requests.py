"""Saved requests: saved without credentials, opened again, protected from overwriting."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from playground.collections import fixture
from playground.collections import saved_requests as saved_views
from playground.collections.fixture_parser import parse_fixture
from playground.collections.saved_requests import saved_fields
from playground.models import Agent, Collection, Folder, Run, SavedRequest
from playground.models.collections import STEP
from tests.support.markup import one_line
from tests.views.conftest import form

pytestmark = pytest.mark.database

SAVED = "/saved-requests/"
JSON = {"Accept": "application/json"}


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.create(name="Kept")


@pytest.fixture
def saved(agent: Agent, collection: Collection) -> SavedRequest:
    return SavedRequest.objects.create(
        collection=collection,
        name="Eggs",
        agent=agent.slug,
        address=agent.url,
        document={"query": {"text": "eggs"}},
    )


def create(client: Client, **fields: str) -> Any:
    return client.post(SAVED, form(name="Eggs", place="kept", **fields))


def told(response: Any) -> dict[str, Any]:
    """What the page is told of a request that was saved."""
    return json.loads(response["HX-Trigger"])["request:saved"]


@pytest.mark.usefixtures("agent", "collection")
class TestSavingAs:
    def test_keeps_every_field_of_the_composer(self, client: Client) -> None:
        response = create(
            client,
            version="0.54",
            binding="mcp",
            headers='[["X-Trace", "1"]]',
            auth='{"type": "bearer", "secret": "token"}',
            expectations='[{"type": "state", "equals": "completed"}]',
            captures='{"id": "$.id"}',
            notes="why",
        )
        found = SavedRequest.objects.get()
        assert told(response) == {
            "saved": "kept/eggs",
            "name": "Eggs",
            "modified": found.modified_at.isoformat(),
            "url": "/collections/kept/requests/eggs/",
            "dropped": [],
            "collection": "Kept",
        }
        assert "collections:changed" in json.loads(response["HX-Trigger"])
        assert (found.agent, found.address) == ("recipes", "http://agent.example/api/mcp")
        assert (found.protocol, found.version, found.binding) == ("nlweb", "0.54", "mcp")
        assert found.document == {"query": {"text": "eggs"}}
        assert found.headers == [["X-Trace", "1"]]
        assert found.auth == {"type": "bearer", "secret": "token"}
        assert found.expectations == [{"type": "state", "equals": "completed"}]
        assert found.captures == {"id": "$.id"}
        assert found.notes == "why"

    def test_touches_the_collection(self, client: Client, collection: Any) -> None:
        create(client)
        before = collection.modified_at
        collection.refresh_from_db()
        assert collection.modified_at > before

    def test_into_a_new_collection_after_the_others(self, client: Client) -> None:
        Collection.objects.create(name="First", position=7)
        client.post(SAVED, form(name="Eggs", place="", collection="Mine"))
        found = SavedRequest.objects.get()
        assert (found.collection.slug, found.collection.position > 7) == ("mine", True)

    def test_at_the_end_of_a_folder(self, client: Client, collection: Collection) -> None:
        folder = Folder.objects.create(collection=collection, name="Warm")
        SavedRequest.objects.create(collection=collection, folder=folder, name="a", position=5)
        client.post(SAVED, form(name="Eggs", place="kept/warm"))
        found = SavedRequest.objects.get(slug="eggs")
        assert (found.folder, found.position) == (folder, 5 + STEP)

    def test_with_the_reply_that_is_shown(self, client: Client, run: Run) -> None:
        asked = client.get(SAVED, {"name": "Eggs", "run": str(run.pk)}).text
        assert "Include this response" in asked
        create(client, run=str(run.pk), keep_reply="1")
        reply = SavedRequest.objects.get().reply
        assert reply["state"] == "completed"
        assert reply["frames"]

    @pytest.mark.parametrize("run_pk", ["", "no-uuid", "00000000-0000-0000-0000-000000000000"])
    def test_without_a_reply_where_there_is_none(self, client: Client, run_pk: str) -> None:
        asked = client.get(SAVED, {"run": run_pk}).text
        assert "Include this response" not in asked
        create(client, run=run_pk, keep_reply="1")
        assert SavedRequest.objects.get().reply is None

    def test_to_an_address_of_its_own(self, client: Client) -> None:
        fields = form(agent="", address=" {{base}}/ask ", protocol="agent-api", version="1")
        client.post(SAVED, fields | {"name": "Eggs", "place": "kept"})
        found = SavedRequest.objects.get()
        assert (found.agent, found.address) == ("", "{{base}}/ask")
        assert (found.protocol, found.binding) == ("agent-api", "http")

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"name": " "}, "Enter a name for the request."),
            ({"name": "x" * 121}, "The name is longer than 120 characters."),
            ({"place": "", "collection": ""}, "Enter a name for the new collection."),
            ({"place": "", "collection": "x" * 121}, "name is longer than 120"),
            ({"place": "gone"}, "This collection was deleted."),
            ({"place": "kept/gone"}, "This folder was deleted."),
            ({"expectations": '[{"type": "nothing"}]'}, "Expectations, /0"),
            ({"captures": '{"id": "$["}'}, "Captures, /id"),
            ({"agent": "", "address": "x" * 2001}, "The URL is longer than 2,000"),
        ],
        ids=[
            "no name", "a long name", "no collection", "a long collection", "a collection gone",
            "a folder gone", "no expectation", "a broken path", "a long address",
        ],
    )  # fmt: skip
    def test_what_cannot_be_kept_is_said_and_what_was_filled_in_stays(
        self, client: Client, collection: Any, fields: dict[str, str], message: str
    ) -> None:
        filled = form(name="Eggs", place="kept", notes="mine", agent="recipes")
        response = client.post(SAVED, filled | fields)
        assert response.status_code == 422
        assert message in response.text
        assert "mine" in response.text
        assert not SavedRequest.objects.exists()
        assert list(Collection.objects.all()) == [collection]


@pytest.mark.usefixtures("warm")
class TestWhereItIsProposed:
    def proposed(self, client: Client, **query: str) -> str:
        """The place that is chosen in the form that asks for one."""
        page = one_line(client.get(SAVED, query))
        found = re.findall(r'<option value="([^"]*)" selected>', page)
        assert len(found) == 1
        return found[0]

    @pytest.fixture
    def warm(self, saved: SavedRequest) -> Folder:
        """A folder with the saved request in it; another collection is the newest."""
        folder: Folder = Folder.objects.create(collection=saved.collection, name="Warm")
        SavedRequest.objects.filter(pk=saved.pk).update(folder=folder)
        Collection.objects.create(name="Newest", modified_at=timezone.now())
        return folder

    def test_is_the_folder_of_what_is_open(self, client: Client) -> None:
        assert self.proposed(client, saved="kept/eggs") == "kept/warm"
        SavedRequest.objects.update(folder=None)
        assert self.proposed(client, saved="kept/eggs") == "kept"

    def test_is_the_collection_of_what_was_open_and_is_gone(self, client: Client) -> None:
        assert self.proposed(client, saved="kept/gone") == "kept"
        assert self.proposed(client, saved="gone/gone") == "newest"

    def test_is_where_something_was_saved_last(
        self, client: Client, agent: Agent, warm: Folder
    ) -> None:
        assert self.proposed(client) == "newest"
        client.post(SAVED, form(name="Ham", place="kept/warm"))
        Collection.objects.filter(slug="newest").update(modified_at=timezone.now())
        assert self.proposed(client) == "kept/warm"
        warm.delete()
        assert self.proposed(client) == "newest"

    def test_is_what_was_chosen_where_something_else_was_wrong(self, client: Client) -> None:
        page = client.post(SAVED, form(name="", place="kept", saved="kept/eggs"))
        assert b'<option value="kept" selected>' in page.content


@pytest.mark.usefixtures("collection")
class TestCredentials:
    def test_are_stored_as_placeholders_only(self, client: Client, agent: Agent) -> None:
        headers = [
            ["Authorization", "Bearer literal"],
            ["X-Api-Key", "{{key}}"],
            ["X-Plain", "literal"],
        ]
        response = create(client, headers=json.dumps(headers))
        found = SavedRequest.objects.get()
        assert found.headers == [
            ["Authorization", ""],
            ["X-Api-Key", "{{key}}"],
            ["X-Plain", "literal"],
        ]
        assert told(response)["dropped"] == ["Authorization"]

    @pytest.mark.parametrize("secret", ["", "sk/literal+=="], ids=["none", "a value"])
    def test_of_a_secret_only_the_name_is_kept_and_its_file_can_be_taken_in(
        self, client: Client, secret: str
    ) -> None:
        auth = {"type": "api_key", "header": "", "secret": secret}
        response = create(client, agent="", address="http://a.example", auth=json.dumps(auth))
        found = SavedRequest.objects.get()
        assert found.auth == {"type": "api_key", "header": "", "secret": ""}
        assert told(response)["dropped"] == (["the authentication"] if secret else [])
        taken = parse_fixture(fixture.dump(found.collection))
        assert taken.requests[found.slug]["auth"] == found.auth

    def test_in_the_address_are_dropped_and_named(self, client: Client) -> None:
        address = "https://me:literal@agent.example/?token=literal"
        response = create(client, agent="", address=address)
        assert "literal" not in SavedRequest.objects.get().address
        assert told(response)["dropped"] == ["the URL"]


class TestSaving:
    def save(self, client: Client, saved: SavedRequest, **fields: str) -> Any:
        document = {"query": {"text": "ham"}}
        return client.post(saved.get_absolute_url(), form(document, **fields))

    def test_changes_the_request_and_not_its_name(
        self, client: Client, saved: SavedRequest
    ) -> None:
        response = self.save(client, saved, modified=saved.modified_at.isoformat())
        saved.refresh_from_db()
        assert (saved.name, saved.document) == ("Eggs", {"query": {"text": "ham"}})
        assert told(response)["modified"] == saved.modified_at.isoformat()

    def test_is_asked_about_where_somebody_else_has_saved(
        self, client: Client, saved: SavedRequest
    ) -> None:
        before = saved.modified_at.isoformat()
        saved.modified_at = timezone.now()
        saved.save()
        response = self.save(client, saved, modified=before)
        assert response.status_code == 409
        assert "was saved in another window" in response.text
        saved.refresh_from_db()
        assert saved.document == {"query": {"text": "eggs"}}
        assert self.save(client, saved, modified=before, overwrite="1").status_code == 200
        saved.refresh_from_db()
        assert saved.document == {"query": {"text": "ham"}}

    def test_between_the_look_and_the_write_nobody_comes(
        self, client: Client, saved: SavedRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def read_late(*args: Any) -> Any:
            kept = saved_fields(*args)
            others = {"document": {"query": {"text": "theirs"}}, "modified_at": timezone.now()}
            SavedRequest.objects.filter(pk=saved.pk).update(**others)
            return kept

        monkeypatch.setattr(saved_views, "saved_fields", read_late)
        response = self.save(client, saved, modified=saved.modified_at.isoformat())
        assert response.status_code == 409
        saved.refresh_from_db()
        assert saved.document == {"query": {"text": "theirs"}}

    @pytest.mark.parametrize(
        "moment",
        ["yesterday", "2026-13-45T00:00:00+00:00", "0001-01-01T00:00:00+23:00", "\0"],
        ids=["words", "no date", "before time", "NUL"],
    )
    def test_a_moment_that_never_was_is_not_that_of_what_is_stored(
        self, client: Client, saved: SavedRequest, moment: str
    ) -> None:
        assert self.save(client, saved, modified=moment).status_code == 409

    def test_leaves_what_the_composer_does_not_hold(
        self, client: Client, saved: SavedRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def read_late(*args: Any) -> Any:
            SavedRequest.objects.filter(pk=saved.pk).update(name="Ham", notes="new")
            return saved_fields(*args)

        monkeypatch.setattr(saved_views, "saved_fields", read_late)
        self.save(client, saved, modified=saved.modified_at.isoformat())
        saved.refresh_from_db()
        assert (saved.name, saved.notes) == ("Ham", "new")

    def test_what_cannot_be_kept_is_said(self, client: Client, saved: SavedRequest) -> None:
        response = client.post(saved.get_absolute_url(), form("{"))
        assert response.status_code == 422
        assert "was not saved" in response.text

    def test_the_address_beside_an_agent_that_stays_is_no_difference(
        self, client: Client, saved: SavedRequest
    ) -> None:
        for kept in ("", "http://elsewhere.example"):
            SavedRequest.objects.filter(pk=saved.pk).update(address=kept)
            self.save(client, saved)
            saved.refresh_from_db()
            assert (saved.agent, saved.address) == ("recipes", kept)

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:9"])
    def test_an_address_of_this_machine_is_not_for_others(
        self, client: Client, agent: Agent, collection: Collection, host: str
    ) -> None:
        Agent.objects.filter(pk=agent.pk).update(url=f"http://{host}/demo")
        create(client)
        assert SavedRequest.objects.get().address == ""

    def test_a_path_beside_its_agent_stays_one(self, client: Client, saved: SavedRequest) -> None:
        saved.address = "/other"
        saved.save()
        opened = client.get(saved.get_absolute_url(), headers=JSON).json()["fields"]
        assert (opened["agent"], opened["address"]) == ("", "http://agent.example/other")
        self.save(client, saved, agent="", address=opened["address"])
        saved.refresh_from_db()
        assert (saved.agent, saved.address) == ("recipes", "/other")


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_once_one_is_told_of_the_other(saved: SavedRequest) -> None:
    def save(text: str) -> int:
        start.wait()
        try:
            fields = form({"query": {"text": text}}, modified=opened)
            return Client().post(saved.get_absolute_url(), fields).status_code
        finally:
            connections.close_all()

    for _ in range(5):
        opened = saved.modified_at.isoformat()
        start = threading.Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            codes = list(pool.map(save, ("mine", "theirs")))
        assert sorted(codes) == [200, 409]
        saved.refresh_from_db()
        assert saved.document == {"query": {"text": ("mine", "theirs")[codes.index(200)]}}


class TestOpening:
    def test_for_a_tab(self, client: Client, saved: SavedRequest) -> None:
        saved.auth = {"type": "none"}
        saved.save()
        assert client.get(saved.get_absolute_url(), headers=JSON).json() == {
            "saved": "kept/eggs",
            "name": "Eggs",
            "modified": saved.modified_at.isoformat(),
            "url": "/collections/kept/requests/eggs/",
            "run": "",
            "offers_reply": False,
            "fields": {
                "agent": "recipes",
                "address": "",
                "protocol": "nlweb",
                "version": "0.55",
                "binding": "http",
                "document": json.dumps(saved.document, indent=2),
                "headers": "",
                "auth": '{"type": "none"}',
                "expectations": "",
                "captures": "",
            },
        }

    def test_as_a_page(self, client: Client, saved: SavedRequest) -> None:
        response = client.get(saved.get_absolute_url())
        page = response.text
        assert 'name="saved" value="kept/eggs"' in page
        assert '<option value="recipes"' in page
        assert "eggs" in page
        assert "Accept" in response["Vary"]

    def test_where_there_is_no_such_agent_its_address_is_shown(
        self, client: Client, saved: SavedRequest
    ) -> None:
        saved.agent, saved.address = "gone", "https://agent.example/{{tenant}}"
        saved.save()
        fields = client.get(saved.get_absolute_url(), headers=JSON).json()["fields"]
        assert (fields["agent"], fields["address"]) == ("", "https://agent.example/{{tenant}}")
        page = client.get(saved.get_absolute_url()).text
        assert 'value="https://agent.example/{{tenant}}"' in page

    def test_of_nobody_else_and_of_nothing(self, client: Client, saved: SavedRequest) -> None:
        assert client.get("/collections/kept/requests/ham/").status_code == 404
        assert client.get("/collections/other/requests/eggs/").status_code == 404
        assert client.put(saved.get_absolute_url()).status_code == 405


def test_a_run_of_a_saved_request_knows_it(client: Client, saved: SavedRequest, run: Run) -> None:
    run.saved_request = saved
    run.expectations = [{"type": "state", "equals": "completed"}]
    run.request_template = {
        "document": {"query": {"text": "{{dish}}"}},
        "headers": [["X-A", "{{a}}"]],
        "address": "{{base}}",
        "auth": {"type": "none"},
    }
    run.save()
    page = client.get(run.get_absolute_url()).text
    assert 'name="saved" value="kept/eggs"' in page
    assert "{{dish}}" in page
    assert "X-A" in page
    assert 'value="{{base}}"' in page
    assert "completed" in page


def test_the_response_of_a_run_comes_by_itself(client: Client, run: Run) -> None:
    part = client.get(f"/runs/{run.pk}/response/").text
    assert part.lstrip().startswith("<section")
    assert f'data-run="{run.pk}"' in part


@pytest.mark.usefixtures("tour")
class TestShipped:
    """Collections that come with the playground are changed by choice only."""

    @pytest.fixture
    def tour(self, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> SavedRequest:
        monkeypatch.setattr(saved_views, "shipped_slugs", lambda: frozenset({"tour"}))
        collection = Collection.objects.create(name="Tour")
        return SavedRequest.objects.create(
            collection=collection, name="Eggs", agent=agent.slug, document={}
        )

    def test_the_first_save_creates_a_collection(self, client: Client) -> None:
        html = one_line(client.get(SAVED, {"name": "x", "saved": "tour/eggs"}))
        assert '<option value="" selected>New collection…</option>' in html
        assert 'name="collection" dir="auto" maxlength="120" value="My requests"' in html
        client.post(SAVED, form(name="x", place="", collection="My requests"))
        html = one_line(client.get(SAVED, {"name": "y", "saved": "tour/eggs"}))
        assert '<option value="my-requests" selected> My requests </option>' in html
        assert html.index('value="my-requests"') < html.index('value="tour"')

    def test_one_that_was_chosen_before_is_not_proposed(self, client: Client) -> None:
        assert client.post(SAVED, form(name="x", place="tour")).status_code == 200
        assert 'value="" selected' in client.get(SAVED).text

    def test_overwriting_asks_once(self, client: Client, tour: SavedRequest) -> None:
        url = "/collections/tour/requests/eggs/"
        refused = client.post(url, form())
        assert refused.status_code == 409
        assert "shipped with the playground" in refused.text
        tour.refresh_from_db()
        assert tour.document == {}
        assert client.post(url, form(shipped="1")).status_code == 200
        assert client.post(url, form()).status_code == 200
        tour.refresh_from_db()
        assert tour.document


class TestNotes:
    URL = "/collections/kept/requests/eggs/notes/"

    def test_are_shown_beside_the_request(self, client: Client, saved: SavedRequest) -> None:
        assert "Add notes" in one_line(client.get("/collections/kept/requests/eggs/"))
        SavedRequest.objects.update(notes="Boil *soft*.")
        html = one_line(client.get("/collections/kept/requests/eggs/"))
        assert "Boil <em>soft</em>." in html
        assert 'data-saved="kept/eggs"' in html
        assert 'id="saved-notes" class="saved-notes" aria-label="Notes" hidden' in (
            one_line(client.get("/"))
        )

    def test_are_edited_in_place_and_the_request_can_still_be_saved(
        self, client: Client, saved: SavedRequest
    ) -> None:
        assert "<textarea" in client.get(self.URL, {"in": "form"}).text
        answer = client.post(self.URL, {"notes": " <b>New</b> "})
        assert "<b>" not in answer.text.replace("&lt;b&gt;", "")
        before = saved.modified_at
        saved.refresh_from_db()
        assert (saved.notes, saved.modified_at) == ("<b>New</b>", before)
        assert "<textarea" not in client.get(self.URL, {"in": "workbench"}).text
