"""Pictures, sounds and files in every form that protocols have for them."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given

from playground.protocols.media import Media, content_media, media_of, raster_type
from tests.support.json_values import values
from tests.support.pictures import OTHERS, PNG, RASTER

DATA = base64.b64encode(PNG).decode()
DATA_URL = f"data:image/png;base64,{DATA}"


@pytest.mark.parametrize(
    ("item", "kind", "media_type"),
    [
        ({"type": "image", "data": DATA, "mimeType": "image/png"}, "image", "image/png"),
        ({"type": "image", "data": DATA}, "image", ""),
        ({"type": "image", "data": DATA_URL, "mimeType": "image/gif"}, "image", "image/png"),
        ({"type": "audio", "data": DATA, "mimeType": "audio/wav"}, "audio", "audio/wav"),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": DATA, "mimeType": "image/png"}},
         "image", "image/png"),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": DATA}}, "file", ""),
        ({"kind": "file", "file": {"bytes": DATA, "mimeType": "video/mp4"}}, "video", "video/mp4"),
        ({"raw": DATA, "mediaType": "application/pdf"}, "file", "application/pdf"),
    ],
)  # fmt: skip
def test_inline_data_of_an_item(item: Any, kind: str, media_type: str) -> None:
    found = media_of(item)
    assert found
    assert (found.kind, found.media_type, found.size) == (kind, media_type, len(PNG))
    assert found.read() == PNG
    assert found.read(64) == PNG[: len(found.read(64) or b"")]
    assert raster_type(found.read(64) or b"") == "image/png"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("image", DATA_URL),
        ("image", {"url": DATA_URL}),
        ("audio", {"data": DATA, "format": "wav"}),
        ("file", {"file_data": DATA, "filename": "a"}),
        ("video", DATA_URL),
    ],
)
def test_inline_data_of_a_content(kind: str, value: Any) -> None:
    found = content_media(kind, value)
    assert found
    assert (found.kind, found.read()) == (kind, PNG)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("demo://a/notes.txt", "notes.txt"), ("demo://notes.txt", "notes.txt"),
        ("demo://me:secret@notes.txt", "notes.txt"), ("https://a.example/", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_file_is_in_its_url(url: str, name: str) -> None:
    found = media_of({"type": "resource", "resource": {"uri": url, "text": "x"}})
    assert found
    assert found.name == name


def test_a_text_and_a_link() -> None:
    text = {"uri": "demo://a/notes.txt", "text": "Grüße", "mimeType": "text/plain"}
    assert media_of({"type": "resource", "resource": text}) == Media(
        "file", "text/plain", 7, "notes.txt", "", "demo://a/notes.txt", "Grüße"
    )
    link = {"uri": "https://a.example/b.png", "mimeType": "image/png", "size": 9, "title": "Plan"}
    assert media_of({"type": "resource_link", **link, "description": "d"}) == Media(
        "link", "image/png", 9, "Plan", "d", "https://a.example/b.png"
    )


@pytest.mark.parametrize(
    "item",
    [
        None, "x", {}, {"type": "image"}, {"type": "image", "data": 7}, {"type": "resource"},
        {"type": "resource", "resource": {"uri": "a:b"}}, {"type": "resource_link"},
        {"type": "text", "text": "x"}, {"raw": "words"}, {"file": "a.png"}, {"@type": "Recipe"},
    ],
)  # fmt: skip
def test_what_is_none(item: Any) -> None:
    assert media_of(item) is None


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (DATA.replace("/", "_").replace("+", "-"), PNG),
        ("\n".join([DATA[:20], DATA[20:]]), PNG),
        (DATA.rstrip("="), PNG),
        ("!!!", None),
        ("A", None),
        ("ü", None),
    ],
)
def test_base64_of_every_kind(data: str, content: bytes | None) -> None:
    assert Media("image", data=data).read() == content


def test_percent_encoded_data() -> None:
    found = content_media("image", "data:image/svg+xml,%3Csvg/%3E")
    assert found
    assert (found.media_type, found.size, found.read()) == ("image/svg+xml", 6, b"<svg/>")


@pytest.mark.parametrize("media_type", RASTER)
def test_a_raster_image_by_its_first_bytes(media_type: str) -> None:
    assert raster_type(RASTER[media_type]) == media_type


@pytest.mark.parametrize("name", OTHERS)
def test_another_file(name: str) -> None:
    assert raster_type(OTHERS[name]) is None


NAMES = ["type", "data", "mimeType", "resource", "uri", "blob", "text", "file", "bytes", "raw"]


@given(values(NAMES, ["image", "resource", "resource_link", "data:,x", "data:;base64,!"]))
def test_any_value_is_read(value: Any) -> None:
    for found in (media_of(value), content_media("image", value), content_media("file", value)):
        if found:
            found.read()
            found.read(8)
