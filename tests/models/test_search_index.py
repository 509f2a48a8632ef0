"""The search index: finds what a scan of every run finds, and follows every change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.models import Run, search_tables
from playground.models import history as pages
from playground.models.history import HistoryFilters, history_page
from playground.models.search_index import find_run_ids

pytestmark = [pytest.mark.django_db, pytest.mark.database]

#: What words and texts are put together of: cases that databases fold or do not, what a pattern
#: and a query give a meaning to, and names of states.
PIECES = [
    "egg", "EGG", "e", "gg", "Straße", "STRASSE", "ſ", "İstanbul", "ı", "Ωμέγα", "ωΜΈΓΑ",
    "鸡蛋汤", "汤",
    "é", "e\u0301", "%", "_", "\\", '"', "'", "*", "AND", "NEAR(", "-", "^", ":", "{", "🍳🥚",
    "failed", "FAILED", "answer", "none", "\x1f", "\u00a0",
]  # fmt: skip
texts = st.lists(st.sampled_from([*PIECES, " ", " "]), max_size=6).map("".join)


def make(text: str = "eggs", **fields: Any) -> Run:
    found: Run = Run.objects.create(
        **{
            "agent_name": "Recipes", "url": "http://a.example", "protocol": "nlweb",
            "binding": "http", "version": "0.55", "request": {}, "text": text,
            "state": "completed", "outcome": "answer", **fields,
        }
    )  # fmt: skip
    return found


def known(words: str, **options: Any) -> set[UUID] | None:
    found = find_run_ids(Run.objects.all(), words, **options)
    return None if found is None else set(found)


def found_by_pages(filters: HistoryFilters, size: int = 2) -> list[UUID]:
    """All that pass, page by page."""
    found: list[UUID] = []
    before = None
    for _ in range(100):
        page = history_page(Run.objects.all(), filters, before, size)
        found += [run.pk for run in page.runs]
        before = page.older
        if before is None:
            return found
    raise AssertionError("the pages have no end")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly nothing is looked at by itself: what is found was looked up."""
    monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 1)
    monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 1)


rows = st.lists(
    st.tuples(
        texts,
        st.sampled_from(["Recipes", "ÉGGS", "failed"]),
        st.sampled_from(["completed", "failed", "refused"]),
        st.sampled_from(["answer", "none", "failure"]),
    ),
    max_size=8,
)


@pytest.mark.usefixtures("short")
@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.lists(texts, min_size=1, max_size=3).map(" ".join))
def test_as_many_are_found_as_by_a_look_at_each(
    there: list[tuple[str, str, str, str]], words: str
) -> None:
    Run.objects.all().delete()
    for text, agent_name, state, outcome in there:
        make(text, agent_name=agent_name, state=state, outcome=outcome)
    expected = list(
        Run.objects.search(words).order_by("-created_at", "-pk").values_list("pk", flat=True)
    )
    assert found_by_pages(HistoryFilters(search=words)) == expected
    keys = known(words)
    assert keys is None or keys >= set(expected)


@pytest.mark.usefixtures("short")
class TestPages:
    def test_one_page_finds_the_oldest(self) -> None:
        make("needle")
        for _ in range(8):
            make("hay")
        page = history_page(Run.objects.all(), HistoryFilters(search="NEED le"))
        assert [run.text for run in page.runs] == ["needle"]
        assert (page.older, page.is_partial) == (None, False)
        page = history_page(Run.objects.all(), HistoryFilters(search="gold"))
        assert (page.runs, page.older) == ([], None)

    def test_of_short_words_it_knows_nothing_and_they_are_found_all_the_same(self) -> None:
        needle = make("xy")
        for _ in range(4):
            make("hay")
        assert known("xy") is None
        assert found_by_pages(HistoryFilters(search="xy")) == [needle.pk]
        assert found_by_pages(HistoryFilters(search="xy rec")) == [needle.pk]

    def test_a_search_with_filters_finds_what_passes_both(self) -> None:
        old = make("needle", outcome="failure")
        for number in range(4):
            make("needle" if number == 2 else "hay")
        assert found_by_pages(HistoryFilters(search="needle", outcome="failure")) == [old.pk]
        assert found_by_pages(HistoryFilters(search="needle", since=timezone.now())) == []
        make("needle", kind="check")
        assert len(found_by_pages(HistoryFilters(search="needle"))) == 2
        assert len(found_by_pages(HistoryFilters(search="needle", children=True))) == 3

    def test_states_are_found_by_their_names(self) -> None:
        refused = make("eggs", state="refused", outcome="none")
        told = make("was it refused?")
        for _ in range(4):
            make("hay")
        assert found_by_pages(HistoryFilters(search="Refused")) == [told.pk, refused.pk]
        assert found_by_pages(HistoryFilters(search="refused eggs")) == [refused.pk]
        assert known("refused") == {refused.pk, told.pk}

    def test_what_belongs_to_somebody_else_is_not_found(self) -> None:
        ada = User.objects.create(username="ada")
        theirs = make("needle", owner=ada)
        mine = make("needle")
        for _ in range(3):
            make("hay")
            make("hay", owner=ada)
        for owner, run in ((None, mine), (ada, theirs)):
            runs = Run.objects.filter(owner=owner)
            assert [
                each.pk for each in history_page(runs, HistoryFilters(search="needle")).runs
            ] == [run.pk]

    def test_pages_go_on_where_the_last_one_ended(self) -> None:
        moment = timezone.now()
        runs = [make("needle") for _ in range(7)]
        Run.objects.filter(pk__in=[run.pk for run in runs[:4]]).update(created_at=moment)
        for _ in range(3):
            make("hay")
        expected = Run.objects.filter(text="needle").order_by("-created_at", "-pk")
        assert found_by_pages(HistoryFilters(search="needle")) == [run.pk for run in expected]

    def test_words_that_many_have_are_no_help(self) -> None:
        for _ in range(4):
            make("hay")
        assert known("hay", most=3) is None
        assert len(known("hay", most=4) or ()) == 4
        assert known("completed", most=3) is None


