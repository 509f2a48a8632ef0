"""A run's page, the history beside it, its tabs, its repetition; runs of a URL without an agent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.engine import preparation, promise_polling, tasks
from playground.engine.request import PreparedRequest, request_to
from playground.engine.runs import RunParent, create_run
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind
from playground.models.history import PAGE
from playground.protocols.frames import Frame, FrameKind
from tests.support.elicitations import elicitation_run
from tests.support.markup import Element, read
from tests.support.run_page import part, streamed
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, recorded, result
from tests.views.conftest import form


def download(response: Any) -> bytes:
    """The body of a reply that is made piece by piece."""

    async def collect() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(collect)()


def values(markup: Element, tag: str, name: str) -> list[str | None]:
    found = [element.attributes for element in markup.find(tag)]
    return [attributes[name] for attributes in found if name in attributes]


class TestPage:
    def test_shows_the_request_and_what_came(self, run: Run) -> None:
        markup = part(run, "")
        cards = [i for i in values(markup, "article", "id") if i]
        assert sorted(cards) == ["entry-5-0", "entry-7-0", "entry-8-0", "entry-9-0"]
        assert "entry-6-0" in values(markup, "section", "id")
        assert '"text": "eggs"' in markup.text
        cursor = markup.find("run-cursor")[0].attributes
        assert (cursor["data-last"], cursor["data-entries"]) == ("10", "4")

    def test_follows_only_while_there_is_something_to_come(self, client: Client, run: Run) -> None:
        assert "ws-connect" not in client.get(f"/runs/{run.pk}/").text
        going = Recording().run
        html = client.get(f"/runs/{going.pk}/").text
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
        html = client.get(f"/runs/{run.pk}/").text
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
            markup = read(client.get(url))
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
        html = client.get("/runs/", {"q": q}).text
        assert len(values(read(html), "a", "data-run")) == count
        assert "<script>" not in html

    def test_a_search_is_kept_on_the_next_page(self, client: Client, runs: list[Run]) -> None:
        html = client.get("/runs/", {"q": "query"}).text
        (url,) = values(read(html), "button", "hx-get")
        assert str(url).startswith("/runs/?q=query&before=2026-")
        found = values(read(client.get(str(url))), "a", "data-run")
        assert len(found) == 5

    @pytest.mark.parametrize(
        "before",
        ["yesterday", "2026-13-45T00:00:00Z", "0001-01-01T00:00:00+14:00",
         "9999-12-31T23:59:59-14:00", "1" * 500, "2099-01-01", "2099-01-01T00:00:00Z"],
    )  # fmt: skip
    def test_garbage_is_the_first_page(self, client: Client, run: Run, before: str) -> None:
        response = client.get("/runs/", {"before": before})
        assert response.status_code == 200
        assert len(values(read(response), "a", "data-run")) in (0, 1)

    def test_other_methods(self, client: Client) -> None:
        response = client.delete("/runs/")
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST")


class TestParts:
    def test_results_from_an_offset(self, run: Run) -> None:
        found = [e.attributes["id"] for e in part(run, "results/", offset=1).elements
                 if str(e.attributes.get("id", "")).startswith("entry-")]  # fmt: skip
        assert found == ["entry-6-0", "entry-7-0", "entry-8-0"]

    def test_events_in_both_orders(self, run: Run) -> None:
        arrival = values(part(run, "events/"), "li", "data-seq")
        assert arrival == [str(n) for n in range(1, 11)]
        rows = part(run, "events/", order="index")
        assert values(rows, "li", "data-seq") == ["7", "8", "5"]
        assert values(part(run, "events/", offset=8), "li", "data-seq") == ["9", "10"]
        last = part(run, "events/", order="index", offset=2)
        assert values(last, "li", "data-seq") == ["5"]

    @pytest.mark.database
    @pytest.mark.parametrize("path", ["results/", "events/", "wire/"])
    @pytest.mark.parametrize("offset", ["-1", "x", "٣", "1e3", "99999999999999999999", "", "0x1"])
    def test_a_garbage_offset_is_none(self, run: Run, path: str, offset: str) -> None:
        assert part(run, path, offset=offset).elements == part(run, path).elements

    @pytest.mark.database
    def test_an_offset_beyond_the_end(self, run: Run) -> None:
        for path in ("results/", "events/", "wire/"):
            assert part(run, path, offset=999).elements == []

    def test_one_frame(self, run: Run) -> None:
        markup = part(run, "events/7/")
        assert "Result" in markup.text
        assert '"name": "Dish 0"' in markup.text
        assert "event: result\ndata:" in markup.text
        assert "no protocol data" in part(run, "events/1/").text

    def test_the_raw_json_of_an_entry(self, run: Run) -> None:
        assert '"index": 2' in part(run, "items/5/0/").text

    @pytest.mark.database
    @pytest.mark.parametrize(
        "path",
        ["events/0/", "events/11/", "events/99999999999999999999999/", "items/5/1/", "items/1/0/",
         "items/0/0/", "items/5/99999999999999999999/", "events/-1/", "events/x/", "nothing/"],
    )  # fmt: skip
    def test_what_is_not_there(self, client: Client, run: Run, path: str) -> None:
        assert client.get(f"/runs/{run.pk}/{path}").status_code == 404

    def test_the_wire_and_its_download(self, client: Client, run: Run) -> None:
        markup = part(run, "wire/")
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

    def test_the_wire_is_cut_into_pages(self) -> None:
        big = Frame(0, 5, FrameKind.BODY, b"x" * 200_000)
        run = recorded([[CALL, OPEN, HEAD], [big] * 20, [END]])
        first = values(part(run, "wire/"), "section", "data-seq")
        assert len(first) == 11
        rest = values(part(run, "wire/", offset=11), "section", "data-seq")
        assert rest[0] == "12"

    def test_what_a_standard_client_reads(self, run: Run) -> None:
        assert "6 events as parsed by httpx-sse" in part(run, "standard-client/").text

    def test_the_timeline(self, run: Run) -> None:
        assert part(run, "timeline/").find("svg")
        assert part(Recording().run, "timeline/").find("svg")

    @pytest.mark.slow
    @hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=300), st.sampled_from([FrameKind.EVENT, FrameKind.BODY]))
    def test_any_bytes_can_be_looked_at(self, client: Client, data: bytes, kind: FrameKind) -> None:
        run = recorded([[CALL, OPEN, HEAD], [Frame(0, 5, kind, data)], [END]])
        for path in ("", "results/", "events/", "events/4/", "wire/", "timeline/",
                     "standard-client/"):  # fmt: skip
            part(run, path)
        assert data in download(client.get(f"/runs/{run.pk}/wire.txt"))


def test_a_window_and_its_pages_have_every_card_once() -> None:
    flood = [[result(n) for n in range(start, start + 30)] for start in range(0, 150, 30)]
    run = recorded([[CALL, OPEN, HEAD], *flood, [END]])
    ids: list[str | None] = values(part(run, ""), "article", "id")
    assert len(ids) == 60
    while more := values(part(run, "results/", offset=len(ids)), "article", "id"):
        ids += more
    assert ids == [f"entry-{n + 4}-0" for n in range(150)]


def test_an_interrupted_run_says_what_was_not_stored(client: Client) -> None:
    cause = "The run was marked as interrupted: 2 received frames were not stored."
    run = Recording(state="interrupted", problem={"cause": cause, "fix": "Check it."}).run
    assert cause in read(client.get(f"/runs/{run.pk}/")).text


# Repetitions

REQUEST = {"query": {"text": "eggs"}, "meta": {"version": "0.54"}}
Calls = list[tuple[Run, PreparedRequest]]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What was handed to the engine; nothing is sent."""
    calls: Calls = []

    async def send(run: Run, prepared: PreparedRequest) -> None:
        calls.append((run, prepared))

    monkeypatch.setattr(tasks, "send", send)
    return calls


