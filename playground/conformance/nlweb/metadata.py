"""Rules on the metadata of a response, and on echoed values: sections 3.4 and 4."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.findings import Level
from playground.conformance.response_parts import Location
from playground.conformance.rule import (
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    rule,
    wrong_type,
)
from playground.conformance.transcript import Transcript, type_of
from playground.conformance.uris import is_uri
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.nlweb.versions import RESPONSE_TYPES

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


def _has_meta(t: Transcript) -> bool:
    return t.has_response and any(isinstance(location.value, dict) for location in t.metas)


def _blocks(t: Transcript) -> Iterator[Location]:
    return (location for location in t.metas if isinstance(location.value, dict))


@rule(
    "meta-present",
    "Responses have their metadata in the object _meta.",
    v55=must("4"),
    v54=must("4"),
    when=lambda t: t.has_response,
)
def meta_present(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 also accepts the name `meta`, and requires it once anywhere in a stream (8.4).

    Its example of a promise has no metadata: see `meta-top-level`.
    """
    for location in t.metas:
        name = location.pointer[1:]
        if not isinstance(location.value, dict):
            yield Violation(
                f"{name} is {type_with_article(location.value)}; expected an object.",
                location.seq,
                location.pointer,
                _level_of_block(t, location),
            )
        elif name not in t.traits["meta_fields"]:
            yield Violation("Rename meta to _meta.", location.seq, "/meta")
    if not t.metas and not _has_top_level_type(t):
        seq = t.messages[0].seq
        yield missing(t, "Add _meta with response_type and version.", seq, "/_meta")


def _has_top_level_type(t: Transcript) -> bool:
    """Return whether this is a promise in the form of the example in section 4.1.2 of 0.54."""
    document = t.document
    return (
        t.version == "0.54"
        and document is not None
        and not t.metas
        and document.members.get("response_type") == "promise"
    )


@rule(
    "meta-top-level",
    "Promises have their response_type in _meta.",
    v54=info("4.1.2"),
    when=lambda t: t.has_response and t.is_kind("promise", "promise") and t.document is not None,
)
def meta_top_level(t: Transcript) -> Iterator[RuleIssue]:
    """Section 4 of 0.54 requires `_meta`; the example in section 4.1.2 has none.

    Both are accepted.
    """
    if _has_top_level_type(t):
        yield Violation(
            "Section 4 requires _meta, but the example in section 4.1.2 has response_type at the "
            "top level. Most clients look for _meta.",
            t.last_seq,
            "/response_type",
        )


@rule(
    "response-type",
    f"The metadata has a response_type: {_ONE_OF}.",
    v55=must("4"),
    v54=must("4"),
    when=_has_meta,
)
def response_type(t: Transcript) -> Iterator[RuleIssue]:
    """The type is required in every metadata block. `response-type-lowercase` checks its case.

    In a stream of 0.54, only the last block has to be complete.
    """
    for location in _blocks(t):
        if type_of(location.value):
            continue
        actual = "is not defined by NLWeb" if "response_type" in location.value else "is missing"
        yield Violation(
            f"response_type {actual}. Set it to one of {_ONE_OF}.",
            location.seq,
            f"{location.pointer}/response_type",
            _level_of_block(t, location),
        )


def _level_of_block(t: Transcript, location: Location) -> Level | None:
    """Return "should" for blocks that 0.54 shows in examples only: not the last of a stream."""
    is_last = location.seq == t.metas[-1].seq and t.is_complete
    return Level.SHOULD if t.version == "0.54" and t.streamed and not is_last else None


