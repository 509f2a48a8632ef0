"""Search of the history: what it finds, and how many runs one page of it looks at."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from playground.models import Run
from playground.models import history as pages

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True, params=[1, 2, 500], ids=lambda count: f"{count} rows a page")
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of rows that a page looks at."""
    monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", request.param)
    monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", request.param)
    return int(request.param)


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


@pytest.mark.sqlite
def test_sqlite_folds_ascii_only() -> None:
    for text in ("Ägypten", "ägypten"):
        make(text)
    assert found("Ägypten") == ["Ägypten"]
    assert found("ägypten") == ["ägypten"]
    assert found("ÄGYPTEN") == ["Ägypten"]
    assert found("GYPTEN") == ["ägypten", "Ägypten"]


def test_a_page_looks_at_the_newest_runs_that_follow(
    rows: int, django_assert_num_queries: Any
) -> None:
    make("needle")
    for _ in range(10):
        make("hay")
    runs, filters = Run.objects.filter(owner=None), pages.HistoryFilters(search="needle")
    cursor, looked_at = None, 0
    while True:
        with django_assert_num_queries(2):  # Where it ends, and what it has.
            page = pages.history_page(runs, filters, cursor)
        if not page.is_partial:
            break
        assert page.older
        assert not page.runs
        cursor, looked_at = page.older, looked_at + rows + 1  # With the one that it ends at.
        assert runs.filter(created_at__gte=cursor.moment).count() == looked_at
    assert [run.text for run in page.runs] == ["needle"]
    assert looked_at + rows >= 10
