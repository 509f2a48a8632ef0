"""Location of the NLWeb response in a JSON-RPC message: shapes of the specification, and others.

The locations are those of the reader (`playground.protocols.mcp.results`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.rule_input import MAX_DEPTH
from playground.conformance.transcript import ResponseLocation
from playground.protocols import json_decoder
from playground.protocols.mcp.messages import nlweb_meta
from playground.protocols.mcp.results import EmbeddedResponse, ToolResult, is_nlweb_response

#: The most parts of `content` that are checked.
MAX_CONTENT = 1_000


class ResponseShape(enum.Enum):
    """Shape of an embedded response, as text."""

    #: 0.55 appendix C: the recommendation.
    TEXT = "JSON in a text content block"
    #: 0.54 MCP examples.
    RESULT = "results and _meta at the top level of the result"
    #: 0.55 A.3.
    CONTENT = "text in content, with _meta at the top level"
    #: 0.54 MCP examples, section 6.
    ERROR = "error data"
    STRUCTURED = "structuredContent"


class NestedResponse(NamedTuple):
    """A response, its location and its shape."""

    shape: ResponseShape
    response_location: ResponseLocation
    payload: dict[str, Any]


def find_response(located: LocatedMessage) -> NestedResponse | None:
    return next(find_responses(located), None)


def find_responses(located: LocatedMessage) -> Iterator[NestedResponse]:
    """Yield every embedded NLWeb response, first the one that the reader takes."""
    if located.message.error is not None and not located.result:
        data = located.message.error.data
        if is_nlweb_response(data):
            location = f"{located.pointer}/error/data"
            yield NestedResponse(
                ResponseShape.ERROR, ResponseLocation(location, location), dict(data)
            )
        return
    top, outer = f"{located.pointer}/result", nlweb_meta(located.result.get("_meta"))
    for found in ToolResult(located.result, MAX_DEPTH).responses():
        location, items = top + found.pointer, tuple(top + each for each in found.items)
        if outer and "_meta" not in found.response:
            where, payload = ResponseLocation(location, top, items), {"_meta": outer}
        else:
            where, payload = ResponseLocation(location, location, items), {}
        yield NestedResponse(_shape(found), where, {**payload, **found.response})


def _shape(found: EmbeddedResponse) -> ResponseShape:
    if found.pointer.startswith("/content"):
        return ResponseShape.TEXT
    if found.pointer:
        return ResponseShape.STRUCTURED
    is_result = is_nlweb_response({**found.response, "_meta": None})
    return ResponseShape.RESULT if is_result else ResponseShape.CONTENT


def texts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    content = result.get("content")
    parts = content[:MAX_CONTENT] if isinstance(content, list) else ()
    for at, part in enumerate(parts):
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield f"/{at}/text", text


def json_in(text: str) -> Any:
    """Return the JSON object or array in a text, None without one."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        return None
    try:
        return json_decoder.decode(text)
    except (ValueError, RecursionError):
        return None
