"""Contents of tools and of messages on a page: pictures, sounds, files and links."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from playground.models import Run
from playground.protocols.media import Media
from playground.rendering import media
from playground.rendering.media import MediaView
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.support.markup import Element, read
from tests.support.messages import message, recording, whole
from tests.support.pictures import OTHERS, PNG
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

SVG = OTHERS["svg"]


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def view(data: bytes = PNG, media_type: str = "image/png", kind: str = "image") -> MediaView:
    return MediaView(Media(kind, media_type, len(data), data=base64_of(data)))


class TestPictures:
    def test_one_that_is_small_is_shown(self) -> None:
        assert view().picture_url == f"data:image/png;base64,{base64_of(PNG)}"
        assert view().reason == ""

    def test_its_type_is_that_of_its_bytes(self) -> None:
        assert view(media_type="image/svg+xml").picture_url.startswith("data:image/png;")

    @pytest.mark.parametrize("name", OTHERS)
    def test_other_files_are_none_whatever_they_are_called(self, name: str) -> None:
        found = view(OTHERS[name])
        assert found.picture_url == ""
        assert found.reason or not OTHERS[name]

    def test_svg_is_none(self) -> None:
        found = view(SVG, "image/svg+xml")
        assert found.picture_url == ""
        assert "SVG" in found.reason

    def test_one_that_is_too_large_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        huge = MediaView(Media("image", "image/png", 40 * 2**20, data=base64_of(PNG)))
        monkeypatch.setattr(media.base64, "b64encode", None)  # It is not decoded as a whole.
        assert (huge.picture_url, huge.facts) == ("", "image/png, 40.0 MB")
        assert huge.reason == "Pictures of up to 1.0 MB are shown."

    def test_damaged_data(self) -> None:
        damaged = MediaView(
            Media("image", "image/png", 9, data=base64_of(PNG + bytes(98)) + "!!!!")
        )
        assert (damaged.picture_url, damaged.reason) == ("", "The data is not valid base64.")

    @pytest.mark.parametrize("kind", ["image", "audio", "file"])
    def test_damaged_data_can_not_be_saved(self, kind: str) -> None:
        damaged = MediaView(Media(kind, size=9, data="%%%"))
        assert (damaged.can_be_saved, damaged.reason) == (False, "The data is not valid base64.")
        assert view(kind=kind).can_be_saved

    @pytest.mark.parametrize(
        ("kind", "media_type", "url", "is_loaded"),
        [
            ("link", "image/png", "https://a.example/b.png", True),
            ("link", "image/svg+xml", "https://a.example/b.svg", False),
            ("link", "image/png", "file:///b.png", False),
            ("link", "text/plain", "https://a.example/b", False),
        ],
    )
    def test_one_that_is_elsewhere(
        self, kind: str, media_type: str, url: str, is_loaded: bool
    ) -> None:
        found = MediaView(Media(kind, media_type, url=url))
        assert found.remote_picture == (url if is_loaded else None)


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("a.png", "a.png"),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("", "image.png"),
        ("..", "image.png"),
    ],
)
def test_the_name_of_a_file(name: str, file_name: str) -> None:
    assert MediaView(Media("image", "image/png", name=name, data=base64_of(PNG))).file_name == (
        file_name
    )


@pytest.mark.parametrize(
    ("kind", "media_type", "file_name"),
    [
        ("audio", "audio/wav", "audio.wav"), ("audio", "audio/mpeg", "audio.mp3"),
        ("file", "x/y", "file"), ("file", "", "file"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_has_the_extension_of_its_type(
    kind: str, media_type: str, file_name: str
) -> None:
    assert view(media_type=media_type, kind=kind).file_name == file_name


def shown(run: Run, *, readonly: bool = False) -> Element:
    entries = ThreadReader(run).read_to(run.frames, 100, 100)
    return read("".join(render_entries(entries, Thread(run, readonly=readonly))))


def item_run(item: Any) -> Run:
    result = event(f"event: result\ndata: {json.dumps({'index': 0, 'item': item})}\n\n")
    return recorded([[CALL, OPEN, HEAD], [result], [END]])


def message_run(data: bytes, media_type: str, status: str = "in_progress") -> Run:
    made = recording()
    url = f"data:{media_type};base64,{base64_of(data)}"
    part = whole("m1", type="image", image_url=url, status=status)
    made.add(CALL, OPEN, HEAD, message("m1"), part, END)
    return made.end()


@pytest.mark.django_db
class TestOnThePage:
    def test_a_picture_of_a_tool(self) -> None:
        item = {"type": "image", "data": base64_of(PNG), "mimeType": "image/png"}
        run = item_run(item)
        markup = shown(run)
        (image,) = markup.find("img")
        assert image.attributes["src"] == view().picture_url
        (form,) = markup.find("form")
        assert form.attributes["action"] == f"/runs/{run.pk}/contents/4/0/"
        assert "image/png, 70 B" in markup.text
        # Readers of a share see it, too, and save nothing of its owner.
        assert len(shown(run, readonly=True).find("img")) == 1
        assert shown(run, readonly=True).find("form") == []

    @pytest.mark.parametrize("status", ["in_progress", "completed"])
    def test_a_picture_of_a_message(self, status: str) -> None:
        markup = shown(message_run(PNG, "image/png", status))
        assert [each.attributes["src"] for each in markup.find("img")] == [view().picture_url]

    def test_svg_with_a_script(self) -> None:
        item = {"type": "image", "data": base64_of(SVG), "mimeType": "image/svg+xml"}
        for markup in (shown(item_run(item)), shown(message_run(SVG, "image/svg+xml"))):
            assert markup.find("img") == markup.find("script") == []
            assert "SVG can contain scripts" in markup.text

    def test_a_sound(self) -> None:
        markup = shown(item_run({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}))
        assert "audio/wav, 3 B" in markup.text
        assert len(markup.find("form")) == 1

    def test_a_text(self) -> None:
        text = {"uri": "demo://notes", "text": "<b>Soup</b>", "mimeType": "text/plain"}
        markup = shown(item_run({"type": "resource", "resource": text}))
        assert "<b>Soup</b>" in markup.text
        assert "demo://notes" in markup.text
        assert markup.find("a") == []

    @pytest.mark.parametrize("media_type", ["image/png", "text/html"])
    def test_a_link(self, media_type: str) -> None:
        url = "https://a.example/b"
        link = {"type": "resource_link", "uri": url, "name": "Plan", "mimeType": media_type}
        markup = shown(item_run(link))
        assert [each.attributes["href"] for each in markup.find("a")] == [url]
        # Pictures are loaded under the policy of those that agents name: after a click.
        assert len(markup.find("agent-picture")) == (media_type == "image/png")
        assert markup.find("img") == []

    @pytest.mark.parametrize(
        "where", [{"file_data": base64_of(b"a,b")}, {"file_url": "https://a.example/b"}]
    )
    def test_a_file_of_a_message_has_its_name(self, where: dict[str, str]) -> None:
        made = recording()
        part = whole("m1", type="file", filename="shopping list.csv", **where)
        made.add(CALL, OPEN, HEAD, message("m1"), part, END)
        assert "shopping list.csv" in shown(made.end()).text

    def test_damaged_data_have_no_button(self) -> None:
        markup = shown(item_run({"type": "audio", "data": "%%%", "mimeType": "audio/wav"}))
        assert "The data is not valid base64." in markup.text
        assert markup.find("form") == []

    def test_a_media_object_of_schema_org(self) -> None:
        url = "https://a.example/b"
        item = {"@type": "MediaObject", "contentUrl": url, "encodingFormat": "image/png"}
        assert len(shown(item_run(item)).find("agent-picture")) == 1
        item["encodingFormat"] = "image/svg+xml"
        assert shown(item_run(item)).find("agent-picture") == []

    def test_a_list_of_many_tools(self) -> None:
        tools = {"tools": [{"name": f"t{n}"} for n in range(5_000)]}
        made = recording()
        part = whole("m1", type="data", data=tools)
        made.add(CALL, OPEN, HEAD, message("m1", type="mcp_list_tools"), part, END)
        markup = shown(made.end())
        assert "4900 more tools in the JSON." in markup.text
        assert len(markup.find("dt")) == 100
