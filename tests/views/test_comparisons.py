"""Comparison of two runs: any two, or one request sent to two targets (twins)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from playground.engine.request import request_to
from playground.engine.runs import create_run
from playground.models import Agent, Run, Twin
from tests.support.markup import one_line, read
from tests.support.run_page import offered, result_of, streamed
from tests.support.stored_runs import Recording
from tests.views.conftest import form

pytestmark = pytest.mark.database

EGGS = {"@type": "Recipe", "url": "http://a.example/eggs", "name": "Eggs", "n": 1}
SOUP = {"@type": "Recipe", "name": "Soup", "text": "A soup of red tomatoes, slowly cooked"}


def run(*items: Any, state: str = "completed", meta: Any = None, **fields: Any) -> Run:
    """Return a run that has come to its end with these results."""
    head = {"_meta": {"response_type": "answer", "version": "0.55", **(meta or {})}}
    results = [result_of(item, index=index) for index, item in enumerate(items)]
    start = f"event: start\ndata: {json.dumps(head)}"
    return streamed(start, *results, "event: complete\ndata: {}", state=state, **fields)


def compared(left: Run, right: Run, order: str = "") -> str:
    fields = {"left": left.pk, "right": right.pk, **({"order": order} if order else {})}
    response = Client().get("/compare/", fields)
    assert response.status_code == 200
    return str(one_line(response))


def states(html: str) -> list[str | None]:
    """Return the state of the sections of the request and of the response."""
    return [each.attributes["data-state"] for each in read(html).select(class_="difference")]


#: Results on the left and on the right, and words of the page.
RESPONSES: dict[str, tuple[list[Any], list[Any], list[str]]] = {
    "same": ([EGGS, SOUP], [EGGS, SOUP], ["Request: no difference", "Response: no difference"]),
    "new, gone and changed": (
        [EGGS, SOUP], [{**EGGS, "n": 2, "name": "Omelette"}, {"@type": "Recipe", "name": "Bread"}],
        ["Response: 4 differences", "only right", "only left", "changed", "Recipe “Bread”",
         "/name"],
    ),
    "words of a text": ([SOUP], [{**SOUP, "text": "A soup of green tomatoes, slowly cooked"}],
                        [">red</del>", ">green</ins>"]),
    "order": ([EGGS, SOUP], [SOUP, EGGS], ["Response: 1 difference", "moved", "position 1"]),
    "many": ([], [{"name": f"Dish {n}"} for n in range(230)], ["30 more not listed"]),
}  # fmt: skip


class TestResponses:
    @pytest.mark.parametrize("name", RESPONSES)
    def test_differences(self, name: str) -> None:
        left, right, words = RESPONSES[name]
        html = compared(run(*left), run(*right))
        for each in words:
            assert each in html
        changes = [row.attributes["data-change"] for row in read(html).select(data_change=None)]
        assert name != "new, gone and changed" or sorted(map(str, changes[:4])) == [
            "added", "changed", "changed", "removed",
        ]  # fmt: skip

    def test_order_can_mean_nothing(self) -> None:
        html = compared(run(EGGS, SOUP), run(SOUP, EGGS), order="1")
        assert "Response: no difference" in html
        assert 'order=1" aria-current="true"' in html

    def test_ids_and_times_are_folded_and_can_be_seen(self) -> None:
        metas = [{"request_id": f"{name}-id", "processing_time_ms": at}
                 for at, name in enumerate(("first", "second"))]  # fmt: skip
        html = compared(*(run(EGGS, meta=meta) for meta in metas))
        for words in ("Response: no difference", "2 expected differences", ">first</del>-id",
                      ">second</ins>-id"):  # fmt: skip
            assert words in html

    def test_what_arrived_of_a_broken_one_is_compared(self) -> None:
        problem = {"state": "truncated", "stage": "body", "cause": "It broke off.", "fix": "x"}
        broken = run(EGGS, state="truncated", problem=problem)
        html = compared(broken, run(EGGS, SOUP))
        assert "The run on the left did not complete (truncated): It broke off." in html
        assert "Only the received part of the incomplete response is compared." in html
        assert "Recipe “Soup”" in html

    def test_what_cannot_be_compared(self) -> None:
        html = compared(Recording().end("failed"), Recording().end("failed"))
        assert "no response on either side" in html
        assert "impossible" in states(html)
        html = compared(run(EGGS), Recording(protocol="agent-api", version="1").end())
        assert "The runs use different protocols" in html
        old = run(EGGS)
        Run.objects.filter(pk=old.pk).update(protocol="pigeon", version="7")
        html = compared(old, old)
        assert "Unsupported protocol: pigeon 7 over http." in html
        assert states(html) == ["same", "impossible"]

    def test_markup_of_agents_stays_text(self) -> None:
        evil = {"name": "<img src=x onerror=alert(1)>", "url": "javascript:alert(1)"}
        html = compared(run(evil), run({**evil, "n": "<script>x</script>"}))
        for markup in ("<img src=x", "<script>x", 'href="javascript'):
            assert markup not in html


class TestRequests:
    def test_order_of_members_means_nothing_that_of_lists_does(self) -> None:
        one = {"query": {"text": "eggs", "tags": ["a", "b"]}, "meta": {"version": "0.55"}}
        other = {"meta": {"version": "0.55"}, "query": {"tags": ["b", "a"], "text": "eggs"}}
        left, right = run(EGGS, request=one), run(EGGS, request=other)
        html = compared(left, right)
        assert "Request: 2 differences" in html
        assert "/query/tags/0" in html
        assert "Request: no difference" in compared(left, right, order="1")

    def test_ids_are_folded(self) -> None:
        documents = [{"query": {"text": "a"}, "meta": {"request_id": str(n)}} for n in range(2)]
        html = compared(*(run(EGGS, request=each) for each in documents))
        assert "Request: no difference" in html
        assert "/meta/request_id" in html

    def test_where_it_went_and_how(self) -> None:
        left = run(EGGS, headers=[["X-Trace", "one"], ["Authorization", ""]], environment="staging")
        right = run(EGGS, agent_name="Other", binding="mcp", headers=[["x-trace", "two"]])
        html = compared(left, right)
        for words in ("staging", "one", "two", "(not stored)", "Header X-Trace", "scripted · HTTP",
                      "Other · MCP", "Duration"):  # fmt: skip
            assert words in html


class TestChoosing:
    def test_two_of_the_history_in_the_order_of_their_time(self, client: Client) -> None:
        older, newer = run(EGGS), run(EGGS)
        response = client.get("/compare/", {"run": [newer.pk, older.pk]})
        assert response["Location"] == f"/compare/?left={older.pk}&right={newer.pk}"

    def test_one_alone_asks_for_the_other(self, client: Client) -> None:
        one, other = run(EGGS), run(SOUP)
        response = client.get("/compare/", {"run": [one.pk]}, follow=True)
        html = response.text
        assert f"/compare/?left={other.pk}&amp;right={one.pk}" in html
        assert "Open history" in client.get("/compare/").text

    def test_the_likeliest_first(self, client: Client) -> None:
        agent = Agent.objects.create(name="A", url="http://a.example")
        rows: list[tuple[str, dict[str, Any], int]] = [
            ("later", {"agent": agent}, 1),
            ("run", {"agent": agent}, 5),
            ("before", {"agent": agent}, 9),
            ("long before", {"agent": agent}, 90),
            ("same text", {"agent": None}, 6),
            ("same agent", {"agent": agent, "text": "soup"}, 6),
            ("neither", {"agent": None, "text": "soup"}, 6),
        ]
        runs = {}
        for name, fields, minutes in rows:
            runs[name] = Recording(**fields).end()
            moment = timezone.now() - timedelta(minutes=minutes)
            Run.objects.filter(pk=runs[name].pk).update(created_at=moment)
        html = client.get("/compare/choices/", {"run": runs["run"].pk}).text
        found = [str(a.attributes["href"]) for a in read(html).find("a")]
        order = ["before", "long before", "later", "same text", "same agent", "neither"]
        assert [each for each in found if "left=" in each] == [
            f"/compare/?left={runs[name].pk}&right={runs['run'].pk}" for name in order
        ]

    def test_equal_rows_say_what_tells_them_apart(self, client: Client) -> None:
        documents: list[dict[str, Any]] = [
            {"query": {"text": "eggs"}, **prefer}
            for prefer in ({"prefer": {"streaming": True}}, {"prefer": {"streaming": False}}, {},
                           {"prefer": {"streaming": True}})
        ]  # fmt: skip
        runs = [run(EGGS, request=each) for each in documents]
        for seconds, each in enumerate(reversed(runs)):
            moment = timezone.now() - timedelta(seconds=seconds)
            Run.objects.filter(pk=each.pk).update(created_at=moment)
        html = client.get("/compare/choices/", {"run": runs[-1].pk}).text
        rows = [" ".join(row.split()) for row in read(html).text.split("eggs") if "scripted" in row]
        assert len(rows) == len(set(rows)) == 3
        assert ["prefer" in row for row in rows] == [True, True, False]
        assert "prefer: not set" in rows[0]
        assert "prefer.streaming: false" in rows[1]
        assert all("1 result" in row for row in rows)

    def test_no_other_run(self, client: Client) -> None:
        html = client.get("/compare/choices/", {"run": run(EGGS).pk}).text
        assert "No other runs." in html

    @pytest.mark.parametrize("key", ["x", str(uuid4()), "\0"], ids=["text", "nobody", "nul"])
    def test_runs_that_are_not_there(self, client: Client, key: str) -> None:
        one = run(EGGS)
        for address in (f"/compare/?left={one.pk}&right={key}", f"/compare/?run={key}",
                        f"/compare/choices/?run={key}"):  # fmt: skip
            assert client.get(address).status_code == 404

    def test_somebody_elses_run(self, client: Client, django_user_model: Any) -> None:
        theirs = run(EGGS, owner=django_user_model.objects.create(username="u"))
        assert client.get(f"/compare/?left={theirs.pk}").status_code == 404

    def test_waits_for_what_is_under_way(self) -> None:
        going = Recording(state="streaming", heartbeat_at=timezone.now()).run
        html = compared(run(EGGS), going)
        assert "Waiting for one run" in html
        assert 'hx-trigger="every 1s"' in html


def ended(*items: Any, **fields: Any) -> Run:
    """Return a run whose agent has answered with these results."""
    return offered(*items, agent_name="Recipes", **fields)


def twin_of(left: Run, right: Run) -> Twin:
    return Twin.objects.create(left=left, right=right)


def text_of(url: str) -> str:
    response = Client().get(url)
    assert response.status_code == 200
    return read(one_line(response)).words


class TestTwinChoices:
    def test_other_bindings_versions_and_agents(self, client: Client, agent: Agent) -> None:
        Agent.objects.create(name="Other", url="http://b.example")
        Agent.objects.create(name="Foreign", url="http://c.example", protocol="agent-api")
        html = client.post("/twins/choices/", form()).text
        values = [e.attributes.get("value") for e in read(html).find("input")]
        assert "version:0.54" in values
        assert "version:0.55" not in values
        assert values[-1] == "agent:other"
        assert "binding:mcp" in values
        assert "http://agent.example/api/mcp" in html
        assert "Foreign" not in html

    def test_say_what_is_wrong_first(self, client: Client, agent: Agent) -> None:
        for fields in (form({}), form("x"), form(agent="nobody")):
            html = client.post("/twins/choices/", fields).text
            assert "Fix first" in html
            assert "Send both" not in html

    def test_none(self, client: Client) -> None:
        Agent.objects.create(name="Recipes", url="http://c.example", protocol="agent-api")
        document = {"input": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
        html = client.post("/twins/choices/", form(document, version="1")).text
        assert "Nothing to compare with" in html


@pytest.mark.usefixtures("agent")
class TestTwinSending:
    def send(self, client: Client, other: str, document: Any = None) -> Any:
        fields = form(document, other=other, headers='[["X-A", "1"], ["X-Token", "canary"]]')
        return client.post("/twins/", fields, headers={"HX-Request": "true"})

    def test_both_ways(self, client: Client, started: list[Any]) -> None:
        response = self.send(client, "binding:mcp")
        twin = Twin.objects.select_related("left", "right").get()
        assert response["HX-Redirect"] == f"/twins/{twin.pk}/"
        (left, http), (right, mcp) = started
        assert (left, right) == (twin.left, twin.right)
        assert (http.binding, http.url) == ("http", "http://agent.example/api")
        assert (mcp.binding, mcp.url) == ("mcp", "http://agent.example/api/mcp")
        assert left.request == right.request
        assert http.headers == mcp.headers

    def test_as_both_versions(self, client: Client, started: list[Any]) -> None:
        document = {"query": {"text": "eggs"}, "meta": {"version": "0.55", "user": "a"}}
        self.send(client, "version:0.54", document)
        (left, _), (right, _) = started
        assert (left.version, right.version) == ("0.55", "0.54")
        assert left.request == document
        assert right.request == {**document, "meta": {"version": "0.54", "user": "a"}}

    def test_to_two_agents_without_the_credentials_of_one(
        self, client: Client, started: list[Any]
    ) -> None:
        Agent.objects.create(name="Other", url="http://b.example")
        Agent.objects.create(name="Beside", url="http://agent.example/b", version="0.54")
        self.send(client, "agent:other")
        self.send(client, "agent:beside")
        targets = [target for _, target in started]
        assert [target.url for target in targets] == [
            "http://agent.example/api", "http://b.example",
            "http://agent.example/api", "http://agent.example/b",
        ]  # fmt: skip
        assert [("X-Token", "canary") in target.headers for target in targets] == [
            True, False, True, True,
        ]  # fmt: skip
        assert all(("X-A", "1") in target.headers for target in targets)
        assert {target.version for target in targets} == {"0.55"}

    def test_both_continue_the_turn(self, client: Client, agent: Agent, started: list[Any]) -> None:
        prepared = request_to(agent, {"query": {"text": "a"}})
        parent = create_run(prepared)
        fields = form(other="version:0.54", parent=str(parent.pk))
        response = client.post("/twins/", fields)
        assert response.status_code == 302
        assert {run.parent_id for run, _ in started} == {parent.pk}

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            (form({}, other="version:0.54"), "The request requires a query."),
            (form(), "Choose a second target."),
            (form(other="agent:nobody"), "Choose a second target."),
            (form(agent="nobody", other="version:0.54"), "Enter a URL or choose an agent"),
        ],
    )
    def test_what_cannot_be_sent(
        self, client: Client, started: list[Any], fields: dict[str, str], message: str
    ) -> None:
        response = client.post("/twins/", fields, headers={"HX-Request": "true"})
        assert response.status_code == 422
        assert response["HX-Retarget"] == "#compose-problems"
        assert message in response.text
        assert not started


class TestTwinPage:
    @pytest.mark.parametrize(
        ("fields", "titles"),
        [
            ({"binding": "mcp", "version": "0.54"}, ["NLWeb 0.55 · HTTP", "NLWeb 0.54 · MCP"]),
            ({"version": "0.54"}, ["NLWeb 0.55", "NLWeb 0.54"]),
            ({}, ["Recipes", "Recipes"]),
        ],
    )
    def test_names_the_sides_by_what_differs(
        self, client: Client, fields: dict[str, str], titles: list[str]
    ) -> None:
        left, right = ended(EGGS), ended(EGGS)
        Run.objects.filter(pk=right.pk).update(**fields)
        page = read(client.get(twin_of(left, right).get_absolute_url()))
        assert page.find("h1")[0].words == " and ".join(titles)

    def test_waits_until_both_have_ended(self, client: Client) -> None:
        twin = twin_of(ended(EGGS), ended(EGGS, state="streaming"))
        html = client.get(twin.get_absolute_url()).text
        assert "Waiting for both responses" in html
        assert f'hx-get="/twins/{twin.pk}/difference/"' in html
        twin.right.state = "completed"
        twin.right.save()
        html = client.get(f"/twins/{twin.pk}/difference/").text
        assert "No differences" in html
        assert "hx-trigger" not in html

    def test_differences_with_their_places(self) -> None:
        twin = twin_of(ended(EGGS, {"name": "Tea"}), ended({**EGGS, "name": "<b>Omelette"}))
        text = text_of(twin.get_absolute_url())
        assert "2 differences" in text
        assert "changed Recipe “Eggs” /name" in text
        assert "<b>Omelette" in text
        assert "only left Result “Tea”" in text
        assert "2 results on the left, 1 on the right." in text
        assert "processing_time_ms" in text

    def test_what_the_versions_explain(self) -> None:
        versions = [ended(version=version) for version in ("0.54", "0.55")]
        assert "No differences" in text_of(twin_of(*versions).get_absolute_url())

    def test_cannot_be_compared(self) -> None:
        left, right = ended(EGGS), ended(EGGS, state="failed")
        Run.objects.filter(pk=right.pk).update(problem={"cause": "Nobody answers there."})
        text = text_of(twin_of(left, right).get_absolute_url())
        assert "Responses cannot be compared" in text
        assert "The run on the right did not complete (failed): Nobody answers there." in text
        text = text_of(twin_of(ended(state="cancelled"), left).get_absolute_url())
        assert "The run on the left did not complete (cancelled)." in text

    def test_may_frame_its_panes_and_nothing_else(self, client: Client) -> None:
        twin = twin_of(ended(EGGS), ended(EGGS))
        response = client.get(twin.get_absolute_url())
        assert "frame-src 'self'" in response["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
        assert response["X-Frame-Options"] == "DENY"
        frames = read(response).find("iframe")
        assert [each.attributes["src"] for each in frames] == [
            f"/runs/{run.pk}/pane/" for run in (twin.left, twin.right)
        ]


class TestTwinPane:
    def test_may_be_framed_by_the_playground_only(self, client: Client) -> None:
        response = client.get(f"/runs/{ended(EGGS).pk}/pane/")
        assert "frame-ancestors 'self'" in response["Content-Security-Policy"]
        assert response["X-Frame-Options"] == "SAMEORIGIN"
        html = response.text
        assert "Eggs" in html
        assert 'id="composer"' not in html

    def test_every_other_page_may_not(self, client: Client, agent: Agent) -> None:
        for url in ("/", f"/runs/{ended(EGGS).pk}/", "/agents/"):
            response = client.get(url)
            assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
            assert response["X-Frame-Options"] == "DENY"

    def test_what_is_sent_in_it_does_not_move_the_page(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = ended(EGGS, agent=agent)
        for current, pushed in (("pane/", False), ("", True)):
            headers = {
                "HX-Request": "true", "HX-Current-URL": f"http://testserver/runs/{run.pk}/{current}"
            }  # fmt: skip
            response = client.post(f"/runs/{run.pk}/repetition/", headers=headers)
            assert ("HX-Push-Url" in response) is pushed
