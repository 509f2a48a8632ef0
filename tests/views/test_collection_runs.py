"""Pages of collection runs: the form that starts one, its page, its reports, the list."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from junitparser import JUnitXml

from playground.collection_runs.page import PAGE, decode_verdicts, encode_verdicts
from playground.engine.collection_runs import plan
from playground.models import Agent, Collection, CollectionRun, Environment, Folder, SavedRequest
from playground.models.driving import HEARTBEAT_TIMEOUT
from tests.support.markup import one_line, read
from tests.support.servers import free_port, reply, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def collection() -> Collection:
    found = Collection.objects.create(name="Tour")
    folder = Folder.objects.create(collection=found, name="Soups")
    address = f"http://127.0.0.1:{free_port()}"
    for name, inside in (("One", None), ("Two", folder)):
        SavedRequest.objects.create(
            collection=found, folder=inside, name=name, address=address,
            document={"query": {"text": name}},
        )  # fmt: skip
    return found


def stored(collection: Collection | None, *verdicts: str, **fields: Any) -> CollectionRun:
    fields = {"name": "Tour", "state": "completed", **fields}
    run = CollectionRun.objects.create(collection=collection, planned=len(verdicts), **fields)
    for number, verdict in enumerate(verdicts, 1):
        check = {"expectation": {}, "met": verdict == "met", "wanted": "w", "actual": EVIL}
        run.steps.create(
            number=number, name=f"Step {number}", verdict=verdict,
            checks=[check] if verdict in ("met", "unmet") else [],
        )  # fmt: skip
    return run


@pytest.mark.usefixtures("collection")
class TestStarting:
    def test_the_form_offers_what_there_is(self, client: Client) -> None:
        Environment.objects.create(name="Staging")
        Agent.objects.create(name="Fits", url="http://a.example")
        Agent.objects.create(name="Another", url="http://b.example", protocol="agent-api")
        page = one_line(client.get(reverse("collection-run-new"), {"collection": "tour"}))
        page = page.partition("<main")[2]
        for told in ("Run Tour", "2 requests", "Staging", "Fits", "Soups"):
            assert told in page
        assert "Another" not in page

    async def test_it_starts(self, async_client: Any) -> None:
        address = reverse("collection-runs")
        answer = await async_client.post(address, {"collection": "tour", "parallel": "2"})
        run = await CollectionRun.objects.aget()
        assert (answer.status_code, answer.url) == (302, run.get_absolute_url())
        assert (run.planned, run.options["parallel"]) == (2, 2)
        # It goes on without anybody who looks; here it is stopped, and that is waited for.
        stop = reverse("collection-run-cancellation", args=[run.pk])
        assert (await async_client.post(stop)).status_code == 302
        await run.arefresh_from_db()
        assert run.is_final

    async def test_of_one_folder_and_with_rows(self, async_client: Any) -> None:
        rows = SimpleUploadedFile("rows.csv", b"a\n1\n2\n3\n")
        form = {"collection": "tour", "folder": "soups", "rows": rows, "bail": "on"}
        await async_client.post(reverse("collection-runs"), form)
        run = await CollectionRun.objects.aget()
        assert (run.planned, run.options["bail"], run.options["rows"]) == (3, True, 3)
        await async_client.post(reverse("collection-run-cancellation", args=[run.pk]))

    async def test_of_single_requests_at_an_address_with_values(self, async_client: Any) -> None:
        address = f"http://127.0.0.1:{free_port()}"
        form = {
            "collection": "tour", "requests": ["two"], "address": address,
            "variables": "token=canary\r\n\r\nn=5\r\n",
        }  # fmt: skip
        await async_client.post(reverse("collection-runs"), form)
        run = await CollectionRun.objects.aget()
        assert (run.planned, run.options["agent"]) == (1, address)
        # Of values the names alone are kept.
        assert run.options["variables"] == ["n", "token"]
        assert "canary" not in json.dumps(run.options)
        (step,) = await sync_to_async(list)(run.steps.all())
        assert step.name == "Two"
        await async_client.post(reverse("collection-run-cancellation", args=[run.pk]))

    async def test_its_values_are_sent(self, async_client: Any) -> None:
        async with serve(reply(b'{"results": []}')) as server:

            def make() -> None:
                found = Collection.objects.create(name="Values")
                document = {"query": {"text": "{{city}}", "n": "{{n}}"}}
                SavedRequest.objects.create(
                    collection=found, name="A", document=document, address="http://127.0.0.1:9"
                )

            await sync_to_async(make)()
            values = "city=Oslo\nn=5"
            form = {"collection": "values", "variables": values, "address": server.url}
            await async_client.post(reverse("collection-runs"), form)
            await asyncio.wait_for(server.asked.wait(), 20)
            run = await CollectionRun.objects.aget()
            await async_client.post(reverse("collection-run-cancellation", args=[run.pk]))
        sent = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
        # JSON where it is JSON, as on the command line.
        assert sent["query"] == {"text": "Oslo", "n": 5}

    def test_what_was_given_is_there_again(self, client: Client) -> None:
        form = {
            "collection": "tour", "requests": ["two"], "iterations": "0",
            "variables": "city=Oslo", "address": "http://a.example/ask",
        }  # fmt: skip
        page = one_line(client.post(reverse("collection-runs"), form))
        assert 'value="two" checked' in page
        assert 'value="one" checked' not in page
        assert "city=Oslo</textarea>" in page
        assert 'value="http://a.example/ask"' in page

    def test_a_link_offers_requests(self, client: Client) -> None:
        about = {"collection": "tour", "request": ["two", EVIL]}
        page = one_line(client.get(reverse("collection-run-new"), about))
        assert re.findall(r'value="(\w+)" checked', page) == ["two"]
        assert EVIL not in page
        # What is not here is not chosen, and nothing stands open for it.
        page = client.get(reverse("collection-run-new"), {"collection": "tour", "request": "x"})
        assert '<details class="collection-run-choice">' in one_line(page)

    @pytest.mark.parametrize(
        ("form", "told"),
        [
            ({"requests": ["nobody"]}, "not one of the available choices"),
            ({"folder": "soups", "requests": ["one"]}, "Some of these requests are not in the"),
            ({"variables": "a=1\nhunter2 canary"}, "Line 2: expected name=value."),
            ({"variables": "a" * 100_001}, "at most 100000 characters"),
            ({"address": "nowhere"}, "must start with http:// or https://"),
            ({"address": "http://u:p@a.example/"}, "user name or password"),
            ({"address": "http://a.example", "agent": "fits"}, "not both"),
            ({"iterations": "0"}, "greater than or equal to 1"),
            ({"iterations": "1e9"}, "whole number"),
            ({"parallel": "51"}, "less than or equal to 50"),
            ({"environment": "nobody"}, "not one of the available choices"),
            ({"agent": "nobody"}, "not one of the available choices"),
            ({"rows": SimpleUploadedFile("r.csv", b"a,b\n1\n")}, "Line 2: 1 values for 2 columns"),
            ({"rows": SimpleUploadedFile("r.json", b"{}")}, "a JSON array"),
            ({"rows": SimpleUploadedFile("r.csv", b"")}, ""),
        ],
        ids=range(15),
    )
    def test_what_does_not_fit_is_said(
        self, client: Client, form: dict[str, Any], told: str
    ) -> None:
        Agent.objects.create(name="Fits", url="http://a.example")
        if form.get("rows"):
            form["rows"].seek(0)
        answer = client.post(reverse("collection-runs"), {"collection": "tour", **form})
        assert answer.status_code == 422
        assert told in answer.text
        assert not CollectionRun.objects.exists()

    @pytest.mark.usefixtures("heartbeats_count")
    async def test_as_many_at_once_as_may_be(
        self, async_client: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(plan, "MAX_AT_ONCE", 2)
        now = {"driver": "elsewhere:1:1", "heartbeat_at": timezone.now(), "state": "running"}
        stranger = await User.objects.acreate(username="stranger")
        first, second, _ = [
            await CollectionRun.objects.acreate(name="x", owner=owner, **now)
            for owner in (None, None, stranger)
        ]
        address, form = reverse("collection-runs"), {"collection": "tour"}
        answer = await async_client.post(address, form)
        assert answer.status_code == 422
        assert "Too many collection runs in progress (2)" in answer.text
        # One whose process has died keeps nobody from starting another.
        gone = timezone.now() - 2 * HEARTBEAT_TIMEOUT
        await CollectionRun.objects.filter(pk=second.pk).aupdate(heartbeat_at=gone)
        answer = await async_client.post(address, form)
        assert answer.status_code == 302
        (started,) = await sync_to_async(list)(CollectionRun.objects.filter(name="Tour"))
        await async_client.post(reverse("collection-run-cancellation", args=[started.pk]))
        await first.arefresh_from_db()
        assert first.state == "running"

    def test_an_empty_collection(self, client: Client) -> None:
        Collection.objects.create(name="Empty")
        answer = client.post(reverse("collection-runs"), {"collection": "empty"})
        assert answer.status_code == 422
        assert "No requests to send." in answer.text


class TestPage:
    def test_steps_with_what_was_expected(self, client: Client, collection: Collection) -> None:
        run = stored(collection, "met", "unmet", "unsent", "skipped")
        answer = client.get(run.get_absolute_url())
        page = answer.text
        rows = [
            each
            for each in read(page).find("li")
            if "collection-run-step" in (each.attributes.get("class") or "")
        ]
        assert [row.attributes["data-verdict"] for row in rows] == [
            "met", "unmet", "unsent", "skipped",
        ]  # fmt: skip
        assert EVIL not in page
        assert "Failed" in page
        assert "ws-connect" not in page  # It is over.

    def test_what_did_not_come_to_its_end_is_not_done(
        self, client: Client, collection: Collection
    ) -> None:
        run = stored(collection, "met", "unmet", "stopped", "skipped", "skipped", state="stopped")
        page = client.get(run.get_absolute_url()).text
        figures = dict(re.findall(r'data-stat="(\w+)">([^<]*)<', page))
        assert figures == {
            "done": "2 of 5", "met": "1", "unmet": "1", "stopped": "1", "skipped": "2",
        }  # fmt: skip
        told = "2 of 5 requests done, 1 passed, 1 failed, 1 stopped, 2 skipped"
        assert f'aria-label="{told}"' in page
        assert told in client.get(reverse("collection-runs")).text

    def test_those_not_met_alone(self, client: Client, collection: Collection) -> None:
        run = stored(collection, "met", "unmet", "unsent", "skipped")
        page = client.get(run.get_absolute_url(), {"show": "unmet"}).text
        assert [f'id="step-{n}"' in page for n in (1, 2, 3, 4)] == [False, True, True, False]

    def test_many_steps_come_page_by_page(self, client: Client, collection: Collection) -> None:
        run = stored(collection, *["met"] * (2 * PAGE + 1))
        address = run.get_absolute_url()
        first, last = (client.get(address, {"page": n}).text for n in (1, 3))
        assert (
            first.count('class="collection-run-step"'),
            last.count('class="collection-run-step"'),
        ) == (PAGE, 1)
        assert "Page 3 of 3" in last

    @pytest.mark.parametrize("page", ["0", "-1", "x", "99999999999", "٣"])
    def test_any_page_number(self, client: Client, collection: Collection, page: str) -> None:
        run = stored(collection, "met")
        answer = client.get(run.get_absolute_url(), {"page": page, "show": EVIL})
        assert answer.status_code == 200
        assert EVIL not in answer.text

    def test_one_that_goes_on_has_a_socket_that_knows_what_is_shown(
        self, client: Client, collection: Collection
    ) -> None:
        run = stored(collection, "met", "running", "waiting", state="running")
        page = client.get(run.get_absolute_url()).text
        assert f"/ws/collection-runs/{run.pk}/all/1/1met-2running-3waiting/" in page
        assert "Stop" in page


def test_what_is_known_comes_back() -> None:
    known = {1: "met", 20: "running"}
    assert decode_verdicts(encode_verdicts(known)) == known
    assert decode_verdicts(encode_verdicts({})) == {}
    assert decode_verdicts("x" * 10_000 + "5") == {}


class TestReports:
    def test_each_kind(self, client: Client, collection: Collection) -> None:
        run = stored(collection, "met", "unmet")

        def fetch(kind: str) -> Any:
            answer = client.get(reverse("collection-run-report", args=[run.pk, kind]))
            assert answer["Content-Disposition"].startswith('attachment; filename="tour.')
            return one_line(answer)

        assert JUnitXml.fromstring(fetch("junit").encode()).failures == 1
        assert json.loads(fetch("json"))["totals"]["met"] == 1
        assert EVIL not in fetch("html")
        assert "2 of 2 requests done, 1 passed, 1 failed" in fetch("text")

    def test_another_kind(self, client: Client, collection: Collection) -> None:
        run = stored(collection, "met")
        assert client.get(f"{run.get_absolute_url()}report.pdf").status_code == 404


class TestList:
    def test_those_of_a_collection(self, client: Client, collection: Collection) -> None:
        stored(collection, "met", "unmet")
        stored(None, "met", name="From a file")
        address = reverse("collection-runs")
        everything = client.get(address).text
        mine = client.get(address, {"collection": "tour"}).text
        assert "From a file" in everything
        assert "2 of 2 requests done, 1 passed, 1 failed" in mine
        assert "From a file" not in mine
        labels = re.findall(r'class="collection-run-verdict">([^<]*)<', everything)
        assert sorted(labels) == ["All passed", "Failed"]

    def test_there_is_none(self, client: Client, collection: Collection) -> None:
        page = client.get(reverse("collection-runs"), {"collection": "tour"}).text
        assert "No runs yet" in page
