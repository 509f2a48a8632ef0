"""The history: what it shows, filters, pages and deletes; its limits, and room for more runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Conversation,
    PolledPromise,
    Retention,
    Run,
    SavedRequest,
    Share,
    Step,
    storage,
)
from playground.models import history as pages
from playground.models.history import HistoryFilters, history_page
from tests.support.markup import one_line, read
from tests.support.stored_runs import Recording, past_run
from tests.views.conftest import form

pytestmark = pytest.mark.database

HTMX = {"HX-Request": "true"}


def make(ago: float = 0, **fields: Any) -> Run:
    return past_run(minutes=ago, **{"entries": 1, **fields})


def collection_run(name: str, *verdicts: str, ago: int = 0) -> CollectionRun:
    """Return a completed collection run; what was not sent has no run."""
    created: CollectionRun = CollectionRun.objects.create(
        name=name, state="completed", planned=len(verdicts),
        created_at=timezone.now() - timedelta(minutes=ago),
    )  # fmt: skip
    for number, verdict in enumerate(verdicts, 1):
        run = None if verdict == "unsent" else make(source="collection", ago=ago)
        Step.objects.create(
            collection_run=created, number=number, name=f"step {number}", verdict=verdict, run=run
        )
    return created


def shown(client: Client, address: str = "/history/", **headers: str) -> list[str]:
    """The texts of the rows, in their order."""
    page = read(one_line(client.get(address, headers=headers)))
    rows = [row for row in page.find("tr") if "data-run" in row.attributes]
    return [str(Run.objects.get(pk=row.attributes["data-run"]).text) for row in rows]


class TestPage:
    def test_says_what_it_is_for_before_anything_was_sent(self, client: Client) -> None:
        html = client.get("/history/").text
        assert "No runs yet" in html
        assert "Compose a request" in html

    def test_a_row_tells_how_it_went(self, client: Client, agent: Agent) -> None:
        run = make(
            agent=agent, results=7, events=9, bytes=2048, first_event_us=84_000, ended_us=1_200_000,
            binding="mcp",
        )  # fmt: skip
        html = client.get("/history/").text
        for words in ("Completed", "eggs", "Recipes", "NLWeb 0.55 · MCP", "7", "84 ms", "1.2 s",
                      "2.0 KB", "now"):  # fmt: skip
            assert words in html
        assert f"/runs/{run.pk}/repetition/" in html
        assert f'/runs/{run.pk}/#save"' in html
        assert f"/history/deletion/?run={run.pk}" in html

    @pytest.mark.parametrize(
        ("made_by", "word"), [("collection", "collection run"), ("recording", "recorded")]
    )
    def test_a_row_says_what_else_it_was_made_by(
        self, client: Client, made_by: str, word: str
    ) -> None:
        make()
        assert f">{word}</span>" not in client.get("/history/").text
        make(source=made_by)
        assert f">{word}</span>" in client.get("/history/").text

    def test_markup_of_an_agent_stays_text(self, client: Client) -> None:
        make(text="<script>alert(1)</script>", agent_name="<b>x</b>")
        html = client.get("/history/").text
        assert "<script>alert" not in html
        assert "<b>x" not in html

    def test_what_cannot_be_sent_again_does_not_offer_it(self, client: Client) -> None:
        make(agent=None)
        assert "Send again" not in client.get("/history/").text

    def test_checks_and_actions_come_when_asked_for(self, client: Client) -> None:
        turn = make(text="turn", ago=1)
        make(text="check", kind="check", parent=turn)
        assert shown(client) == ["turn"]
        assert shown(client, "/history/?all=1") == ["check", "turn"]

    def test_as_many_queries_for_many_runs_as_for_one(self, client: Client, agent: Agent) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connection) as found:
                client.get("/history/")
            return len(found)

        make(agent=agent)
        first = queries()
        for _ in range(20):
            run = make(agent=agent, outcome="promise")
            PolledPromise.objects.create(
                run=run, entry_seq=1, token="t", polling_seconds=9, status="fulfilled"
            )
        assert queries() == first


class TestFilters:
    @pytest.fixture(autouse=True)
    def runs(self, agent: Agent) -> None:
        make(text="tomato soup", agent=agent, ago=0)
        make(text="onion soup", agent=agent, outcome="failure", source="collection", ago=1)
        make(text="bread", agent=None, state="failed", outcome="none", ago=2)
        make(text="old bread", agent=agent, state="cancelled", outcome="none", ago=60 * 24 * 30,
             source="recording")  # fmt: skip
        make(text="now", agent=agent, state="streaming", outcome="none", ago=3,
             heartbeat_at=timezone.now())  # fmt: skip

    @pytest.mark.parametrize(
        ("query", "texts"),
        [
            ("", ["tomato soup", "onion soup", "bread", "now", "old bread"]),
            ("q=soup", ["tomato soup", "onion soup"]),
            ("q=soup+ONION", ["onion soup"]),
            ("q=cancelled", ["old bread"]),
            ("agent=recipes", ["tomato soup", "onion soup", "now", "old bread"]),
            ("agent=-", ["bread"]),
            ("agent=nobody", []),
            ("outcome=failure", ["onion soup"]),
            ("state=failed", ["bread"]),
            ("made_by=user", ["tomato soup", "bread", "now"]),
            ("made_by=collection", ["onion soup"]),
            ("made_by=recording&q=BREAD", ["old bread"]),
            ("made_by=recording&agent=recipes&q=soup", []),
            ("state=under-way", ["now"]),
            ("agent=recipes&state=completed&outcome=answer", ["tomato soup"]),
            ("agent=recipes&outcome=failure&q=tomato", []),
            ("until=2000-01-01", []),
            ("since=2000-01-01&q=old", ["old bread"]),
            # What makes no sense is as if it were not there.
            ("state=x&outcome=y&made_by=z&since=never&until=2000-99-99&all=2", None),
            ("q=%00&since=0001-01-01&until=9999-12-31", None),
            ("before=x&shown=x", None),
            ("before=9999-12-31T23:59:59Z~00000000000000000000000000000000", None),
            ("before=~", None),
            ("before=2020-01-01~x", None),
            ("before=2020-01-01T00:00~00000000000000000000000000000000", None),
        ],
    )
    def test_what_passes(self, client: Client, query: str, texts: list[str] | None) -> None:
        every = ["tomato soup", "onion soup", "bread", "now", "old bread"]
        assert shown(client, f"/history/?{query}") == (every if texts is None else texts)

    def test_days_are_whole(self, client: Client) -> None:
        day = timezone.localdate(Run.objects.get(text="old bread").created_at)
        assert shown(client, f"/history/?since={day}&until={day}") == ["old bread"]
        after = day + timedelta(days=1)
        assert "old bread" not in shown(client, f"/history/?since={after}")

    def test_the_form_shows_what_is_chosen_and_the_address_keeps_it(self, client: Client) -> None:
        address = "/history/?q=soup&agent=recipes&outcome=failure&made_by=collection"
        html = client.get(address).text
        assert 'value="soup"' in html
        assert '<option value="failure" selected>' in html
        assert '<option value="collection" selected>' in html
        fragment = client.get(f"{address}&state=&since=&until=", headers=HTMX)
        assert fragment["HX-Replace-Url"] == address
        assert "HX-Request" in fragment["Vary"]
        assert "<html" not in fragment.text

    def test_nothing_found_says_so_and_leads_back(self, client: Client) -> None:
        html = client.get("/history/?q=nothing").text
        assert "No matching runs" in html
        assert 'href="/history/">Show all runs' in html


class TestPaging:
    def every(self, filters: HistoryFilters, **options: Any) -> list[Run]:
        """All runs, page by page."""
        found: list[Run] = []
        before = None
        for _ in range(100):
            page = history_page(Run.objects.all(), filters, before, **options)
            found += page.runs
            before = page.older
            if before is None:
                return found
        raise AssertionError("the pages have no end")

    @pytest.mark.parametrize(
        "filters",
        [HistoryFilters(), HistoryFilters(search="eggs"), HistoryFilters(outcome="answer")],
    )
    @pytest.mark.parametrize("size", [1, 3, 10, 11])
    def test_every_run_once_also_of_one_moment(
        self, filters: HistoryFilters, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 2)
        monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 3)
        runs = [make(ago=number // 4) for number in range(10)]
        moment = runs[0].created_at
        Run.objects.filter(pk__in=[run.pk for run in runs[:4]]).update(created_at=moment)
        found = self.every(filters, size=size)
        assert [run.pk for run in found] == [
            run.pk for run in Run.objects.order_by("-created_at", "-pk")
        ]

    def test_a_search_for_short_words_looks_at_so_many_at_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 3)
        monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 4)
        for number in range(12):
            make(text="xy" if number == 11 else "hay", ago=number)
        first = history_page(Run.objects.all(), HistoryFilters(search="xy"))
        assert (first.runs, first.is_partial) == ([], True)
        assert [run.text for run in self.every(HistoryFilters(search="xy"))] == ["xy"]
        assert self.every(HistoryFilters(search="q")) == []

    def test_a_search_goes_on_by_itself_and_ends_with_a_word(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 2)
        monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 2)
        for number in range(8):
            make(ago=number)
        html = client.get("/history/?q=go").text
        steps = 0
        while "searching further" in html:
            row = next(r for r in read(html).find("tr") if "hx-get" in r.attributes)
            assert row.attributes["hx-trigger"] == "load"
            html = client.get(row.attributes["hx-get"], headers=HTMX).text
            steps += 1
        assert 1 < steps < 5
        assert "No matching runs" in html

    def test_older_ones_follow(self, client: Client) -> None:
        for number in range(pages.PAGE + 1):
            make(text=f"run {number}", ago=number)
        html = client.get("/history/?state=completed").text
        link = next(a for a in read(html).find("a") if "hx-target" in a.attributes
                    and a.attributes["hx-target"] == "closest tr")  # fmt: skip
        address = link.attributes["href"]
        assert "state=completed" in address
        assert shown(client, address, **HTMX) == [f"run {pages.PAGE}"]
        # Without a script it is a page that begins there.
        html = client.get(address).text
        assert "Runs before" in html
        assert "Show newest" in html

    @pytest.mark.sqlite
    def test_the_database_finds_a_page_by_an_index(self) -> None:
        plans = {
            HistoryFilters(): "run_history ",
            HistoryFilters(outcome="answer"): "run_history_outcome",
            HistoryFilters(state="failed"): "run_history_state",
            HistoryFilters(agent=1): "run_history_agent",
            HistoryFilters(source="collection"): "run_history_source",
        }
        for filters, index in plans.items():
            with CaptureQueriesContext(connection) as queries:
                history_page(Run.objects.filter(owner=None), filters)
            (query,) = [q["sql"] for q in queries if "LIMIT" in q["sql"]]
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {query}")
                plan = " | ".join(row[3] for row in cursor.fetchall())
            assert f"USING INDEX {index}" in plan + " "
            assert "SCAN playground_run" not in plan
            assert "COUNT" not in query


class TestDeletion:
    def test_asks_first(self, client: Client) -> None:
        run = make(bytes=2048)
        make(kind="check", parent=run)
        html = client.get(f"/history/deletion/?run={run.pk}").text
        assert "Delete this run?" in html
        assert "1 poll or action" in html.replace("\xa0", " ")
        assert Run.objects.count() == 2
        sheet = client.get(f"/history/deletion/?run={run.pk}", headers=HTMX).text
        assert "<html" not in sheet

    def test_deletes_what_was_chosen_and_leads_back(self, client: Client) -> None:
        conversation = Conversation.objects.create()
        chosen = [make(), make(conversation=conversation)]
        make(kind="check", parent=chosen[0])
        kept = make(text="kept", parent=chosen[0])
        back = "http://testserver/history/?q=eggs"
        fields = {"run": [run.pk for run in chosen], "back": back}
        response = client.post("/history/deletion/", fields, follow=True)
        assert response.redirect_chain == [(back, 302)]
        assert "3 runs were deleted." in response.text
        assert Run.objects.get() == kept
        assert not Conversation.objects.exists()

    def test_what_is_under_way_stays(self, client: Client) -> None:
        run = make(state="streaming", heartbeat_at=timezone.now())
        response = client.post("/history/deletion/", {"run": run.pk})
        assert response.status_code == 409
        html = one_line(response)
        assert "This run cannot be deleted now" in html
        assert "It is in progress. Stop it first, or wait." in html
        assert "Delete the run" not in html
        assert Run.objects.exists()

    def test_says_what_else_stops_working(self, client: Client) -> None:
        run, other = make(), make()
        Share.objects.create(run=run)
        keys = f"run={run.pk}&run={other.pk}"
        html = client.get(f"/history/deletion/?{keys}").text
        assert "One of them is shared with a link, which will stop working." in html
        client.post("/history/deletion/", {"run": [run.pk, other.pk]})
        assert not Run.objects.exists()
        assert not Share.objects.exists()

    def test_goes_back_to_no_other_site(self, client: Client) -> None:
        for back in ("https://evil.example/history/", "//evil.example/history/", "/elsewhere/"):
            response = client.post("/history/deletion/", {"run": make().pk, "back": back})
            assert response["Location"] == "/history/"

    @pytest.mark.parametrize("key", ["", "x", str(UUID(int=1))])
    def test_nothing_to_delete(self, client: Client, key: str) -> None:
        assert client.get(f"/history/deletion/?run={key}").status_code == 404
        assert client.post("/history/deletion/", {"run": key}).status_code == 404


def test_somebody_elses_run_is_not_there(client: Client, django_user_model: Any) -> None:
    theirs = make(owner=django_user_model.objects.create(username="u"), text="confidential")
    assert "confidential" not in client.get("/history/").text
    assert client.post("/history/deletion/", {"run": theirs.pk}).status_code == 404
    assert Run.objects.exists()


class TestSidebar:
    def pages(self, client: Client, address: str) -> list[str]:
        """The keys of the runs on all pages, and the last words at the end."""
        found: list[str] = []
        while address:
            page = read(one_line(client.get(address, headers=HTMX)))
            found += [a.attributes["data-run"] for a in page.find("a")]
            more = [each for name in ("li", "button") for each in page.find(name)
                    if "hx-get" in each.attributes]  # fmt: skip
            address = more[0].attributes["hx-get"] if more else ""
        return [*found, page.text.strip()] if "No run" in page.text else found

    def test_the_runs_of_a_collection_are_one_group(self, client: Client) -> None:
        group = collection_run("Soups", "met", "unmet", "met", "unsent", ago=2)
        mine = [make(ago=number) for number in (1, 3)]
        make(source="recording", ago=4)
        first = read(client.get("/runs/"))
        assert "Soups 2 failed, 2 of 4 passed" in " ".join(first.text.split())
        assert [a.attributes["data-run"] for a in first.find("a")][:2] == [
            str(run.pk) for run in mine
        ]
        assert len(first.find("a")) == 3
        steps = read(client.get(f"/runs/?collection_run={group.pk}"))
        assert " ".join(steps.text.split()) == (
            "Passed: step 1 Failed: step 2 Passed: step 3 Not sent: step 4 Report"
        )
        assert [a.attributes["href"] for a in steps.find("a")] == [
            *(f"/runs/{step.run_id}/" for step in group.steps.exclude(run=None)),
            f"/collection-runs/{group.pk}/",
        ]

    @pytest.mark.parametrize("key", ["no-key", "00000000-0000-0000-0000-000000000000"])
    def test_there_are_no_steps_of_another_one(self, client: Client, key: str) -> None:
        assert client.get(f"/runs/?collection_run={key}").status_code == 404

    def test_costs_few_queries_however_much_it_shows(self, client: Client) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                client.get("/runs/")
            return len(captured)

        for number in range(3):
            make(ago=number, request={"n": number})
            collection_run(f"C{number}", "met", ago=number)
        few = queries()
        for number in range(20):
            make(ago=number, request={"n": number})
            collection_run(f"D{number}", "met", "unmet", ago=number)
        assert queries() == few <= 7

    def test_a_search_goes_on_by_itself_and_ends_with_a_word(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "SEARCH_FIRST_ROWS", 2)
        monkeypatch.setattr(pages, "SEARCH_NEXT_ROWS", 2)
        for number in range(8):
            make(text="xy" if number == 6 else "hay", ago=number)
        assert "searching further" in client.get("/runs/?q=go").text
        assert self.pages(client, "/runs/?q=go") == ["No runs match “go”."]
        assert self.pages(client, "/runs/?q=xy") == [str(Run.objects.get(text="xy").pk)]

    def test_says_what_else_a_run_was_made_by(self, client: Client) -> None:
        make(source="collection", ago=1)
        make(source="recording")
        html = one_line(client.get("/runs/?q=eggs"))
        assert "recorded · Recipes" in html
        assert "collection run · Recipes" in html

    def test_the_first_visit_is_before_the_first_run(self, client: Client) -> None:
        assert "composer--first" in client.get("/").text
        make()
        assert "composer--first" not in client.get("/").text


def document(**prefer: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs"}, "prefer": {"mode": "list", **prefer}}


def changes() -> list[str]:
    """Return what each row says of a change, the newest first."""
    page = read(one_line(Client().get("/runs/")))
    return [
        " ".join(each.words for each in row.select(class_="history-change"))
        for row in page.select("a", data_run=None)
    ]


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({}, ""),
        ({"text": "soup", "agent_name": "Other"}, ""),
        ({"agent_name": "Other"}, "to Other"),
        ({"version": "0.54"}, "NLWeb 0.55 → NLWeb 0.54"),
        ({"binding": "mcp"}, "HTTP → MCP"),
        ({"request": document(mode="summarize")}, "prefer.mode list → summarize"),
        ({"request": document(streaming=False)}, "+ prefer.streaming false"),
        ({"request": {"query": {"text": "eggs"}}}, "− prefer"),
        ({"agent_name": "Other", "binding": "mcp", "request": document(mode="summarize")},
         "to Other, HTTP → MCP, 1 more"),
        ({"request": document(mode="x" * 9_000)}, ""),
    ],
    ids=[
        "same", "text", "agent", "version", "binding", "changed", "added", "removed", "many",
        "too-long",
    ],
)  # fmt: skip
def test_what_changed_since_the_previous_run(fields: dict[str, Any], change: str) -> None:
    make(2, request=document())
    make(1, **{"request": document(), **fields})
    assert changes() == [change, ""]


def test_each_run_is_compared_with_the_previous_one_of_its_text() -> None:
    make(4, request=document())
    make(3, text="soup")
    make(2, request=document(mode="summarize"))
    make(1, request=document(mode="generate"))
    assert changes() == [
        "prefer.mode summarize → generate", "prefer.mode list → summarize", "", "",
    ]  # fmt: skip


PREVIEW = "/history/retention/preview/"


def sized(days: float = 0, **fields: Any) -> Run:
    return past_run(days=days, **{"bytes": 1024 * 1024, **fields})


class TestPreview:
    def test_nothing_goes_without_a_limit(self, client: Client) -> None:
        sized(900)
        html = client.get("/history/retention/").text
        assert "No limits" in html
        assert "1 run, 1.0" in html

    def test_says_what_would_go_before_anything_is_saved(self, client: Client) -> None:
        sized(9, agent_name="Old")
        shared = sized(8)
        Share.objects.create(run=shared)
        sized(1)
        html = one_line(client.get(PREVIEW, {"days": "5"})).replace("\xa0", " ")
        assert "1 of 3 runs would be deleted" in html
        assert "1.0 MB of 3.0 MB" in html
        assert "Old" in html
        assert "Save and delete 1 run now" in html
        assert "1 run beyond the limits is exempt: shared with a link." in html
        assert Run.objects.count() == 3
        assert not Retention.objects.exists()

    def test_says_when_nothing_would(self, client: Client) -> None:
        sized(1)
        html = client.get(PREVIEW, {"days": "5", "runs": "5"}).text
        assert "No runs to delete now" in html

    @pytest.mark.parametrize(
        "fields", [{"days": "0"}, {"runs": "-1"}, {"runs": "x"}, {"days": "9" * 30}], ids=str
    )
    def test_mistakes_are_told(self, client: Client, fields: dict[str, str]) -> None:
        html = client.get(PREVIEW, fields).text
        assert next(iter(fields)).capitalize() in html
        assert "now</button>" not in html
        response = client.post("/history/retention/", fields)
        assert response.status_code == 422
        assert not Retention.objects.exists()

    def test_what_somebody_else_has_is_not_counted(
        self, client: Client, django_user_model: Any
    ) -> None:
        sized(9, owner=django_user_model.objects.create(username="u"))
        html = client.get(PREVIEW, {"days": "5"}).text
        assert "No runs to delete now" in html


@pytest.mark.django_db(transaction=True)
class TestSaving:
    async def test_saves_and_deletes(self, async_client: AsyncClient) -> None:
        await asyncio.to_thread(sized, 9)
        kept = await asyncio.to_thread(sized, 1)
        fields = {"days": "5", "runs": "7"}
        response = await async_client.post("/history/retention/", fields, follow=True)
        assert "Limits saved. 1 run was deleted." in response.text
        assert await Run.objects.aget() == kept
        saved = await Retention.objects.aget()
        assert (saved.max_days, saved.max_runs) == (5, 7)
        html = response.text
        assert 'value="5"' in html
        assert 'value="7"' in html

    async def test_saves_again_in_the_same_place(self, async_client: AsyncClient) -> None:
        for days in ("5", "6"):
            response = await async_client.post("/history/retention/", {"days": days}, follow=True)
            assert "No runs were deleted" in response.text
        assert (await Retention.objects.aget()).max_days == 6

    async def test_nobody_waits_for_much(
        self, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = asyncio.Event()

        async def slowly() -> int:
            await gate.wait()
            return 1

        task = asyncio.create_task(slowly())
        monkeypatch.setattr("playground.history.views.prune", lambda owner: task)
        monkeypatch.setattr("playground.history.views.PATIENCE", 0.01)
        response = await async_client.post("/history/retention/", {"days": "5"}, follow=True)
        assert "in the background" in response.text
        gate.set()
        assert await task == 1


class TestStorage:
    @pytest.fixture(autouse=True)
    def _no_counts(self) -> None:
        storage._counts.clear()

    def test_a_figure_without_a_quota(self, client: Client) -> None:
        sized()
        markup = read(one_line(client.get("/history/retention/")))
        assert "1.0 MB stored" in markup.words
        assert not markup.find("meter")
        assert not read(one_line(client.get("/history/"))).find("meter")

    @pytest.mark.parametrize("path", ["/history/", "/history/retention/"])
    @pytest.mark.parametrize(
        ("runs", "words", "level"),
        [
            (1, "1.0 MB of 2.2 MB used", None),
            (2, "New requests are refused when no room is left.", "high"),
            (3, "No room left: new requests are refused.", "full"),
        ],
    )
    def test_a_meter(
        self, client: Client, settings: Any, path: str, runs: int, words: str, level: str | None
    ) -> None:
        settings.QUOTA = 2_300_000
        for _ in range(runs):
            sized()
        markup = read(one_line(client.get(path)))
        (meter,) = markup.find("meter")
        assert meter.attributes["max"] == "2300000"
        assert int(meter.attributes["value"] or 0) > runs * 1024 * 1024
        assert words in markup.words
        (usage,) = (each for each in markup.find("div") if each.attributes.get("class") == "usage")
        assert usage.attributes.get("data-level") == level

    def test_a_default_retention(self, client: Client, settings: Any) -> None:
        settings.RETENTION_DAYS = 90
        sized(100)
        html = one_line(client.get("/history/retention/"))
        assert "Runs are deleted after 90 days" in html
        assert 'placeholder="90"' in html
        assert "1 of 1 runs would be deleted" in html
        refused = client.get(PREVIEW, {"days": "91"})
        assert "Enter at most 90 days." in one_line(refused)


class TestNoRoom:
    """No runs are created once there is no room, and the page says why."""

    @pytest.fixture(autouse=True)
    def _full(self, settings: Any) -> None:
        settings.QUOTA = 1024
        storage._counts.clear()
        sized()

    @pytest.mark.parametrize("headers", [{}, HTMX])
    def test_no_collection_run_is_created(self, client: Client, headers: dict[str, str]) -> None:
        collection = Collection.objects.create(name="C", slug="c")
        SavedRequest.objects.create(collection=collection, name="S", slug="s")
        response = client.post("/collection-runs/", {"collection": "c"}, headers=headers)
        assert "No room left" in response.text
        assert (Run.objects.count(), CollectionRun.objects.count()) == (1, 0)

    def test_everything_else_can_be_created(self, client: Client) -> None:
        assert client.post("/collections/", {"name": "N"}).status_code == 302
        assert Collection.objects.get().name == "N"

    def test_a_follow_up_stays_in_its_form(self, client: Client, agent: Agent) -> None:
        turn = Recording(agent=agent).end()
        response = client.post(f"/runs/{turn.pk}/next/", {"text": "and for two?"})
        assert response.status_code == 422
        assert "No room left" in response.text
        assert "and for two?" in response.text
        assert not Run.objects.filter(state="refused").exists()

    def test_a_request_is_refused_on_its_page(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        client.post("/runs/", form())
        run = Run.objects.get(state="refused")
        text = read(client.get(f"/runs/{run.pk}/")).text
        assert "No room left: 1.0 MB of 1.0 KB used." in text
        assert "Delete runs in History, shorten the retention, or raise PLAYGROUND_QUOTA." in text

    def test_the_page_of_a_refused_run_without_its_request(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        client.post("/runs/", form({"query": {"text": "x" * 20_000}}))
        run = Run.objects.get(state="refused")
        assert run.request == {}
        assert client.get(f"/runs/{run.pk}/").status_code == 200
        again = client.post(f"/runs/{run.pk}/repetition/")
        assert again.status_code == 422
        assert "The request was not stored. Send it from the composer." in again.text
        assert client.get("/history/").status_code == 200
