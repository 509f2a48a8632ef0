"""Description of the composer's form of a request: sections, and the fields of members.

A protocol may describe its form; without a description it is that of the schema of its requests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient
from playground.protocols.schema_check import expected, resolved

#: The value types of a field, by the type of a schema.
_TYPES = {
    "string": "text",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "json",
}


@dataclass(frozen=True, kw_only=True)
class MemberField:
    """A field of a member of the request document: see `composer/form.html#field`."""

    #: A JSON Pointer.
    pointer: str
    #: What the value may be: some of "text", "number", "boolean", "list" and "json".
    types: str = "text"
    #: What it means; "" for the sentence of the schema.
    hint: str = ""
    #: What values are expected, as a sentence after the hint.
    expected: str = ""
    placeholder: str = ""
    #: The id of a `datalist`: a key of the section's `suggestions`.
    suggestions: str = ""
    is_required: bool = False
    #: Whether it is shown without a value, too.
    is_shown: bool = False
    is_wide: bool = False

    @property
    def label(self) -> str:
        return self.pointer.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class MemberList:
    """A list of objects with fields of their own: see `static/composer/list-entry-kinds.js`."""

    #: "message" or "tool".
    kind: str
    #: The label of the button that adds one.
    label: str
    #: The name under which "Add field" offers it; "" for a list that is always shown.
    name: str = ""
    #: What it is for, for "Add field"; "" for the sentence of the schema.
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherMembers:
    """Rows for members that have no field."""

    #: The names of those that another section shows, besides those that have a field here.
    elsewhere: tuple[str, ...] = ()
    #: What one of the others is called.
    name: str
    #: What it means; "" for the sentence of the schema.
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class FormSection:
    """A section of the form, most often that of a member of the document."""

    title: str
    #: The id of its heading; "" for a section without one.
    id: str = ""
    #: JSON Pointer to the object or the list that it shows; "" for members of the document.
    member: str = ""
    #: The operation that it belongs to, "" for every one.
    operation: str = ""
    note: str = ""
    fields: tuple[MemberField, ...] = ()
    others: OtherMembers | None = None
    entries: MemberList | None = None
    #: Texts that are proposed, by the id of their `datalist`.
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def known(self) -> list[str]:
        """Return the names that `others` has no row for."""
        elsewhere = self.others.elsewhere if self.others else ()
        return [*(each.label for each in self.fields), *elsewhere]


def sections_of(schema: Mapping[str, Any], prefix: str) -> tuple[FormSection, ...]:
    """Return the form of a document with this schema; `prefix` begins the ids in it.

    Lists of messages and functions and objects have sections of their own, required ones first; a
    section "Parameters" has the other members.
    """
    properties = lenient.members(schema.get("properties"))
    required = lenient.texts(schema.get("required"))
    own: dict[str, FormSection] = {}
    for name, value in properties.items():
        part = resolved(value, schema)
        title, pointer = str(part.get("title") or name.capitalize()), f"/{name}"
        heading = f"{prefix}-{name}"
        if entries := _entries(schema, name, part, is_optional=name not in required):
            own[name] = FormSection(title=title, id=heading, member=pointer, entries=entries)
        elif part.get("type") == "object" and "properties" in part:
            inner = {key: resolved(each, schema) for key, each in part["properties"].items()}
            own[name] = FormSection(
                title=title,
                id=heading,
                member=pointer,
                fields=tuple(fields_of(inner, pointer, lenient.texts(part.get("required")))),
                others=OtherMembers(name="member", hint="Any other member."),
            )
    others = {name: resolved(each, schema) for name, each in properties.items() if name not in own}
    parameters = FormSection(
        title="Parameters",
        id=f"{prefix}-parameters",
        fields=tuple(fields_of(others, "", required)),
        others=OtherMembers(
            elsewhere=(*own, "raw"), name="parameter", hint="Any other member of the request."
        ),
    )
    first = [section for name, section in own.items() if name in required]
    last = [section for name, section in own.items() if name not in required]
    return (*first, parameters, *last)


def fields_of(
    properties: Mapping[str, Mapping[str, Any]], pointer: str = "", required: Collection[str] = ()
) -> Iterator[MemberField]:
    """Yield a field for each member; `pointer` is that of the object."""
    for name, schema in properties.items():
        yield MemberField(
            pointer=f"{pointer}/{name}",
            types=_types(schema),
            expected=_expected(schema),
            is_required=name in required,
        )


def _types(schema: Mapping[str, Any]) -> str:
    # A list is one of texts.
    entry = lenient.members(schema.get("items")).get("type", "string")
    types = {**_TYPES, "array": "list" if entry == "string" else "json"}
    return " ".join(dict.fromkeys(types[each] for each in _type_names(schema))) or "text"


def _type_names(schema: Mapping[str, Any]) -> list[str]:
    """Return the types of a value in the order of the schema, without null."""
    value = schema.get("type")
    listed = lenient.texts(value) if isinstance(value, list) else [value]
    return [each for each in listed if each in _TYPES]


def _expected(schema: Mapping[str, Any]) -> str:
    """Return what values are expected, as a sentence; "" if the type of the field says it."""
    names = _type_names(schema)
    if names != ["string", "array"] and names not in (["number"], ["integer"]):
        return ""
    words = expected(schema)
    return f"{words[0].upper()}{words[1:]}."


def _entries(
    schema: Mapping[str, Any], name: str, part: Mapping[str, Any], *, is_optional: bool
) -> MemberList | None:
    """Return the list that a member is, None if it is none of messages or functions."""
    if "array" not in _type_names(part):
        return None
    members = lenient.members(resolved(part.get("items", {}), schema).get("properties"))
    offered = name if is_optional else ""
    if "role" in members:
        return MemberList(kind="message", label="Message", name=offered)
    return MemberList(kind="tool", label="Function", name=name) if "function" in members else None
