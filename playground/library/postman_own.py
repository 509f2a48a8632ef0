"""What an item of a Postman Collection says of itself in our own member, beside Postman's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms

from playground.forms import read_value
from playground.library import postman_parts as parts
from playground.library.postman import AS_TEXT, EXTENSION_KEY, build_request
from playground.library.shape import FIELDS, REQUEST

Item = Mapping[str, Any]

#: The fields of a request that need not be given.
DEFAULTS = {name: value for name, value in FIELDS[REQUEST].items() if value is not ...}
#: JSON is nested this much deeper than a document that may be stored: see `parsing`.
_DEPTH = 200


def extension_fields(item: Item) -> dict[str, Any]:
    """What our own member of an item says; {} for none that can be read."""
    kept = item.get(EXTENSION_KEY)
    if not isinstance(kept, dict):
        return {}
    known = {name: value for name, value in kept.items() if name in FIELDS[REQUEST]}
    texts = {name: kept.get(name) for name in AS_TEXT}
    try:
        return known | {name: _value(text) for name, text in texts.items()}
    except forms.ValidationError:
        return {}  # Somebody has changed our own member.


def _value(text: Any) -> Any:
    """The JSON value of a text. Raises `ValidationError` for what is no such text."""
    if not isinstance(text, str):
        raise forms.ValidationError("This is no text.")
    return read_value(text, _DEPTH)


def unchanged_fields(item: Item, own: Mapping[str, Any]) -> dict[str, Any]:
    """Our own fields, where the request is still the one that was written for them; or {}."""
    request = item.get("request")
    if not own or not isinstance(request, dict) or next(parts.scripts(item), None) is not None:
        return {}
    fields = {**DEFAULTS, **own, "notes": parts.text_of(request.get("description"))}
    try:
        written = json.loads(json.dumps(build_request(fields)))
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}  # Somebody has changed our own member.
    return fields if written == request else {}
