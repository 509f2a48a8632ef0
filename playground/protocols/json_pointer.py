"""JSON Pointer (RFC 6901): write, read and resolve one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def escape(key: object) -> str:
    """Return the name of a member or the index of an element as one reference token (section 3)."""
    return str(key).replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return the key that a reference token means (section 4)."""
    return token.replace("~1", "/").replace("~0", "~")


def pointer_of(keys: Iterable[object]) -> str:
    """Return the pointer of keys from the root on; "" is the document itself."""
    return "".join(f"/{escape(key)}" for key in keys)


def keys_of(pointer: str) -> list[str]:
    """Return the keys of a pointer; indexes are decimal text like other keys."""
    return [unescape(token) for token in pointer.split("/")[1:]]


def descend(value: Any, key: str) -> Any:
    """Return the value at a key of an object or an index of a list (section 4).

    Raises `LookupError` if there is none.
    """
    if isinstance(value, Mapping):
        return value[key]
    is_index = key == "0" or (key.isascii() and key.isdecimal() and not key.startswith("0"))
    if isinstance(value, list) and is_index and len(key) < 20:
        return value[int(key)]
    raise LookupError(key)


def resolve(document: Any, pointer: str) -> Any:
    """Raises `LookupError` if there is no value at the pointer."""
    for key in keys_of(pointer):
        document = descend(document, key)
    return document
