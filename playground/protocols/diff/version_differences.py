"""Differences that the versions of a protocol explain, read from its version table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playground.protocols import lenient
from playground.protocols.exchange import Version

_QUESTION_TYPE = re.compile(r"/questions/\d+/type")


def version_explanation(
    kind: str, pointer: str, values: tuple[Any, Any], versions: tuple[Version, Version]
) -> str:
    """Return why two values of a part differ, as a sentence, "" if no version explains it.

    `kind` is that of the part, see `response_parts`; `values` and `versions` are left and right.
    """
    if versions[0].name == versions[1].name:
        return ""
    own = {f"/{name}" for version in versions for name in _trait(version, "version_fields")}
    if kind == "metadata" and pointer in own:
        return f"Each response names its own version: {versions[0].label} and {versions[1].label}."
    if kind == "question" and _QUESTION_TYPE.fullmatch(pointer):
        return _only_one_has("question_types", "type of question", values, versions)
    if kind == "failure" and pointer == "/code":
        return _only_one_has("error_codes", "error code", values, versions)
    return ""


def _only_one_has(
    trait: str, what: str, values: tuple[Any, Any], versions: tuple[Version, Version]
) -> str:
    """Explain a value that its own version defines and the other one does not."""
    for value, own, other in (
        (values[0], versions[0], versions[1]),
        (values[1], versions[1], versions[0]),
    ):
        name = lenient.text(value)
        if name in _trait(own, trait) and name not in _trait(other, trait):
            return f"{other.label} has no {what} {name}."
    return ""


def _trait(version: Version, name: str) -> tuple[str, ...]:
    traits: Mapping[str, Any] = version.traits
    found = traits.get(name, ())
    return tuple(found) if isinstance(found, tuple | list) else ()
