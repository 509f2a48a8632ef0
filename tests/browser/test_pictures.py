"""Contents of tools, and pictures that agents name: inline, elsewhere, and loaded on a click."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.scripted_agent import scripted_agent
from tests.browser.workbench import Workbench
from tests.support.pictures import OTHERS, PNG
from tests.support.servers import Script, Server, closing, reply, serving


@dataclass
class Kitchen:
    """An agent whose results name pictures on its own server."""

    server: Server
    #: The files, by path; others are missing.
    files: dict[str, bytes] = field(default_factory=lambda: {"/a.png": PNG, "/b.png": PNG})

    def paths(self) -> list[str]:
        """Return the paths of the pictures that were requested."""
        paths = [request.split()[1].decode() for request in self.server.requests]
        return sorted(path for path in paths if path != "/ask")


@pytest.fixture
def kitchen() -> Iterator[Kitchen]:
    files = {"/a.png": PNG, "/b.png": PNG, "/c.svg": OTHERS["svg"]}

    def answer(request: bytes) -> Script:
        path = request.split()[1].decode()
        if path == "/ask":
            names = ("a.png", "b.png", "c.svg")
            items = [
                {"@type": "Recipe", "name": name, "image": f"{server.url}/{name}"} for name in names
            ]
            meta = {"response_type": "answer", "version": "0.55"}
            return [closing(reply(json.dumps({"_meta": meta, "results": items}).encode()))]
        if path in files:
            return [closing(reply(files[path], "image/png"))]
        return [closing(reply(b"", status="404 Not Found"))]

    with serving(answer=answer) as server:
        yield Kitchen(server, files)


@pytest.fixture
def requested(page: Page) -> list[str]:
    """The URLs that the browser requests."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    return found


def ask(workbench: Workbench, kitchen: Kitchen, **fields: str) -> Locator:
    """The places of the pictures in an answer."""
    workbench.add_agent("Kitchen", kitchen.server.url, **fields).compose("soup").send()
    pictures = workbench.page.locator("agent-picture")
    expect(pictures).to_have_count(3)
    until_they_work(workbench.page)
    return pictures


def until_they_work(page: Page) -> None:
    """Wait for the script of pictures, which is loaded with the first one."""
    page.evaluate("customElements.whenDefined('agent-picture').then(() => true)")


def expect_shown(picture: Locator) -> None:
    image = picture.locator("img")
    expect(image).to_be_visible()
    assert image.evaluate("(image) => image.complete && image.naturalWidth") == 1


def test_a_click_shows_a_picture_or_all(
    page: Page, workbench: Workbench, kitchen: Kitchen, requested: list[str]
) -> None:
    pictures = ask(workbench, kitchen)
    button = pictures.first.get_by_role("button")
    expect(button).to_have_accessible_name(
        re.compile(r"Show picture of a\.png from 127\.0\.0\.1:\d+")
    )
    assert findings(page) == []
    size = pictures.first.bounding_box()
    button.focus()
    page.keyboard.press("Enter")
    expect_shown(pictures.first)
    # Nothing moves, and the focus stays.
    assert pictures.first.bounding_box() == size
    link = pictures.first.get_by_role("link", name="Picture of a.png")
    expect(link).to_be_focused()
    expect(pictures.nth(1).get_by_role("button")).to_be_visible()
    assert kitchen.paths() == ["/a.png"]
    # All of the response.
    every = page.get_by_role("button", name="Show pictures")
    every.click()
    expect(every).to_be_hidden()
    for number in range(2):
        expect_shown(pictures.nth(number))
    failed = pictures.nth(2).get_by_role("button")
    expect(failed).to_have_text(re.compile("Unsupported.*Retry", re.DOTALL))
    expect(failed).to_have_attribute("title", re.compile("not a PNG, JPEG"))
    # It is tried again when the user asks for it.
    kitchen.files["/c.svg"] = PNG
    failed.click()
    expect_shown(pictures.nth(2))
    assert set(kitchen.paths()) == {"/a.png", "/b.png", "/c.svg"}
    # The page loads them anew, from the browser's cache.
    page.reload()
    until_they_work(page)
    # Without scripts a click opens one.
    pictures.first.locator("form").evaluate("(form) => form.replaceWith(form.cloneNode(true))")
    with page.expect_popup() as opened:
        pictures.first.get_by_role("button").click()
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("document.images[0].naturalWidth") == 1
    opened.value.close()
    before = kitchen.paths()
    every.click()
    expect_shown(pictures.nth(2))
    assert kitchen.paths() == before
    hosts = {url.split("/")[2] for url in requested if url.startswith("http")}
    assert hosts == {workbench.server.url.split("/")[2]}
    # By the setting of the agent none waits for a click.
    expect_shown(ask(workbench, kitchen, load_pictures="on").first)
    expect(every).to_be_hidden()


def test_a_part_of_a_message(page: Page, workbench: Workbench) -> None:
    picture = page.locator(".message-media")
    with scripted_agent() as agent:
        fields = {"protocol": "agent-api", "version": "1"}
        slug = client_of(workbench.server).add_agent("Cook", agent.url, **fields)
        workbench.open(f"/?agent={slug}&text=soup").send()
        agent.begin()
        agent.piece("Soup")
        url = f"{workbench.server.url}/static/demo/pot.png"
        part = {"msg_id": "m1", "type": "image", "index": 1, "delta": False, "image_url": url}
        agent.say(object="content", status="completed", **part)
        expect(picture.get_by_role("button", name="Show picture")).to_be_visible()
        until_they_work(page)
        picture.get_by_role("button", name="Show picture").click()
        expect(picture.locator("img")).to_be_visible()
        assert picture.locator("img").evaluate("(image) => image.naturalWidth") == 320
        # It stays when the message is rendered again.
        agent.piece(" and bread")
        agent.end("Soup and bread")
        expect(page.locator("run-cursor[data-final]")).to_be_attached()
        expect(picture.locator("img")).to_be_visible()


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
    workbench: Workbench, page: Page, agent: Server
) -> None:
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
