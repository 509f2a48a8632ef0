"""Rules on results of tools, and on the NLWeb response in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.conformance.mcp.response_shapes import (
    MAX_CONTENT,
    ResponseShape,
    find_responses,
    json_in,
    texts_of,
)
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.transcript import type_of
from playground.conformance.values import is_nonempty_text, type_with_article

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


def _requests_input(t: McpTranscript) -> bool:
    """Return whether the result only requests input: it contains no response yet."""
    return t.result is not None and t.result.result.get("resultType") == "input_required"


def _done(t: McpTranscript) -> bool:
    return t.result is not None and not _requests_input(t)


def _has_result(t: McpTranscript) -> bool:
    """Return whether there is a result, even if it is empty or not an object."""
    answer = t.answer.message if t.answer else None
    return _done(t) or (answer is not None and answer.error is None and not _requests_input(t))


def _member_location(t: McpTranscript, member: str = "") -> tuple[int, str]:
    """Return the frame of the result and the pointer to one of its members."""
    located = t.result
    if located is None:
        return 0, ""
    return located.seq, f"{located.pointer}/result{member}"


def _result(t: McpTranscript) -> Mapping[str, Any]:
    return t.result.result if t.result else {}


@rule(
    "nlweb-reply",
    "Tool results contain an NLWeb response.",
    must("A"),
    v54=must(_EXAMPLES),
    when=_has_result,
)
def nlweb_reply(t: McpTranscript) -> Iterator[RuleIssue]:
    """Any shape of the examples is accepted.

    For the text of a failed tool see `mcp.error-explained`.
    """
    if t.answer and t.found is None and _result(t).get("isError") is not True:
        message = "The result contains no NLWeb response. Send it as JSON in a text content block."
        yield Violation(message, t.answer.seq, f"{t.answer.pointer}/result")


@rule(
    "reply-shape",
    "NLWeb responses are sent as JSON in a text content block.",
    info("A.3, C"),
    v54=info(_EXAMPLES),
    when=lambda t: _done(t) and t.found is not None,
)
def reply_shape(t: McpTranscript) -> Iterator[RuleIssue]:
    """Appendix C of 0.55 has this shape; A.3 and 0.54 show others, and none is required.

    MCP clients pass content to their model and drop the rest.
    """
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


@rule(
    "result-content",
    "Tool results have a content array.",
    must(_TOOLS),
    v54=info(_TOOLS),
    when=_done,
)
def result_content(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP requires it. In 0.54 all but two examples leave it out.

    For 0.54 both forms are accepted.
    """
    content = _result(t).get("content")
    if not isinstance(content, list):
        actual = type_with_article(content) if "content" in _result(t) else "missing"
        yield Violation(
            f"content is {actual}; expected an array.", *_member_location(t, "/content")
        )


