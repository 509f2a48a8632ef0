"""Where the NLWeb reply stands in a message of JSON-RPC: the specification's shapes, and more.

The same places in the same order as the reader's (`playground.protocols.mcp.results`), with
the pointers that documents do not carry.
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

#: Parts of `content` that are looked at.
MAX_CONTENT = 1_000


class ResponseShape(enum.Enum):
    """How a reply travels, in words."""

    #: 0.55 appendix C: what it recommends.
    TEXT = "JSON in a text of content"
    #: 0.54 MCP examples.
    RESULT = "results and _meta beside each other in the result"
    #: 0.55 A.3.
    CONTENT = "words in content, with _meta beside them"
    #: 0.54 MCP examples, section 6.
    ERROR = "data of an error"
    STRUCTURED = "structuredContent"


class NestedResponse(NamedTuple):
    """A reply, where it stands and how."""

    shape: ResponseShape
    nest: ResponseLocation
    payload: dict[str, Any]


def find_response(rpc: LocatedMessage) -> NestedResponse | None:
    """The NLWeb reply of a response; None where it holds none."""
    return next(find_responses(rpc), None)


def find_responses(rpc: LocatedMessage) -> Iterator[NestedResponse]:
    """Every place of a response that holds an NLWeb reply, the one that is read first."""
    if rpc.message.error is not None and not rpc.result:
        data = rpc.message.error.data
        if is_nlweb_response(data):
            place = f"{rpc.pointer}/error/data"
            yield NestedResponse(ResponseShape.ERROR, ResponseLocation(place, place), dict(data))
        return
    result, top = rpc.result, f"{rpc.pointer}/result"
    for shape, place, payload in _places(result, top):
        outer = nlweb_meta(result.get("_meta"))
        if outer and "_meta" not in payload:
            yield NestedResponse(shape, ResponseLocation(place, top), {"_meta": outer, **payload})
        else:
            yield NestedResponse(shape, ResponseLocation(place, place), dict(payload))


def _places(
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


def _wrapped(structured: Any, place: str) -> Iterator[tuple[ResponseShape, str, dict[str, Any]]]:
    """How some servers wrap what is no object, or what they do not know to be one."""
    if not isinstance(structured, Mapping) or set(structured) != {"result"}:
        return
    inner = structured["result"]
    if isinstance(inner, str):
        inner, place = json_in(inner), f"{place}#"
    if isinstance(inner, dict) and is_nlweb_response(inner):
        yield ResponseShape.STRUCTURED, place, inner


#: Members of a result that are MCP's own.
_ENVELOPE = frozenset({"isError", "resultType", "structuredContent"})


def texts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a result's content, and where in it they stand."""
    content = result.get("content")
    parts = content[:MAX_CONTENT] if isinstance(content, list) else ()
    for at, part in enumerate(parts):
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield f"/{at}/text", text


def json_in(text: str) -> Any:
    """The JSON object in a text, None where there is none."""
    if not text.lstrip().startswith("{"):
        return None
    message = decoded(0, None, text)
    return message.payload if message.readable else None
