"""A new kind of event: registered with one row, it is read, shown, pushed and printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from django.template import engines

from playground.conversation.elements import ELEMENTS
from playground.conversation.entries import Element, Entry, Shown
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.protocols import registry
from playground.protocols.nlweb.reader import NLWebReader
from tests.cases import ask
from tests.support.run_page import Viewer, entries, part, result_of, shared, streamed, words

WEATHER = 'event: weather\ndata: {"sky": "<b>cloudy</b>", "degrees": 7}'


@dataclass(frozen=True, slots=True)
class Weather(ev.Event):
    """The weather at the agent."""

    sky: str
    degrees: float
    raw: Any = None


class _WeatherReader(NLWebReader):
    def message(self, seq: int, name: str | None, data: str) -> list[ev.Event]:
        if name != "weather":
            return super().message(seq, name, data)
        found = json.loads(data)
        return [Weather(seq, found["sky"], found["degrees"], found)]


def show_weather(entry: Entry, _: Thread) -> Shown:
    assert isinstance(entry.event, Weather)
    return "weather.html", {"degrees": f"{entry.event.degrees:g} °C"}


@pytest.fixture(autouse=True)
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let agents of NLWeb send the weather: a class, a template and a row."""
    template = tmp_path / "weather.html"
    template.write_text(
        '<p class="weather" id="{{ anchor }}" data-seq="{{ entry.seq }}">'
        '{{ event.sky }}, {{ degrees }} {% include "conversation/response.html#raw" %}</p>'
    )
    engine = engines["django"].engine  # type: ignore[attr-defined]
    monkeypatch.setattr(engine, "dirs", [*engine.dirs, tmp_path])
    reading = replace(registry.PROTOCOLS["nlweb"], reader=_WeatherReader)
    monkeypatch.setitem(registry.PROTOCOLS, "nlweb", reading)  # type: ignore[arg-type]
    row = Element(show_weather, lambda event: f"{event.sky} at {event.degrees:g} °C")
    monkeypatch.setitem(ELEMENTS, Weather, row)
    yield
    for loader in engine.template_loaders:
        loader.reset()


@pytest.mark.django_db
def test_it_is_shown_pushed_shared_and_listed() -> None:
    run = streamed(WEATHER, result_of({"name": "Soup"}))
    first, card = entries(part(run))
    assert first.attributes["class"] == "weather"
    assert first.words.startswith("<b>cloudy</b>, 7 °C")
    assert "Soup" in card.words
    viewer = Viewer(run, after=0)
    viewer.follow()
    assert [each.words for each in entries(viewer.page)] == [first.words, card.words]
    assert '"degrees": 7' in entries(shared(run))[0].words
    seq = first.attributes["data-seq"]
    assert "<b>cloudy</b> at 7 °C" in words(run, "events/")
    assert '"degrees": 7' in words(run, f"items/{seq}/0/")


@pytest.mark.django_db(transaction=True)
def test_it_is_printed() -> None:
    stream = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{WEATHER}\n\n"
    found = ask(stream.encode())
    assert found.of("weather") == [
        {"seq": 4, "at_ms": found.of("weather")[0]["at_ms"], "type": "weather"}
        | {"sky": "<b>cloudy</b>", "degrees": 7}
    ]


def test_each_kind_of_event_has_a_row_and_each_entry_a_template() -> None:
    """A kind without a row is found here, and not by the first agent that sends it."""
    kinds = [kind for kind in vars(ev).values() if isinstance(kind, type)]
    events = {kind for kind in kinds if issubclass(kind, ev.Event)} - {ev.Event}
    assert events - {ev.Handshake} == ELEMENTS.keys() - {Weather}
