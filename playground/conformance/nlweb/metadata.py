"""Rules on the metadata of a response, and on echoed values: sections 3.4 and 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.nlweb.transcript import (
    Transcript,
    blocks,
    content,
    items,
    milder_in_054,
    part,
    type_of,
)
from playground.conformance.rule import Level, RuleIssue, Violation, info, missing, must
from playground.conformance.shape import (
    Fix,
    Place,
    is_given,
    is_nonempty_text,
    is_object,
    is_string,
    members,
    never,
    present,
    those,
    type_with_article,
)
from playground.conformance.uris import is_uri
from playground.protocols.nlweb.versions import RESPONSE_TYPES

rule, row = content.rule, content.row

_CONTEXT = "session_context"
_ONE_OF = ", ".join(RESPONSE_TYPES)
_RESULTS = ("results", "structuredData")
#: Members that contradict the announced response type.
_FOREIGN = {
    "answer": ("elicitation", "promise", "error"),
    "elicitation": (*_RESULTS, "promise", "error"),
    "promise": (*_RESULTS, "elicitation", "error"),
    "failure": (*_RESULTS, "elicitation", "promise"),
}
#: An error event may occur before, between and after the results of a stream (0.55, 6.1).
_MIXED = {"answer": ("error",), "failure": _RESULTS}


def meta_present(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, value in t.metas:
        name = pointer[1:]
        if not isinstance(value, dict):
            message = f"{name} is {type_with_article(value)}; expected an object."
            yield Violation(message, seq, pointer, _level_of_block(t, (seq, pointer, value)))
        elif name not in t.traits["meta_fields"]:
            yield Violation("Rename meta to _meta.", seq, "/meta")
    if not t.metas and not any(_top_level_type(t)):
        message = "Add _meta with response_type and version."
        yield missing(t, message, t.messages[0].seq, "/_meta")


def _top_level_type(t: Transcript) -> Iterator[Place]:
    """Yield the type of a promise in the form of the example in section 4.1.2 of 0.54."""
    kind = t.document.members.get("response_type") if t.document else None
    if t.version == "0.54" and not t.metas and kind == "promise":
        yield t.last_seq, "/response_type", kind


def _level_of_block(t: Transcript, place: Place) -> Level | None:
    """Return "should" for blocks that 0.54 shows in examples only: not the last of a stream."""
    is_last = place[0] == t.metas[-1].seq and t.is_complete
    return Level.SHOULD if t.version == "0.54" and t.streamed and not is_last else None


def _is_listed_type(kind: Any) -> bool:
    return bool(type_of({"response_type": kind}))


def response_type_lowercase(t: Transcript) -> Iterator[RuleIssue]:
    for place in those(present(blocks, "response_type"), _is_listed_type)(t):
        seq, pointer, written = place
        kind = written.strip().lower()
        is_named_so = t.version != "0.54" or written == kind.capitalize()
        level = None if is_named_so else _level_of_block(t, place) or Level.MUST
        if written != kind:
            message = f'Write "{kind}" in lowercase and without spaces.'
            yield Violation(message, seq, pointer, level)


def response_type_consistent(t: Transcript) -> Iterator[RuleIssue]:
    kind = t.announced
    for name, seq, pointer in _foreign(t, kind):
        message = f"A response of type {kind} must not contain {name}. Correct response_type "
        yield Violation(f"{message}or remove {name}.", seq, pointer)
    contradicting = {other: next(_foreign(t, other), None) for other in _FOREIGN}
    for seq, pointer, meta in blocks(t):
        other = type_of(meta)
        if other and other != kind and (found := contradicting[other]):
            message = (
                f"The response contains {found[0]}, so its type is not {other}. Announce {kind}."
            )
            yield Violation(message, seq, f"{pointer}/response_type")


def _foreign(t: Transcript, kind: str) -> Iterator[tuple[str, int | None, str]]:
    """Yield the parts that contradict a response type: name, frame and pointer."""
    allowed = _MIXED.get(kind, ()) if t.streamed else ()
    for name in _FOREIGN.get(kind, ()):
        if name in allowed:
            continue
        if name == "results":
            # Items that are not in a list of results: those of `result` events.
            single = next((p for p in items(t) if p[1] in ("", "/item")), None)
            if single:
                yield name, *single[:2]
        for seq, pointer, value in part(name)(t):
            if value != []:
                yield name, seq, pointer


def version_present(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, meta in blocks(t):
        version = meta.get("version")
        place = seq, f"{pointer}/version", version
        is_left_open = t.version == "0.54" and "version" not in meta and _is_failure(meta)
        if is_nonempty_text(version) or is_left_open:
            continue
        is_blank = version is None or isinstance(version, str)
        level = _level_of_block(t, place) if is_blank else milder_in_054(t)
        yield Violation(f'Set version to the string "{t.version}".', *place[:2], level)


def _is_failure(meta: dict[str, Any]) -> bool:
    return type_of(meta) == "failure"


def _requested_version(t: Transcript) -> str:
    """Return the version that the request asks for, "" for none."""
    meta = t.request.get("meta")
    if not isinstance(meta, dict):
        return ""
    found = (meta.get(name) for name in t.traits["version_fields"])
    return next((str(each) for each in found if is_nonempty_text(each)), "")


def version_asked(t: Transcript) -> Iterator[RuleIssue]:
    requested = _requested_version(t)
    for seq, pointer, version in those(present(blocks, "version"), is_nonempty_text)(t):
        if version.strip() != requested.strip():
            message = (
                f"The request asks for version {_storable_name(requested)}, but the response has "
                f"version {version[:40]}."
            )
            yield Violation(message, seq, pointer)


def _storable_name(name: str) -> str:
    """Return a member's name as it can be stored: a request may contain a lone surrogate."""
    return name[:40].encode("utf-8", "replace").decode()