@rule(
    "response-type-lowercase",
    "The response type is lowercase.",
    v55=must("4"),
    v54=info("4"),
    when=_has_meta,
)
def response_type_lowercase(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 has initial capitals in its prose and lowercase in its examples: both are accepted."""
    for location in _blocks(t):
        kind = type_of(location.value)
        if not kind or (written := location.value["response_type"]) == kind:
            continue
        is_listed = t.version != "0.54" or written == kind.capitalize()
        yield Violation(
            f'Write "{kind}" in lowercase and without spaces.',
            location.seq,
            f"{location.pointer}/response_type",
            None if is_listed else _level_of_block(t, location) or Level.MUST,
        )


@rule(
    "response-type-consistent",
    "Responses contain only members of their response type.",
    v55=must("4.1"),
    v54=must("4.1"),
    when=_has_meta,
)
def response_type_consistent(t: Transcript) -> Iterator[RuleIssue]:
    """In a stream the last metadata block decides; errors are allowed beside results.

    Earlier metadata of a stream must not contradict the content, either.
    """
    kind = t.announced
    for name, location in _foreign(t, kind):
        yield Violation(
            f"A response of type {kind} must not contain {name}. Correct response_type "
            f"or remove {name}.",
            location.seq,
            location.pointer,
        )
    contradicting = {other: next(_foreign(t, other), None) for other in _FOREIGN}
    for location in _blocks(t):
        other = type_of(location.value)
        if other and other != kind and (found := contradicting[other]):
            yield Violation(
                f"The response contains {found[0]}, so its type is not {other}. Announce {kind}.",
                location.seq,
                f"{location.pointer}/response_type",
            )


def _foreign(t: Transcript, kind: str) -> Iterator[tuple[str, Location]]:
    """Yield the parts that contradict a response type."""
    allowed = _MIXED.get(kind, ()) if t.streamed else ()
    for name in _FOREIGN.get(kind, ()):
        if name in allowed:
            continue
        # Items that are not in a list of results: those of `result` events.
        single = next((p for p in t.items if p.pointer in ("", "/item")), None)
        if name == "results" and single:
            yield "results", single
        for location in t.parts.get(name, ()):
            if location.value != []:
                yield name, location


@rule(
    "version-present",
    "The metadata has the protocol version.",
    v55=must("4"),
    v54=must("4"),
    when=_has_meta,
)
def version_present(t: Transcript) -> Iterator[RuleIssue]:
    """The version is a string. `version-asked` checks whether it is the requested one.

    In 0.54 the example of a failure has no version: see `version-in-failure`.
    """
    for location in _blocks(t):
        version = location.value.get("version")
        if _is_failure_without_version(t, location.value):
            continue
        message = f'Set version to the string "{t.version}".'
        pointer = f"{location.pointer}/version"
        if version is None or (isinstance(version, str) and not version.strip()):
            yield Violation(message, location.seq, pointer, _level_of_block(t, location))
        elif not isinstance(version, str):
            yield wrong_type(t, message, location.seq, pointer)


def _is_failure_without_version(t: Transcript, meta: dict[str, object]) -> bool:
    """Return whether this is the metadata of the example in section 4.1.4 of 0.54."""
    return t.version == "0.54" and "version" not in meta and type_of(meta) == "failure"


@rule(
    "version-in-failure",
    "The metadata of a failure has the protocol version.",
    v54=info("4.1.4"),
    when=lambda t: t.has_response and any(type_of(p.value) == "failure" for p in t.metas),
)
def version_in_failure(t: Transcript) -> Iterator[RuleIssue]:
    """Section 4 of 0.54 requires the version; the example in section 4.1.4 has none.

    Both are accepted.
    """
    for location in _blocks(t):
        if _is_failure_without_version(t, location.value):
            yield Violation(
                "Section 4 requires a version, but the example of a failure in section 4.1.4 has "
                "none. Add it.",
                location.seq,
                f"{location.pointer}/version",
            )


def _requested_version(t: Transcript) -> str:
    """Return the version that the request asks for, "" for none."""
    meta = t.request.get("meta")
    if not isinstance(meta, dict):
        return ""
    found = (meta.get(name) for name in t.traits["version_fields"])
    return next((str(each) for each in found if is_nonempty_text(each)), "")


@rule(
    "version-asked",
    "Responses use the requested protocol version.",
    v55=info("3.4"),
    v54=info("3.4"),
    when=lambda t: _has_meta(t) and bool(_requested_version(t)),
)
def version_asked(t: Transcript) -> Iterator[RuleIssue]:
    """The specification defines the requested version, and leaves open whether it is binding."""
    requested = _requested_version(t)
    for location in _blocks(t):
        version = location.value.get("version")
        if is_nonempty_text(version) and version.strip() != requested.strip():
            yield Violation(
                f"The request asks for version {_storable_name(requested)}, but the response has "
                f"version {version[:40]}.",
                location.seq,
                f"{location.pointer}/version",
            )


@rule(
    "session-context-object",
    "The session context is an object.",
    v55=must("4"),
    v54=must("4"),
    when=_has_meta,
)
def session_context_object(t: Transcript) -> Iterator[RuleIssue]:
    """Callers return the session context unchanged as `meta.session_context`."""
    for location in _blocks(t):
        if "session_context" in location.value:
            context = location.value["session_context"]
            if not isinstance(context, dict):
                yield Violation(
                    f"session_context is {type_with_article(context)}; expected an object.",
                    location.seq,
                    f"{location.pointer}/session_context",
                )


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


@rule(
    "session-context-echoed",
    "Responses return the session context, updated or not.",
    v55=info("4"),
    v54=info("HTTP examples, notes 3"),
    when=lambda t: t.has_response and bool(_sent(t)),
)
def session_context_echoed(t: Transcript) -> Iterator[RuleIssue]:
    """The specification leaves this open; callers keep the last session context received."""
    location = next(
        (location for location in reversed(t.metas) if isinstance(location.value, dict)), None
    )
    if t.session_context is None:
        pointer = f"{location.pointer}/session_context" if location else "/_meta"
        yield missing(
            t,
            "The session has a context, but the response has none. Return it, or callers that "
            "keep only the latest one lose the session.",
            location.seq if location else t.last_seq,
            pointer,
        )
        return
    dropped = sorted(_storable_name(name) for name in _sent(t) - t.session_context.keys())
    holder = next(
        (
            p
            for p in reversed(t.metas)
            if isinstance(p.value, dict) and "session_context" in p.value
        ),
        None,
    )
    if dropped and holder:
        yield missing(
            t,
            f"Missing members of the session context: {', '.join(dropped[:10])}.",
            holder.seq,
            f"{holder.pointer}/session_context",
        )


@rule(
    "output-template-uri",
    "openai/outputTemplate is a URI.",
    v55=must("4"),
    v54=must("4"),
    when=lambda t: t.has_response and any(True for _ in _templates(t)),
)
def output_template_uri(t: Transcript) -> Iterator[RuleIssue]:
    """It is the URI of a widget, with a scheme such as https or ui."""
    for location in _templates(t):
        if not is_uri(location.value):
            yield Violation(
                "This is not a URI. Begin with a scheme and escape other characters.",
                location.seq,
                location.pointer,
            )


def _templates(t: Transcript) -> Iterator[Location]:
    for location in _blocks(t):
        template = location.value.get("openai/outputTemplate")
        if isinstance(template, str):
            yield Location(location.seq, f"{location.pointer}/openai~1outputTemplate", template)


RULES = (
    meta_present,
    meta_top_level,
    response_type,
    response_type_lowercase,
    response_type_consistent,
    version_present,
    version_in_failure,
    version_asked,
    session_context_object,
    session_context_echoed,
    output_template_uri,
)
