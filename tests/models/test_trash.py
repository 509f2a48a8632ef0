"""What is in the trash is nowhere else, for every model that can be trashed and all that reach it.

The models are found by their fields: a new one with `deleted_at`, or with a foreign key to such a
model, needs a row here and passes, or fails, the same tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import models
from django.test import Client
from django.utils import timezone

from playground.collections import files, trash
from playground.live import broadcast
from playground.models import (
    Collection,
    CollectionRun,
    Folder,
    LessonProgress,
    SavedRequest,
    Share,
    Step,
)
from playground.models.collections import TRASH_LIFETIME, purge_trash, requests_in_order
from playground.models.rows import UntrashedManager, WeakForeignKey
from tests.support.stored_runs import Recording

pytestmark = [pytest.mark.django_db, pytest.mark.database]

#: In the names and slugs of all rows of the part that is deleted, and in nothing else.
WORD = "zanzibar"
LESSON = {"version": 1, "steps": [{"slug": "one", "title": "One", "text": "Read."}]}


def trashable() -> list[type[models.Model]]:
    """Return the models whose rows can be in the trash."""
    return [
        model
        for model in apps.get_models()
        if any(field.name == "deleted_at" for field in model._meta.get_fields())
    ]


def references() -> list[models.ForeignKey[Any, Any]]:
    """Return the foreign keys to what can be in the trash, or is hidden with it."""
    hidden, found = set(trashable()), []
    every = [
        field
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
    ]
    for _ in every:
        found = [field for field in every if field.related_model in hidden]
        hidden |= {field.model for field in found if field.remote_field.on_delete is models.CASCADE}
    return found


MODELS = trashable()
REFERENCES = references()


class World:
    """A collection with a row of each model that reaches it; one part has `WORD` in its names."""

    def __init__(self, model: type[models.Model]) -> None:
        """Give the names to a row of `model` and to what is deleted with it."""
        order = [Collection, Folder, SavedRequest]

        def named(at: type[models.Model], name: str) -> dict[str, str]:
            is_part = order.index(at) >= order.index(model)
            return {"name": f"{WORD} {name}" if is_part else name}

        #: What stays: another collection, folder and request.
        self.other = Collection.objects.create(name="Other", slug="other")
        collection = Collection.objects.create(
            **named(Collection, "Soups"), description="Of {{spice}}.", lesson=None
        )
        folder = Folder.objects.create(collection=collection, **named(Folder, "Hot"))
        Folder.objects.create(collection=collection, name="Cold", slug="cold")
        saved = SavedRequest.objects.create(
            collection=collection, folder=folder, agent="demo",
            captures={"first": "$.a"}, document={"query": {"text": "{{spice}} soup"}},
            **named(SavedRequest, "Leek"),
        )  # fmt: skip
        SavedRequest.objects.create(
            collection=collection, name="Stays", slug="stays", agent="demo",
            document={"query": {"text": "stays"}},
        )  # fmt: skip
        self.run = Recording(saved_request=saved).end()
        self.done = CollectionRun.objects.create(
            collection=collection, name="Done", state="completed"
        )
        step = Step.objects.create(
            collection_run=self.done, number=1, name="One", saved_request=saved, run=self.run
        )
        SavedRequest.objects.filter(pk=saved.pk).update(recorded_run=Recording().end())
        self.share = Share.objects.create(collection=collection, token="shared")
        progress = LessonProgress.objects.create(collection=collection)
        #: A row of each model.
        self.rows: dict[type[models.Model], Any] = {
            type(row): row
            for row in (collection, folder, saved, self.run, self.done, step, self.share, progress)
        }
        self.part: trash.Part = self.rows[model]
        self.collection, self.slug = collection, collection.slug

    def trashed(self) -> set[type[models.Model]]:
        """Return the models whose row is hidden when the part is deleted."""
        found = {type(self.part)}
        for _ in REFERENCES:
            found |= {
                field.model
                for field in REFERENCES
                if field.related_model in found
                and (field.remote_field.on_delete is models.CASCADE or field.model in MODELS)
            }
        return found


def dumped() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the fields of all rows that `dumpdata` writes, by model and key."""
    out = StringIO()
    call_command("dumpdata", "playground", stdout=out)
    return {(item["model"], str(item["pk"])): item["fields"] for item in json.loads(out.getvalue())}


def key(row: models.Model) -> tuple[str, str]:
    return row._meta.label_lower, str(row.pk)


