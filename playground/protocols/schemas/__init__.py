"""JSON Schema (2020-12) files of every request, response and stream event, one per version.

Schemas are data: they drive the editor's completion and hints, the validation of requests and
responses, and the reference pages. In the files, one schema refers to another by its file
(`"$ref": "item.json"`); `load` puts everything that a schema needs into its `$defs`, so that
a validator or a browser can use it alone. What versions have in common is in a file above their
folders (`"$ref": "../item.json"`); its names become those of the schema that refers to it.
A schema that differs little from that of another version is a patch of that file
(`"x-patch-of": "../nlweb-0.55/item.json"`).

Most of a schema are annotations: explanations of names, see `playground.protocols.explanations`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

_SUFFIX = ".json"
#: Before the name of a file that versions share, or that is another version's.
_ELSEWHERE = "../"
_PATCH_OF = "x-patch-of"
#: Keywords that a validator ignores, besides those that begin with "x-".
_ANNOTATIONS = frozenset({"title", "description", "default", "examples"})


def versions() -> tuple[tuple[str, str], ...]:
    """Return each protocol and version with schemas, sorted."""
    folders = (entry.name for entry in resources.files(__name__).iterdir() if entry.is_dir())
    pairs = (folder.rpartition("-") for folder in folders)
    return tuple(sorted((protocol, version) for protocol, _, version in pairs if protocol))


def names(protocol: str, version: str) -> tuple[str, ...]:
    """Return the names of the schemas of a version, sorted.

    Raises `ValueError` for a protocol or a version that has none.
    """
    files = _folder(protocol, version).iterdir()
    return tuple(
        sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX))
    )


@cache
def load(protocol: str, version: str, name: str) -> dict[str, Any]:
    """Return a schema, complete in itself. The object is shared: do not change it.

    Raises `ValueError` for a protocol, version or name that has none.
    """
    others: dict[str, Any] = {}
    own = _with_shared(read(protocol, version, name))
    schema: dict[str, Any] = _bundled(protocol, version, own, others)
    return {**schema, "$defs": others} if others else schema


@cache
def load_constraints(protocol: str, version: str, name: str) -> dict[str, Any]:
    """Return a schema without its annotations, for validators. The object is shared.

    The members of an object that may have any are described but not constrained; a validator would
    visit each of them for nothing. Raises like `load`.
    """
    return _constraints(load(protocol, version, name))


def read(protocol: str, version: str, name: str) -> dict[str, Any]:
    """Return the schema of one file as it refers to others. Raises like `load`."""
    if name not in names(protocol, version):
        raise ValueError(f"No schema {name!r} for {protocol} {version}.")
    schema = _parsed(_folder(protocol, version) / f"{name}{_SUFFIX}")
    if _PATCH_OF not in schema:
        return schema
    other = _parsed(_file_elsewhere(schema.pop(_PATCH_OF)))
    patched: dict[str, Any] = _patched(other, schema)
    return patched


def _patched(value: Any, patch: Any) -> Any:
    """Return `value` changed by a JSON Merge Patch (RFC 7396).

    The reference shows members in their order: a new member comes after the one that is before it
    in the patch.
    """
    if not isinstance(patch, dict):
        return patch
    made = dict(value) if isinstance(value, dict) else {}
    order = list(made)
    for name, before in zip(patch, (None, *patch), strict=False):
        if name not in made:
            order.insert(order.index(before) + 1 if before in made else len(order), name)
        made[name] = _patched(made.get(name), patch[name])
    return {name: made[name] for name in order if made[name] is not None}


def _constraints(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _ANNOTATIONS or keyword.startswith("x-"):
            continue
        if keyword in ("properties", "$defs"):
            found[keyword] = {name: _constraints(each) for name, each in value.items()}
        elif keyword in ("allOf", "anyOf", "oneOf"):
            found[keyword] = [_constraints(each) for each in value]
        elif isinstance(value, dict) and keyword != "const":
            if (inner := _constraints(value)) or keyword not in ("items", "additionalProperties"):
                found[keyword] = inner
        else:
            found[keyword] = value
    return found


def _bundled(protocol: str, version: str, node: Any, others: dict[str, Any]) -> Any:
    """Return `node` with references to files changed to references to `others`, which is filled."""
    if isinstance(node, list):
        return [_bundled(protocol, version, entry, others) for entry in node]
    if not isinstance(node, dict):
        return node
    bundled = {key: _bundled(protocol, version, entry, others) for key, entry in node.items()}
    if isinstance(target := node.get("$ref"), str) and target.endswith(_SUFFIX):
        name = target.removesuffix(_SUFFIX)
        bundled["$ref"] = f"#/$defs/{name}"
        if name not in others:
            others[name] = {}  # Set before it is read, in case schemas refer to each other.
            own = _with_shared(read(protocol, version, name))
            others[name] = _bundled(protocol, version, own, others)
    return bundled


def _with_shared(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the members of the shared one that it refers to, its own first."""
    if not str(target := schema.get("$ref", "")).startswith(_ELSEWHERE):
        return schema
    shared = _parsed(_file_elsewhere(target))
    own = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**shared, **own, "properties": {**own["properties"], **shared["properties"]}}


def _file_elsewhere(target: str) -> Traversable:
    return resources.files(__name__) / target.removeprefix(_ELSEWHERE)


def _parsed(file: Traversable) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return schema


@cache
def _folder(protocol: str, version: str) -> Traversable:
    known = {entry.name: entry for entry in resources.files(__name__).iterdir()}
    folder = known.get(f"{protocol}-{version}")
    if folder is None or not folder.is_dir():
        raise ValueError(f"No schemas for {protocol} {version}.")
    return folder
