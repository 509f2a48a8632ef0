"""What a logged-in user makes is found again by the pages, in both modes.

In local mode nobody has to log in. A browser may still send the session of somebody who did: while
the playground was hosted with the same database.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from playground.collections.fixture import fixture_of, fixture_text
from playground.collections.recordings import record
from playground.engine.collection_runs import runner
from playground.models import (
    Agent,
    Collection,
    Environment,
    LessonProgress,
    Run,
    SavedRequest,
    Share,
)
from playground.models.rows import owner_of
from tests.support.collections import make_collection
from tests.support.markup import one_line
from tests.views.conftest import form


@pytest.fixture(params=["local", "hosted"], autouse=True)
def user(request: pytest.FixtureRequest, settings: Any, client: Client) -> User:
    """Somebody who is logged in."""
    settings.HOSTED = request.param == "hosted"
    ann = User.objects.create(username="ann")
    client.force_login(ann)
    return ann


@pytest.fixture
def agent(user: User) -> Agent:
    return Agent.objects.create(
        name="Recipes", url="http://agent.example/api", owner=owner_of(user)
    )


@pytest.fixture
def collection(user: User) -> Collection:
    """With one request, called a."""
    found = make_collection("Kept", "a")
    Collection.objects.update(owner=owner_of(user))
    found.refresh_from_db()
    return found


def shows(client: Client, address: str, text: str) -> bool:
    response = client.get(address)
    return response.status_code == 200 and text in one_line(response)


AGENT = {"name": "Kitchen", "url": "http://a.example", "version": "0.55", "auth": "none"}
#: What is posted where, and pages that show it then, with a text of each.
MADE: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "an agent": ("/agents/", AGENT, {"/agents/": "Kitchen", "/agents/kitchen/": "Kitchen"}),
    "a collection": (
        "/collections/", {"name": "Brunch"},
        {"/collections/": "Brunch", "/collections/brunch/": "Brunch"}),
    "an environment": (
        "/environments/", {"name": "Staging"}, {"/environments/staging/": "Staging"}),
    "a saved request": (
        "/saved-requests/", form(name="Eggs", place="", collection="Brunch"),
        {"/collections/brunch/requests/eggs/": "Eggs", "/sidebar/": "Brunch"}),
    "a run": ("/runs/", form(), {"/runs/": "eggs", "/history/": "eggs"}),
    "a twin": ("/twins/", form(other="version:0.54"), {}),
    "a collection run": (
        "/collection-runs/", {"collection": "kept", "address": "http://agent.example"},
        {"/collection-runs/": "Kept"}),
}  # fmt: skip


@pytest.mark.usefixtures("agent", "collection", "started")
@pytest.mark.parametrize(("path", "fields", "pages"), MADE.values(), ids=MADE)
def test_what_is_made_is_found(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    fields: dict[str, str],
    pages: dict[str, str],
) -> None:
    async def submit(*_: object) -> None:
        pass

    monkeypatch.setattr(runner, "submit", submit)
    made = client.post(path, fields)
    assert made.status_code == (200 if path == "/saved-requests/" else 302)
    assert made.status_code == 200 or client.get(made["Location"]).status_code == 200
    assert [page for page, text in pages.items() if not shows(client, page, text)] == []
    assert all(
        run.conversation.owner == run.owner for run in Run.objects.exclude(conversation=None)
    )


def test_the_name_of_an_environment_is_taken_whoever_looks(client: Client) -> None:
    statuses = [client.post("/environments/", {"name": "Staging"}).status_code for _ in range(2)]
    assert (statuses, Environment.objects.count()) == ([302, 422], 1)


def test_an_imported_collection(client: Client, user: User) -> None:
    text = fixture_text(fixture_of(make_collection("Brunch", "a b")))
    Collection.objects.all().delete()
    for _ in range(2):  # The second time it is found, and nothing is to be done.
        client.post("/collections/import/", {"text": text, "confirmed": "yes"})
        assert shows(client, "/collections/brunch/", "Brunch")
    assert [each.owner for each in Collection.objects.all()] == [owner_of(user)]


def test_a_lesson(client: Client, user: User, settings: Any) -> None:
    settings.DEMO_ENABLED = True
    Agent.objects.create(name="Demo agent", slug="demo", url="http://demo.example/demo")
    slug = "lesson-01-the-first-question"
    client.post(f"/lessons/shipped/{slug}/")
    assert shows(client, "/lessons/", "The first question")
    # In hosted mode the agent of the demo is added to those of the user.
    started = client.post(f"/lessons/{slug}/progress/", {"do": "start"})
    assert started.headers["Location"] == f"/collections/{slug}/requests/send/"
    assert Agent.objects.filter(owner=owner_of(user), slug="demo").exists()
    assert LessonProgress.objects.get().collection.owner == owner_of(user)
    assert shows(client, "/", "Send a question")


def test_a_repeated_run(client: Client, agent: Agent, started: list[Any]) -> None:
    client.post("/runs/", form())
    client.post(f"/runs/{Run.objects.get().pk}/repetition/")
    first, second = Run.objects.all()
    assert shows(client, f"/runs/{second.pk}/", "eggs")
    assert shows(client, f"/runs/{first.pk}/", "eggs")


def test_the_agent_that_is_saved_from_a_run_to_a_url(client: Client, started: list[Any]) -> None:
    client.post("/runs/", form(agent="", address="http://new.example/api"))
    run = Run.objects.get()
    assert shows(client, f"/agents/new/?run={run.pk}", "new.example")
    fields = {"name": "New", "url": run.url, "protocol": "nlweb", "binding": "http"}
    client.post("/agents/", {**fields, "version": "0.55", "auth": "none", "run": str(run.pk)})
    assert Agent.objects.get().owner == run.owner
    assert shows(client, "/agents/", "new.example")


def test_the_run_of_a_saved_request(
    client: Client, agent: Agent, collection: Collection, started: list[Any]
) -> None:
    client.post("/runs/", form(saved="kept/a"))
    assert Run.objects.get().saved_request == SavedRequest.objects.get()


def test_the_reply_of_a_saved_request(
    client: Client, collection: Collection, agent: Agent, run: Run
) -> None:
    SavedRequest.objects.update(reply=record(run), agent="recipes")
    opened = client.post("/collections/kept/requests/a/reply/")
    assert client.get(opened["Location"]).status_code == 200
    assert SavedRequest.objects.get().recorded_run.agent == agent


def test_a_link_and_a_copy_by_it(client: Client, collection: Collection) -> None:
    made = client.post("/shares/", {"collection": "kept", "days": ""})
    assert client.get(made["Location"]).status_code == 200
    assert shows(client, "/shares/", "Kept")
    copied = client.post(f"/s/{Share.objects.get().token}/copy/")
    assert copied["Location"] != "/collections/kept/"
    assert shows(client, copied["Location"], "Kept")


def test_what_was_deleted(client: Client, collection: Collection) -> None:
    client.post("/collections/kept/deletion/")
    assert shows(client, "/collections/", "Undo")


def test_the_limits_on_the_history(
    client: Client, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    pruned: list[int | None] = []

    async def nothing() -> int:
        return 0

    def prune(owner: int | None) -> asyncio.Task[int]:
        pruned.append(owner)
        return asyncio.get_running_loop().create_task(nothing())

    monkeypatch.setattr("playground.history.views.prune", prune)
    owner = owner_of(user)
    for text in ("one", "two"):
        Run.objects.create(owner=owner, text=text, state="completed")
    assert shows(client, "/history/retention/preview/?runs=1", "1 of 2 runs would be deleted")
    client.post("/history/retention/", {"runs": "1", "days": ""})
    assert pruned == [owner.pk if owner else None]
