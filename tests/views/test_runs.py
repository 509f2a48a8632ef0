"""A run's page, the history beside it, and its tabs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.models import Agent, Run
from playground.models.history import PAGE
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import Element, read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, recorded, result


def part(client: Client, run: Run, path: str, **query: Any) -> Element:
    response = client.get(f"/runs/{run.pk}/{path}", query)
    assert response.status_code == 200, response.content
    return read(response.content.decode())


def download(response: Any) -> bytes:
    """The body of a reply that is made piece by piece."""

    async def collect() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(collect)()


def values(markup: Element, tag: str, name: str) -> list[str | None]:
    found = [element.attributes for element in markup.find(tag)]
    return [attributes[name] for attributes in found if name in attributes]


class TestPage:
    def test_shows_the_request_and_what_came(self, client: Client, run: Run) -> None:
        markup = part(client, run, "")
        cards = [i for i in values(markup, "article", "id") if i]
        assert sorted(cards) == ["entry-5-0", "entry-7-0", "entry-8-0", "entry-9-0"]
        assert "entry-6-0" in values(markup, "section", "id")
        assert '"text": "eggs"' in markup.text
        cursor = markup.find("run-cursor")[0].attributes
        assert (cursor["data-last"], cursor["data-entries"]) == ("10", "4")

    def test_follows_only_while_there_is_something_to_come(self, client: Client, run: Run) -> None:
        assert "ws-connect" not in client.get(f"/runs/{run.pk}/").content.decode()
        going = Recording().run
        html = client.get(f"/runs/{going.pk}/").content.decode()
        assert f'ws-connect="/ws/runs/{going.pk}/"' in html

    def test_a_run_whose_agent_is_gone_opens_on_another(self, client: Client, run: Run) -> None:
        Agent.objects.create(name="Other", url="http://o.example")
        assert client.get(f"/runs/{run.pk}/").status_code == 200

    def test_a_problem_is_put_in_words(self, client: Client) -> None:
        recording = Recording()
        problem = {
            "stage": "connect", "state": "failed", "cause": "Nobody <b>listens</b>.",
            "fix": "Start it.", "detail": "<script>", "limit": None,
        }  # fmt: skip
        Run.objects.update(problem=problem)
        run = recording.end("failed")
        html = client.get(f"/runs/{run.pk}/").content.decode()
        assert "Nobody <b>listens</b>." in read(html).text
        assert "<b>listens" not in html

    @pytest.mark.database
    def test_an_unknown_run(self, client: Client) -> None:
        assert client.get("/runs/00000000-0000-4000-8000-000000000000/").status_code == 404
        assert client.get("/runs/nonsense/").status_code == 404


@pytest.mark.database
class TestHistory:
    @pytest.fixture
    def runs(self) -> list[Run]:
        found = [Recording().run for _ in range(PAGE + 5)]
        first = datetime(2026, 1, 1, tzinfo=UTC)
        for number, run in enumerate(found):
            # Three at a time are of one moment.
            changes = {"created_at": first + timedelta(minutes=number // 3),
                       "text": f"query {number}"}  # fmt: skip
            Run.objects.filter(pk=run.pk).update(**changes)
        return found

    def test_is_paged_from_the_newest(self, client: Client, runs: list[Run]) -> None:
        seen: list[str | None] = []
        url: str | None = "/runs/"
        pages = 0
        while url:
            markup = read(client.get(url).content.decode())
            seen += values(markup, "a", "data-run")
            more = values(markup, "button", "hx-get")
            url = more[0] if more else None
            pages += 1
        ordered = Run.objects.order_by("-created_at", "-pk")
        assert seen == [str(run.pk) for run in ordered]
        assert pages == 2

    @pytest.mark.parametrize(
        ("q", "count"),
        [
            ("", 3), ("soup", 1), ("SOUP tomato", 1), ("soup nuts", 0), ("failed", 1),
            ("scripted", 3), ("fail", 0), ("  ", 3), ("%", 0), ("_", 0), ("<script>", 0),
        ],
    )  # fmt: skip
    def test_search(self, client: Client, q: str, count: int) -> None:
        for text, state in (("tomato soup", "completed"), ("nuts", "failed"), ("eggs", "queued")):
            Run.objects.filter(pk=Recording().run.pk).update(text=text, state=state)
        html = client.get("/runs/", {"q": q}).content.decode()
        assert len(values(read(html), "a", "data-run")) == count
        assert "<script>" not in html

    def test_a_search_is_kept_on_the_next_page(self, client: Client, runs: list[Run]) -> None:
        html = client.get("/runs/", {"q": "query"}).content.decode()
        (url,) = values(read(html), "button", "hx-get")
        assert str(url).startswith("/runs/?q=query&before=2026-")
        found = values(read(client.get(str(url)).content.decode()), "a", "data-run")
        assert len(found) == 5

    @pytest.mark.parametrize(
        "before",
        ["yesterday", "2026-13-45T00:00:00Z", "0001-01-01T00:00:00+14:00",
         "9999-12-31T23:59:59-14:00", "1" * 500, "2099-01-01", "2099-01-01T00:00:00Z"],
    )  # fmt: skip
    def test_garbage_is_the_first_page(self, client: Client, run: Run, before: str) -> None:
        response = client.get("/runs/", {"before": before})
        assert response.status_code == 200
        assert len(values(read(response.content.decode()), "a", "data-run")) in (0, 1)

    def test_other_methods(self, client: Client) -> None:
        response = client.delete("/runs/")
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST")


class TestParts:
    def test_results_from_an_offset(self, client: Client, run: Run) -> None:
        found = [e.attributes["id"] for e in part(client, run, "results/", offset=1).elements
                 if str(e.attributes.get("id", "")).startswith("entry-")]  # fmt: skip
        assert found == ["entry-6-0", "entry-7-0", "entry-8-0"]

    def test_events_in_both_orders(self, client: Client, run: Run) -> None:
        arrival = values(part(client, run, "events/"), "li", "data-seq")
        assert arrival == [str(n) for n in range(1, 11)]
        rows = part(client, run, "events/", order="index")
        assert values(rows, "li", "data-seq") == ["7", "8", "5"]
        assert values(part(client, run, "events/", offset=8), "li", "data-seq") == ["9", "10"]
        last = part(client, run, "events/", order="index", offset=2)
        assert values(last, "li", "data-seq") == ["5"]

    @pytest.mark.database
    @pytest.mark.parametrize("path", ["results/", "events/", "wire/"])
    @pytest.mark.parametrize("offset", ["-1", "x", "٣", "1e3", "99999999999999999999", "", "0x1"])
    def test_a_garbage_offset_is_none(
        self, client: Client, run: Run, path: str, offset: str
    ) -> None:
        assert part(client, run, path, offset=offset).elements == part(client, run, path).elements

    @pytest.mark.database
    def test_an_offset_beyond_the_end(self, client: Client, run: Run) -> None:
        for path in ("results/", "events/", "wire/"):
            assert part(client, run, path, offset=999).elements == []

    def test_one_frame(self, client: Client, run: Run) -> None:
        markup = part(client, run, "events/7/")
        assert "Result" in markup.text
        assert '"name": "Dish 0"' in markup.text
        assert "event: result\ndata:" in markup.text
        assert "no protocol data" in part(client, run, "events/1/").text

    def test_the_raw_json_of_an_entry(self, client: Client, run: Run) -> None:
        assert '"index": 2' in part(client, run, "items/5/0/").text

    @pytest.mark.database
    @pytest.mark.parametrize(
        "path",
        ["events/0/", "events/11/", "events/99999999999999999999999/", "items/5/1/", "items/1/0/",
         "items/0/0/", "items/5/99999999999999999999/", "events/-1/", "events/x/", "nothing/"],
    )  # fmt: skip
    def test_what_is_not_there(self, client: Client, run: Run, path: str) -> None:
        assert client.get(f"/runs/{run.pk}/{path}").status_code == 404

    def test_the_wire_and_its_download(self, client: Client, run: Run) -> None:
        markup = part(client, run, "wire/")
        assert values(markup, "section", "data-kind")[:4] == ["call", "open", "head", "event"]
        response = client.get(f"/runs/{run.pk}/wire.txt")
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert response["Content-Disposition"].startswith("attachment; filename=")
        assert response["X-Content-Type-Options"] == "nosniff"
        body = download(response)
        frames = list(run.read_frames())
        shown = [f.data for f in frames if f.kind not in (FrameKind.OPEN, FrameKind.END)]
        assert body == shown[0] + b"\r\n\r\n" + b"".join(shown[1:])

    def test_the_download_is_not_compressed_in_pieces(self, client: Client, run: Run) -> None:
        """Each would be a gzip file of its own, and browsers read only the first."""
        headers = {"Accept-Encoding": "gzip, br"}
        response = client.get(f"/runs/{run.pk}/wire.txt", headers=headers)
        assert "Content-Encoding" not in response
        assert download(response).endswith(list(run.read_frames())[-2].data)

    def test_the_wire_is_cut_into_pages(self, client: Client) -> None:
        big = Frame(0, 5, FrameKind.BODY, b"x" * 200_000)
        run = recorded([[CALL, OPEN, HEAD], [big] * 20, [END]])
        first = values(part(client, run, "wire/"), "section", "data-seq")
        assert len(first) == 11
        rest = values(part(client, run, "wire/", offset=11), "section", "data-seq")
        assert rest[0] == "12"

    def test_what_a_standard_client_reads(self, client: Client, run: Run) -> None:
        assert "6 events as parsed by httpx-sse" in part(client, run, "standard-client/").text

    def test_the_timeline(self, client: Client, run: Run) -> None:
        assert part(client, run, "timeline/").find("svg")
        assert part(client, Recording().run, "timeline/").find("svg")

    @pytest.mark.slow
    @hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=300), st.sampled_from([FrameKind.EVENT, FrameKind.BODY]))
    def test_any_bytes_can_be_looked_at(self, client: Client, data: bytes, kind: FrameKind) -> None:
        run = recorded([[CALL, OPEN, HEAD], [Frame(0, 5, kind, data)], [END]])
        for path in ("", "results/", "events/", "events/4/", "wire/", "timeline/",
                     "standard-client/"):  # fmt: skip
            part(client, run, path)
        assert data in download(client.get(f"/runs/{run.pk}/wire.txt"))


def test_a_window_and_its_pages_have_every_card_once(client: Client) -> None:
    flood = [[result(n) for n in range(start, start + 30)] for start in range(0, 150, 30)]
    run = recorded([[CALL, OPEN, HEAD], *flood, [END]])
    ids: list[str | None] = values(part(client, run, ""), "article", "id")
    assert len(ids) == 60
    while more := values(part(client, run, "results/", offset=len(ids)), "article", "id"):
        ids += more
    assert ids == [f"entry-{n + 4}-0" for n in range(150)]


def test_an_interrupted_run_says_what_was_not_stored(client: Client) -> None:
    cause = "The run was marked as interrupted: 2 received frames were not stored."
    run = Recording(state="interrupted", problem={"cause": cause, "fix": "Check it."}).run
    assert cause in read(client.get(f"/runs/{run.pk}/").content.decode()).text
