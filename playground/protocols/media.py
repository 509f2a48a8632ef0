"""Pictures, sounds, files and links in responses: what they are, and the data that is in them.

Each protocol has its own form: contents of MCP's tools (`image`, `audio`, `resource`,
`resource_link`), contents of the Agent API (`image_url`, `file_url`, ...) and parts of A2A with a
file. All become one `Media`. Total: any JSON value is read, and nothing is decoded before it is
needed.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

#: Media types of raster images by the beginning of the file. SVG is none: it can contain script.
RASTER_TYPES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "image/avif": re.compile(rb".{4}ftypavi[fs]", re.DOTALL),
}
#: Characters of a name, of a media type and of a URL that are kept.
MAX_NAME, MAX_TYPE, MAX_URL = 200, 100, 4_000

#: Families of media types that have a kind of their own; all others are files.
_KINDS = ("image", "audio", "video")
_DATA_URL = re.compile(r"data:([^,;]{0,200})((?:;[^,;]{0,200}){0,10}),", re.IGNORECASE)
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_URL_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, a sound, a video or a file, inline or by its URL; or a link to one."""

    #: `image`, `audio`, `video`, `file` or `link`.
    kind: str
    #: As the agent names it, "" if it does not.
    media_type: str = ""
    #: Bytes, None if unknown.
    size: int | None = None
    name: str = ""
    description: str = ""
    #: As the agent gives it: any scheme.
    url: str = ""
    #: The content of a text file, None for any other.
    text: str | None = None
    #: Inline data, and whether they are base64 rather than percent-encoded.
    data: str = ""
    is_base64: bool = True

    @property
    def has_data(self) -> bool:
        return bool(self.data) or self.text is not None

    def read(self, limit: int | None = None) -> bytes | None:
        """Return the inline content, or its first bytes, about `limit`; None if it is damaged."""
        if self.text is not None:
            return self.text[:limit].encode("utf-8", "replace")
        if not self.is_base64:
            return _PERCENT.sub(_byte, self.data[:limit].encode("utf-8", "replace"))
        # Without white space, any four characters are three bytes.
        text = self.data if limit is None else self.data[: limit * 2]
        is_cut = len(text) < len(self.data)
        text = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
        if is_cut:
            text = text[: len(text) // 4 * 4]
        try:
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            return None


def raster_type(data: bytes) -> str | None:
    """Return the media type of a raster image by its first bytes, None for anything else."""
    return next((name for name, start in RASTER_TYPES.items() if start.match(data)), None)


def media_of(item: Any) -> Media | None:
    """Return the media that a content of an MCP tool or a part of A2A is, None for others."""
    if not isinstance(item, Mapping):
        return None
    kind = item.get("type")
    if isinstance(kind, str) and kind in _MCP_READERS:
        return _MCP_READERS[kind](item)
    return _a2a_file(item) if "file" in item or "raw" in item else None


def content_media(kind: str, value: Any) -> Media | None:
    """Return the media in a content of the Agent API of type `kind`; None for another type."""
    if kind not in (*_KINDS, "file"):
        return None
    members = value if isinstance(value, Mapping) else {"url": value}
    url = _text(members, "url", f"{kind}_url", "uri")
    data = _text(members, "data", "file_data")
    media_type = _text(members, "mime_type", "mimeType", "media_type")
    if not media_type and (form := _text(members, "format")):
        media_type = form if "/" in form else f"{kind}/{form}"
    name = _text(members, "filename", "name", "title")
    for text in (url, data):
        if found := _data_url(text, kind, name):
            return found
    if data:
        return _inline(kind, media_type, data, name=name, url=url)
    if not url:
        return None
    return Media(kind, media_type[:MAX_TYPE], name=name[:MAX_NAME], url=url[:MAX_URL])


# --- forms of protocols -----------------------------------------------------------------------


def _blob(item: Mapping[str, Any]) -> Media | None:
    """Read an image or a sound of MCP."""
    data = item.get("data")
    if not isinstance(data, str):
        return None
    media_type = _text(item, "mimeType")
    return _data_url(data, item["type"], "") or _inline(item["type"], media_type, data)


def _resource(item: Mapping[str, Any]) -> Media | None:
    """Read an embedded resource of MCP, which has a text or data."""
    found = item.get("resource")
    if not isinstance(found, Mapping):
        return None
    url, media_type = _text(found, "uri"), _text(found, "mimeType")
    name = _text(found, "title", "name") or _file_name(url)
    if isinstance(text := found.get("text"), str):
        size = len(text.encode("utf-8", "replace"))
        return Media("file", media_type[:MAX_TYPE], size, name[:MAX_NAME], "", url[:MAX_URL], text)
    if isinstance(data := found.get("blob"), str):
        return _inline(_kind_of(media_type), media_type, data, name=name, url=url)
    return None


def _resource_link(item: Mapping[str, Any]) -> Media | None:
    """Read a link of MCP to a resource of the server, or to any URL."""
    url, size = _text(item, "uri"), item.get("size")
    if not url:
        return None
    return Media(
        "link",
        _text(item, "mimeType")[:MAX_TYPE],
        size if type(size) is int and size >= 0 else None,
        (_text(item, "title", "name") or _file_name(url))[:MAX_NAME],
        _text(item, "description"),
        url[:MAX_URL],
    )


def _a2a_file(part: Mapping[str, Any]) -> Media | None:
    """Read a part of A2A with inline data: `file.bytes` in 0.3, `raw` in 1.0."""
    inner = part.get("file")
    if not isinstance(inner, Mapping) and {"mediaType", "filename"}.isdisjoint(part):
        return None  # Other objects have a member `raw`, too.
    file = inner if isinstance(inner, Mapping) else part
    data = _text(file, "bytes", "raw")
    if not data:
        return None
    media_type = _text(file, "mimeType", "mediaType")
    return _inline(_kind_of(media_type), media_type, data, name=_text(file, "name", "filename"))


_MCP_READERS = {
    "image": _blob,
    "audio": _blob,
    "resource": _resource,
    "resource_link": _resource_link,
}


# --- common -----------------------------------------------------------------------------------


def _inline(kind: str, media_type: str, data: str, *, name: str = "", url: str = "") -> Media:
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return Media(kind, media_type[:MAX_TYPE], size, name[:MAX_NAME], "", url[:MAX_URL], None, data)


def _data_url(url: str, kind: str, name: str) -> Media | None:
    """Return the media in a `data:` URL, None for another URL."""
    head = _DATA_URL.match(url)
    if head is None:
        return None
    media_type, data = head[1].strip(), url[head.end() :]
    if head[2].lower().endswith(";base64"):
        return _inline(kind, media_type, data, name=name)
    size = len(data) - 2 * data.count("%")
    return Media(kind, media_type[:MAX_TYPE], size, name[:MAX_NAME], data=data, is_base64=False)


def _byte(escape: re.Match[bytes]) -> bytes:
    # urllib's unquote makes a list of all pieces, which takes 80 times the memory of the data.
    return bytes((int(escape[1], 16),))


def _kind_of(media_type: str) -> str:
    family = media_type.partition("/")[0].strip().lower()
    return family if family in _KINDS else "file"


def _file_name(url: str) -> str:
    """Return the last segment of a URL's path, "" if it has none; `a.txt` for `demo://a.txt`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    segment = parts.path.rstrip("/").rpartition("/")[2]
    if segment or parts.scheme in ("http", "https"):
        return segment
    return parts.netloc.rpartition("@")[2]


def _text(item: Mapping[str, Any], *names: str) -> str:
    """Return the first of the named members that is a text, "" if none is."""
    found = (item.get(name) for name in names)
    return next((each for each in found if isinstance(each, str) and each), "")
