"""Where the NLWeb reply stands in a message of JSON-RPC: the specification's shapes, and more.

The same places in the same order as the reader's (`playground.protocols.mcp.results`), with
the pointers that documents do not carry.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from playground.conformance.mcp.hops import Rpc
from playground.conformance.transcript import Nest
from playground.conformance.transfer import decoded
from playground.protocols.mcp.requests import own_meta
from playground.protocols.mcp.results import is_reply

#: Parts of `content` that are looked at.
MAX_CONTENT = 1_000


class Shape(enum.Enum):
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


class Found(NamedTuple):
    """A reply, where it stands and how."""

    shape: Shape
    nest: Nest
    payload: dict[str, Any]


def found_in(rpc: Rpc) -> Found | None:
    """The NLWeb reply of a response; None where it holds none."""
    return next(all_in(rpc), None)


def all_in(rpc: Rpc) -> Iterator[Found]:
    """Every place of a response that holds an NLWeb reply, the one that is read first."""
    if rpc.message.error is not None and not rpc.result:
        data = rpc.message.error.data
        if is_reply(data):
            place = f"{rpc.pointer}/error/data"
            yield Found(Shape.ERROR, Nest(place, place), dict(data))
        return
    result, top = rpc.result, f"{rpc.pointer}/result"
    for shape, place, payload in _places(result, top):
        outer = own_meta(result.get("_meta"))
        if outer and "_meta" not in payload:
            yield Found(shape, Nest(place, top), {"_meta": outer, **payload})
        else:
            yield Found(shape, Nest(place, place), dict(payload))


def _places(result: Mapping[str, Any], top: str) -> Iterator[tuple[Shape, str, dict[str, Any]]]:
    structured = result.get("structuredContent")
    own = {name: value for name, value in result.items() if name not in _ENVELOPE}
    if "_meta" in own and not (own_meta(own["_meta"]) or not isinstance(own["_meta"], dict)):
        del own["_meta"]
    if is_reply(structured):
        yield Shape.STRUCTURED, f"{top}/structuredContent", structured  # type: ignore[misc]
    if is_reply({name: value for name, value in own.items() if name != "_meta"}):
        yield Shape.RESULT, top, own
    yield from _wrapped(structured, f"{top}/structuredContent/result")
    for at, text in texts_of(result):
        if isinstance(inner := json_in(text), dict) and is_reply(inner):
            yield Shape.TEXT, f"{top}/content{at}#", inner
    if is_reply(own):
        yield Shape.CONTENT, top, own


def _wrapped(structured: Any, place: str) -> Iterator[tuple[Shape, str, dict[str, Any]]]:
    """How some servers wrap what is no object, or what they do not know to be one."""
    if not isinstance(structured, Mapping) or set(structured) != {"result"}:
        return
    inner = structured["result"]
    if isinstance(inner, str):
        inner, place = json_in(inner), f"{place}#"
    if isinstance(inner, dict) and is_reply(inner):
        yield Shape.STRUCTURED, place, inner


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
