"""Expectations of a run, the response document, and the preview of the editor."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from playground.models import Environment, Run
from playground.verdicts import expectations
from tests.support.markup import Element, read
from tests.support.run_page import html_of, streamed
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, event

LINES = (
    'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}',
    'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "<b>Soup</b>"}}',
    'event: result\ndata: {"index": 1, "item": {"@type": "Recipe", "name": "Pie"}}',
    'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}',
)
MET = {"type": "results", "exact": 2}
UNMET = {"type": "json", "path": "$.results[0].name", "equals": "Tea"}


def a_run(*wanted: Any, **fields: Any) -> Run:
    return streamed(*LINES, expectations=list(wanted), **fields)


def part(run: Run, path: str) -> Element:
    return read(html_of(run, f"{path}/"))


def attempt(client: Client, run: Run | None, wanted: Any = "", captures: Any = "") -> Any:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    fields = {"expectations": text(wanted), "captures": text(captures)}
    response = client.post("/expectations/try/", {"run": run.pk if run else "", **fields})
    assert response.status_code == 200
    return response.json()


class TestChecks:
    def test_every_expectation_with_its_verdict(self) -> None:
        found = part(a_run(MET, UNMET, {"type": "?"}), "checks")
        rows = found.select("li", data_verdict=None)
        assert [row.attributes["data-verdict"] for row in rows] == ["pass", "fail", "incomplete"]
        assert [word in row.words for row, word in zip(
            rows, ("Passed", "Failed", "Inconclusive"), strict=True)] == [True] * 3  # fmt: skip
        text = found.text
        assert "1 of 3 passed" in text
        assert '$.results[0].name equals "Tea"' in text
        assert 'Actual: "<b>Soup</b>"' in text

    @pytest.mark.parametrize(
        ("wanted", "verdict", "tally"),
        [
            ([MET, MET], "pass", "2 of 2 passed"),
            ([MET, UNMET], "fail", "1 of 2 passed"),
            ([MET, {"type": "?"}], "incomplete", "1 of 2 passed"),
            ([UNMET, {"type": "?"}], "fail", "0 of 2 passed"),
        ],
        ids=["met", "unmet", "unclear", "none"],
    )
    def test_the_tally_is_for_the_bar_and_for_the_tab(
        self, wanted: Any, verdict: str, tally: str
    ) -> None:
        found = part(a_run(*wanted), "checks/count")
        (button,) = found.find("button")
        assert button.attributes["data-verdict"] == verdict
        assert button.attributes["data-show-tab"] == "tab-checks"
        assert tally in found.text
        count = next(each for each in found.find("span") if each.attributes.get("id"))
        assert count.attributes["hx-swap-oob"] == "true"

    def test_a_run_that_goes_on_is_not_checked(self) -> None:
        recording = Recording(expectations=[MET])
        recording.add(CALL, OPEN, HEAD, event(LINES[1]))
        assert "when the run has ended" in part(recording.run, "checks").words
        assert part(recording.run, "checks/count").text.strip() == ""
        assert "when the run has ended" in part(recording.run, "document").words

    def test_with_expectations_the_page_has_a_tab(self, client: Client) -> None:
        for run, shown in ((a_run(MET), True), (a_run(), False)):
            page = client.get(f"/runs/{run.pk}/").text
            assert ('id="tab-checks"' in page) is shown
            assert ("checks/count/" in page) is shown
        assert "No expectations" in part(a_run(), "checks").text

    def test_a_reply_is_read_once(self, django_assert_max_num_queries: Any) -> None:
        run = a_run(MET)
        part(run, "checks")
        with django_assert_max_num_queries(4):
            part(run, "checks/count")


class TestDocument:
    def test_is_the_reply_as_one(self) -> None:
        found = part(a_run(), "document")
        assert json.loads(found.text)["results"][1] == {"@type": "Recipe", "name": "Pie"}

    def test_says_where_there_is_none(self) -> None:
        recording = Recording()
        recording.add(CALL, OPEN)
        assert "no response document" in part(recording.end("failed"), "document").text

    def test_is_cut_where_it_would_drown_the_page(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(expectations, "MAX_SHOWN", 40)
        found = part(a_run(), "document")
        assert "The rest is not shown" in found.text
        assert "Pie" not in found.text


class TestEditor:
    def test_has_a_form_for_every_type(self, client: Client) -> None:
        page = client.get("/expectations/").text
        for kind in expectations.EXPECTATION_TYPES:
            assert f'<template data-kind="{kind}">' in page
        for operator in ("exists", "equals", "contains", "matches", "is"):
            assert f'data-operand="{operator}"' in page


class TestTrying:
    def test_gives_a_verdict_for_each(self, client: Client) -> None:
        found = attempt(client, a_run(), [MET, UNMET])
        assert [check["verdict"] for check in found["checks"]] == ["pass", "fail"]
        assert found["checks"][1]["actual"] == '"<b>Soup</b>"'
        assert found["problems"] == []

    def test_names_stand_for_what_they_do_when_it_is_sent(self, client: Client) -> None:
        environment = Environment.objects.create(name="Names")
        environment.variables.create(name="dish", value="Pie")
        environment.variables.create(name="key", kind="secret", secret="<b>Soup</b>")
        client.post("/environments/active/", {"environment": environment.slug})
        wanted = [
            {"type": "json", "path": "$.results[*].name", "equals": f"{{{{{name}}}}}"}
            for name in ("dish", "nobody", "key")
        ]
        found = attempt(client, a_run(), wanted)
        assert [check["verdict"] for check in found["checks"]] == ["pass", "fail", "fail"]
        assert [(problem["pointer"], problem["message"][:9]) for problem in found["problems"]] == [
            ("/expectations/2", "Expectati"), ("/expectations/1/equals", "{{nobody}"),
        ]  # fmt: skip

    @pytest.mark.parametrize("wanted", [5, {"a": "{{x}}"}, ["{{x}}"], [MET, "{{$uuid}}"]], ids=str)
    def test_what_are_no_expectations_is_told(self, client: Client, wanted: Any) -> None:
        assert attempt(client, a_run(), json.dumps(wanted))["problems"]

    def test_a_run_shows_what_was_written(self, client: Client) -> None:
        """And not the values of its names: it is sent again with those of that time."""
        wanted = [{**UNMET, "equals": "{{dish}}"}]
        template = {"document": {"query": {"text": "x"}}, "headers": [], "address": "", "auth": {}}
        run = a_run(UNMET, request_template={**template, "expectations": wanted})
        text = read(client.get(run.get_absolute_url())).text
        assert json.dumps(wanted) in text
        assert json.dumps([UNMET]) not in text

    def test_counts_what_a_path_selects(self, client: Client) -> None:
        wanted = {"type": "json", "path": "$.results[*].name", "exists": True}
        (check,) = attempt(client, a_run(), [wanted])["checks"]
        assert check["actual"].startswith("2 values: ")

    def test_gives_the_values_of_captures(self, client: Client) -> None:
        found = attempt(client, a_run(), "", {"name": "$.results[1].name", "no": "$.x"})
        assert found["captures"] == [{"name": "name", "value": '"Pie"'}]
        assert [problem["pointer"] for problem in found["problems"]] == ["/captures/no"]

    def test_tells_places(self, client: Client) -> None:
        wrong = [MET, {"type": "json", "path": "$[", "exists": True}]
        for run in (a_run(), None):
            (problem,) = attempt(client, run, wrong)["problems"]
            assert problem["pointer"] == "/expectations/1/path"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[{]", "Line 1, column 3"),
            ('[{"type": "?", "type": "?"}]', "Duplicate name “type”"),
            ("[" * 200 + "]" * 200, "nested more than 100 levels"),
            ("[" + " " * 300_000 + "]", "Too large"),
            ('{"a": 1}', "Expectations must be an array"),
        ],
        ids=["broken", "repeated", "deep", "long", "object"],
    )
    def test_what_cannot_be_read_is_told(self, client: Client, text: str, words: str) -> None:
        (problem,) = attempt(client, None, text)["problems"]
        assert words in problem["message"]
        assert problem["pointer"] == "/expectations"

    def test_offers_what_the_run_meets(self, client: Client) -> None:
        run = a_run()
        found = attempt(client, run)["suggestions"]
        assert {"label": "2 results", "expectation": MET} in found
        wanted = [each["expectation"] for each in found]
        assert {check["verdict"] for check in attempt(client, run, wanted)["checks"]} == {"pass"}
        assert attempt(client, run, wanted)["suggestions"] == []

    def test_offers_nothing_without_a_run(self, client: Client) -> None:
        assert not any(attempt(client, None, [MET]).values())

    @pytest.mark.parametrize("run", [str(uuid4()), "x"], ids=["another", "no id"])
    def test_another_run_is_none(self, client: Client, run: str) -> None:
        assert client.post("/expectations/try/", {"run": run}).status_code == 404
