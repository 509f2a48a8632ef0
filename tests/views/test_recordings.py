"""Recorded runs over the pages: a run as a HAR file, and saved responses."""

from __future__ import annotations

import json

from django.test import Client

from playground.collections.recordings import record
from playground.models import Collection, Run, SavedRequest


class TestHar:
    def test_a_run_is_downloaded(self, client: Client, run: Run) -> None:
        answer = client.get(f"/runs/{run.pk}/run.har")
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.har"'
        assert json.loads(answer.content)["log"]["version"] == "1.2"


class TestKeptReply:
    def test_it_opens_as_a_run_and_as_the_same_one(self, client: Client, run: Run) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs", reply=record(run))
        url = f"/collections/{collection.slug}/requests/{saved.slug}/reply/"
        # Whoever only follows the link makes nothing, and comes to where it is offered.
        assert client.get(url)["Location"] == saved.get_absolute_url()
        offer = client.get(saved.get_absolute_url()).content.decode()
        assert "Show the recorded response" in offer
        assert f'hx-post="{url}"' in offer
        assert not Run.objects.filter(source="recording").exists()
        first = client.post(url)["Location"]
        assert client.post(url)["Location"] == first
        assert client.get(url)["Location"] == first
        assert (
            "Show the recorded response"
            not in client.get(saved.get_absolute_url()).content.decode()
        )
        page = client.get(first).content.decode()
        assert ">recorded</span>" in page
        assert Run.objects.filter(source="recording").count() == 1

    def test_the_pane_of_the_workbench_takes_it_in(self, client: Client, run: Run) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs", reply=record(run))
        url = f"/collections/{collection.slug}/requests/{saved.slug}/reply/"
        answer = client.post(url, headers={"HX-Request": "true"})
        made = Run.objects.get(source="recording")
        assert answer["HX-Push-Url"] == made.get_absolute_url()
        assert f'data-run="{made.pk}"' in answer.content.decode()
        SavedRequest.objects.update(reply={"frames": "none"}, recorded_run=None)
        answer = client.post(url, headers={"HX-Request": "true"})
        assert "The recorded response cannot be shown" in answer.content.decode()
        assert "hx-post" not in answer.content.decode()

    def test_without_a_reply_the_request_opens_and_says_so(self, client: Client) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs")
        answer = client.post(f"/collections/{collection.slug}/requests/{saved.slug}/reply/")
        assert answer["Location"] == saved.get_absolute_url()
        assert "No response is stored" in client.get(answer["Location"]).content.decode()
