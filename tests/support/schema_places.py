"""Places of a schema file: the schemas of names, elements and members of any name in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from playground.protocols.json_pointer import escape

#: Keywords whose values are schemas that describe the same value.
ALTERNATIVES = ("allOf", "anyOf", "oneOf")


class Place(NamedTuple):
    """A schema of a name, or of what a list or an open object contains."""

    #: JSON Pointer in which `0` is any element and `*` any name.
    where: str
    #: Name of the property, "" for an element and for a member of any name.
    name: str
    schema: Mapping[str, Any]
    section: str


def explained_places(schema: Mapping[str, Any]) -> list[Place]:
    """Return every schema within a schema that explains a value; conditions are none.

    A condition may constrain what is explained beside it.
    """
    found = list(places(schema))
    explained = {place.where for place in found if "description" in place.schema}
    return [p for p in found if "description" in p.schema or p.where not in explained]


def places(schema: Mapping[str, Any], where: str = "", section: str = "") -> Iterator[Place]:
    """Yield every schema within a schema file; references are not followed."""
    section = schema.get("x-section", section)
    for name, each in schema.get("properties", {}).items():
        at = f"{where}/{escape(name)}"
        yield Place(at, name, each, each.get("x-section", section))
        yield from places(each, at, section)
    for keyword, step in (("items", "0"), ("additionalProperties", "*")):
        if isinstance(each := schema.get(keyword), dict):
            yield Place(f"{where}/{step}", "", each, each.get("x-section", section))
            yield from places(each, f"{where}/{step}", section)
    for keyword in ALTERNATIVES:
        for each in schema.get(keyword, ()):
            yield from places(each, where, section)
    for keyword in ("then", "else"):
        if keyword in schema:
            yield from places(schema[keyword], where, section)
