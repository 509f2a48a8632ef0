"""Rules on answers, and on the requested format and mode: sections 3.3 and 4.1.1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.nlweb.versions import RESPONSE_FORMATS

_SEARCH, _APP = RESPONSE_FORMATS
_CONTENT = ("results", "content", "structuredData")
#: The name of structuredData in section 4 of 0.54.
OLD_NAME = "structured_data"
#: A language tag: its first subtag is compared.
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z0-9_])")
_LANGUAGE_MEMBERS = ("inLanguage", "@language", "language", "content-language")


def _is_answer(t: Transcript) -> bool:
    return t.has_response and t.kind == "answer"


def _is_document(t: Transcript) -> bool:
    return _is_answer(t) and t.document is not None and not t.has_own_format


@rule(
    "answer-content",
    "Answers contain a results array, or content and structuredData.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_is_document,
)
def answer_content(t: Transcript) -> Iterator[RuleIssue]:
    """For single documents; a stream delivers its results one by one. An answer in a format of the
    agent's own, asked for and named, may have any content (3.3.1 and 4.1.1).

    Content without structuredData is accepted unless the format is chatgpt_app, and in 0.54
    structured_data (section 4): see `answer-structured`.
    """
    if (document := t.document) is None:
        return
    members, seq = document.members, document.seq
    whole = ("results", OLD_NAME) if t.version == "0.54" else ("results",)
    names = dict.fromkeys((*_CONTENT, *whole))
    for name in names:
        if name in members and not isinstance(members[name], list):
            actual = type_with_article(members[name])
            yield Violation(f"{name} is {actual}; expected an array.", seq, f"/{name}")
    if members.keys().isdisjoint(names):
        message = "Add a results array; leave it empty if nothing was found."
        yield missing(t, message, seq, "/results")
    elif members.keys().isdisjoint(whole):
        for name in _CONTENT[1:]:
            if name not in members and not (name == "structuredData" and is_content_alone(t)):
                yield Violation(f"The format {_APP} also requires {name}.", seq, f"/{name}")


def is_content_alone(t: Transcript) -> bool:
    """Return whether this is an answer in the form of the example in appendix A.3 of 0.55."""
    members = t.document.members if t.document else {}
    return (
        isinstance(members.get("content"), list)
        and bool(members["content"])
        and members.keys().isdisjoint(("results", "structuredData"))
        and not any("response_format" in p.value for p in t.metas if isinstance(p.value, dict))
        and t.prefer("response_format") != _APP
    )


@rule(
    "answer-structured",
    "Answers with content have structuredData, too.",
    v55=info("4.1.1"),
    v54=info("4.1.1"),
    when=lambda t: (
        _is_document(t)
        and "results" not in t.parts
        and not t.parts.keys().isdisjoint(("content", OLD_NAME))
    ),
)
def answer_structured(t: Transcript) -> Iterator[RuleIssue]:
    """Section 4.1.1 of 0.55 requires both; the example in its appendix A.3 has content only.

    Both forms are accepted. 0.54 names both members, and allows one or more; it also writes
    structured_data (section 4).
    """
    if OLD_NAME in t.parts and "structuredData" not in t.parts:
        message = f"Section 4.1.1 has structuredData, not {OLD_NAME}. Most clients look for that."
        yield Violation(message, t.last_seq, f"/{OLD_NAME}")
    elif is_content_alone(t):
        message = (
            "Section 4.1.1 has structuredData beside content. Without it, clients get no results."
        )
        yield Violation(message, t.last_seq, "/structuredData")


def _has_content(t: Transcript) -> bool:
    return _is_document(t) and "content" in t.parts


@rule(
    "content-parts",
    "Content parts have type text and a text.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_has_content,
)
def content_parts(t: Transcript) -> Iterator[RuleIssue]:
    """These are parts of the format chatgpt_app.

    0.54 shows other spellings and types in its text: see `content-parts-spelled`.
    """
    for seq, pointer, part in _content_parts(t):
        if not isinstance(part, dict):
            actual = type_with_article(part)
            message = f"This part is {actual}; expected an object with type and text."
            yield Violation(message, seq, pointer)
            continue
        if _is_capitalised(t, part):
            continue
        if part.get("type") != "text" and not _is_instruction(t, part):
            yield Violation('Set type to "text".', seq, f"{pointer}/type")
        if not isinstance(part.get("text"), str):
            yield Violation("Set text to a string.", seq, f"{pointer}/text")


def _content_parts(t: Transcript) -> Iterator[Location]:
    for seq, pointer, parts in t.parts["content"]:
        for at, part in enumerate(parts if isinstance(parts, list) else ()):
            yield Location(seq, f"{pointer}/{at}", part)


def _is_capitalised(t: Transcript, part: dict[str, Any]) -> bool:
    """Return whether a part has the names that the prose of 0.54 has (section 4.1.1)."""
    return t.version == "0.54" and part.get("Type") == "text" and isinstance(part.get("Text"), str)


def _is_instruction(t: Transcript, part: dict[str, Any]) -> bool:
    """Return whether a part has the other type in the examples of 0.54: HTTP 5 and MCP 5."""
    return t.version == "0.54" and part.get("type") == "instruction"


@rule(
    "content-parts-spelled",
    "Content parts have the lowercase names type and text, and type text.",
    v54=info("4.1.1"),
    when=_has_content,
)
def content_parts_spelled(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 capitalises the names in its prose, and has another type in one example.

    Both are accepted.
    """
    for seq, pointer, part in _content_parts(t):
        if not isinstance(part, dict):
            continue
        if _is_capitalised(t, part):
            message = (
                "Section 4.1.1 capitalises Type and Text, but the examples do not. Most clients "
                "look for type and text."
            )
            yield Violation(message, seq, pointer)
        elif _is_instruction(t, part):
            message = (
                "Section 4.1.1 allows only the type text, but example 5 has instruction. Clients "
                "may ignore it."
            )
            yield Violation(message, seq, f"{pointer}/type")


