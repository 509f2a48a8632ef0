"""Explanations of names: what the popover shows, and the references of documents to their schemas.

A reference is the schema and the pointer of a value, `nlweb/0.55/answer#/results/0`: the value of
`data-explain` and `data-explain-document` in the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from playground.conversation.entries import element_of
from playground.protocols import events as ev
from playground.protocols import registry, schemas
from playground.protocols.annotations import SchemaPlace
from playground.protocols.explanations import explain, schema_of_response
from playground.protocols.frames import FrameKind
from playground.protocols.json_pointer import keys_of, pointer_of
from playground.protocols.reference import reference
from playground.protocols.text import shorten
from playground.reference.attributes import version_title
from playground.ui.formatting import kind_label
from playground.verdicts.conformance import source_of

#: Characters and keys of the longest pointer that is looked up.
MAX_POINTER, MAX_KEYS = 2000, 60
_NAME = re.compile(r"@?[A-Za-z_][\w-]{0,59}(\.@?[A-Za-z_][\w-]{0,59}){0,9}", re.ASCII)
#: Characters of an example.
_MAX_EXAMPLE = 300


def explanation_view(protocol: str, version: str, schema: str, pointer: str) -> dict[str, Any]:
    """Return what the popover shows of the value at a pointer into a document of a schema.

    `found` is None for a name that the schema does not describe, `place` the location in the
    document, with dots; "" for the document itself.

    Raises `ValueError` for a protocol, version or schema that does not exist, and for a pointer
    that is invalid or too long.
    """
    if (pointer and not pointer.startswith("/")) or len(pointer) > MAX_POINTER:
        raise ValueError("This is not a JSON pointer that can be looked up.")
    keys = keys_of(pointer)
    if len(keys) > MAX_KEYS:
        raise ValueError("The pointer has too many keys.")
    found = explain(protocol, version, schema, pointer)
    names = [key for key in keys if not key.isdecimal()]
    if found is None:
        name = keys[-1] if keys else schema
    elif keys and keys[-1].isdecimal() and names:
        name = names[-1]  # An element of an array is called what the array is called.
    else:
        name = found.name
    if found and protocol == "playground":
        name = kind_label(name)
    label = version_title(protocol, version)
    section, example = (found.section, found.example) if found else ("", None)
    source = section or label
    if section and protocol in registry.PROTOCOLS:
        # Sections of other schemas than those of requests name their specification themselves.
        source = f"{label}, {source_of(section)}"
    example_text = json.dumps(example, ensure_ascii=False) if example is not None else ""
    return {
        "name": name,
        "label": label,
        "place": ".".join(names[:-1]),
        "found": found,
        "source": source,
        "example": shorten(example_text, _MAX_EXAMPLE),
    }


@cache
def meaning(protocol: str, schema: str, pointer: str) -> str:
    """Return the sentence about a name in the latest version of a protocol; "" for none.

    Raises `ValueError` for a schema that does not exist.
    """
    found = explain(protocol, registry.of(protocol).versions[-1].name, schema, pointer)
    return found.text if found else ""


@lru_cache(maxsize=64)
def names_of(protocol: str, version: str) -> Callable[[str], str]:
    """Return a function from a name that a text mentions to its reference.

    Names are such as `site`, `query.site` or `@type`; the reference of others is "". Of several
    with the same name it is that of a request, else of a response.
    """
    return lambda text: _name_reference(protocol, version, text) if _NAME.fullmatch(text) else ""


@lru_cache(maxsize=1024)
def _name_reference(protocol: str, version: str, name: str) -> str:
    try:
        found = reference(protocol, version)
    except ValueError:
        return ""
    keys = name.split(".")
    for document in found.documents:
        for at in found.find(document.name, pointer_of(keys), is_exact=True):
            attribute = found.attribute(*at)
            if attribute and attribute.name == keys[-1]:
                return str(SchemaPlace(protocol, version, *at))
        for attribute in document.attributes:
            if attribute.name == name:
                return str(SchemaPlace(protocol, version, document.name, attribute.pointer))
    return ""


def kind_reference(kind: str) -> str:
    """Return the reference of the explanation of an event kind or frame kind."""
    schema = "frames" if kind.upper() in FrameKind.__members__ else "events"
    return str(SchemaPlace("playground", "1", schema, pointer_of([kind])))


def event_reference(protocol: str, version: str, event: ev.Event) -> str:
    """Return the reference of an event's payload, see `Element`; "" if it has no schema."""
    try:
        match event:
            case ev.Tools():
                return str(SchemaPlace("mcp", "1", "message", "/result/tools"))
            case ev.Log() | ev.Progress():
                return str(SchemaPlace("mcp", "1", "message", "/params"))
            case ev.Started() | ev.Completed():
                name = "response-meta"
            case ev.Result(index=index):
                name = "item" if index is None else "event-result"
            case ev.Note(name=label, data=data):
                name = schema_of_response(protocol, version, data, label)
            case ev.Unknown():
                return ""
            case _:
                name = schema_of_response(protocol, version, element_of(event).payload(event))
        known = schemas.names(protocol, version)
    except ValueError:  # The protocol or version has no schemas.
        return ""
    return str(SchemaPlace(protocol, version, name)) if name in known else ""