def test_the_models_that_are_found() -> None:
    assert {model.__name__ for model in MODELS} >= {"Collection", "Folder", "SavedRequest"}
    assert len(REFERENCES) >= 8


@pytest.mark.parametrize("field", REFERENCES, ids=str)
def test_a_reference_hides_its_row_or_reads_none(field: models.ForeignKey[Any, Any]) -> None:
    if field.remote_field.on_delete is models.CASCADE:
        assert isinstance(field.model._default_manager, UntrashedManager)
    else:
        assert field.null
        assert isinstance(field, WeakForeignKey)


@pytest.mark.parametrize("model", MODELS)
class TestRows:
    def test_only_one_manager_has_what_was_deleted(self, model: type[models.Model]) -> None:
        world = World(model)
        trashed = world.trashed()
        assert {field.model for field in REFERENCES} | set(MODELS) <= set(world.rows)
        trash.delete(world.part)
        for each, row in world.rows.items():
            assert each._default_manager.filter(pk=row.pk).exists() is (each not in trashed), each
            assert each._base_manager.filter(pk=row.pk).exists()
        for field in REFERENCES:
            row = field.model._base_manager.get(pk=world.rows[field.model].pk)
            if isinstance(field, WeakForeignKey):
                is_hidden = field.related_model in trashed
                assert (getattr(row, field.name) is None) is is_hidden, field
                assert getattr(row, field.attname) == world.rows[field.related_model].pk
            # From the other side.
            parent = world.rows[field.related_model]
            name = field.remote_field.get_accessor_name()
            if field.related_model not in trashed and name and not field.one_to_one:
                found = getattr(parent, name).filter(pk=row.pk)
                assert found.exists() is (field.model not in trashed), field

    def test_a_dump_of_the_database(self, model: type[models.Model]) -> None:
        world = World(model)
        assert all(key(row) in dumped() for row in world.rows.values())
        trash.delete(world.part)
        found = dumped()
        for each, row in world.rows.items():
            assert (key(row) in found) is (each not in world.trashed())
        for field in REFERENCES:
            if isinstance(field, WeakForeignKey) and field.related_model in world.trashed():
                assert found.get(key(world.rows[field.model]), {}).get(field.name) is None
        # It can be loaded: nothing in it refers to what is not.
        everything = json.dumps(
            [{"model": name, "pk": pk, "fields": fields} for (name, pk), fields in found.items()]
        )
        assert f'"{WORD}' not in everything

    def test_restored_all_is_as_it_was(self, model: type[models.Model]) -> None:
        world = World(model)
        before = dumped()
        trash.delete(world.part)
        trash.restore(model._base_manager.get(pk=world.part.pk))
        after = dumped()
        for found in (before, after):
            found[key(world.collection)].pop("modified_at")
        assert after == before

    def test_purged_when_its_time_is_over(self, model: type[models.Model]) -> None:
        world = World(model)
        count = model._base_manager.count()
        trash.delete(world.part)
        assert purge_trash() == 0
        assert model._base_manager.count() == count, "a limit counts it until it is purged"
        deleted_at = timezone.now() - TRASH_LIFETIME - timedelta(minutes=1)
        for each in MODELS:
            each._base_manager.exclude(deleted_at=None).update(deleted_at=deleted_at)
        while purge_trash():
            pass
        trashed = world.trashed()
        for each, row in world.rows.items():
            assert each._base_manager.filter(pk=row.pk).exists() is (each not in trashed), each
        for field in REFERENCES:
            if isinstance(field, WeakForeignKey) and field.model not in trashed:
                row = field.model._base_manager.get(pk=world.rows[field.model].pk)
                assert (getattr(row, field.attname) is None) is (field.related_model in trashed)
        assert model._base_manager.count() < count
        assert Collection.objects.filter(pk=world.other.pk).exists()

    def test_its_slug_is_free(self, model: type[models.Model]) -> None:
        part = World(model).part
        trash.delete(part)
        relation = {} if isinstance(part, Collection) else {"collection": part.collection}
        again = model._default_manager.create(name=part.name, **relation)
        assert again.slug == part.slug  # type: ignore[attr-defined]


def page(path: str) -> Callable[[World, Client], str]:
    """Return a surface: the text of a page, "" where there is none."""

    def read(world: World, client: Client) -> str:
        address = path.format(slug=world.slug, run=world.run.pk, done=world.done.pk)
        response = client.get(address, follow=True)
        text = response.content.decode() if response.status_code == 200 else ""
        # The trash itself is the one place that shows it.
        return re.sub(r'<section class="panel removals".*?</section>', "", text, flags=re.DOTALL)

    return read


