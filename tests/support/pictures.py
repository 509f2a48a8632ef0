"""Pictures as bytes: one that a browser decodes, and the beginnings of others."""

from __future__ import annotations

import base64
import gzip

#: A PNG of one pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)

#: The beginnings of files that are raster images, by media type.
RASTER = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "image/gif": b"GIF89a\x01\x00\x01\x00",
    "image/webp": b"RIFF\x1a\x00\x00\x00WEBPVP8L",
    "image/avif": b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00",
}
#: Files that are none, whatever their server calls them.
OTHERS = {
    "nothing": b"",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "svg with a declaration": b'<?xml version="1.0"?><svg/>',
    "html": b"<!doctype html><script>alert(1)</script>",
    "png further on": b"<html>" + PNG,
    "cut": PNG[:7],
    "wave": b"RIFF\x1a\x00\x00\x00WAVEfmt ",
    "video": b"\x00\x00\x00\x1cftypisom\x00\x00\x00\x00",
    "pdf": b"%PDF-1.7",
    "zip": b"PK\x03\x04",
    "icon": b"\x00\x00\x01\x00\x01\x00",
    "bmp": b"BM\x1e\x00\x00\x00",
    "compressed svg": gzip.compress(b"<svg/>"),
}
