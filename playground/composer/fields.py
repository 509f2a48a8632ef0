"""The composer's form and what its scripts need of each protocol, from the rows of the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from playground.protocols import registry, schemas
from playground.protocols.registry import Operation, ProtocolSpec
from playground.protocols.request_form import FormSection, MemberField, sections_of
from playground.reference.explanations import meaning

#: Stands for the text of a first request: the scripts put the user's in its place.
TEXT = "$text"

#: The fields of the member "raw", which every protocol has: see `playground.protocols.raw`.
RAW = (
    MemberField(
        pointer="/raw/method", suggestions="raw-methods", placeholder="POST", is_shown=True
    ),
    MemberField(
        pointer="/raw/path", placeholder="The protocol’s path, such as /ask", is_shown=True
    ),
    MemberField(
        pointer="/raw/content_type",
        suggestions="raw-types",
        placeholder="application/json, if there is a body",
        is_shown=True,
    ),
    MemberField(pointer="/raw/body", placeholder="Any text", is_shown=True),
    MemberField(pointer="/raw/encoding", hint="base64 for a body of bytes."),
)


@dataclass(frozen=True)
class ProtocolForm:
    """The form of a protocol's requests: see `composer/form.html#request`."""

    protocol: str
    #: More than one if the user can choose.
    operations: Sequence[Operation]
    sections: Sequence[FormSection]

    @property
    def has_long_names(self) -> bool:
        """Return whether labels need more room, in all sections: values are in one column."""
        return any(len(each.label) > 15 for section in self.sections for each in section.fields)


@cache
def protocol_forms() -> list[ProtocolForm]:
    """Return the forms of all protocols."""
    return [_form(protocol, row) for protocol, row in registry.PROTOCOLS.items()]


def script_rows() -> dict[str, dict[str, Any]]:
    """Return what the scripts need of each protocol: see `static/composer/protocols.js`."""
    return {
        protocol: {
            "hasVersions": row.has_versions,
            "bindings": row.bindings,
            "carried": row.carried,
            "operations": [_script_operation(row, each) for each in row.operations],
        }
        for protocol, row in registry.PROTOCOLS.items()
    }


def _script_operation(row: ProtocolSpec, operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "schema": operation.schema,
        "text": operation.text,
        "title": operation.title or operation.text,
        "missing": operation.missing,
        "fresh": {version.name: _fresh(row, operation, version.name) for version in row.versions},
    }


def _fresh(row: ProtocolSpec, operation: Operation, version: str) -> dict[str, Any]:
    if operation.new_request is not None:
        return operation.new_request(version)
    return row.new_request(version, TEXT, streaming=True)


def _form(protocol: str, row: ProtocolSpec) -> ProtocolForm:
    found = row.form() if row.form else _form_of_schema(protocol, row)
    return ProtocolForm(
        protocol, row.operations, [_explained(protocol, row, section) for section in found]
    )


def _form_of_schema(protocol: str, row: ProtocolSpec) -> tuple[FormSection, ...]:
    version, name = row.versions[-1].name, row.operations[0].schema
    return sections_of(schemas.load(protocol, version, name), protocol)


def _explained(protocol: str, row: ProtocolSpec, section: FormSection) -> FormSection:
    """Return a section with the meaning of the names in it, from the schema of its operation."""
    operations: Mapping[str, Operation] = {each.name: each for each in row.operations}
    schema = operations.get(section.operation, row.operations[0]).schema

    def hint(pointer: str) -> str:
        return meaning(protocol, schema, pointer)

    fields = [
        replace(each, hint=" ".join(filter(None, (each.hint or hint(each.pointer), each.expected))))
        for each in section.fields
    ]
    others, entries = section.others, section.entries
    if others and not others.hint:
        others = replace(others, hint=hint(f"{section.member}/other"))
    if entries and entries.name:
        entries = replace(entries, hint=hint(section.member))
    return replace(section, fields=tuple(fields), others=others, entries=entries)
