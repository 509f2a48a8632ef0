"""Explanations of names: what the popover shows, and the references of documents to their schemas.

A reference is the schema and the pointer of a value, `nlweb/0.55/answer#/results/0`: the value of
`data-explain` and `data-explain-document` in the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from playground.conversation.events import payload_of
from playground.protocols import events as ev
from playground.protocols import registry, schemas
from playground.protocols.explanations import explain, schema_of_response
from playground.protocols.frames import FrameKind
from playground.protocols.json_pointer import keys_of, pointer_of
from playground.protocols.reference import reference as protocol_reference
from playground.protocols.text import shorten
from playground.ui.formatting import kind_label
from playground.verdicts.conformance import source_of

#: Labels of the groups of schemas that are not protocols of requests.
_LABELS = {"http": "HTTP", "mcp": "MCP", "a2a": "A2A", "playground": "Playground"}
#: Characters and keys of the longest pointer that is looked up.
MAX_POINTER, MAX_KEYS = 2000, 60
_NAME = re.compile(r"@?[A-Za-z_][\w-]{0,59}(\.@?[A-Za-z_][\w-]{0,59}){0,9}", re.ASCII)
#: Characters of an example.
_MAX_EXAMPLE = 300


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """What the popover shows of a name."""

    name: str
    #: Label of the protocol, with its version.
    protocol: str
    #: The protocol with the section of the specification, if the schema names one.
    source: str
    text: str = ""
    example: str = ""
    otherwise: str = ""
    values: Sequence[tuple[str, str]] = ()
    #: Location in the document, with dots; "" for the document itself.
    place: str = ""
    #: Whether the name is an extension: allowed, but not defined by the protocol.
    is_extension: bool = False
    #: Whether the name has a definition of any kind.
    is_known: bool = True


def explanation_view(protocol: str, version: str, schema: str, pointer: str) -> ExplanationView:
    """Return what the popover shows of the value at a pointer into a document of a schema.

    A name that the schema does not describe is said to be unknown. Raises `ValueError` for a
    protocol, version or schema that does not exist, and for a pointer that is invalid or too long.
    """
    if (pointer and not pointer.startswith("/")) or len(pointer) > MAX_POINTER:
        raise ValueError("This is not a JSON pointer that can be looked up.")
    keys = keys_of(pointer)
    if len(keys) > MAX_KEYS:
        raise ValueError("The pointer has too many keys.")
    found = explain(protocol, version, schema, pointer)
    names = [key for key in keys if not key.isdecimal()]
    label = protocol_label(protocol, version)
    place = ".".join(names[:-1])
    if found is None:
        name = keys[-1] if keys else schema
        return ExplanationView(name, label, label, place=place, is_known=False)
    # An element of an array is called what the array is called.
    name = names[-1] if keys and keys[-1].isdecimal() and names else found.name
    if protocol == "playground":
        name = kind_label(name)
    return ExplanationView(
        name=name,
        protocol=label,
        source=_source_text(protocol, label, found.section),
        text=found.text,
        example=_example_text(found.example),
        otherwise=found.otherwise,
        values=list(found.values.items()),
        place=place,
        is_extension=not found.is_listed,
    )


def _source_text(protocol: str, label: str, section: str) -> str:
    """Return the label of a protocol and a section as text.

    Sections of other schemas than those of requests name their specification themselves.
    """
    if not section or protocol not in registry.PROTOCOLS:
        return section or label
    return f"{label}, {source_of(section)}"


def _example_text(value: Any) -> str:
    """Return an example as JSON on one line; "" for none."""
    if value is None:
        return ""
    return shorten(json.dumps(value, ensure_ascii=False), _MAX_EXAMPLE)


def protocol_label(protocol: str, version: str) -> str:
    """Return the label of a protocol with its version, as far as it has any."""
    spec = registry.PROTOCOLS.get(protocol)
    labels = {each.name: each.label for each in spec.versions} if spec else _LABELS
    return labels.get(version if spec else protocol, protocol)


@cache
def meaning(protocol: str, schema: str, pointer: str) -> str:
    """Return the sentence about a name in the latest version of a protocol; "" for none.

    Raises `ValueError` for a schema that does not exist.
    """
    found = explain(protocol, registry.versions(protocol)[-1].name, schema, pointer)
    return found.text if found else ""


def reference(protocol: str, version: str, schema: str, pointer: str = "") -> str:
    return f"{protocol}/{version}/{schema}#{pointer}"


@dataclass(frozen=True, slots=True)
class ProtocolNames:
    """The names of a version of a protocol, as texts about it mention them."""

    protocol: str
    version: str

    def reference_of(self, text: str) -> str:
        """Return the reference of a name such as `site`, `query.site` or `@type`; "" for others.

        Of several with the same name it is that of a request, else of a response.
        """
        return _name_reference(self.protocol, self.version, text) if _NAME.fullmatch(text) else ""


@lru_cache(maxsize=1024)
def _name_reference(protocol: str, version: str, name: str) -> str:
    try:
        found = protocol_reference(protocol, version)
    except ValueError:
        return ""
    keys = name.split(".")
    for document in found.documents:
        for at in found.find(document.name, pointer_of(keys), is_exact=True):
            attribute = found.attribute(*at)
            if attribute and attribute.name == keys[-1]:
                return reference(protocol, version, *at)
        for attribute in document.attributes:
            if attribute.name == name:
                return reference(protocol, version, document.name, attribute.pointer)
    return ""


def kind_reference(kind: str) -> str:
    schema = "frames" if kind.upper() in FrameKind.__members__ else "events"
    return reference("playground", "1", schema, pointer_of([kind]))


def event_reference(protocol: str, version: str, event: ev.Event) -> str:
    """Return the reference of an event's payload, see `payload_of`; "" if it has no schema."""
    match event:
        case ev.Tools():
            return reference("mcp", "1", "message", "/result/tools")
        case ev.Log() | ev.Progress():
            return reference("mcp", "1", "message", "/params")
    try:
        name = _schema_of(protocol, version, event)
    except ValueError:
        return ""
    return reference(protocol, version, name) if name else ""


def _schema_of(protocol: str, version: str, event: ev.Event) -> str:
    """Return the name of the schema of an event's payload; "" if it has none.

    Raises `ValueError` for a protocol or version without schemas.
    """
    known = schemas.names(protocol, version)
    match event:
        case ev.Started() | ev.Completed():
            name = "response-meta"
        case ev.Result(index=index):
            name = "item" if index is None else "event-result"
        case ev.Note(name=label, data=data):
            name = schema_of_response(protocol, version, data, label)
        case ev.Unknown():
            name = ""
        case _:
            name = schema_of_response(protocol, version, payload_of(event))
    return name if name in known else ""
