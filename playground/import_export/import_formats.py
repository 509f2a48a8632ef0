"""Table of the formats that a collection can be imported from, and their detection.

A reader converts a text of its format to the text of a fixture. All of them then go through the
parser of fixtures, so every import is validated by the same schema. A new format is a module here
and a row of `IMPORT_FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from playground.collections.fixture import Fixture, FixtureError, FixtureProblem
from playground.collections.fixture_parser import parse_fixture
from playground.import_export import har as har_import
from playground.import_export import postman as postman_import
from playground.import_export.foreign_formats import foreign_format
from playground.import_export.postman import ImportedVariable


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format that collections are imported from."""

    label: str
    #: Return whether a text looks like this format. The first match is taken; it may be wrong, as
    #: the conversion reports what it cannot read. Raises nothing.
    matches: Callable[[str], bool]
    #: Return the text of a fixture, and remarks on what was left out. Raises `FixtureError`.
    convert: Callable[[str], tuple[str, Sequence[FixtureProblem]]]
    #: Return the variables of a text that was converted.
    variables: Callable[[str], Sequence[ImportedVariable]] = lambda _: ()


def _is_list(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("[")


IMPORT_FORMATS: list[ImportFormat] = [
    ImportFormat("Playground collection", _is_list, lambda text: (text, ())),
    ImportFormat(har_import.LABEL, har_import.is_har, har_import.read_har),
    ImportFormat(
        postman_import.LABEL,
        postman_import.is_postman,
        postman_import.read_postman,
        postman_import.read_variables,
    ),
]


@dataclass(frozen=True, slots=True)
class ParsedImport:
    """A parsed text; parts that were left out of it are in the fixture's remarks."""

    format: str
    fixture: Fixture
    #: Variables of the collection, which can become an environment.
    variables: Sequence[ImportedVariable] = ()


def parse_import(text: str) -> ParsedImport:
    """Parse a text in the first format that matches.

    A text that no reader matches is parsed as a fixture, which reports its problems. Raise
    `FixtureError`, with the name of the format if it is another one.
    """
    found = next((each for each in IMPORT_FORMATS if each.matches(text)), IMPORT_FORMATS[0])
    try:
        converted, remarks = found.convert(text)
        fixture = parse_fixture(converted)
    except FixtureError as error:
        raise foreign_format(text) or error from None
    fixture = replace(fixture, remarks=(*remarks, *fixture.remarks))
    return ParsedImport(found.label, fixture, found.variables(text))