@pytest.fixture
def first(agent: Agent) -> Run:
    run = recorded([[CALL, OPEN, HEAD, END]])
    parent = recorded([[CALL, OPEN, HEAD, END]])
    fields: dict[str, Any] = {
        "agent": agent, "request": REQUEST, "version": "0.54", "parent": parent,
        "kind": RunKind.ANSWER, "parent_entry_seq": 5, "parent_entry_part": 1,
        "answers": {"diet": "vegan"},
        "headers": [["X-Trace", "7"], ["Authorization", ""]],
    }  # fmt: skip
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


def repeat(client: Client, run: Run, **fields: str) -> Any:
    return client.post(f"/runs/{run.pk}/repetition/", fields, headers={"HX-Request": "true"})


def test_a_repetition_is_the_same_request_at_the_same_place(
    client: Client, first: Run, handed: Calls
) -> None:
    Agent.objects.update(auth="bearer", auth_secret="s3cret")
    response = client.post(f"/runs/{first.pk}/repetition/")
    again = Run.objects.exclude(pk__in=[first.pk, first.parent_id]).get()
    assert response["Location"] == again.get_absolute_url()
    for name in "agent request version kind parent parent_entry answers text".split():
        assert getattr(again, name) == getattr(first, name), name
    ((_run, prepared),) = handed
    headers = dict(prepared.target.headers)
    assert headers["X-Trace"] == "7"
    assert headers["Authorization"] == "Bearer s3cret"
    assert prepared.target.version == "0.54"
    assert "s3cret" in prepared.redact


