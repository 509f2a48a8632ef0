"""What the popover shows of a name, and the references of documents to their schemas."""

from __future__ import annotations

import pytest

from playground.protocols import events as ev
from playground.protocols import registry
from playground.rendering.explanations import (
    event_reference,
    explanation_view,
    kind_reference,
    meaning,
    protocol_label,
)

RESPONSE = {"_meta": {"response_type": "promise"}, "promise": {"token": "p"}}


@pytest.mark.parametrize(
    ("protocol", "version", "label"),
    [
        ("nlweb", "0.54", "NLWeb 0.54"),
        ("agent-api", "1", "Agent API"),
        ("http", "1", "HTTP"),
        ("nlweb", "0.99", "nlweb"),
    ],
)
def test_a_protocol_has_its_label(protocol: str, version: str, label: str) -> None:
    assert protocol_label(protocol, version) == label


@pytest.mark.parametrize(
    ("event", "reference"),
    [
        (ev.Started(1, {"version": "0.55"}), "nlweb/0.55/response-meta#"),
        (ev.Completed(1), "nlweb/0.55/response-meta#"),
        (ev.Result(1, {"name": "Soup"}), "nlweb/0.55/item#"),
        (ev.Result(1, {"name": "Soup"}, index=0), "nlweb/0.55/event-result#"),
        (ev.Promise(1, token="p", raw=RESPONSE), "nlweb/0.55/promise#"),
        (ev.Tools(1, []), "mcp/1/message#/result/tools"),
        (ev.Unknown(1, "odd", {"a": 1}), ""),
    ],
)
def test_the_payload_of_an_event_has_a_schema(event: ev.Event, reference: str) -> None:
    assert event_reference("nlweb", "0.55", event) == reference


@pytest.mark.parametrize("version", ["", "0.99", "../0.55"])
def test_a_version_without_schemas_has_no_references(version: str) -> None:
    assert event_reference("nlweb", version, ev.Result(1, {})) == ""
    assert event_reference("action", version, ev.Started(1, {})) == ""


def test_kinds_of_frames_and_of_events_have_schemas_of_their_own() -> None:
    assert kind_reference("head") == "playground/1/frames#/head"
    assert kind_reference("result") == "playground/1/events#/result"
    assert kind_reference("tool call") == "playground/1/events#/tool call"


def test_the_form_has_the_sentence_of_the_latest_version() -> None:
    latest = registry.versions("nlweb")[-1].name
    view = explanation_view("nlweb", latest, "ask-request", "/query/site")
    assert meaning("nlweb", "ask-request", "/query/site") == view.text != ""
    assert meaning("nlweb", "ask-request", "/query/text/deep") == ""


def test_a_name_has_its_place_and_an_array_element_the_name_of_its_array() -> None:
    view = explanation_view("nlweb", "0.55", "answer", "/results/3/@type")
    assert (view.name, view.place) == ("@type", "results")
    assert explanation_view("nlweb", "0.55", "answer", "/results/3").name == "results"


@pytest.mark.parametrize("pointer", ["query", "/" * 61, f"/{'x' * 2000}"])
def test_a_pointer_that_is_too_long_or_none_is_refused(pointer: str) -> None:
    with pytest.raises(ValueError, match="pointer"):
        explanation_view("nlweb", "0.55", "ask-request", pointer)
