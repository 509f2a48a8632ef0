"""The Sequence tab, and its diagram as SVG and Mermaid files."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from django.test import Client

from playground.models import Run
from tests.support.action_runs import action, offering
from tests.support.elicitations import turn
from tests.support.markup import Element, read
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, event

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\x00 \u202e&amp; {{ 7 }}" + "x" * 400


def hostile_run() -> Run:
    recording = Recording(text=HOSTILE.replace("\x00", ""), agent_name="<b>&" * 10)
    data = event('event: elicitation\ndata: {"text": "<img src=x>\\u0000", "questions": []}')
    recording.add(CALL, OPEN, HEAD, data)
    return recording.end("truncated")


def tab(client: Client, run: Run, **query: str) -> Element:
    response = client.get(f"/runs/{run.pk}/sequence/", query)
    assert response.status_code == 200
    return read(response.content.decode())


def links(markup: Element) -> list[dict[str, str | None]]:
    return [each.attributes for each in markup.find("a") if "data-target-run" in each.attributes]


def test_the_tab_is_loaded_by_itself(client: Client, run: Run) -> None:
    page = client.get(run.get_absolute_url()).content.decode()
    assert f'<refreshed-part data-url="/runs/{run.pk}/sequence/"' in page
    assert "sequence-plot" not in page


def test_every_message_is_in_the_diagram_and_in_the_list(client: Client, run: Run) -> None:
    markup = tab(client, run)
    found = links(markup)
    drawn = [each for each in found if "sequence-message" in str(each["class"])]
    listed = [each for each in found if each not in drawn]
    keys = ("href", "data-target-run", "data-target-frame", "data-explain")
    assert [[each.get(key) for key in keys] for each in drawn] == [
        [each.get(key) for key in keys] for each in listed
    ]
    for name in (
        "Playground to scripted: POST /ask: eggs, at 0.0 ms",
        "scripted to Playground: 200 OK, event stream, at 0.0 ms",
    ):
        assert name in markup.text
    assert drawn[2]["href"] == f"{run.get_absolute_url()}#frame-3"
    assert drawn[0]["data-explain"] == "nlweb/0.55/ask-request#/query/text"
    assert drawn[1]["data-explain"] == "playground/1/frames#/call"


def test_the_chosen_turn_is_marked(client: Client) -> None:
    first = turn(None, text="one")
    second = turn(None, first, text="two")
    for run, label in ((first, "Turn 1: one"), (second, "Turn 2: two")):
        found = tab(client, run)
        assert f"{label} (shown)" in found.text
        assert found.text.count("shown") == 2
        assert [each.attributes.get("aria-current") for each in found.find("a")].count("true") == 1


def test_a_long_conversation_has_windows(client: Client) -> None:
    run = turn(None)
    for _ in range(14):
        run = turn(None, run)
    found = tab(client, run)
    assert "Turns 6–15 of 15" in found.text
    assert "5 earlier turns" in found.text
    [button] = found.find("button")
    assert button.attributes["data-until"] == "5"
    found = tab(client, run, until="5")
    assert "Turns 1–10 of 15" in found.text
    assert "5 later turns" in found.text
    hrefs = [each.attributes.get("href") or "" for each in found.find("a")]
    assert f"/runs/{run.pk}/sequence.svg?until=5" in hrefs
    assert f"/runs/{run.pk}/sequence.mmd?until=5" in hrefs


def test_a_narrow_drawing(client: Client, run: Run) -> None:
    def width(markup: Element) -> int:
        return int(markup.find("svg")[0].attributes["width"] or 0)

    assert width(tab(client, run, compact="1")) < 360 < width(tab(client, run))


def test_an_svg_file_needs_nothing_else(client: Client) -> None:
    run = offering()
    action(run)
    response = client.get(f"/runs/{run.pk}/sequence.svg")
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Content-Disposition"] == f'attachment; filename="sequence-{run.pk}.svg"'
    assert "sandbox" in response["Content-Security-Policy"]
    text = response.content.decode()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {each.tag for each in root.iter()} == {
        f"{SVG}{name}" for name in ("svg", "title", "style", "rect", "g", "line", "text", "path")
    }
    assert not re.search(r"href|url\(|@import|class=\"sequence", text)


def test_hostile_texts_stay_texts(client: Client) -> None:
    run = hostile_run()
    found = tab(client, run)
    assert not {each.tag for each in found.elements} & {"script", "img", "b"}
    assert not [each for each in found.elements if {"style", "onclick"} & {*each.attributes}]
    assert "\u202e" not in found.text
    root = ET.fromstring(client.get(f"/runs/{run.pk}/sequence.svg").content)
    assert not [each for each in root.iter() if each.tag.endswith(("script", "img"))]
    shown = "".join(root.itertext())
    assert "<script>alert(1)</script>" in shown
    assert "<img src=x>" in shown


def test_a_mermaid_file(client: Client, run: Run) -> None:
    response = client.get(f"/runs/{run.pk}/sequence.mmd")
    assert response["Content-Disposition"] == f'attachment; filename="sequence-{run.pk}.mmd"'
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.startswith(b"sequenceDiagram\n    actor user as User\n")


def test_without_a_response(client: Client) -> None:
    run = Recording(state="queued").run
    assert "Queued" in tab(client, run).text
    assert ET.fromstring(client.get(f"/runs/{run.pk}/sequence.svg").content) is not None