def _requested_format(t: Transcript) -> str:
    """Return the format that the request asks for, or else the default; "" for any other."""
    requested = t.prefer("response_format")
    if requested is None and "query" in t.request:
        requested = t.traits["default_format"]
    return requested if requested in RESPONSE_FORMATS else ""


def _format_of(t: Transcript) -> tuple[str, Location | None]:
    """Return the format of the answer, and the location that shows it."""
    named = (("structuredData", _APP), (OLD_NAME, _APP), ("results", _SEARCH), ("content", _APP))
    for name, made in named:
        if name in t.parts:
            return made, t.parts[name][0]
    return (_SEARCH, t.items[0]) if t.items else ("", None)


@rule(
    "format-honoured",
    "Answers use the requested response format, or else the default.",
    v55=should("3.3.1"),
    v54=should("3.3.1"),
    when=lambda t: _is_answer(t) and bool(_requested_format(t)),
)
def format_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """The format is a preference: agents choose the best match among those they support.

    The default of 0.55 is conversational_search; 0.54 has none. A format of the agent's own is
    only compared with one that was asked for.
    """
    requested, (received, location) = _requested_format(t), _format_of(t)
    named = next(_named_formats(t), None)
    is_default = not t.prefer("response_format")
    if named and is_default and named.value not in RESPONSE_FORMATS:
        named = None
    asked = f"{requested} is the default" if is_default else f"The request asks for {requested}"
    if (not received or received == requested) and named and named.value != requested:
        yield Violation(
            f"{asked}, but response_format has another value.",
            named.seq,
            named.pointer,
        )
    elif received not in ("", requested) and location and not is_content_alone(t):
        yield Violation(
            f"{asked}, but the response is {received}. Use {requested} or fail with "
            "UNSUPPORTED_FORMAT.",
            location.seq,
            location.pointer,
        )


@rule(
    "format-named",
    "The response format in the metadata matches the content.",
    v55=must("4"),
    v54=must("4"),
    when=lambda t: _is_answer(t) and not t.streamed and bool(_format_of(t)[0]),
)
def format_named(t: Transcript) -> Iterator[RuleIssue]:
    """The member response_format is optional, and formats that are not listed are allowed."""
    yield from _misnamed_formats(t)


@rule(
    "format-named-stream",
    "The response format in the metadata of a stream matches its events.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=lambda t: _is_answer(t) and t.streamed and bool(_format_of(t)[0]),
)
def format_named_stream(t: Transcript) -> Iterator[RuleIssue]:
    """The specification defines events for results, and not how chatgpt_app is streamed."""
    yield from _misnamed_formats(t)


def _misnamed_formats(t: Transcript) -> Iterator[RuleIssue]:
    received, _ = _format_of(t)
    for seq, pointer, actual in _named_formats(t):
        if actual in RESPONSE_FORMATS and actual != received:
            message = f"The metadata has {actual}, but the content is {received}. Correct one."
            yield Violation(message, seq, pointer)


def _named_formats(t: Transcript) -> Iterator[Location]:
    """Yield the formats in the metadata, as far as they are strings."""
    for seq, pointer, meta in t.metas:
        named = meta.get("response_format") if isinstance(meta, dict) else None
        if isinstance(named, str):
            yield Location(seq, f"{pointer}/response_format", named)


# Summaries and modes


def _modes(t: Transcript) -> frozenset[str]:
    requested = t.prefer("mode")
    return frozenset(
        word.strip().lower()
        for word in (requested.split(",") if isinstance(requested, str) else ())
    )


def _types(item: object) -> list[str]:
    kinds = item.get("@type") if isinstance(item, dict) else None
    listed = kinds if isinstance(kinds, list) else [kinds]
    return [kind for kind in listed if isinstance(kind, str)]