@rule(
    "content-parts",
    "Content blocks have a type that MCP defines, and its required members.",
    must(_TOOLS),
    v54=info(_TOOLS),
    when=lambda t: _done(t) and isinstance(_result(t).get("content"), list),
)
def content_parts(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP defines text, image, audio, resource_link and resource.

    An example of 0.54 has other types.
    """
    for at, part in enumerate(_result(t)["content"][:MAX_CONTENT]):
        seq, pointer = _member_location(t, f"/content/{at}")
        if not isinstance(part, dict):
            yield Violation(
                f"This content block is {type_with_article(part)}; expected an object.",
                seq,
                pointer,
            )
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


def _odd_resource(resource: Any, seq: int, pointer: str) -> Iterator[RuleIssue]:
    if not isinstance(resource, dict):
        message = "Set resource to an object with uri, and text or blob."
        yield Violation(message, seq, pointer)
        return
    if not isinstance(resource.get("uri"), str):
        yield Violation("Set uri to a string.", seq, f"{pointer}/uri")
    if not any(isinstance(resource.get(name), str) for name in ("text", "blob")):
        yield Violation("Set text or blob to a string.", seq, f"{pointer}/text")


@rule(
    "is-error",
    "isError is a boolean.",
    must(_TOOLS),
    when=lambda t: "isError" in _result(t),
)
def is_error(t: McpTranscript) -> Iterator[RuleIssue]:
    """It is for failures of the tool; an invalid call is an error of JSON-RPC."""
    actual = _result(t)["isError"]
    if not isinstance(actual, bool):
        message = f"isError is {type_with_article(actual)}; expected true or false."
        yield Violation(message, *_member_location(t, "/isError"))


@rule(
    "error-described",
    "If isError is true, content describes the error.",
    should(_TOOLS),
    when=lambda t: _result(t).get("isError") is True,
)
def error_described(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients pass the text to their model, which can correct the call."""
    if not any(is_nonempty_text(text) for _, text in texts_of(_result(t))):
        message = "Describe the error in a text content block."
        yield Violation(message, *_member_location(t, "/content"))


@rule(
    "error-agrees",
    "isError is true only for NLWeb failures.",
    should(_TOOLS),
    when=lambda t: t.found is not None and isinstance(_result(t).get("isError"), bool),
)
def error_agrees(t: McpTranscript) -> Iterator[RuleIssue]:
    """A failure without isError is allowed: the tool worked, and the agent refused."""
    kind = type_of(t.found.payload.get("_meta")) if t.found else ""
    if _result(t)["isError"] and kind not in ("", "failure"):
        message = f"isError is true, but the response type is {kind}. Set isError to false."
        yield Violation(message, *_member_location(t, "/isError"))


@rule(
    "error-explained",
    "Failed tools return an NLWeb failure.",
    info("4.1.4"),
    when=lambda t: _done(t) and _result(t).get("isError") is True,
)
def error_explained(t: McpTranscript) -> Iterator[RuleIssue]:
    """Programs cannot process an exception as text."""
    if t.found is None:
        message = "The tool returned no NLWeb failure. Send one: _meta, and error with a code."
        yield Violation(message, *_member_location(t, "/content"))


@rule(
    "structured-object",
    "structuredContent is an object.",
    must("MCP 2025-06-18, tools"),
    when=lambda t: (
        "structuredContent" in _result(t) and t.call is not None and not t.call.is_stateless
    ),
)
def structured_object(t: McpTranscript) -> Iterator[RuleIssue]:
    """This applies up to 2025-11-25. Since 2026-07-28 it may be any JSON value."""
    structured = _result(t)["structuredContent"]
    if not isinstance(structured, dict):
        message = f"structuredContent is {type_with_article(structured)}; expected an object."
        yield Violation(message, *_member_location(t, "/structuredContent"))


@rule(
    "structured-agrees",
    "structuredContent and the JSON in content are identical.",
    should("MCP 2025-06-18, tools"),
    when=lambda t: isinstance(_result(t).get("structuredContent"), dict),
)
def structured_agrees(t: McpTranscript) -> Iterator[RuleIssue]:
    """Older clients read content, newer clients structuredContent.

    SDKs wrap a list as `{"result": […]}` and send it, or each item, as text.
    """
    structured = _result(t)["structuredContent"]
    inner = structured.get("result") if set(structured) == {"result"} else None
    inner = json_in(inner) if isinstance(inner, str) else inner
    texts = [json_in(text) for _, text in texts_of(_result(t))]
    values = [value for value in texts if value is not None]
    is_listed = isinstance(inner, list) and all(each in values for each in inner)
    if not values:
        # A tool without structured output may return the same as text.
        if t.found is not None:
            message = "Also send structuredContent as JSON in a text content block."
            yield Violation(message, *_member_location(t, "/content"))
    elif structured not in values and inner not in values and not is_listed:
        message = "structuredContent differs from the JSON in content. They must be identical."
        yield Violation(message, *_member_location(t, "/structuredContent"))


RULES = (
    nlweb_reply,
    reply_shape,
    result_content,
    content_parts,
    is_error,
    error_described,
    error_agrees,
    error_explained,
    structured_object,
    structured_agrees,
)
