"""Contents of tools on the page: pictures, sounds, files and links, inline and elsewhere."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.pictures import OTHERS
from tests.support.servers import Server, closing, reply, serving


def png(width: int, height: int) -> bytes:
    """Return a picture of one colour."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x2f\x6f\xb5" * width) * height)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


PICTURE = png(480, 240)
CONTENTS = [
    {"type": "text", "text": "Here you are."},
    {"type": "image", "data": base64.b64encode(PICTURE).decode(), "mimeType": "image/png"},
    {
        "type": "image",
        "data": base64.b64encode(OTHERS["svg"]).decode(),
        "mimeType": "image/svg+xml",
    },
    {"type": "audio", "data": base64.b64encode(bytes(9_000)).decode(), "mimeType": "audio/wav"},
    {
        "type": "resource",
        "resource": {
            "uri": "demo://notes.txt",
            "mimeType": "text/plain",
            "text": "Soak the lentils.",
        },
    },
    {
        "type": "image",
        "data": base64.b64encode(PICTURE[:8] + bytes(200)).decode(),
        "mimeType": "image/png",
    },
    {
        "type": "resource_link",
        "uri": "https://pictures.example/plan.png",
        "name": "Meal plan",
        "description": "A week of soups",
        "mimeType": "image/png",
        "size": 20_480,
    },
]


@pytest.fixture
def agent() -> Iterator[Server]:
    body = {"_meta": {"response_type": "answer", "version": "0.55"}, "content": CONTENTS}
    with serving(closing(reply(json.dumps(body).encode()))) as server:
        yield server


def test_contents_are_shown_as_what_they_are(
    workbench: Workbench, still: Page, agent: Server
) -> None:
    page = still
    workbench.add_agent("Painter", agent.url).compose("soup").send()
    picture = page.locator("img.media-picture")
    expect(picture).to_have_count(1)
    size = picture.evaluate("image => image.decode().then(() => image.naturalWidth)")
    assert size == 480
    cards = page.locator('.card[data-type="media"]')
    expect(cards).to_have_count(6)
    expect(cards.nth(4)).to_contain_text("The browser can’t decode the picture.")
    # One elsewhere is loaded after a click only.
    expect(cards.nth(5).locator("agent-picture button")).to_be_visible()
    with page.expect_download() as download:
        cards.first.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "image.png"
    assert download.value.path().read_bytes() == PICTURE
    assert findings(page, both_themes=True) == []
    page.set_viewport_size({"width": 390, "height": 900})
    for card in cards.all():
        box = card.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390
    assert findings(page) == []
