"""Example requests of the reference: the example of a document, with one attribute set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.protocols.explanations import ELEMENT, OTHER
from playground.protocols.json_pointer import keys_of, resolve
from playground.protocols.reference import Attribute, Reference

_NONE = object()
#: Values where a schema has no example.
_BY_TYPE: dict[str, Any] = {
    "boolean": True,
    "integer": 1,
    "number": 1,
    "string": "text",
    "array": [],
    "object": {},
}


def example_request(reference: Reference, attribute: Attribute) -> dict[str, Any] | None:
    """Return a request in which an attribute is set; it shares values with the schemas.

    None if the attribute is not part of a request, has no value to set, or no name.
    """
    found = reference.request_location(attribute)
    if found is None or OTHER in keys_of(attribute.pointer):
        return None
    name, pointer = found
    request = _example_of(reference, name, pointer)
    above = pointer.removesuffix(attribute.pointer)
    if above and not _has(request, pointer):
        part = _example_of(reference, attribute.document, attribute.pointer)
        if part:
            request = _with(request, keys_of(above), part)
    for condition in next(iter((*attribute.conditions, *attribute.required_if)), ()):
        if condition.values and not condition.is_negated:
            keys = keys_of(above + condition.pointer)
            request = _with(request, keys, condition.values[0])
    if _has(request, pointer):
        return request
    value = _value(reference, attribute)
    return None if value is _NONE else _with(request, keys_of(pointer), value)


def _example_of(reference: Reference, name: str, pointer: str) -> dict[str, Any]:
    """Return an example of a document, one that has a value at the pointer if there is one."""
    document = reference.document(name)
    examples = [each for each in document.examples if isinstance(each, dict)] if document else []
    return next((each for each in examples if _has(each, pointer)), next(iter(examples), {}))


def _value(reference: Reference, attribute: Attribute) -> Any:
    if attribute.example is not None:
        return attribute.example
    if attribute.choices:
        return attribute.choices[0]
    if attribute.default is not None:
        return attribute.default
    for name in attribute.refers_to:
        if example := _example_of(reference, name, ""):
            return example
    below = {
        each.name: _value(reference, each)
        for each in reference.attributes()
        if each.document == attribute.document
        and each.pointer.rpartition("/")[0] == attribute.pointer
        and each.name not in (ELEMENT, OTHER)
        and (each.is_required or each.example is not None)
    }
    if below := {name: value for name, value in below.items() if value is not _NONE}:
        return below
    for name in attribute.elements_refer_to:
        if example := _example_of(reference, name, ""):
            return [example]
    return next((_BY_TYPE[name] for name in attribute.types if name in _BY_TYPE), _NONE)


def _has(value: Any, pointer: str) -> bool:
    try:
        resolve(value, pointer)
    except LookupError:
        return False
    return True


def _with(value: Any, keys: Sequence[str], new: Any) -> Any:
    """Return a value with another one set in it, with the objects and arrays around it."""
    if not keys:
        return new
    key, *rest = keys
    if key == ELEMENT:
        elements = value if isinstance(value, list) else []
        return [_with(next(iter(elements), None), rest, new), *elements[1:]]
    members = value if isinstance(value, dict) else {}
    return {**members, key: _with(members.get(key), rest, new)}