def _sent(t: Transcript) -> frozenset[str]:
    """Return the names of the session context: as sent, or for a promise as returned before."""
    meta = t.request.get("meta")
    context = meta.get("session_context") if isinstance(meta, dict) else None
    if isinstance(context, dict):
        return frozenset(context)
    return t.earlier.session_names if t.operation == "await" else frozenset()


def session_context_echoed(t: Transcript) -> Iterator[RuleIssue]:
    if t.session_context is None:
        message = (
            "The session has a context, but the response has none. Return it, or callers that "
            "keep only the latest one lose the session."
        )
        *_, (seq, pointer, _) = [(t.last_seq, "/_meta", None), *members(blocks, _CONTEXT)(t)]
        yield missing(t, message, seq, pointer)
        return
    dropped = sorted(_storable_name(name) for name in _sent(t) - t.session_context.keys())
    holders = list(present(blocks, _CONTEXT)(t))
    if dropped and holders:
        message = f"Missing members of the session context: {', '.join(dropped[:10])}."
        yield missing(t, message, *holders[-1][:2])


# fmt: off
RULES = (
    rule("meta-present", "Responses have their metadata in the object _meta.", must("4"),
        meta_present,
        why="0.54 also accepts the name `meta`, and requires it once anywhere in a stream "
            "(8.4).\n\n"
            "Its example of a promise has no metadata: see `meta-top-level`."),
    row("meta-top-level", "Promises have their response_type in _meta.", (None, info("4.1.2")),
        _top_level_type, {
            never: "Section 4 requires _meta, but the example in section 4.1.2 has response_type "
                   "at the top level. Most clients look for _meta.",
        }, when=lambda t: t.is_kind("promise", "promise") and t.document is not None,
        why="Section 4 of 0.54 requires `_meta`; the example in section 4.1.2 has none.\n\n"
            "Both are accepted."),
    row("response-type", f"The metadata has a response_type: {_ONE_OF}.", must("4"),
        members(blocks, "response_type"), {
            is_given: Fix(f"response_type is missing. Set it to one of {_ONE_OF}.",
                          _level_of_block),
            _is_listed_type: Fix("response_type is not defined by NLWeb. Set it to one of "
                                 f"{_ONE_OF}.", _level_of_block),
        },
        why="The type is required in every metadata block. `response-type-lowercase` checks its "
            "case.\n\n"
            "In a stream of 0.54, only the last block has to be complete."),
    rule("response-type-lowercase", "The response type is lowercase.", (must("4"), info("4")),
        response_type_lowercase, when=blocks,
        why="0.54 has initial capitals in its prose and lowercase in its examples: both are "
            "accepted."),
    rule("response-type-consistent", "Responses contain only members of their response type.",
        must("4.1"), response_type_consistent, when=blocks,
        why="In a stream the last metadata block decides; errors are allowed beside results.\n\n"
            "Earlier metadata of a stream must not contradict the content, either."),
    rule("version-present", "The metadata has the protocol version.", must("4"), version_present,
        when=blocks,
        why="The version is a string. `version-asked` checks whether it is the requested one.\n\n"
            "In 0.54 the example of a failure has no version: see `version-in-failure`."),
    row("version-in-failure", "The metadata of a failure has the protocol version.",
        (None, info("4.1.4")), members(those(blocks, _is_failure), "version"), {
            is_given: "Section 4 requires a version, but the example of a failure in section "
                      "4.1.4 has none. Add it.",
        },
        why="Section 4 of 0.54 requires the version; the example in section 4.1.4 has none.\n\n"
            "Both are accepted."),
    rule("version-asked", "Responses use the requested protocol version.", info("3.4"),
        version_asked, when=lambda t: blocks(t) if _requested_version(t) else (),
        why="The specification defines the requested version, and leaves open whether it is "
            "binding."),
    row("session-context-object", "The session context is an object.", must("4"),
        present(blocks, _CONTEXT),
        {is_object: "session_context is {actual}; expected an object."}, when=blocks,
        why="Callers return the session context unchanged as `meta.session_context`."),
    rule("session-context-echoed", "Responses return the session context, updated or not.",
        (info("4"), info("HTTP examples, notes 3")), session_context_echoed,
        when=lambda t: bool(_sent(t)),
        why="The specification leaves this open; callers keep the last session context received."),
    row("output-template-uri", "openai/outputTemplate is a URI.", must("4"),
        those(present(blocks, "openai/outputTemplate"), is_string),
        {is_uri: "This is not a URI. Begin with a scheme and escape other characters."},
        why="It is the URI of a widget, with a scheme such as https or ui."),
)
# fmt: on
