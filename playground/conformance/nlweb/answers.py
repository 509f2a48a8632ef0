"""Rules on answers, and on the requested format and mode: sections 3.3 and 4.1.1."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.nlweb.versions import RESPONSE_FORMATS

_SEARCH, _APP = RESPONSE_FORMATS
_CONTENT = ("results", "content", "structuredData")


def _is_answer(t: Transcript) -> bool:
    return t.has_response and t.kind == "answer"


def _is_document(t: Transcript) -> bool:
    return _is_answer(t) and t.document is not None


@rule(
    "answer-content",
    "Answers contain a results array, or content and structuredData.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_is_document,
)
def answer_content(t: Transcript) -> Iterator[RuleIssue]:
    """For single documents; a stream delivers its results one by one."""
    if (document := t.document) is None:
        return
    members, seq = document.members, document.seq
    for name in _CONTENT:
        if name in members and not isinstance(members[name], list):
            actual = type_with_article(members[name])
            yield Violation(f"{name} is {actual}; expected an array.", seq, f"/{name}")
    if not any(name in members for name in _CONTENT):
        yield Violation(
            "Add a results array; leave it empty if nothing was found.", seq, "/results"
        )
    elif "results" not in members:
        for name in _CONTENT[1:]:
            if name not in members:
                yield Violation(f"The format {_APP} also requires {name}.", seq, f"/{name}")


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
    """For the format chatgpt_app; 0.54 capitalises the names in its prose only."""
    for location in t.parts["content"]:
        for at, part in enumerate(location.value if isinstance(location.value, list) else ()):
            pointer = f"{location.pointer}/{at}"
            if not isinstance(part, dict):
                yield Violation(
                    f"This part is {type_with_article(part)}; expected an object with type and "
                    "text.",
                    location.seq,
                    pointer,
                )
                continue
            if part.get("type") != "text":
                yield Violation('Set type to "text".', location.seq, f"{pointer}/type")
            if not isinstance(part.get("text"), str):
                yield Violation("Set text to a string.", location.seq, f"{pointer}/text")


def _requested_format(t: Transcript) -> str:
    requested = t.prefer("response_format")
    return requested if requested in RESPONSE_FORMATS else ""


def _format_of(t: Transcript) -> tuple[str, Location | None]:
    """Return the format of the answer, and the location that shows it."""
    for name, made in (("structuredData", _APP), ("results", _SEARCH), ("content", _APP)):
        if name in t.parts:
            return made, t.parts[name][0]
    return (_SEARCH, t.items[0]) if t.items else ("", None)


@rule(
    "format-honoured",
    "Answers use the requested response format.",
    v55=should("3.3.1"),
    v54=should("3.3.1"),
    when=lambda t: _is_answer(t) and bool(_requested_format(t)) and bool(_format_of(t)[0]),
)
def format_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """A preference: the agent chooses the best match among its formats."""
    requested, (received, location) = _requested_format(t), _format_of(t)
    if received != requested and location is not None:
        yield Violation(
            f"The request asks for {requested}, but the response is {received}. Use the "
            "requested format or fail with UNSUPPORTED_FORMAT.",
            location.seq,
            location.pointer,
        )


@rule(
    "format-named",
    "The response format in the metadata matches the content.",
    v55=must("4"),
    v54=must("4"),
    when=lambda t: _is_answer(t) and bool(_format_of(t)[0]),
)
def format_named(t: Transcript) -> Iterator[RuleIssue]:
    """The name is optional, and names that the specification does not list are allowed."""
    received, _ = _format_of(t)
    for location in t.metas:
        actual = location.value.get("response_format") if isinstance(location.value, dict) else None
        if actual in RESPONSE_FORMATS and actual != received:
            yield Violation(
                f"The metadata has {actual}, but the content is {received}. Correct one of them.",
                location.seq,
                f"{location.pointer}/response_format",
            )


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
    """Return whether an item is a summary: SearchSummary, or a similar type (section 4.1.1)."""
    return any(kind.strip().lower().endswith("summary") for kind in _types(item))


def _results(t: Transcript) -> list[Location]:
    return [location for location in t.items if not _is_summary(location.value)]


def _summaries(t: Transcript) -> list[Location]:
    return [location for location in t.items if _is_summary(location.value)]


def _wants_summary(t: Transcript) -> bool:
    return _is_answer(t) and "summarize" in _modes(t) and bool(t.items)


@rule(
    "mode-summarize-honoured",
    "Answers in mode summarize contain a summary.",
    v55=should("4.1.1"),
    v54=should("3.3.2"),
    when=_wants_summary,
)
def mode_summarize_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """0.55: an item at any position. 0.54 also allows `_meta.summary` (HTTP examples 2)."""
    if _summaries(t) or (t.document and "content" in t.parts):
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
    """An empty list is a list; a summary alone is not."""
    if not _results(t):
        location = t.items[0]
        message = "The request has mode list, but the answer has only a summary. Add the results."
        yield missing(t, message, location.seq, location.pointer)


@rule(
    "summary-type",
    "Summaries have the type SearchSummary.",
    v55=info("4.1.1"),
    when=lambda t: t.has_response and bool(_summaries(t)),
)
def summary_type(t: Transcript) -> Iterator[RuleIssue]:
    """Custom types are allowed, but clients do not know them."""
    for location in _summaries(t):
        if "SearchSummary" not in _types(location.value):
            yield Violation(
                "Clients look for SearchSummary. Use it unless you need a more specific type.",
                location.seq,
                f"{location.pointer}/@type",
            )


@rule(
    "summary-text",
    "Summaries have a text.",
    v55=should("4.1.1"),
    when=lambda t: t.has_response and bool(_summaries(t)),
)
def summary_text(t: Transcript) -> Iterator[RuleIssue]:
    """A string with more than whitespace."""
    for location in _summaries(t):
        if not is_nonempty_text(location.value.get("text")):
            message = "Set text to the summary, a string."
            yield Violation(message, location.seq, f"{location.pointer}/text")


RULES = (
    answer_content,
    content_parts,
    format_honoured,
    format_named,
    mode_summarize_honoured,
    mode_list_honoured,
    summary_type,
    summary_text,
)
