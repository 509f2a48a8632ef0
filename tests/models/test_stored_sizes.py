"""No column of an owner's rows is left out of the count, and none counts as less than it takes."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from playground.models import (
    ActionServer,
    Agent,
    Collection,
    CollectionRun,
    Environment,
    Folder,
    LessonProgress,
    PolledPromise,
    Run,
    SavedRequest,
    Share,
    Step,
    TrashedItem,
    Variable,
)
from playground.models.storage import stored_bytes

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LARGE = 200_000
TEXT = "x" * LARGE
#: Four bytes each in UTF-8.
WIDE = "\N{SLICE OF PIZZA}" * LARGE


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("owner")


@pytest.fixture
def run(owner: User) -> Run:
    found: Run = Run.objects.create(
        owner=owner, agent_name="A", url="http://a.example", protocol="nlweb", binding="http",
        version="0.55", request={}, state="completed", outcome="promise",
    )  # fmt: skip
    return found


@pytest.fixture
def collection(owner: User) -> Collection:
    return Collection.objects.create(owner=owner, name="C")


def grown(owner: User, row: Model, **values: Any) -> int:
    """The bytes by which the count of `owner` grows when a row has these values."""
    before = stored_bytes(owner.pk)
    for name, value in values.items():
        setattr(row, name, value)
    row.save()
    return stored_bytes(owner.pk) - before


class TestWhatIsCounted:
    @pytest.mark.parametrize(
        ("name", "value"),
        [("headers", [["A", TEXT]]), ("notes", TEXT), ("handshake", {"tools": TEXT}),
         ("detected", {"report": TEXT}), ("auth_secret", TEXT), ("answer_template", TEXT)],
    )  # fmt: skip
    def test_an_agent(self, owner: User, name: str, value: Any) -> None:
        agent = Agent.objects.create(owner=owner, name="A", url="http://a.example")
        assert grown(owner, agent, **{name: value}) >= LARGE

    @pytest.mark.parametrize("name", ["value", "secret", "allowed_origins"])
    def test_a_variable(self, owner: User, name: str) -> None:
        environment = Environment.objects.create(owner=owner, name="E")
        row = Variable.objects.create(environment=environment, name="v")
        assert grown(owner, row, **{name: TEXT}) >= LARGE

    def test_a_collection_and_its_folders(self, owner: User, collection: Collection) -> None:
        assert grown(owner, collection, description=TEXT) >= LARGE
        folder = Folder.objects.create(collection=collection, name="F")
        assert grown(owner, folder, description=TEXT) >= LARGE

    @pytest.mark.parametrize("name", ["auth", "captures", "document", "headers", "expectations"])
    def test_a_saved_request(self, owner: User, collection: Collection, name: str) -> None:
        saved = SavedRequest.objects.create(collection=collection, name="S")
        assert grown(owner, saved, **{name: {"x": TEXT}}) >= LARGE

    def test_the_progress_in_a_lesson(self, owner: User, collection: Collection) -> None:
        row = LessonProgress.objects.create(collection=collection)
        assert grown(owner, row, steps={"one": TEXT}) >= LARGE

    def test_a_collection_run_and_its_steps(self, owner: User) -> None:
        found = CollectionRun.objects.create(owner=owner, name="C")
        assert grown(owner, found, options={"variables": TEXT}) >= LARGE
        step = Step.objects.create(collection_run=found, number=1, name="S")
        assert grown(owner, step, checks=[TEXT]) >= LARGE
        assert grown(owner, step, reason=TEXT) >= LARGE

    @pytest.mark.parametrize("name", ["token", "updates", "headers"])
    def test_a_promise(self, owner: User, run: Run, name: str) -> None:
        row = PolledPromise.objects.create(run=run, entry_seq=1, token="t", polling_seconds=1)
        assert grown(owner, row, **{name: [TEXT]}) >= LARGE

    def test_the_server_of_an_action(self, owner: User) -> None:
        row = ActionServer.objects.create(owner=owner, protocol="mcp", identifier="i", url="u")
        assert grown(owner, row, description={"tools": TEXT}) >= LARGE

    @pytest.mark.parametrize(
        "name",
        ["session_override", "session_context", "detected", "handshake", "declined_elicitations"],
    )
    def test_a_run(self, owner: User, name: str) -> None:
        before = stored_bytes(owner.pk)
        Run.objects.create(
            owner=owner, agent_name="A", url="http://a.example", protocol="nlweb", binding="http",
            version="0.55", request={}, state="completed", **{name: {"value": TEXT}},
        )  # fmt: skip
        assert stored_bytes(owner.pk) - before >= LARGE

    def test_many_small_rows(self, owner: User, run: Run) -> None:
        before = stored_bytes(owner.pk)
        for number in range(10):
            Agent.objects.create(owner=owner, name=f"A{number}", url="http://a.example")
            Environment.objects.create(owner=owner, name=f"E{number}")
            Collection.objects.create(owner=owner, name=f"C{number}")
            Share.objects.create(owner=owner, run=run)
        assert stored_bytes(owner.pk) - before >= 40 * 100

    def test_others_rows_are_not(self, owner: User) -> None:
        Agent.objects.create(name="A", url="http://a.example", notes=TEXT)
        assert stored_bytes(owner.pk) == 0


class TestBytesAndNotCharacters:
    def test_notes(self, owner: User, collection: Collection) -> None:
        saved = SavedRequest.objects.create(collection=collection, name="S")
        assert grown(owner, saved, notes=WIDE) == 4 * LARGE

    def test_the_trash(self, owner: User) -> None:
        item = TrashedItem.objects.create(owner=owner, label="C", fixture="")
        assert grown(owner, item, fixture=WIDE) == 4 * LARGE

    def test_a_null_character_does_not_end_a_text(self, owner: User) -> None:
        if connection.vendor != "sqlite":
            return  # PostgreSQL refuses it.
        item = TrashedItem.objects.create(owner=owner, label="C", fixture="")
        assert grown(owner, item, fixture="\0" + TEXT) == LARGE + 1
