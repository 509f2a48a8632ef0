"""From the result of `tools/call` to the NLWeb reply in it.

Four shapes are in the specification's own examples, and servers know more: JSON text in
`content` (0.55 appendix C), `results` and `_meta` beside each other (0.54 MCP examples),
`content` with `_meta` (0.55 appendix A.3), a failure in the `data` of an error (0.54 MCP
examples, section 6), and MCP's `structuredContent`. All become one document that the reader
of the HTTP binding reads as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.protocols import json_decoder, jsonrpc
from playground.protocols.mcp.messages import nlweb_meta

#: Members that make an object an NLWeb reply; `content` and `_meta` are MCP's as well.
_PARTS = frozenset(
    {"results", "structuredData", "structured_data", "elicitation", "promise", "error"}
)
#: Members of a result that are MCP's own.
_ENVELOPE = frozenset({"isError", "resultType", "structuredContent"})
#: Parts of `content` that are searched for a reply.
_MAX_PARTS = 1000


def document_of(result: Any, max_depth: int) -> Any:
    """The NLWeb reply in a result; the result itself where it holds none.

    `max_depth` is the nesting of the JSON in a text that is still read.
    """
    if not isinstance(result, Mapping):
        return result
    for found in _candidates(result, max_depth):
        return _with_meta(found, result)
    if result.get("isError") is True:
        return {"error": {"code": "TOOL_ERROR", "message": text_of(result)}}
    return _bare(result)


def failure_of(error: jsonrpc.Error) -> dict[str, Any]:
    """The NLWeb failure in an error, or the error as one."""
    data = error.data
    if isinstance(data, Mapping) and (is_nlweb_response(data) or nlweb_meta(data.get("_meta"))):
        return dict(data)
    code = "" if error.code is None else str(error.code)
    return {"error": {"code": code, "message": error.message, "details": data}}


def text_of(result: Mapping[str, Any]) -> str:
    """The texts of a result's content, one below the other."""
    return "\n".join(_texts(result))


def is_nlweb_response(value: Any) -> bool:
    """Whether an object has members that only an NLWeb reply has."""
    if not isinstance(value, Mapping):
        return False
    if not _PARTS.isdisjoint(value) or isinstance(value.get("message_type"), str):
        return True
    meta = value.get("_meta")
    return isinstance(meta, Mapping) and "response_type" in meta


def is_meta_only(document: Any) -> bool:
    """Whether a document has metadata and nothing else: more may follow in the stream."""
    return isinstance(document, Mapping) and set(document) == {"_meta"}


def _candidates(result: Mapping[str, Any], max_depth: int) -> Iterator[Mapping[str, Any]]:
    """Objects that are NLWeb replies, best first."""
    structured = result.get("structuredContent")
    if is_nlweb_response(structured):
        yield structured  # type: ignore[misc]
    if not _PARTS.isdisjoint(result):
        yield _bare(result)
    if isinstance(structured, Mapping) and set(structured) == {"result"}:
        # How some servers wrap what is no object, or what they do not know to be one.
        inner = structured["result"]
        inner = _parsed(inner, max_depth) if isinstance(inner, str) else inner
        if is_nlweb_response(inner):
            yield inner
    for text in _texts(result):
        if is_nlweb_response(inner := _parsed(text, max_depth)):
            yield inner


def _with_meta(found: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """A reply with the metadata that stood outside of it."""
    meta = nlweb_meta(result.get("_meta"))
    if not meta or "_meta" in found:
        return dict(found)
    return {"_meta": meta, **found}


def _bare(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without what is MCP's own."""
    bare = {name: value for name, value in result.items() if name not in _ENVELOPE}
    if isinstance(bare.get("_meta"), Mapping):
        bare["_meta"] = nlweb_meta(bare["_meta"])
        if not bare["_meta"]:
            del bare["_meta"]
    return bare


def _texts(result: Mapping[str, Any]) -> Iterator[str]:
    content = result.get("content")
    for part in content[:_MAX_PARTS] if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            yield text


def _parsed(text: str, max_depth: int) -> Any:
    """The JSON object in a text, None where there is none."""
    if not text.lstrip().startswith("{") or json_decoder.exceeds_depth(text, max_depth):
        return None
    try:
        return json_decoder.decode(text)
    except (ValueError, RecursionError):
        return None