class TestKept:
    def test_by_every_way_of_writing(self) -> None:
        run = make("first words")
        assert known("first") == {run.pk}
        run.text = "second words"
        run.save()
        assert (known("first"), known("second")) == (set(), {run.pk})
        Run.objects.update(agent_name="Kitchen")
        assert (known("recipes"), known("kitchen")) == (set(), {run.pk})
        Run.objects.filter(pk=run.pk).update(state="failed")
        many = Run.objects.bulk_create(
            Run(agent_name="Bulk", url="http://a", request={}, text=f"number {n}") for n in range(3)
        )
        assert known("number") == {each.pk for each in many}
        fixture = serializers.serialize("json", Run.objects.filter(pk=run.pk))
        Run.objects.filter(pk=run.pk).delete()
        assert known("kitchen") == set()
        for each in serializers.deserialize("json", fixture):
            each.save()
        assert known("kitchen") == {run.pk}
        for each in serializers.deserialize("json", fixture.replace("second", "third")):
            each.save()
        assert (known("second"), known("third")) == (set(), {run.pk})
        Run.objects.all().delete()
        assert (known("number"), known("kitchen")) == (set(), set())

    def test_deleted_with_their_owner(self) -> None:
        ada = User.objects.create(username="ada")
        make("needle", owner=ada)
        ada.delete()
        assert known("needle") == set()

    @pytest.mark.sqlite
    def test_nothing_is_left_of_what_was_deleted(self) -> None:
        for text in ("first words", "STRASSE 鸡蛋汤", "x", ""):
            make(text)
        Run.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM playground_run_number")
            assert cursor.fetchone() == (0,)
            cursor.execute("CREATE VIRTUAL TABLE temp.parts USING fts5vocab"
                           "('main', 'playground_run_words', 'row')")  # fmt: skip
            cursor.execute("SELECT term FROM temp.parts")
            assert cursor.fetchall() == []
            cursor.execute("DROP TABLE temp.parts")


@pytest.fixture
def without() -> None:
    """A database that has no index of words; it has it again when the test is rolled back."""
    search_tables.remove(connection)


class TestTables:
    @pytest.mark.usefixtures("without")
    def test_without_them_the_search_finds_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 2)
        needle = make("needle")
        for _ in range(5):
            make("hay")
        assert known("needle") is None
        assert found_by_pages(HistoryFilters(search="needle")) == [needle.pk]

    @pytest.mark.usefixtures("without")
    def test_they_are_filled_with_what_there_is(self) -> None:
        run = make("needle")
        connection.check_constraints()  # PostgreSQL makes no index while some are to be checked.
        assert search_tables.install(connection)
        assert known("needle") == {run.pk}
        run.delete()
        assert known("needle") == set()

    def test_what_the_database_cannot_do_is_left_out(
        self, monkeypatch: pytest.MonkeyPatch, without: None
    ) -> None:
        monkeypatch.setitem(search_tables._CREATE, connection.vendor, ("CREATE NONSENSE",))
        assert not search_tables.install(connection)
        assert not search_tables.is_complete(connection)
        make("needle")

    @pytest.mark.sqlite
    @pytest.mark.parametrize("name", ["added", "gone", "changed"])
    def test_a_migration_that_lost_a_trigger_leaves_them_whole(self, name: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER playground_run_words_{name}")
        assert known("needle") is None
        run = make("needle")
        call_command("migrate", verbosity=0)
        assert known("needle") == {run.pk}

    @pytest.mark.usefixtures("without")
    def test_migrate_creates_them_where_they_are_missing(self) -> None:
        run = make("needle")
        connection.check_constraints()  # PostgreSQL makes no index while some are to be checked.
        call_command("migrate", verbosity=0)
        assert known("needle") == {run.pk}


@pytest.mark.sqlite
def test_a_rare_word_does_not_read_every_run() -> None:
    """By the database's own plan: an owner's runs are not gone through, however it guesses."""
    moment = timezone.now()
    runs = (
        Run(agent_name="A", url="http://a", request={}, text="hay")
        for _ in range(pages.SEARCH_FIRST_ROWS)
    )
    Run.objects.bulk_create(runs)
    make("needle")
    make("hay")
    Run.objects.filter(text="needle").update(created_at=moment - timedelta(days=1))
    with CaptureQueriesContext(connection) as queries:
        page = history_page(Run.objects.filter(owner=None), HistoryFilters(search="needle"))
    assert [run.text for run in page.runs] == ["needle"]
    last = queries.captured_queries[-1]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {last}")
        plan = [row[3] for row in cursor.fetchall()]
    runs_read = [line for line in plan if "playground_run " in line or " U0 " in line]
    assert runs_read
    for line in runs_read:
        assert "(id=?)" in line, plan