def test_a_repetition_takes_the_place_of_the_response(
    client: Client, first: Run, handed: Calls
) -> None:
    response = repeat(client, first)
    ((run, _prepared),) = handed
    assert response["HX-Push-Url"] == run.get_absolute_url()
    assert 'id="response"' in response.text
    assert str(run.pk) in response.text


@pytest.mark.parametrize(
    "fields",
    [
        {"agent": None},
        {"kind": RunKind.POLL},
        {"kind": RunKind.CANCEL},
        {"kind": RunKind.ACTION, "protocol": "action"},
        {"protocol": "unheard-of"},
    ],
)
def test_what_cannot_be_sent_again(
    client: Client, first: Run, handed: Calls, fields: dict[str, Any]
) -> None:
    Run.objects.filter(pk=first.pk).update(**fields)
    assert repeat(client, first).status_code == 404
    assert not handed
    assert Run.objects.count() == 2


def test_too_many_at_once_are_refused_and_shown(
    client: Client, first: Run, handed: Calls, settings: Any
) -> None:
    settings.RUN_LIMITS = settings.RUN_LIMITS.__class__(max_runs=0)
    response = repeat(client, first)
    assert "Too many" in response.text


class TestSwitching:
    """The target of a repetition is another one."""

    FIELDS = {"protocol": "nlweb", "binding": "mcp", "version": "0.54"}

    def test_an_agent_is_set_to_it(self, client: Client, first: Run, handed: Calls) -> None:
        Run.objects.filter(pk=first.pk).update(url="http://agent.example/api")
        Agent.objects.update(handshake={"session": "s"})
        response = repeat(client, first, **self.FIELDS, url="http://agent.example/mcp")
        ((run, prepared),) = handed
        assert (prepared.target.url, prepared.target.binding) == ("http://agent.example/mcp", "mcp")
        agent = Agent.objects.get()
        assert (agent.binding, agent.url, agent.handshake) == ("mcp", prepared.target.url, {})
        assert run.request == first.request
        assert '"agent": "recipes"' in response["HX-Trigger"]

    def test_an_agent_keeps_its_origin(self, client: Client, first: Run, handed: Calls) -> None:
        response = repeat(client, first, **self.FIELDS, url="http://evil.example/mcp")
        assert (response.status_code, handed) == (422, [])
        assert Agent.objects.get().binding == "http"

    def test_a_url_gets_a_run_of_its_own(self, client: Client, first: Run, handed: Calls) -> None:
        Run.objects.filter(pk=first.pk).update(agent=None, sent_to_url=True, url="http://b.example")
        target = {"protocol": "agent-api", "binding": "http", "version": "1"}
        repeat(client, first, **target, url="http://c.example")
        ((run, prepared),) = handed
        assert prepared.target.url == "http://c.example"
        assert prepared.target.protocol == "agent-api"
        assert run.request["input"][0]["content"][0]["text"] == "eggs"
        assert (run.sent_to_url, run.agent) == (True, None)

    def test_another_version_is_named_in_the_document(
        self, client: Client, first: Run, handed: Calls
    ) -> None:
        repeat(client, first, version="0.55")
        assert handed[0][0].request["meta"]["version"] == "0.55"

    @pytest.mark.parametrize("url", ["ftp://b.example", "http://u:p@b.example", "x"])
    def test_a_url_that_cannot_be_called(
        self, client: Client, first: Run, handed: Calls, url: str
    ) -> None:
        Run.objects.filter(pk=first.pk).update(agent=None, sent_to_url=True)
        response = repeat(client, first, url=url)
        assert (response.status_code, handed) == (422, [])


# Runs of a URL without an agent

