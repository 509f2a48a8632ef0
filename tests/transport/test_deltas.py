"""Secrets that an agent divides among events are found where a page would join them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.base.limits import RunLimits
from playground.base.memory_budget import RunMemory
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from playground.transport import OutboundPolicy, Transport, deltas
from playground.transport.deltas import MOST_BYTES, MOST_EVENTS, DeltaRedactor
from playground.transport.redaction import MASK, Redactor
from tests.support.servers import HOLD, LAST_CHUNK, STREAM_HEAD, chunk, serve
from tests.transport.conftest import record, sending

CANARY = "canary-4711"


def event(document: object, *, name: str = "") -> bytes:
    data = document if isinstance(document, str) else json.dumps(document)
    return f"{name and f'event: {name}'}\ndata: {data}\n\n".lstrip().encode()


def content(text: str, **more: object) -> bytes:
    """Return a delta of the Agent API."""
    return event({"object": "content", "index": 0, "delta": True, "text": text, **more})


def artifact(text: str) -> bytes:
    """Return a delta of A2A."""
    part = {"kind": "text", "text": text}
    return event({"jsonrpc": "2.0", "id": 1, "result": {"artifact": {"parts": [part]}}})


def item(text: str) -> bytes:
    """Return a delta of NLWeb."""
    return event({"content": [{"type": "text", "text": text}]}, name="result")


class Emitted(list[Frame]):
    """A redactor of deltas, and the frames that it has emitted."""

    def __init__(self, *secrets: str, memory: RunMemory | None = None) -> None:
        super().__init__()
        self.redactor = DeltaRedactor(Redactor(secrets), self.extend, memory)

    def put(self, *blocks: bytes) -> None:
        for block in blocks:
            kind = FrameKind.COMMENT if block[:1] == b":" else FrameKind.EVENT
            self.redactor.put([Frame(0, len(block), kind, block)])

    @property
    def data(self) -> list[bytes]:
        return [frame.data for frame in self]

    @property
    def text(self) -> str:
        return "".join(document["text"] for document in self.documents)

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(sse.parse(data).data) for data in self.data]


def divided(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("delta", [content, artifact, item])
async def test_a_divided_secret_is_masked(delta: Callable[[str], bytes], size: int) -> None:
    pieces = [f"Your key is {CANARY[:size]}", *divided(CANARY[size:] + ", keep it", size)]
    script = [chunk(delta(piece)) for piece in pieces]
    async with serve(STREAM_HEAD, *script, chunk(event("[DONE]")), LAST_CHUNK) as server:
        frames = await record(server.url, redact=[CANARY])
    assert frames.kinds == ["CALL", "OPEN", "HEAD", *["EVENT"] * (len(pieces) + 1), "END"]
    documents = [json.loads(sse.parse(data).data) for data in frames.of(FrameKind.EVENT)[:-1]]
    texts = ["".join(_texts(document)) for document in documents]
    assert "".join(texts) == f"Your key is {MASK}, keep it"


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        yield from (str(value["text"]) for _ in range(1) if "text" in value)
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


async def test_all_but_the_first_letter_of_a_secret_in_letters() -> None:
    """It is alone in its event, as in many others, and these are not held back."""
    emitted = Emitted(CANARY)
    emitted.put(*map(content, CANARY))
    assert emitted.text == f"c{MASK}"


async def test_what_begins_like_a_secret_is_held_back_and_released_unchanged() -> None:
    emitted = Emitted(CANARY)
    first, other, last = content("my can"), b": ping\n\n", content("ada", id=1e400)
    emitted.put(first, other)
    assert not emitted
    emitted.put(last)
    assert emitted.data == [first, other, last]
    assert [frame.at_us for frame in emitted] == [len(first), len(other), len(last)]


async def test_other_fields_and_strings_stay() -> None:
    emitted = Emitted(CANARY)
    first = (
        b"id: 7\nevent: delta\ndata: " + json.dumps({"text": "can", "n": 1}).encode() + b"\r\n\r\n"
    )
    emitted.put(first, content("ary-4711 ok", note="é"))
    assert emitted.text == f"{MASK} ok"
    assert emitted.data[0].startswith(b"id: 7\nevent: delta\ndata: {")
    assert emitted.data[0].endswith(b"}\r\n\r\n")
    assert emitted.documents[0]["n"] == 1
    assert emitted.documents[1]["note"] == "é"


async def test_strings_of_other_paths_in_between() -> None:
    emitted = Emitted(CANARY)
    emitted.put(content("can"), event({"text2": "other", "text": 3}), event("no JSON"))
    emitted.put(content("ary-47"), content("11"))
    assert CANARY[3:9].encode() not in b"".join(emitted.data)
    assert len(emitted) == 5


@pytest.mark.parametrize("secret", ['a"b\\c/d', "äöü€", "a\nb\tc"])
@pytest.mark.parametrize("ascii_only", [True, False])
async def test_characters_that_json_escapes(secret: str, ascii_only: bool) -> None:
    for size in (1, 2, 3):
        emitted = Emitted(secret)
        for piece in divided(f"in {secret} out", size):
            data = json.dumps({"text": piece}, ensure_ascii=ascii_only).replace("/", "\\/")
            emitted.put(event(data))
        assert secret not in emitted.text
        assert emitted.text.replace(secret[0], "") == f"in {MASK} out"


async def test_several_secrets() -> None:
    """One within another, one that overlaps, and one after the other."""
    emitted = Emitted("token", "token-long", "ngo-ngo")
    for piece in ("to", "ke", "n-lo", "ngo-n", "go", "to", "ken", " ok"):
        emitted.put(content(piece))
    assert emitted.text.replace(MASK, "") == " ok"


async def test_a_constant_string_holds_nothing_back() -> None:
    emitted = Emitted("task-4711")
    for number in range(4):
        emitted.put(event({"kind": "task", "n": number}))
    assert len(emitted) == 4
    emitted.put(event({"kind": "-4711", "n": 4}), event({"kind": "other"}))
    assert b"4711" not in b"".join(emitted.data)


async def test_no_more_than_some_events_and_bytes_are_held_back() -> None:
    for more in (b": ping\n\n", event({"other": "x" * 5000})):
        memory = RunMemory()
        emitted = Emitted(CANARY, memory=memory)
        emitted.put(content("can"))
        assert memory.held == len(content("can"))
        emitted.put(*[more] * (MOST_EVENTS + 1))
        assert emitted.data[0] == content("can")
        assert memory.held == 0
        # Of what was shown, the rest is masked.
        emitted.put(content("ary-4711 ok"))
        assert emitted.data[-1] == content(f"{MASK} ok")
    emitted = Emitted(CANARY)
    emitted.put(content("x" * MOST_BYTES + "can"))
    assert len(emitted) == 1


async def test_a_pause_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "_TIMEOUT", 0)
    emitted = Emitted(CANARY)
    emitted.put(content("can"))
    assert not emitted
    while not emitted:
        await asyncio.sleep(0)
    assert emitted.data == [content("can")]


@pytest.mark.parametrize(
    "limits", [RunLimits(), RunLimits(max_frames=5), RunLimits(max_bytes=len(content("can")) + 9)]
)
async def test_the_end_of_a_call_releases(limits: RunLimits) -> None:
    script = (STREAM_HEAD, chunk(content("can")), chunk(b": ping\n\n" * 5 + b"data: "), LAST_CHUNK)
    async with serve(*script) as server:
        frames = await record(server.url, redact=[CANARY], limits=limits)
        others = await record(server.url, limits=limits)
    assert [frame.data for frame in frames[3:]] == [frame.data for frame in others[3:]]
    assert frames.of(FrameKind.EVENT) == [content("can")]


async def test_a_stopped_call_has_what_was_held_back() -> None:
    transport = Transport(OutboundPolicy(), RunLimits(), redact=[CANARY])
    blocks = [b": ping\n\n", content("can"), b": last\n\n"]
    async with serve(STREAM_HEAD, chunk(b"".join(blocks)), HOLD) as server:
        batches = sending(server.url, transport)
        shown: list[Frame] = []
        while not any(frame.kind is FrameKind.COMMENT for frame in shown):
            shown += await anext(batches)
        await batches.aclose()
        shown += [frame for frames in transport.unread_frames() for frame in frames]
    assert [frame.data for frame in shown[3:]] == blocks


@given(
    st.lists(
        st.sampled_from(["tok", "token", "en", "n", "-long", "t", "o", " x", "aab", "a"]),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_texts_are_masked_as_a_whole_would_be(texts: list[str], size: int) -> None:
    secrets = ("token", "token-long", "aabaa")
    text = "".join(texts)

    async def run() -> str:
        emitted = Emitted(*secrets)
        emitted.put(*map(content, divided(text, size)))
        emitted.redactor.flush()
        return emitted.text

    shown = asyncio.run(run())
    assert not any(secret in shown for secret in secrets)
    # The first letter stays if it was alone at the end of an event, and a string that repeats.
    whole = Redactor(secrets).data(text.encode()).decode()
    more = len(shown.replace(MASK, "")) - len(whole.replace(MASK, ""))
    assert 0 <= more <= size * shown.count(MASK)
