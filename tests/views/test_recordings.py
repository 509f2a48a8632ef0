"""Recorded runs over the pages: HAR files in and out, and saved responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.collections.recordings import record
from playground.formats.har_export import to_har
from playground.models import Collection, Run, SavedRequest
from tests.formats.test_har_import import CALL as POSTED
from tests.support.stored_runs import END, HEAD, OPEN, recorded, result


def archived(*frames: Any) -> SimpleUploadedFile:
    run = recorded([[POSTED, OPEN, HEAD, result(1), END, *frames]])
    text = to_har(run)
    run.delete()
    return SimpleUploadedFile("run.har", text.encode(), "application/json")


class TestHar:
    def test_a_run_is_downloaded(self, client: Client, run: Run) -> None:
        answer = client.get(f"/runs/{run.pk}/run.har")
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.har"'
        assert json.loads(answer.content)["log"]["version"] == "1.2"

    def test_a_file_is_listed_and_opened(self, client: Client) -> None:
        assert b"<h1>Import HAR</h1>" in client.get("/formats/har/").content
        listed = client.post("/formats/har/", {"file": archived()})
        assert b"http://agent.example/ask?a=1" in listed.content
        assert not Run.objects.exists()
        packed = listed.context["packed"]
        answer = client.post("/formats/har/", {"packed": packed, "entry": "1"})
        run = Run.objects.get()
        assert answer["Location"] == run.get_absolute_url()
        assert run.is_recorded
        page = client.get(answer["Location"]).content.decode()
        assert ">recorded</span>" in page
        assert run.results == 1

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({}, "Choose a HAR file"),
            ({"packed": "nonsense"}, "is corrupted"),
            ({"file": SimpleUploadedFile("x.har", b"PK\x03\x04")}, "a zip archive"),
            ({"file": SimpleUploadedFile("y.har", b'{"log": {"entries": [7]}}')}, "/log/entries/0"),
        ],
        ids=["nothing", "nonsense", "zip", "broken"],
    )
    def test_what_is_no_archive(self, client: Client, fields: Any, words: str) -> None:
        answer = client.post("/formats/har/", fields)
        assert answer.status_code == 422
        assert words in answer.content.decode()

    def test_an_entry_that_is_not_there(self, client: Client) -> None:
        answer = client.post("/formats/har/", {"file": archived(), "entry": "7"})
        assert answer.status_code == 422
        assert b"The entry does not exist" in answer.content

    def test_a_file_that_no_form_can_carry(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("playground.views.recordings.MAX_COMPRESSED", 10)
        answer = client.post("/formats/har/", {"file": archived()})
        assert (answer.status_code, b"file is too large" in answer.content) == (422, True)


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
