"""Search of the history: what it finds, and that this follows every change."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from playground.models import Run, search_tables
from playground.models import history as pages

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True, params=[True, False], ids=["index", "no index"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With and without an index of words; nearly nothing is looked at without it."""
    if request.param:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 1)
        monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 1)
    else:
        search_tables.remove(connection)
    return bool(request.param)


def make(text: str = "eggs", **fields: Any) -> Run:
    return Run.objects.create(
        **{
            "agent_name": "Recipes", "url": "http://a.example", "request": {}, "text": text,
            "state": "completed", "outcome": "answer", **fields,
        }
    )  # fmt: skip


def found(words: str, **filters: str) -> list[str]:
    """The texts that the history finds, page by page."""
    client, texts = Client(), []
    path, query = "/history/", {"q": words, **filters}
    for _ in range(50):
        html = client.get(path, query).content.decode()
        keys = re.findall(r'<tr data-run="([\w-]+)"', html)
        texts += [Run.objects.get(pk=key).text for key in keys]
        older = re.search(r'href="([^"]*[?&;]before=[^"]*)"', html)
        if not older:
            return texts
        path, query = older[1].replace("&amp;", "&"), {}
    raise AssertionError("the pages have no end")


#: A text, words that find it, and words that do not: databases fold cases or do not.
WORDS = [
    ("Scrambled Eggs", ["scrambled", "EGG", "gg scr", "recipes eggs"], ["eggz", "eggs soup"]),
    ("Straße ſ İstanbul", ["straße", "stra"], ["strasse"]),
    ("Ägypten ÄÖÜ", ["Ägypten", "gypten"], []),
    ("鸡蛋汤 🍳🥚", ["鸡蛋", "汤", "🍳"], ["鸡汤"]),
    ("100%_\\ \"quoted\" 'it' *", ["100%", "%_", "\\", '"quoted"', "*"], ["1_0"]),
    ("NEAR(a AND b) -x ^y :z {", ["near(", "and b)", "-x", "^y", ":z", "{"], ["NOT"]),
]


@pytest.mark.parametrize(("text", "finding", "missing"), WORDS, ids=[row[0] for row in WORDS])
def test_words(text: str, finding: list[str], missing: list[str]) -> None:
    make(text)
    for _ in range(3):
        make("hay", agent_name="Stack")
    for words in finding:
        assert found(words) == [text], words
    for words in missing:
        assert found(words) == [], words


def test_with_filters_states_and_owners() -> None:
    make("needle", outcome="failure")
    make("needle", owner=User.objects.create(username="ada"))
    make("was it refused?", state="completed")
    make("eggs", state="refused", outcome="none")
    make("needle", kind="check")
    for _ in range(4):
        make("hay")
    make("needle")
    assert found("needle") == ["needle"] * 2
    assert found("needle", outcome="failure") == ["needle"]
    assert found("needle", since=f"{timezone.now():%Y-%m-%d}") == ["needle"] * 2
    assert found("needle", all="1") == ["needle"] * 3
    assert found("Refused") == ["eggs", "was it refused?"]
    assert found("refused eggs") == ["eggs"]


def test_every_change_is_followed() -> None:
    run = make("first words")
    run.text = "second words"
    run.save()
    assert (found("first"), found("second")) == ([], ["second words"])
    Run.objects.update(agent_name="Kitchen")
    assert (found("recipes"), found("kitchen")) == ([], ["second words"])
    Run.objects.bulk_create(
        Run(agent_name="Bulk", url="http://a", request={}, text=f"number {n}", state="completed")
        for n in range(3)
    )
    assert len(found("number")) == 3
    fixture = serializers.serialize("json", Run.objects.filter(pk=run.pk))
    Run.objects.filter(pk=run.pk).delete()
    assert found("kitchen") == []
    for each in serializers.deserialize("json", fixture.replace("second", "third")):
        each.save()
    assert (found("second"), found("third")) == ([], ["third words"])
    ada = User.objects.create(username="ada")
    Run.objects.update(owner=ada)
    ada.delete()
    assert not Run.objects.exists()
    assert found("number") == []


def test_a_migration_makes_the_index_whole(index: bool) -> None:
    """Where it is missing, or has lost a trigger."""
    if index and connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER playground_run_words_added")
    make("needle")
    connection.check_constraints()  # PostgreSQL makes no index while some are to be checked.
    call_command("migrate", verbosity=0)
    make("another needle")
    assert search_tables.is_complete(connection)
    assert found("needle") == ["another needle", "needle"]


@pytest.mark.sqlite
def test_nothing_is_left_of_what_was_deleted(index: bool) -> None:
    for text in ("first words", "STRASSE 鸡蛋汤", "x", ""):
        make(text)
    Run.objects.all().delete()
    if not index:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM playground_run_number")
        assert cursor.fetchone() == (0,)
        cursor.execute(
            "CREATE VIRTUAL TABLE temp.parts USING fts5vocab('main', 'playground_run_words', 'row')"
        )
        cursor.execute("SELECT term FROM temp.parts")
        assert cursor.fetchall() == []
        cursor.execute("DROP TABLE temp.parts")
