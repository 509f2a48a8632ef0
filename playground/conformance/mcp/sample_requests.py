"""Sample requests of NLWeb: valid ones, and invalid ones with the part of a schema they break.

What sections 3 and 4.2 allow (0.54: 3), and what the schemas of 0.55 A.1 and A.2 (0.54: MCP
examples) reject.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema.exceptions import ValidationError

#: Keywords that restrict a string to some values.
_VALUES = frozenset({"enum", "const", "pattern", "minLength", "maxLength"})


class ValidRequest(NamedTuple):
    """A request that every schema has to accept."""

    name: str
    arguments: Mapping[str, Any]


class InvalidRequest(NamedTuple):
    """A request that the schema of the specification rejects, and how."""

    name: str
    arguments: Mapping[str, Any]
    #: The property whose schema rejects it (none: the schema of the tool), and the keyword.
    properties: tuple[str, ...]
    keyword: str
    fix: str


_QUERY = {"text": "healthy breakfast recipes with eggs"}
#: Stands for the version that a schema is judged by.
_VERSION = "@version"
#: By tool: valid requests by name, those of 0.55 only, and invalid ones with the part of a schema
#: that rejects them. A request of ask without a query has `_QUERY`.
_SAMPLES: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def valid_requests(tool: str, version: str) -> Iterator[ValidRequest]:
    samples = _SAMPLES[tool]
    found = {**samples["valid"], **(samples.get("since 0.55", {}) if version != "0.54" else {})}
    shared = {"query": _QUERY} if tool == "ask" else {}
    for name, members in found.items():
        yield ValidRequest(name, _in_version({**shared, **members}, version))


def invalid_requests(tool: str) -> Iterator[InvalidRequest]:
    for name, sample in _SAMPLES[tool]["invalid"].items():
        *properties, keyword = sample["breaks"].split("/")
        yield InvalidRequest(name, sample["arguments"], tuple(properties), keyword, sample["fix"])


def is_agent_defined(error: ValidationError) -> bool:
    """Return whether an error is about a value that an agent may define itself.

    These are filters other than `text`, the values of `site`, tokens and session contexts.
    """
    path, keyword = tuple(error.absolute_path), error.validator
    match path:
        case ("query", name, *rest) if name not in ("text", "site"):
            return True
        case ("query", "site") | ("promise_token",):
            return keyword in _VALUES
        case ("meta", "session_context", *rest):
            return bool(rest) or keyword != "type"
    return False


def _in_version(value: Any, version: str) -> Any:
    if isinstance(value, dict):
        return {name: _in_version(inner, version) for name, inner in value.items()}
    return version if value == _VERSION else value
