"""Changes between two versions of a protocol: documents and attributes, from their references."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols.reference import Attribute, Document, Reference, anchor, path_of

#: What may change about an attribute, and how to read it.
ASPECTS: Mapping[str, Callable[[Attribute], tuple[str, ...]]] = {
    "type": lambda attribute: (
        *attribute.types,
        *attribute.refers_to,
        *(f"elements: {name}" for name in (*attribute.element_types, *attribute.elements_refer_to)),
    ),
    "required": lambda attribute: (requirement(attribute),),
    "values": lambda attribute: tuple(
        dict.fromkeys((*map(text_of, attribute.choices), *attribute.values))
    ),
    "limits": lambda attribute: attribute.limits,
    "default": lambda attribute: () if attribute.default is None else (text_of(attribute.default),),
    "condition": lambda attribute: tuple(
        f"{each.name} = {text_of(value)}"
        for together in attribute.conditions
        for each in together
        for value in each.values
    ),
}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a document or of an attribute."""

    #: "added", "removed" or a key of `ASPECTS`.
    kind: str
    #: Name of the document.
    document: str
    #: "" for the document as a whole.
    pointer: str
    #: Values that only the older or only the newer version has.
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    #: The meaning, in the version that has it, or in the newer one.
    text: str = ""

    @property
    def anchor(self) -> str:
        return anchor(self.document, self.pointer)

    @property
    def path(self) -> str:
        """Return the path of the attribute, "" for the document as a whole."""
        return path_of(self.pointer)


def requirement(attribute: Attribute) -> str:
    """Return whether an attribute is required, as a word or two."""
    if attribute.is_required:
        return "required"
    if attribute.required_if:
        return "sometimes required"
    return "required in some forms" if attribute.is_alternative else "optional"


def changes(older: Reference, newer: Reference) -> tuple[Change, ...]:
    """Return the changes from one version to the next, in the order of the newer one."""
    return tuple(_changes(older, newer))


def _changes(older: Reference, newer: Reference) -> Iterator[Change]:
    names = dict.fromkeys(each.name for each in (*newer.documents, *older.documents))
    for name in names:
        before, after = older.document(name), newer.document(name)
        if before and after:
            yield from _of_document(before, after)
        elif after:
            yield Change("added", name, "", text=after.text)
        elif before:
            yield Change("removed", name, "", text=before.text)


def _of_document(before: Document, after: Document) -> Iterator[Change]:
    old = {each.pointer: each for each in before.attributes}
    new = {each.pointer: each for each in after.attributes}
    for pointer, attribute in new.items():
        if pointer not in old:
            yield Change("added", after.name, pointer, text=attribute.text)
            continue
        for kind, read in ASPECTS.items():
            was, now = read(old[pointer]), read(attribute)
            if set(was) != set(now):
                gone, come = _without(was, now), _without(now, was)
                yield Change(kind, after.name, pointer, gone, come, attribute.text)
    for pointer, attribute in old.items():
        if pointer not in new:
            yield Change("removed", before.name, pointer, text=attribute.text)


def _without(values: Iterable[str], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value not in others)


def text_of(value: Any) -> str:
    """Return a value of a schema as text: a string as it is, another one as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
