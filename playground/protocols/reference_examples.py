"""Example requests of the reference: the example of a document, with one attribute set."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from typing import Any

from playground.protocols.explanations import ELEMENT, OTHER
from playground.protocols.json_pointer import keys_of
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
    """Return a request in which an attribute is set.

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
            _set(request, above, part)
    for condition in next(iter((*attribute.conditions, *attribute.required_if)), ()):
        if condition.values and not condition.is_negated:
            _set(request, above + condition.pointer, condition.values[0])
    if _has(request, pointer):
        return request
    value = _value(reference, attribute)
    if value is _NONE:
        return None
    _set(request, pointer, value)
    return request


def _example_of(reference: Reference, name: str, pointer: str) -> dict[str, Any]:
    """Return an example of a document, one that has a value at the pointer if there is one."""
    document = reference.document(name)
    examples = [each for each in document.examples if isinstance(each, dict)] if document else []
    found = next((each for each in examples if _has(each, pointer)), next(iter(examples), {}))
    return deepcopy(found)


def _value(reference: Reference, attribute: Attribute) -> Any:
    if attribute.example is not None:
        return deepcopy(attribute.example)
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
    return next((deepcopy(_BY_TYPE[name]) for name in attribute.types if name in _BY_TYPE), _NONE)


def _has(value: Any, pointer: str) -> bool:
    for key in keys_of(pointer):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key == ELEMENT and value:
            value = value[0]
        else:
            return False
    return True


def _set(request: dict[str, Any], pointer: str, value: Any) -> None:
    """Set a value, with the objects and arrays above it. Another kind of value is replaced."""
    *above, last = keys_of(pointer)
    here: Any = request
    for key, following in pairwise([*above, last]):
        kind: type = list if following == ELEMENT else dict
        if isinstance(here, list):
            if not here:
                here.append(kind())
            elif not isinstance(here[0], kind):
                here[0] = kind()
            here = here[0]
        else:
            if not isinstance(here.get(key), kind):
                here[key] = kind()
            here = here[key]
    if isinstance(here, list):
        here[:1] = [value]
    else:
        here[last] = value
