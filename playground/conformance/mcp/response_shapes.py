"""Location of the NLWeb response in a JSON-RPC message: shapes of the specification, and others.

The same locations in the same order as in the reader (`playground.protocols.mcp.results`), with
the pointers that documents do not have.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from playground.conformance.http_response import decoded
from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.transcript import ResponseLocation
from playground.protocols.mcp.messages import nlweb_meta
from playground.protocols.mcp.results import is_nlweb_response

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
    """Return the NLWeb response in a JSON-RPC response; None without one."""
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
    result, top = located.result, f"{located.pointer}/result"
    for shape, location, payload in _locations(result, top):
        outer = nlweb_meta(result.get("_meta"))
        if outer and "_meta" not in payload:
            yield NestedResponse(
                shape, ResponseLocation(location, top), {"_meta": outer, **payload}
            )
        else:
            yield NestedResponse(shape, ResponseLocation(location, location), dict(payload))


def _locations(
    result: Mapping[str, Any], top: str
) -> Iterator[tuple[ResponseShape, str, dict[str, Any]]]:
    structured = result.get("structuredContent")
    own = {name: value for name, value in result.items() if name not in _ENVELOPE}
    if "_meta" in own and not (nlweb_meta(own["_meta"]) or not isinstance(own["_meta"], dict)):
        del own["_meta"]
    if is_nlweb_response(structured):
        yield ResponseShape.STRUCTURED, f"{top}/structuredContent", structured  # type: ignore[misc]
    if is_nlweb_response({name: value for name, value in own.items() if name != "_meta"}):
        yield ResponseShape.RESULT, top, own
    yield from _wrapped(structured, f"{top}/structuredContent/result")
    for at, text in texts_of(result):
        if isinstance(inner := json_in(text), dict) and is_nlweb_response(inner):
            yield ResponseShape.TEXT, f"{top}/content{at}#", inner
    if is_nlweb_response(own):
        yield ResponseShape.CONTENT, top, own


def _wrapped(structured: Any, location: str) -> Iterator[tuple[ResponseShape, str, dict[str, Any]]]:
    """Yield a response that a server wrapped in `{"result": …}`, as some do with other types."""
    if not isinstance(structured, Mapping) or set(structured) != {"result"}:
        return
    inner = structured["result"]
    if isinstance(inner, str):
        inner, location = json_in(inner), f"{location}#"
    if isinstance(inner, dict) and is_nlweb_response(inner):
        yield ResponseShape.STRUCTURED, location, inner


#: Members of a result that belong to MCP.
_ENVELOPE = frozenset({"isError", "resultType", "structuredContent"})


def texts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a result's content with their pointers."""
    content = result.get("content")
    parts = content[:MAX_CONTENT] if isinstance(content, list) else ()
    for at, part in enumerate(parts):
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield f"/{at}/text", text


def json_in(text: str) -> Any:
    """Return the JSON object in a text, None without one."""
    if not text.lstrip().startswith("{"):
        return None
    message = decoded(0, None, text)
    return message.payload if message.readable else None
