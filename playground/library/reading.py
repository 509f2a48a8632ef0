"""What is given for an import, whatever its format: bytes to text, text to a fixture.

`READERS` is the table of formats. Each makes the text of a fixture out of its own, and all of
them then go through `fixtures.read`: nothing is taken in that our own schema has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from playground.library import postman_reading
from playground.library.curl import is_curl
from playground.library.parsing import MAX_CHARACTERS, parse_fixture
from playground.library.shape import Fixture, FixtureError, FixtureProblem

#: Bytes of a file.
MAX_BYTES = MAX_CHARACTERS

#: How files begin that are no text, and what they are.
_SIGNS = (
    (b"PK\x03\x04", "a zip archive. Unpack it, and import the file in it"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed with gzip. Unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "a database"),
    (b"\xff\xfe", "UTF-16 text. Save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text. Save it as UTF-8"),
)


_CURL = (
    "This is a cURL command, which is one request and no collection. Paste it into the address "
    "of the workbench, which opens it; then save it."
)


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format that collections come in."""

    label: str
    #: Whether a text looks like it. The first reader that says so has it; may be wrong, as the
    #: conversion says itself what it cannot read. Raises nothing.
    matches: Callable[[str], bool]
    #: From a text of that format to that of a fixture, and what did not make it there. Raises
    #: `FixtureError`.
    convert: Callable[[str], tuple[str, Sequence[FixtureProblem]]]


@dataclass(frozen=True, slots=True)
class ParsedImport:
    """A text that was read; what was left out of it is in the fixture's remarks."""

    format: str
    fixture: Fixture


def _is_list(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("[")


READERS: list[ImportFormat] = [
    ImportFormat("Collection of the playground", _is_list, lambda text: (text, ())),
    ImportFormat(postman_reading.LABEL, postman_reading.is_postman, postman_reading.read_postman),
]


def parse_import(text: str) -> ParsedImport:
    """Read a text in whichever of the formats it is.

    What no reader recognises is read as our own, which says what is wrong with it. Raises
    `FixtureError`.
    """
    if is_curl(text):
        raise FixtureError(FixtureProblem("", _CURL))
    found = next((each for each in READERS if each.matches(text)), READERS[0])
    converted, remarks = found.convert(text)
    fixture = parse_fixture(converted)
    return ParsedImport(found.label, replace(fixture, remarks=(*remarks, *fixture.remarks)))


def text_of(data: bytes) -> str:
    """The text of a file. Raises `FixtureError` for what is too large, or no UTF-8 text."""
    if len(data) > MAX_BYTES:
        most = MAX_BYTES // 1024 // 1024
        raise FixtureError(FixtureProblem("", f"The file is larger than {most} MB."))
    for sign, what in _SIGNS:
        if data.startswith(sign):
            raise FixtureError(FixtureProblem("", f"This is no text, but {what}."))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "This is not UTF-8 text: it may be a binary file, or have another encoding."
        raise FixtureError(FixtureProblem(f"Byte {error.start + 1:,}", message)) from None
