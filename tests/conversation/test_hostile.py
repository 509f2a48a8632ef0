"""Markup in every text that an agent can send stays text: on the page, in messages and in shares.

The events are those of the rules' tables. Each text in them is replaced, one at a time. What is
shown is rendered twice and compared, see conftest.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from playground.protocols.frames import Frame, FrameKind
from tests.conformance.scripts import VERSION
from tests.conformance.tables import CASES
from tests.support.markup import Element
from tests.support.run_page import Viewer, part, shared
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording

pytestmark = pytest.mark.django_db

HOSTILE = "\"'><script>alert(1)</script>{{ 1 }}&lt;b&gt;"
#: Events of one run: a page shows as many entries.
EVENTS = 50


def planted(value: Any) -> Iterator[Any]:
    """Yield the value with one of its texts replaced, or with a member whose name is markup."""
    if isinstance(value, str):
        yield HOSTILE
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from ([*value[:at], each, *value[at + 1 :]] for each in planted(item))
    elif isinstance(value, dict):
        yield {**value, HOSTILE: HOSTILE}
        for name, item in value.items():
            yield from ({**value, name: each} for each in planted(item))


def shape(value: Any) -> Any:
    """Return what tells two events apart: the names of their members."""
    if isinstance(value, dict):
        return tuple(sorted((name, shape(item)) for name, item in value.items()))
    return tuple({shape(item) for item in value}) if isinstance(value, list) else ()


def blocks_of(protocol: str) -> list[bytes]:
    """Return the events of a protocol's table, each shape of them once, planted."""
    found: dict[Any, list[bytes]] = {}
    frames = (
        frame for case in CASES if case.good.protocol == protocol for frame in case.good.frames
    )
    for frame in frames:
        name, _, data = frame.data.rpartition(b"data: ")
        if frame.kind is not FrameKind.EVENT or b"\n" in data.strip():
            continue
        try:
            value = json.loads(data.replace(VERSION.encode(), b"0.55"))
        except ValueError:
            continue
        lines = [name + b"data: " + json.dumps(each).encode() for each in planted(value)]
        found.setdefault((name, repr(shape(value))), lines)
    return [block for blocks in found.values() for block in blocks]


def assert_text_only(page: Element) -> None:
    assert not [each for each in page if each.tag in ("script", "b")]
    for element in page:
        for name, value in element.attributes.items():
            assert not name.startswith("on"), element
            assert name != "href" or not (value or "").lower().startswith(("javascript:", "data:"))


@pytest.mark.parametrize("protocol", ["nlweb", "agent-api", "chat-completions"])
def test_markup_stays_text(protocol: str, compiled_names: list[str]) -> None:
    version = "0.55" if protocol == "nlweb" else "1"
    blocks = blocks_of(protocol)
    assert len(blocks) > EVENTS
    shown = 0
    for at in range(0, len(blocks), EVENTS):
        recording = Recording(protocol=protocol, version=version)
        recording.add(CALL, OPEN, HEAD)
        viewers = [Viewer(recording.run), Viewer(recording.run, readonly=True)]
        for block in blocks[at : at + EVENTS]:
            recording.add(Frame(0, 50, FrameKind.EVENT, block))
        for viewer in viewers:
            viewer.follow()
        recording.add(END)
        run = recording.end()
        for viewer in viewers:
            viewer.follow()
        pages = [part(run), shared(run), *(viewer.page for viewer in viewers)]
        for page in pages:
            assert_text_only(page)
        shown += HOSTILE in pages[0].text
    assert shown
    assert any(name.startswith("conversation/") for name in compiled_names)
