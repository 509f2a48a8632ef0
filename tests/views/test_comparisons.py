"""Comparison of two runs: requests, responses and targets, and the choice of the other run."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from playground.models import Agent, Run
from tests.support.markup import read
from tests.support.run_page import result_of, streamed
from tests.support.stored_runs import Recording

EGGS = {"@type": "Recipe", "url": "http://a.example/eggs", "name": "Eggs", "n": 1}
SOUP = {"@type": "Recipe", "name": "Soup", "text": "A soup of red tomatoes, slowly cooked"}


def run(*items: Any, state: str = "completed", meta: Any = None, **fields: Any) -> Run:
    """Return a run that has come to its end with these results."""
    head = {"_meta": {"response_type": "answer", "version": "0.55", **(meta or {})}}
    results = [result_of(item, index=index) for index, item in enumerate(items)]
    start = f"event: start\ndata: {json.dumps(head)}"
    return streamed(start, *results, "event: complete\ndata: {}", state=state, **fields)


def compared(client: Client, left: Run, right: Run, order: str = "") -> str:
    fields = {"left": left.pk, "right": right.pk, **({"order": order} if order else {})}
    response = client.get("/compare/", fields)
    assert response.status_code == 200
    return str(response.content.decode())


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
                        ["<del>red</del>", "<ins>green</ins>"]),
    "order": ([EGGS, SOUP], [SOUP, EGGS], ["Response: 1 difference", "moved", "position 1"]),
    "many": ([], [{"name": f"Dish {n}"} for n in range(230)], ["30 more not listed"]),
}  # fmt: skip


class TestResponses:
    @pytest.mark.parametrize("name", RESPONSES)
    def test_differences(self, client: Client, name: str) -> None:
        left, right, words = RESPONSES[name]
        html = compared(client, run(*left), run(*right))
        for each in words:
            assert each in html
        changes = [row.attributes["data-change"] for row in read(html).select(data_change=None)]
        assert name != "new, gone and changed" or sorted(map(str, changes[:4])) == [
            "added", "changed", "changed", "removed",
        ]  # fmt: skip

    def test_order_can_mean_nothing(self, client: Client) -> None:
        html = compared(client, run(EGGS, SOUP), run(SOUP, EGGS), order="1")
        assert "Response: no difference" in html
        assert 'order=1" aria-current="true"' in html

    def test_ids_and_times_are_folded_and_can_be_seen(self, client: Client) -> None:
        metas = [{"request_id": f"{name}-id", "processing_time_ms": at}
                 for at, name in enumerate(("first", "second"))]  # fmt: skip
        html = compared(client, *(run(EGGS, meta=meta) for meta in metas))
        for words in ("Response: no difference", "2 expected differences", "<del>first</del>-id",
                      "<ins>second</ins>-id"):  # fmt: skip
            assert words in html

    def test_what_arrived_of_a_broken_one_is_compared(self, client: Client) -> None:
        problem = {"state": "truncated", "stage": "body", "cause": "It broke off.", "fix": "x"}
        broken = run(EGGS, state="truncated", problem=problem)
        html = compared(client, broken, run(EGGS, SOUP))
        assert "The run on the left did not complete (truncated): It broke off." in html
        assert "Only the received part of the incomplete response is compared." in html
        assert "Recipe “Soup”" in html

    def test_what_cannot_be_compared(self, client: Client) -> None:
        html = compared(client, Recording().end("failed"), Recording().end("failed"))
        assert "no response on either side" in html
        assert "impossible" in states(html)
        html = compared(client, run(EGGS), Recording(protocol="agent-api", version="1").end())
        assert "The runs use different protocols" in html
        old = run(EGGS)
        Run.objects.filter(pk=old.pk).update(protocol="pigeon", version="7")
        html = compared(client, old, old)
        assert "Unsupported protocol: pigeon 7 over http." in html
        assert states(html) == ["same", "impossible"]

    def test_markup_of_agents_stays_text(self, client: Client) -> None:
        evil = {"name": "<img src=x onerror=alert(1)>", "url": "javascript:alert(1)"}
        html = compared(client, run(evil), run({**evil, "n": "<script>x</script>"}))
        for markup in ("<img src=x", "<script>x", 'href="javascript'):
            assert markup not in html


class TestRequests:
    def test_order_of_members_means_nothing_that_of_lists_does(self, client: Client) -> None:
        one = {"query": {"text": "eggs", "tags": ["a", "b"]}, "meta": {"version": "0.55"}}
        other = {"meta": {"version": "0.55"}, "query": {"tags": ["b", "a"], "text": "eggs"}}
        left, right = run(EGGS, request=one), run(EGGS, request=other)
        html = compared(client, left, right)
        assert "Request: 2 differences" in html
        assert "/query/tags/0" in html
        assert "Request: no difference" in compared(client, left, right, order="1")

    def test_ids_are_folded(self, client: Client) -> None:
        documents = [{"query": {"text": "a"}, "meta": {"request_id": str(n)}} for n in range(2)]
        html = compared(client, *(run(EGGS, request=each) for each in documents))
        assert "Request: no difference" in html
        assert "/meta/request_id" in html

    def test_where_it_went_and_how(self, client: Client) -> None:
        left = run(EGGS, headers=[["X-Trace", "one"], ["Authorization", ""]], environment="staging")
        right = run(EGGS, agent_name="Other", binding="mcp", headers=[["x-trace", "two"]])
        html = compared(client, left, right)
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
        html = response.content.decode()
        assert f"/compare/?left={other.pk}&amp;right={one.pk}" in html
        assert "Open history" in client.get("/compare/").content.decode()

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
        html = client.get("/compare/choices/", {"run": runs["run"].pk}).content.decode()
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
        html = client.get("/compare/choices/", {"run": runs[-1].pk}).content.decode()
        rows = [" ".join(row.split()) for row in read(html).text.split("eggs") if "scripted" in row]
        assert len(rows) == len(set(rows)) == 3
        assert ["prefer" in row for row in rows] == [True, True, False]
        assert "prefer: not set" in rows[0]
        assert "prefer.streaming: false" in rows[1]
        assert all("1 result" in row for row in rows)

    def test_no_other_run(self, client: Client) -> None:
        html = client.get("/compare/choices/", {"run": run(EGGS).pk}).content.decode()
        assert "No other runs." in html

    @pytest.mark.database
    @pytest.mark.parametrize("key", ["x", str(uuid4()), "\0"], ids=["text", "nobody", "nul"])
    def test_runs_that_are_not_there(self, client: Client, key: str) -> None:
        one = run(EGGS)
        for address in (f"/compare/?left={one.pk}&right={key}", f"/compare/?run={key}",
                        f"/compare/choices/?run={key}"):  # fmt: skip
            assert client.get(address).status_code == 404

    def test_somebody_elses_run(self, client: Client, django_user_model: Any) -> None:
        theirs = run(EGGS, owner=django_user_model.objects.create(username="u"))
        assert client.get(f"/compare/?left={theirs.pk}").status_code == 404

    def test_waits_for_what_is_under_way(self, client: Client) -> None:
        going = Recording(state="streaming", heartbeat_at=timezone.now()).run
        html = compared(client, run(EGGS), going)
        assert "Waiting for one run" in html
        assert 'hx-trigger="every 1s"' in html
