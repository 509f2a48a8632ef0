"""Rules on answers, and on the requested format, mode and language: sections 3.3 and 4.1.1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from playground.conformance.nlweb.transcript import (
    VERSIONS,
    Transcript,
    blocks,
    content,
    items,
    part,
)
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, should
from playground.conformance.shape import (
    Fix,
    Place,
    RuleFactory,
    Tests,
    elements,
    is_nonempty_text,
    is_string,
    members,
    never,
    objects,
    one_of,
    present,
    those,
    type_with_article,
)
from playground.protocols.nlweb.versions import RESPONSE_FORMATS

_SEARCH, _APP = RESPONSE_FORMATS
_CONTENT = ("results", "content", "structuredData")
#: The name of structuredData in section 4 of 0.54.
OLD_NAME = "structured_data"
#: A language tag: its first subtag is compared.
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z0-9_])")
#: For rules on answers, and on those in a single document of a listed format.
_answer = RuleFactory[Transcript]("", VERSIONS, lambda t: t.has_response and t.kind == "answer")
_document = RuleFactory[Transcript](
    "",
    VERSIONS,
    lambda t: t.has_response and t.kind == "answer" and bool(t.document) and not t.has_own_format,
)


def answer_content(t: Transcript) -> Iterator[RuleIssue]:
    if (document := t.document) is None:
        return
    given, seq = document.members, document.seq
    whole = ("results", OLD_NAME) if t.version == "0.54" else ("results",)
    names = dict.fromkeys((*_CONTENT, *whole))
    for name in names:
        if name in given and not isinstance(given[name], list):
            actual = type_with_article(given[name])
            yield Violation(f"{name} is {actual}; expected an array.", seq, f"/{name}")
    if given.keys().isdisjoint(names):
        message = "Add a results array; leave it empty if nothing was found."
        yield missing(t, message, seq, "/results")
    elif given.keys().isdisjoint(whole):
        for name in _CONTENT[1:]:
            if name not in given and not (name == "structuredData" and is_content_alone(t)):
                yield Violation(f"The format {_APP} also requires {name}.", seq, f"/{name}")


def is_content_alone(t: Transcript) -> bool:
    """Return whether this is an answer in the form of the example in appendix A.3 of 0.55."""
    given = t.document.members if t.document else {}
    return (
        isinstance(given.get("content"), list)
        and bool(given["content"])
        and given.keys().isdisjoint(("results", "structuredData"))
        and not any(present(blocks, "response_format")(t))
        and t.prefer("response_format") != _APP
    )


def answer_structured(t: Transcript) -> Iterator[RuleIssue]:
    if OLD_NAME in t.parts and "structuredData" not in t.parts:
        message = f"Section 4.1.1 has structuredData, not {OLD_NAME}. Most clients look for that."
        yield Violation(message, t.last_seq, f"/{OLD_NAME}")
    elif is_content_alone(t):
        message = (
            "Section 4.1.1 has structuredData beside content. Without it, clients get no results."
        )
        yield Violation(message, t.last_seq, "/structuredData")


_content_parts = elements(part("content"))


def _is_capitalised(part: dict[str, Any]) -> bool:
    """Return whether a part has the names that the prose of 0.54 has (section 4.1.1)."""
    return part.get("Type") == "text" and isinstance(part.get("Text"), str)


def _is_instruction(part: dict[str, Any]) -> bool:
    """Return whether a part has the other type in the examples of 0.54: HTTP 5 and MCP 5."""
    return part.get("type") == "instruction" and not _is_capitalised(part)


def content_parts(t: Transcript) -> Iterator[RuleIssue]:
    is_old = t.version == "0.54"
    for seq, pointer, value in _content_parts(t):
        if not isinstance(value, dict):
            actual = type_with_article(value)
            message = f"This part is {actual}; expected an object with type and text."
            yield Violation(message, seq, pointer)
            continue
        if is_old and _is_capitalised(value):
            continue
        if value.get("type") != "text" and not (is_old and _is_instruction(value)):
            yield Violation('Set type to "text".', seq, f"{pointer}/type")
        if not isinstance(value.get("text"), str):
            yield Violation("Set text to a string.", seq, f"{pointer}/text")


def _requested_format(t: Transcript) -> str:
    """Return the format that the request asks for, or else the default; "" for any other."""
    requested = t.prefer("response_format")
    if requested is None and "query" in t.request:
        requested = t.traits["default_format"]
    return requested if requested in RESPONSE_FORMATS else ""


def _format_of(t: Transcript) -> tuple[str, Place | None]:
    """Return the format of the answer, and the place that shows it."""
    named = (("structuredData", _APP), (OLD_NAME, _APP), ("results", _SEARCH), ("content", _APP))
    for name, made in named:
        if name in t.parts:
            return made, t.parts[name][0]
    return (_SEARCH, t.items[0]) if t.items else ("", None)


def format_honoured(t: Transcript) -> Iterator[RuleIssue]:
    requested, (received, place) = _requested_format(t), _format_of(t)
    named = next(iter(_named_formats(t)), None)
    is_default = not t.prefer("response_format")
    if named and is_default and named[2] not in RESPONSE_FORMATS:
        named = None
    asked = f"{requested} is the default" if is_default else f"The request asks for {requested}"
    if (not received or received == requested) and named and named[2] != requested:
        yield Violation(f"{asked}, but response_format has another value.", *named[:2])
    elif received not in ("", requested) and place and not is_content_alone(t):
        message = (
            f"{asked}, but the response is {received}. Use {requested} or fail with "
            "UNSUPPORTED_FORMAT."
        )
        yield Violation(message, *place[:2])


#: The formats in the metadata, as far as they are strings.
_named_formats = those(present(blocks, "response_format"), is_string)


def _misnamed_formats(t: Transcript) -> Iterator[Place]:
    received, _ = _format_of(t)
    for place in _named_formats(t):
        if place[2] in RESPONSE_FORMATS and place[2] != received:
            yield place


#: There are two formats, so that each contradicts the other.
_NOT_BOTH: Tests = {
    one_of(_APP): f"The metadata has {_SEARCH}, but the content is {_APP}. Correct one.",
    never: f"The metadata has {_APP}, but the content is {_SEARCH}. Correct one.",
}


# Summaries and modes


def _modes(t: Transcript) -> frozenset[str]:
    requested = t.prefer("mode")
    words = requested.split(",") if isinstance(requested, str) else ()
    return frozenset(word.strip().lower() for word in words)


def _names_summary(kind: object) -> bool:
    return isinstance(kind, str) and kind.strip().lower().endswith("summary")


def _is_summary(item: object) -> bool:
    """Return whether an item is a summary by its type: SearchSummary, or a similar one."""
    kind = item.get("@type") if isinstance(item, dict) else None
    return any(map(_names_summary, kind)) if isinstance(kind, list) else _names_summary(kind)


def _may_be_summary(item: object) -> bool:
    """Return whether an item is a summary, or may be one of another type: it has a text."""
    return _is_summary(item) or (isinstance(item, dict) and is_nonempty_text(item.get("text")))


def mode_summarize_honoured(t: Transcript) -> Iterator[RuleIssue]:
    if any(those(items, _may_be_summary)(t)) or (t.document and "content" in t.parts):
        return
    reported = next(iter(those(present(blocks, "summary"), is_nonempty_text)(t)), None)
    if reported is None:
        message = (
            "The request has mode summarize, but the answer has no summary. Add a SearchSummary "
            "item."
        )
        yield missing(t, message, *t.items[0][:2])
    elif t.traits["summary_in"] == "item":
        message = (
            "The summary is in the metadata. Send it as an item of type SearchSummary with text."
        )
        yield Violation(message, *reported[:2])


def _only_summaries(t: Transcript) -> Iterable[Place]:
    return t.items[:1] if all(_is_summary(value) for _, _, value in t.items) else ()


# The language


def _languages(value: Any) -> list[str]:
    """Return the languages in a value, or in a list of values, without regions and the like."""
    listed = value if isinstance(value, list) else str(value).split(",")
    found = (_LANGUAGE.match(each) for each in listed if isinstance(each, str))
    return [match[1].lower() for match in found if match]


def _requested_languages(t: Transcript) -> list[str]:
    header = t.request_headers.get("accept-language", "")
    return _languages(t.prefer("accept-language") or header)


def _metas_and_items(t: Transcript) -> Iterator[Place]:
    return chain(t.metas, t.items)


_language_members = present(
    _metas_and_items, "inLanguage", "@language", "language", "content-language"
)


def _languages_of(t: Transcript) -> Iterator[Place]:
    """Yield the languages that a response declares: a list of them at each place."""
    header = t.head_seq or 0, "", t.headers.get("content-language")
    for seq, pointer, value in (header, *_language_members(t)):
        if languages := _languages(value):
            yield seq, pointer, languages


def language_honoured(t: Transcript) -> Iterator[RuleIssue]:
    seen = set(requested := _requested_languages(t))
    for seq, pointer, declared in _languages_of(t):
        if seen.isdisjoint(declared):
            message = f"The request asks for {requested[0]}, but this is in {declared[0]}."
            yield Violation(message, seq, pointer)
            seen.update(declared)


# fmt: off
RULES = (
    _document.rule("answer-content",
        "Answers contain a results array, or content and structuredData.", must("4.1.1"),
        answer_content,
        why="For single documents; a stream delivers its results one by one. An answer in a "
            "format of the agent's own, asked for and named, may have any content (3.3.1 and "
            "4.1.1).\n\n"
            "Content without structuredData is accepted unless the format is chatgpt_app, and in "
            "0.54 structured_data (section 4): see `answer-structured`."),
    _document.rule("answer-structured", "Answers with content have structuredData, too.",
        info("4.1.1"), answer_structured,
        when=lambda t: "results" not in t.parts and not {"content", OLD_NAME}.isdisjoint(t.parts),
        why="Section 4.1.1 of 0.55 requires both; the example in its appendix A.3 has content "
            "only.\n\n"
            "Both forms are accepted. 0.54 names both members, and allows one or more; it also "
            "writes structured_data (section 4)."),
    _document.rule("content-parts", "Content parts have type text and a text.", must("4.1.1"),
        content_parts, when=part("content"),
        why="These are parts of the format chatgpt_app.\n\n"
            "0.54 shows other spellings and types in its text: see `content-parts-spelled`."),
    _document.row("content-parts-spelled",
        "Content parts have the lowercase names type and text, and type text.",
        (None, info("4.1.1")), those(objects(_content_parts), _is_capitalised), {
            never: "Section 4.1.1 capitalises Type and Text, but the examples do not. Most clients "
                   "look for type and text.",
        },
        (present(those(objects(_content_parts), _is_instruction), "type"), {
            never: "Section 4.1.1 allows only the type text, but example 5 has instruction. "
                   "Clients may ignore it.",
        }), when=part("content"),
        why="0.54 capitalises the names in its prose, and has another type in one example.\n\n"
            "Both are accepted."),
    _answer.rule("format-honoured",
        "Answers use the requested response format, or else the default.", should("3.3.1"),
        format_honoured, when=lambda t: bool(_requested_format(t)),
        why="The format is a preference: agents choose the best match among those they "
            "support.\n\n"
            "The default of 0.55 is conversational_search; 0.54 has none. A format of the "
            "agent's own is only compared with one that was requested."),
    _answer.row("format-named", "The response format in the metadata matches the content.",
        must("4"), _misnamed_formats, _NOT_BOTH,
        when=lambda t: not t.streamed and bool(_format_of(t)[0]),
        why="The member response_format is optional, and formats that are not listed are "
            "allowed."),
    _answer.row("format-named-stream",
        "The response format in the metadata of a stream matches its events.",
        (info("6.1"), info("HTTP examples 5")), _misnamed_formats, _NOT_BOTH,
        when=lambda t: t.streamed and bool(_format_of(t)[0]),
        why="The specification defines events for results, and not how chatgpt_app is streamed."),
    _answer.rule("mode-summarize-honoured", "Answers in mode summarize contain a summary.",
        (should("4.1.1"), should("3.3.2")), mode_summarize_honoured,
        when=lambda t: "summarize" in _modes(t) and bool(t.items),
        why="In 0.55 the summary is an item at any position; 0.54 also allows "
            "`_meta.summary`.\n\n"
            "The type of the item may be any that fits its domain. For 0.54 see HTTP examples 2."),
    _answer.row("mode-list-honoured", "Answers in mode list contain results.", should("3.3.2"),
        _only_summaries, {
            never: Fix("The request has mode list, but the answer has only a summary. Add the "
                       "results.", may_follow=True),
        }, when=lambda t: "list" in _modes(t) and bool(t.items),
        why="The results array may be empty. A summary alone is not a list."),
    content.row("summary-text", "Summaries have a text.", (should("4.1.1"), None),
        members(those(items, _is_summary), "text"),
        {is_nonempty_text: "Set text to the summary, a string."},
        why="The text of a summary is a string that is not blank."),
    content.rule("language-honoured", "Responses are in the requested language.", info("3.3"),
        language_honoured, when=lambda t: _languages_of(t) if _requested_languages(t) else (),
        why="The request asks for it with accept-language, or else with the header "
            "Accept-Language.\n\n"
            "Compared are the languages that a response declares: in Content-Language, in its "
            "metadata, and in its results (inLanguage, @language), which may be about something "
            "in another language."),
)
# fmt: on
