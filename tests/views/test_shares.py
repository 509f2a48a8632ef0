"""Shares: what links to a run or a collection show, to whom, and for how long."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from playground.collections.recordings import record
from playground.models import Collection, Folder, PolledPromise, Run, SavedRequest, Share
from playground.models.collections import requests_in_order
from playground.protocols.frames import Frame
from tests.support.markup import one_line, read
from tests.support.stored_runs import END, HEAD, OPEN, K, Recording, event, result

pytestmark = pytest.mark.database


def ended(*frames: Frame, call: bytes = b"POST /ask HTTP/1.1\r\n\r\n{}", **fields: Any) -> Run:
    recording = Recording(agent_name="Recipes", **fields)
    recording.add(Frame(0, 0, K.CALL, call), OPEN, HEAD, *frames, END)
    return recording.end()


def shown(run: Run, client: Client | None = None, query: str = "") -> str:
    link = Share.objects.create(run=run).get_absolute_url()
    response = (client or Client()).get(link + query)
    assert response.status_code == 200
    return one_line(response)


class TestMaking:
    def test_a_link_is_made_copied_and_revoked(self, client: Client, run: Run) -> None:
        page = client.get(f"/shares/new/?run={run.pk}")
        assert "Share this run" in page.text
        made = client.post("/shares/", {"run": str(run.pk), "days": "7"}, follow=True)
        share = Share.objects.get()
        assert f"http://testserver/s/{share.token}/" in made.text
        left = share.expires_at - timezone.now()
        assert timedelta(days=6, hours=23) < left <= timedelta(days=7)
        assert Client().get(share.get_absolute_url()).status_code == 200
        client.post(f"/shares/{share.token}/revocation/")
        assert Client().get(share.get_absolute_url()).status_code == 404

    def test_one_can_last(self, client: Client, run: Run) -> None:
        client.post("/shares/", {"run": str(run.pk), "days": ""})
        assert Share.objects.get().expires_at is None

    @pytest.mark.parametrize("days", ["0", "-1", "9999", "x"])
    def test_not_for_any_time(self, client: Client, run: Run, days: str) -> None:
        answer = client.post("/shares/", {"run": str(run.pk), "days": days})
        assert answer.status_code == 422
        assert not Share.objects.exists()

    @pytest.mark.parametrize("named", [{"run": "x"}, {"run": "0" * 32}, {"collection": "x"}, {}])
    def test_of_what_is_there(self, client: Client, named: dict[str, str]) -> None:
        assert client.post("/shares/", named).status_code == 404
        assert client.get("/shares/new/", named).status_code == 404

    def test_tokens_are_not_to_be_guessed(self, run: Run) -> None:
        tokens = {Share.objects.create(run=run).token for _ in range(50)}
        assert len(tokens) == 50
        assert all(len(base64.urlsafe_b64decode(token)) == 24 for token in tokens)

    def test_the_badge_prefills_and_sends_nothing(self, client: Client, run: Run) -> None:
        page = client.post("/shares/", {"run": str(run.pk)}, follow=True).text
        text = read(page).text
        found = re.search(
            r"\[!\[Try it[^]]*\]\(http://testserver/static/img/badge[^)]*\)\]\((\S+)\)", text
        )
        assert found
        address, _, fragment = found[1].partition("#request=")
        assert address == "http://testserver/"
        told = json.loads(base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4)))
        assert told["document"] == run.request
        assert told["address"] == run.url

    def test_they_are_listed(self, client: Client, run: Run) -> None:
        assert "No shared links" in client.get("/shares/").text
        Share.objects.create(run=run, expires_at=timezone.now() - timedelta(days=1))
        assert "expired" in read(client.get("/shares/")).text


class TestLooking:
    def test_nobody_without_the_link(self, client: Client) -> None:
        assert client.get("/s/nothing/").status_code == 404

    def test_nobody_after_its_time(self, run: Run) -> None:
        over = timezone.now() - timedelta(seconds=1)
        share = Share.objects.create(run=run, expires_at=over)
        assert Client().get(share.get_absolute_url()).status_code == 404

    def test_it_goes_to_no_other_site_and_no_index(self, run: Run) -> None:
        response = Client().get(Share.objects.create(run=run).get_absolute_url())
        assert response["Referrer-Policy"] == "same-origin"
        assert "noindex" in response["X-Robots-Tag"]
        assert "no-store" in response["Cache-Control"]

    def test_the_reply_its_events_and_its_bytes(self) -> None:
        run = ended(result(0), event('event: complete\ndata: {"_meta": {}}'))
        text = read(shown(run)).text
        assert "Recipes" in text
        assert "Completed" in text
        assert "POST /ask HTTP/1.1" in text
        assert '"text": "eggs"' in text

    def test_what_lets_its_bearer_in_is_taken_out(self) -> None:
        call = (
            b"POST /ask?key=canary-1&q=eggs HTTP/1.1\r\nHost: a.example\r\n"
            b"Mcp-Session-Id: canary-2\r\nX-Auth-Token: canary-3\r\nX-Plain: seen\r\n\r\n{}"
        )
        run = ended(result(0), call=call, url="http://a.example/ask?key=canary-1&q=eggs",
                    headers=[["X-Plain", "seen"], ["X-Api-Key", "canary-4"]])  # fmt: skip
        html = shown(run)
        assert "canary" not in html
        assert "X-Plain: seen" in html
        fragments = re.findall(r"#request=([\w-]+)", html)
        assert fragments
        for found in fragments:
            assert b"canary" not in base64.urlsafe_b64decode(found + "=" * (-len(found) % 4))

    def test_a_long_reply_comes_in_pages(self) -> None:
        items = [
            event(f'event: result\ndata: {{"item": {{"name": "Thing {n}"}}}}') for n in range(120)
        ]
        run = ended(*items)
        first, second = shown(run), shown(run, query="?results=60")
        assert "Thing 59<" in first
        assert "Thing 60<" not in first[: first.index("share-events")]
        assert "?results=60" in first
        assert "Thing 60<" in second
        assert "?results=120" not in second
        for query in ("?results=x", "?results=-1", "?events=99999999999", "?wire=1e9"):
            assert shown(run, query=query)


class TestFollowing:
    def streaming(self) -> Recording:
        recording = Recording()
        recording.add(Frame(0, 0, K.CALL, b"POST / HTTP/1.1\r\n\r\n"), OPEN, HEAD, result(0))
        return recording

    def test_a_run_in_progress_is_followed(self) -> None:
        html = shown(self.streaming().run)
        (cursor,) = read(html).find("run-cursor")
        assert cursor.attributes["data-last"] == "4"
        assert f'ws-connect="/ws/shares/{Share.objects.get().token}/"' in html
        assert "Live: this page is updated automatically." in html
        assert "Shown when the run has ended." in html
        assert 'id="share-wire"' not in html
        for name in ("run-badge", "run-stats-now", "run-stats-counts", "summaries", "cards",
                     "run-ending", "run-lost", "run-summary"):  # fmt: skip
            assert html.count(f'id="{name}"') == 1
        # Without JavaScript.
        assert "This run is in progress. Reload the page to update it." in html

    def test_later_results_are_not(self) -> None:
        html = shown(self.streaming().run, query="?results=60")
        assert "ws-connect" not in html
        assert "run-cursor" not in html
        assert "This run is in progress. Reload the page to update it." in html
        assert 'id="share-wire"' in html

    def test_nor_is_a_run_that_has_ended(self) -> None:
        html = shown(ended(result(0)))
        assert "ws-connect" not in html
        assert "run-cursor" not in html
        assert "Live:" not in html

    def test_a_promise_in_progress_is_followed(self) -> None:
        run = ended(event('event: promise\ndata: {"token": "t", "estimated_time": 60}'))
        polled = PolledPromise.objects.create(
            run=run, entry_seq=4, token="t", polling_seconds=60, status="polling"
        )
        html = shown(run)
        assert "ws-connect" in html
        assert "data-final" in html
        assert 'id="share-wire"' in html
        polled.status = "failed"
        polled.save()
        assert "ws-connect" not in shown(run)

    def test_events_and_bytes_are_a_part_of_their_own(self) -> None:
        call = b"POST /ask?key=canary HTTP/1.1\r\nMcp-Session-Id: canary\r\n\r\n{}"
        run = ended(result(0), call=call, url="http://a.example/ask?key=canary")
        link = Share.objects.create(run=run).get_absolute_url()
        response = Client().get(f"{link}?part=details")
        part = response.text
        read(part)
        assert part.strip().startswith("<details")
        assert "POST /ask" in part
        assert "canary" not in part
        assert "noindex" in response["X-Robots-Tag"]
        assert "no-store" in response["Cache-Control"]
        (url,) = {each for each in re.findall(r'data-url="([^"]+)"', shown(self.streaming().run))
                  if "part" in each}  # fmt: skip
        assert url == "?part=details"

    def test_the_part_has_pages(self) -> None:
        run = ended(*map(result, range(250)))
        assert "?events=" in shown(run, query="?part=details")
        later = shown(run, query="?part=details&events=201&wire=61")
        assert later.count(" open ") == 2

    def test_the_part_needs_a_valid_link(self, run: Run) -> None:
        over = timezone.now() - timedelta(seconds=1)
        share = Share.objects.create(run=run, expires_at=over)
        assert Client().get(f"{share.get_absolute_url()}?part=details").status_code == 404
        assert Client().get("/s/nothing/?part=details").status_code == 404

    def test_a_run_in_progress_can_be_shared(self, client: Client) -> None:
        run = self.streaming().run
        assert f"/shares/new/?run={run.pk}" in one_line(client.get(f"/runs/{run.pk}/"))
        page = one_line(client.get(f"/shares/new/?run={run.pk}"))
        assert "live if the run is in progress" in page


@pytest.fixture
def collection(db: None) -> Collection:
    found: Collection = Collection.objects.create(name="Recipes", description="*All* of them")
    folder = Folder.objects.create(collection=found, name="Soups")
    own = {"collection": found, "document": {"query": {"text": "soup"}}, "agent": "mine"}
    SavedRequest.objects.create(**own, name="First", address="http://a.example/?key=literal")
    SavedRequest.objects.create(
        **own, name="Second", folder=folder, notes="<script>alert(1)</script>",
        headers=[["Authorization", "Bearer literal"]],
    )  # fmt: skip
    return found


class TestCollections:
    def test_requests_by_folder_with_their_notes(self, collection: Collection) -> None:
        html = Client().get(Share.objects.create(collection=collection).get_absolute_url()).content
        page = read(html.decode())
        assert page.text.index("First") < page.text.index("Soups") < page.text.index("Second")
        assert "<em>All</em>" in html.decode()
        assert "<script>alert" not in html.decode()
        assert "literal" not in html.decode()

    def test_the_file_can_be_had(self, collection: Collection) -> None:
        link = Share.objects.create(collection=collection).get_absolute_url()
        response = Client().get(f"{link}fixture.json")
        assert response["Content-Disposition"] == 'attachment; filename="recipes.json"'
        assert json.loads(response.content)[0]["model"] == "playground.collection"
        assert b"literal" not in response.content

    def test_a_reply_in_it_lets_nobody_into_a_session(self, collection: Collection) -> None:
        run = ended(
            result(0), call=b"POST /?key=canary HTTP/1.1\r\nMcp-Session-Id: canary\r\n\r\n{}"
        )
        reply = record(run) | {"url": "http://a.example/?key=canary"}
        collection.requests.filter(name="First").update(reply=reply)
        collection.requests.filter(name="Second").update(reply={"frames": 1})
        link = Share.objects.create(collection=collection).get_absolute_url()
        text = Client().get(f"{link}fixture.json").text
        assert "canary" not in text
        Client().post(f"{link}copy/")
        first, second = requests_in_order(Collection.objects.get(slug="recipes-2"))
        assert len(first.reply["frames"]) == len(reply["frames"])
        assert "canary" not in json.dumps(first.reply)
        assert second.reply is None

    def test_of_a_run_there_is_no_file(self, run: Run) -> None:
        link = Share.objects.create(run=run).get_absolute_url()
        assert Client().get(f"{link}fixture.json").status_code == 404

    def test_what_is_expected_is_said_in_words(self, collection: Collection) -> None:
        collection.requests.update(expectations=[{"type": "status", "equals": 200}, {"type": "?"}])
        link = Share.objects.create(collection=collection).get_absolute_url()
        assert "Expected" in read(Client().get(link)).text

    def test_it_can_be_copied_beside_ones_own(self, collection: Collection) -> None:
        link = Share.objects.create(collection=collection).get_absolute_url()
        client = Client()
        assert client.get(f"{link}copy/")["Location"] == link
        assert client.post(f"{link}copy/")["Location"] == "/collections/recipes-2/"
        copied = Collection.objects.get(slug="recipes-2")
        assert [each.name for each in requests_in_order(copied)] == ["First", "Second"]
        assert collection.requests.count() == 2

    def test_a_long_one_comes_in_pages(self, collection: Collection) -> None:
        SavedRequest.objects.bulk_create(
            SavedRequest(collection=collection, name=f"Dish {n}", slug=f"dish-{n}", position=n + 9)
            for n in range(120)
        )
        link = Share.objects.create(collection=collection).get_absolute_url()
        first = Client().get(link).text
        assert "Dish 98" in first
        assert "Dish 99" not in first
        assert "Dish 99" in Client().get(f"{link}?requests=100").text
