"""Rules on results of tools, and on the NLWeb response in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.conformance.mcp.transcript import (
    McpTranscript,
    ResponseShape,
    find_responses,
    inside,
    row,
    rule,
)
from playground.conformance.nlweb.transcript import type_of
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.rule_input import MAX_DEPTH
from playground.conformance.shape import (
    Place,
    elements,
    is_array,
    is_boolean,
    is_nonempty_text,
    is_object,
    members,
    one_of,
    present,
    those,
    type_with_article,
)
from playground.protocols.mcp.results import MAX_PARTS, parse_values

_TOOLS = "MCP tools"
_EXAMPLES = "MCP examples"
#: Required members of a part by its type.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}


def _result(t: McpTranscript) -> Iterator[Place]:
    """Select the result of the tool if it is an object with members."""
    if t.result is not None:
        yield inside(t.result, "/result", t.result.result)


def _is_done(result: Mapping[str, Any]) -> bool:
    """Return whether the result does not only request input: it should contain a response."""
    return result.get("resultType") != "input_required"


def _has_failed(result: Mapping[str, Any]) -> bool:
    return result.get("isError") is True


_done, _failed = those(_result, _is_done), those(_result, _has_failed)


def _reply(t: McpTranscript) -> Iterator[Place]:
    """Select any result that has to contain a response; the value is whether it has one."""
    if t.answer and _is_done(t.answer.result) and (t.result or t.answer.message.error is None):
        found = t.found is not None or _has_failed(t.answer.result)
        yield inside(t.answer, "/result", found)


def _texts(result: Mapping[str, Any]) -> Iterator[str]:
    content = result.get("content")
    for part in content[:MAX_PARTS] if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield text


def _json_in(text: str) -> Any:
    """Return the JSON object or array that a text is, None without one."""
    values = parse_values(text, MAX_DEPTH)
    return values[0] if len(values) == 1 else None


def _explanation(t: McpTranscript) -> Iterator[Place]:
    """Select the content of a failed tool; the value is the response in it."""
    for seq, pointer, _ in those(_failed, _is_done)(t):
        yield seq, f"{pointer}/content", t.found


def reply_shape(t: McpTranscript) -> Iterator[RuleIssue]:
    if t.answer is None or t.found is None:
        return
    if any(found.shape is ResponseShape.TEXT for found in find_responses(t.answer)):
        return
    message = (
        f"The response was sent as {t.found.shape.value}. Also send it as JSON in a text content "
        "block."
    )
    if t.found.shape is ResponseShape.CONTENT:
        message += " 0.55 A.3 shows this shape, but 4.1.1 requires results."
    yield Violation(message, t.answer.seq, t.found.response_location.response.removesuffix("#"))


_content = those(present(_done, "content"), is_array)


def content_parts(t: McpTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, part in elements(_content, MAX_PARTS)(t):
        if not isinstance(part, dict):
            message = f"This content block is {type_with_article(part)}; expected an object."
            yield Violation(message, seq, pointer)
            continue
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in _PARTS:
            yield Violation(f"Set type to one of {', '.join(_PARTS)}.", seq, f"{pointer}/type")
            continue
        for name in _PARTS[kind]:
            if not isinstance(part.get(name), str):
                yield Violation(f"Set {name} to a string.", seq, f"{pointer}/{name}")
        if kind == "resource":
            yield from _odd_resource(part.get("resource"), seq, f"{pointer}/resource")


def _odd_resource(resource: Any, seq: int | None, pointer: str) -> Iterator[RuleIssue]:
    if not isinstance(resource, dict):
        message = "Set resource to an object with uri, and text or blob."
        yield Violation(message, seq, pointer)
        return
    if not isinstance(resource.get("uri"), str):
        yield Violation("Set uri to a string.", seq, f"{pointer}/uri")
    if not any(isinstance(resource.get(name), str) for name in ("text", "blob")):
        yield Violation("Set text or blob to a string.", seq, f"{pointer}/text")


def _has_text(content: Any) -> bool:
    return any(is_nonempty_text(text) for text in _texts({"content": content}))


def _response_type(t: McpTranscript) -> Iterator[Place]:
    """Select isError beside a response; the value is the response's type, "" without an error."""
    if t.found is not None:
        for seq, pointer, failed in those(present(_result, "isError"), is_boolean)(t):
            yield seq, pointer, type_of(t.found.payload.get("_meta")) if failed else ""