URL = "http://agent.example/api"


def sent_to(url: str = URL, **fields: Any) -> Run:
    own = {"sent_to_url": True, "agent_name": "agent.example/api", "url": url}
    return streamed(**{**own, **fields})


def test_sending_saves_no_agent(client: Client, started: list[Any]) -> None:
    found = {"protocol": "nlweb", "binding": "mcp", "version": "0.55"}
    client.post("/runs/", form(agent="", address=f"{URL}/mcp", **found))
    ((run, target),) = started
    assert not Agent.objects.exists()
    assert (run.sent_to_url, run.agent, run.url) == (True, None, f"{URL}/mcp")
    assert (target.url, target.binding) == (f"{URL}/mcp", "mcp")


def test_the_url_of_an_agent_is_that_agent(
    client: Client, agent: Agent, started: list[Any]
) -> None:
    client.post("/runs/", form(agent="", address="HTTP://Agent.example:80/api", protocol="nlweb"))
    assert (started[0][0].agent, started[0][0].sent_to_url) == (agent, False)


@pytest.mark.parametrize("is_there", [True, False], ids=["url", "deleted agent"])
class TestARunWithoutAnAgent:
    def test_is_repeated(self, client: Client, started: list[Any], is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there, version="0.54", headers=[["X-Trace", "7"]])
        response = client.post(f"/runs/{run.pk}/repetition/")
        assert response.status_code == (302 if is_there else 404)
        assert len(started) == int(is_there)
        for again, target in started:
            assert (again.sent_to_url, again.url, again.version) == (True, URL, "0.54")
            assert ("X-Trace", "7") in target.headers

    def test_is_followed(self, client: Client, started: list[Any], is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        response = client.post(f"/runs/{run.pk}/next/", {"text": "and wine"})
        assert response.status_code == (302 if is_there else 422)
        if is_there:
            assert (started[0][0].parent, started[0][1].url) == (run, URL)
        else:
            assert "deleted" in response.text

    def test_its_full_follow_up_is_for_the_same_url(self, client: Client, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there, version="0.54")
        page = read(client.get(f"/runs/{run.pk}/next/"))
        (address,) = page.select("input", name="address")
        versions = page.by_id("version-select").select("option", selected=None)
        assert address.attributes["value"] == URL
        assert [each.attributes["value"] for each in versions] == ["0.54"]

    def test_says_only_of_a_deleted_agent_that_it_was(self, client: Client, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        assert ("was deleted" in client.get(f"/runs/{run.pk}/").text) != is_there

    def test_offers_its_questions(self, client: Client, agent: Agent, is_there: bool) -> None:
        run = elicitation_run(agent)
        Run.objects.update(agent=None, sent_to_url=is_there)
        html = client.get(f"/runs/{run.pk}/").text
        assert ("can no longer be answered" in html) != is_there
        assert ("Answer</button>" in html) == is_there

    def test_has_its_promise_polled(self, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        promise = PolledPromise.objects.create(
            run=run,
            entry_seq=1,
            entry_part=0,
            token="t",
            polling_seconds=60,
            status=PollingStatus.POLLING,
        )
        if not is_there:
            with pytest.raises(promise_polling.CannotPollError, match="The agent was deleted"):
                promise_polling._record(promise.pk, RunKind.POLL, None)
            return
        _, polled, _ = promise_polling._record(promise.pk, RunKind.POLL, None)
        assert (polled.sent_to_url, polled.url) == (True, URL)


def test_a_follow_up_uses_the_handshake_and_the_secrets_of_none() -> None:
    handshake = {"url": URL, "session": "s"}
    run = sent_to(binding="mcp")
    Run.objects.filter(pk=run.pk).update(handshake=handshake)
    run.refresh_from_db()
    prepared = preparation.follow_up_request(run, {"query": {"text": "b"}})
    assert (prepared.target.handshake, prepared.target.binding) == (handshake, "mcp")
    assert prepared.redact == []


def test_a_child_of_a_deleted_agents_run_is_of_a_deleted_agent(agent: Agent) -> None:
    parent = sent_to(sent_to_url=False)
    stand_in = Agent(name="A", url=URL)
    prepared = request_to(stand_in, {"query": {"text": "b"}})
    for kind, expected in ((RunKind.ACTION, False), (RunKind.ASK, True)):
        run = create_run(prepared, None, RunParent(kind, parent))
        assert run.sent_to_url is expected