def names_on_the_command_line(world: World, client: Client) -> str:
    """What a command prints that was given an unknown name."""
    with pytest.raises(CommandError) as error:
        call_command("export_collection", "nothing")
    return str(error.value)


def in_file(world: World, client: Client) -> str:
    """The file that a collection is saved to."""
    collection = Collection.objects.filter(pk=world.collection.pk).first()
    if collection is None:
        return ""
    return files.save(collection, files.file_status(collection).digest).read_text()


def planned(world: World, client: Client) -> str:
    """The requests that a run of the collection sends, with the variables that each sets."""
    collection = Collection.objects.filter(pk=world.collection.pk).first()
    requests = requests_in_order(collection) if collection else []
    return " ".join(f"{saved.slug} {saved.captures}" for saved in requests)


SURFACES: dict[str, Callable[[World, Client], str]] = {
    "list of collections": page("/collections/"),
    "page of the collection": page("/collections/{slug}/"),
    "rows of a folder": page(f"/collections/{{slug}}/outline/?folder={WORD}-hot"),
    "sidebar": page("/sidebar/"),
    "sidebar, one collection": page("/sidebar/{slug}/"),
    "workbench": page("/"),
    "search": page("/collections/search/?q=soup"),
    "search by a name": page("/collections/search/?q=hot"),
    "where to save": page("/saved-requests/"),
    "where to move": page("/collections/other/requests/mine/place/"),
    "links": page("/shares/"),
    "link": page("/s/shared/"),
    "link, as a file": page("/s/shared/fixture.json"),
    "run": page("/?run={run}"),
    "collection run": page("/collection-runs/{done}/"),
    "collection runs": page("/collection-runs/"),
    "start of a collection run": page("/collection-runs/new/?collection={slug}"),
    "requests of a collection run": planned,
    "export": page("/collections/{slug}/export/"),
    "export for Postman": page("/collections/{slug}/postman/"),
    "file in fixtures/": in_file,
    "names on the command line": names_on_the_command_line,
}


@pytest.fixture(autouse=True)
def _directory(settings: Any, tmp_path: Path) -> None:
    settings.FIXTURE_DIRS = [tmp_path]


@pytest.mark.parametrize("surface", SURFACES)
def test_what_was_deleted_is_not_shown(surface: str, client: Client) -> None:
    was_shown = []
    for model in MODELS:
        world = World(model)
        SavedRequest.objects.create(collection=world.other, name="Mine", slug="mine")
        was_shown.append(WORD in SURFACES[surface](world, client))
        trash.delete(world.part)
        assert WORD not in SURFACES[surface](world, client), model
        Collection._base_manager.all().delete()
    assert any(was_shown), "the test does not look where it was shown"


@pytest.mark.parametrize("model", [Folder, SavedRequest])
def test_to_its_file_it_is_removed(model: type[models.Model], client: Client) -> None:
    world = World(model)
    in_file(world, client)
    trash.delete(world.part)
    world.collection.refresh_from_db()
    status = files.file_status(world.collection)
    removed = {change.slug for change in status.saving if change.status == "removed"}
    assert status.state == "here"
    assert removed
    assert all(slug.startswith(WORD) for slug in removed)
    trash.restore(world.part)
    assert files.file_status(world.collection).state == "same"


def test_a_link_to_a_collection_opens_nothing(client: Client) -> None:
    world = World(Collection)
    trash.delete(world.part)
    for path in ("", "fixture.json", "copy/"):
        assert client.get(f"/s/shared/{path}").status_code == 404
    assert client.post("/s/shared/copy/").status_code == 404
    # What open sockets ask at intervals.
    assert broadcast._valid({"shared"}) == set()
    trash.restore(Collection.with_trashed.get(pk=world.collection.pk))
    assert client.get("/s/shared/").status_code == 200


def test_an_open_lesson_is_closed(client: Client) -> None:
    world = World(Collection)
    Collection.objects.filter(pk=world.collection.pk).update(lesson=LESSON)
    client.post(f"/lessons/{world.slug}/progress/")
    client.post(f"/lessons/{world.slug}/steps/one/")
    assert WORD in client.get("/lessons/").content.decode()
    assert WORD in client.get("/").content.decode()
    trash.delete(Collection.objects.get(pk=world.collection.pk))
    assert WORD not in client.get("/lessons/").content.decode()
    assert WORD not in client.get("/").content.decode()
    assert client.get(f"/lessons/{world.slug}/").status_code == 404