def _stateful_result(t: McpTranscript) -> Iterator[Place]:
    if t.call is not None and not t.call.is_stateless:
        yield from _result(t)


def structured_agrees(t: McpTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, result in _result(t):
        structured = result["structuredContent"]
        inner = structured.get("result") if set(structured) == {"result"} else None
        inner = _json_in(inner) if isinstance(inner, str) else inner
        values = [value for text in _texts(result) if (value := _json_in(text)) is not None]
        is_listed = isinstance(inner, list) and all(each in values for each in inner)
        if not values:
            # A tool without structured output may return the same as text.
            if t.found is not None:
                message = "Also send structuredContent as JSON in a text content block."
                yield Violation(message, seq, f"{pointer}/content")
        elif structured not in values and inner not in values and not is_listed:
            message = "structuredContent differs from the JSON in content. They must be identical."
            yield Violation(message, seq, f"{pointer}/structuredContent")


# fmt: off
RULES = (
    row("nlweb-reply", "Tool results contain an NLWeb response.", (must("A"), must(_EXAMPLES)),
        _reply, {bool: "The result contains no NLWeb response. Send it as JSON in a text content "
                 "block."},
        why="Any shape of the examples is accepted.\n\n"
        "For the text of a failed tool see `mcp.error-explained`."),
    rule("reply-shape", "NLWeb responses are sent as JSON in a text content block.",
        (info("A.3, C"), info(_EXAMPLES)), reply_shape,
        when=lambda t: any(_done(t)) and t.found is not None,
        why="Appendix C of 0.55 has this shape; A.3 and 0.54 show others, and none is "
            "required.\n\n"
            "MCP clients pass content to their model and drop the rest."),
    row("result-content", "Tool results have a content array.", (must(_TOOLS), info(_TOOLS)),
        members(_done, "content"), {is_array: "content is {actual}; expected an array."},
        why="MCP requires it. In 0.54 all but two examples leave it out.\n\n"
        "For 0.54 both forms are accepted."),
    rule("content-parts", "Content blocks have a type that MCP defines, and its required members.",
        (must(_TOOLS), info(_TOOLS)), content_parts, when=_content,
        why="MCP defines text, image, audio, resource_link and resource.\n\n"
            "An example of 0.54 has other types."),
    row("is-error", "isError is a boolean.", must(_TOOLS),
        present(_result, "isError"),
        {is_boolean: "isError is {actual}; expected true or false."},
        why="It is for failures of the tool; an invalid call is an error of JSON-RPC."),
    row("error-described", "If isError is true, content describes the error.", should(_TOOLS),
        members(_failed, "content"), {_has_text: "Describe the error in a text content block."},
        why="Clients pass the text to their model, which can correct the call."),
    row("error-agrees", "isError is true only for NLWeb failures.", should(_TOOLS),
        _response_type, {one_of("", "failure"):
            "isError is true, but the response type is {value}. Set isError to false."},
        why="A failure without isError is allowed: the tool worked, and the agent refused."),
    row("error-explained", "Failed tools return an NLWeb failure.", info("4.1.4"),
        _explanation, {bool: "The tool returned no NLWeb failure. Send one: _meta, and error with "
                       "a code."},
        why="Programs cannot process an exception as text."),
    row("structured-object", "structuredContent is an object.", must("MCP 2025-06-18, tools"),
        present(_stateful_result, "structuredContent"),
        {is_object: "structuredContent is {actual}; expected an object."},
        why="This applies up to 2025-11-25. Since 2026-07-28 it may be any JSON value."),
    rule("structured-agrees", "structuredContent and the JSON in content are identical.",
        should("MCP 2025-06-18, tools"), structured_agrees,
        when=those(present(_result, "structuredContent"), is_object),
        why="Older clients read content, newer clients structuredContent.\n\n"
            'SDKs wrap a list as `{"result": […]}` and send it, or each item, as text.'),
)
# fmt: on
