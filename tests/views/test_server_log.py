"""The server log: one entry in the thread, loaded when it is opened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.models import Run
from playground.protocols.frames import Frame
from playground.rendering.server_log import log_lines
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

pytestmark = pytest.mark.django_db


def note(kind: str, **members: Any) -> dict[str, Any]:
    return {"message_type": kind, "query_id": "q1", **members}


def message(payload: dict[str, Any]) -> Frame:
    return event(f"data: {json.dumps(payload)}")


@pytest.fixture
def run() -> Run:
    batch = note("result_batch", results=[{"name": "Soup", "schema_object": {"@type": "Recipe"}}])
    told = [
        note("asking_sites", sites=["a.example", "b.example"]),
        note("decontextualized_query", decontextualized_query="<b>soup</b>", requires=True),
        note("license", content="MIT"),
        note("api_key", key_name="maps", key_value="s3cr3t"),
        note("empty"),
    ]
    return recorded(
        [
            [CALL, OPEN, HEAD],
            [message(told[0]), message(batch), message(told[1])],
            [message(each) for each in told[2:]],
            [message(note("complete")), END],
        ]
    )


def test_every_note_is_listed(run: Run) -> None:
    notes, more = log_lines(run)
    assert [(each.name, each.text) for each in notes] == [
        ("asking_sites", "sites: a.example, b.example"),
        ("decontextualized_query", "decontextualized_query: <b>soup</b> · requires: yes"),
        ("license", "MIT"),
        ("api_key", "key_name: maps · key_value: ••••••"),
        ("empty", ""),
    ]
    assert not more


def test_the_page_shows_one_entry_above_the_results(client: Client, run: Run) -> None:
    html = client.get(f"/runs/{run.pk}/").content.decode()
    assert html.count("<summary>Server log</summary>") == 1
    assert html.index("<summary>Server log") < html.index('id="cards"')
    assert f'hx-get="/runs/{run.pk}/server-log/"' in html
    assert "decontextualized_query" not in html.partition('id="tab-events"')[0]


def test_what_it_opens_to(client: Client, run: Run) -> None:
    html = client.get(f"/runs/{run.pk}/server-log/").content.decode()
    assert "&lt;b&gt;soup&lt;/b&gt;" in html
    assert "no text" in html
    assert "s3cr3t" not in html


def test_a_run_of_the_standard_has_no_such_entry(client: Client) -> None:
    plain = recorded([[CALL, OPEN, HEAD], [message({"results": [{"name": "Soup"}]})], [END]])
    assert "<summary>Server log" not in client.get(f"/runs/{plain.pk}/").content.decode()
    assert log_lines(plain) == ([], False)


def test_no_rule_of_the_standard_applies_to_it(client: Client) -> None:
    run = recorded([[CALL, OPEN, HEAD], [message(note("complete"))], [END]])
    Run.objects.update(version="legacy")
    report = client.get(f"/runs/{run.pk}/conformance.json").json()
    verdicts = {each["verdict"] for each in report["findings"]}
    assert report["version"] == "legacy"
    assert not verdicts & {"fail", "pass"}
    assert client.get(f"/runs/{run.pk}/conformance/").status_code == 200