def _is_summary(item: object) -> bool:
    """Return whether an item is a summary by its type: SearchSummary, or a similar one."""
    return any(kind.strip().lower().endswith("summary") for kind in _types(item))


def _may_be_summary(item: object) -> bool:
    """Return whether an item is a summary, or may be one of another type: it has a text."""
    return _is_summary(item) or (isinstance(item, dict) and is_nonempty_text(item.get("text")))


def _results(t: Transcript) -> list[Location]:
    return [location for location in t.items if not _is_summary(location.value)]


def _summaries(t: Transcript) -> list[Location]:
    return [location for location in t.items if _is_summary(location.value)]


@rule(
    "mode-summarize-honoured",
    "Answers in mode summarize contain a summary.",
    v55=should("4.1.1"),
    v54=should("3.3.2"),
    when=lambda t: _is_answer(t) and "summarize" in _modes(t) and bool(t.items),
)
def mode_summarize_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """In 0.55 the summary is an item at any position; 0.54 also allows `_meta.summary`.

    The type of the item may be any that fits its domain. For 0.54 see HTTP examples 2.
    """
    if any(_may_be_summary(item.value) for item in t.items) or (
        t.document and "content" in t.parts
    ):
        return
    blocks = [location for location in t.metas if isinstance(location.value, dict)]
    reported = next(
        (location for location in blocks if is_nonempty_text(location.value.get("summary"))), None
    )
    if reported is None:
        message = (
            "The request has mode summarize, but the answer has no summary. Add a SearchSummary "
            "item."
        )
        yield missing(t, message, t.items[0].seq, t.items[0].pointer)
    elif t.traits["summary_in"] == "item":
        yield Violation(
            "The summary is in the metadata. Send it as an item of type SearchSummary with text.",
            reported.seq,
            f"{reported.pointer}/summary",
        )


@rule(
    "mode-list-honoured",
    "Answers in mode list contain results.",
    v55=should("3.3.2"),
    v54=should("3.3.2"),
    when=lambda t: _is_answer(t) and "list" in _modes(t) and bool(t.items),
)
def mode_list_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """The results array may be empty. A summary alone is not a list."""
    if not _results(t):
        location = t.items[0]
        message = "The request has mode list, but the answer has only a summary. Add the results."
        yield missing(t, message, location.seq, location.pointer)


@rule(
    "summary-text",
    "Summaries have a text.",
    v55=should("4.1.1"),
    when=lambda t: t.has_response and bool(_summaries(t)),
)
def summary_text(t: Transcript) -> Iterator[RuleIssue]:
    """The text of a summary is a string that is not blank."""
    for location in _summaries(t):
        if not is_nonempty_text(location.value.get("text")):
            message = "Set text to the summary, a string."
            yield Violation(message, location.seq, f"{location.pointer}/text")


# The language


def _languages(value: Any) -> list[str]:
    """Return the languages in a value, or in a list of values, without regions and the like."""
    listed = value if isinstance(value, list) else str(value).split(",")
    found = (_LANGUAGE.match(each) for each in listed if isinstance(each, str))
    return [match[1].lower() for match in found if match]


def _requested_languages(t: Transcript) -> list[str]:
    header = t.request_headers.get("accept-language", "")
    return _languages(t.prefer("accept-language") or header)


def _languages_of(t: Transcript) -> Iterator[Location]:
    values = [Location(t.head_seq or 0, "", {"language": t.headers.get("content-language")})]
    for seq, pointer, value in (*values, *t.metas, *t.items):
        members = value if isinstance(value, dict) else {}
        for name in _LANGUAGE_MEMBERS:
            if languages := _languages(members.get(name)):
                yield Location(seq, pointer and f"{pointer}/{name}", languages)


@rule(
    "language-honoured",
    "Responses are in the requested language.",
    v55=info("3.3"),
    v54=info("3.3"),
    when=lambda t: t.has_response and bool(_requested_languages(t)) and any(_languages_of(t)),
)
def language_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """The request asks for it with accept-language, or else with the header Accept-Language.

    Compared are the languages that a response declares: in Content-Language, in its metadata, and
    in its results (inLanguage, @language), which may be about something in another language.
    """
    seen = set(requested := _requested_languages(t))
    for seq, pointer, declared in _languages_of(t):
        if seen.isdisjoint(declared):
            message = f"The request asks for {requested[0]}, but this is in {declared[0]}."
            yield Violation(message, seq, pointer)
            seen.update(declared)


RULES = (
    answer_content,
    answer_structured,
    content_parts,
    content_parts_spelled,
    format_honoured,
    format_named,
    format_named_stream,
    mode_summarize_honoured,
    mode_list_honoured,
    summary_text,
    language_honoured,
)
