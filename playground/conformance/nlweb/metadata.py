"""Rules on the metadata of a response, and on echoed values: sections 3.4 and 4."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, rule, should
from playground.conformance.transcript import Transcript, type_of
from playground.conformance.values import type_with_article
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


def _has_nlweb_response(t: Transcript) -> bool:
    return t.has_response


def _has_meta(t: Transcript) -> bool:
    return t.has_response and any(isinstance(location.value, dict) for location in t.metas)


def _blocks(t: Transcript) -> Iterator[Location]:
    return (location for location in t.metas if isinstance(location.value, dict))


@rule(
    "meta-present",
    "Responses have their metadata in the object _meta.",
    v55=must("4"),
    v54=must("4"),
    when=_has_nlweb_response,
)
def meta_present(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 also accepts `meta`, and requires one block anywhere in a stream (its section 8.4)."""
    for location in t.metas:
        name = location.pointer[1:]
        if not isinstance(location.value, dict):
            yield Violation(
                f"{name} is {type_with_article(location.value)}; expected an object.",
                location.seq,
                location.pointer,
            )
        elif name not in t.traits["meta_fields"]:
            yield Violation("Rename meta to _meta.", location.seq, "/meta")
    if not t.metas:
        seq = t.messages[0].seq
        yield missing(t, "Add _meta with response_type and version.", seq, "/_meta")


@rule(
    "response-type",
    f"The metadata has a response_type: {_ONE_OF}.",
    v55=must("4"),
    v54=must("4"),
    when=_has_meta,
)
def response_type(t: Transcript) -> Iterator[RuleIssue]:
    """Of every block; its capitalisation is checked by another rule."""
    for location in _blocks(t):
        if type_of(location.value):
            continue
        actual = "is not defined by NLWeb" if "response_type" in location.value else "is missing"
        pointer = f"{location.pointer}/response_type"
        yield Violation(
            f"response_type {actual}. Set it to one of {_ONE_OF}.", location.seq, pointer
        )


@rule(
    "response-type-lowercase",
    "The response type is lowercase.",
    v55=must("4"),
    v54=info("4"),
    when=_has_meta,
)
def response_type_lowercase(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 capitalises the types in its prose and writes them in lower case in its examples."""
    for location in _blocks(t):
        kind = type_of(location.value)
        if kind and location.value["response_type"] != kind:
            yield Violation(
                f'Write "{kind}" in lowercase and without spaces.',
                location.seq,
                f"{location.pointer}/response_type",
            )


@rule(
    "response-type-consistent",
    "Responses contain only members of their response type.",
    v55=must("4.1"),
    v54=must("4.1"),
    when=_has_meta,
)
def response_type_consistent(t: Transcript) -> Iterator[RuleIssue]:
    """The last block of a stream decides; errors beside its results are legal there."""
    kind = t.announced
    allowed = _MIXED.get(kind, ()) if t.streamed else ()
    for name in _FOREIGN.get(kind, ()):
        for location in t.parts.get(name, ()):
            if name not in allowed and location.value != []:
                yield Violation(
                    f"A response of type {kind} must not contain {name}. Correct response_type "
                    f"or remove {name}.",
                    location.seq,
                    location.pointer,
                )


@rule(
    "version-present",
    "The metadata has the protocol version.",
    v55=must("4"),
    v54=must("4"),
    when=_has_meta,
)
def version_present(t: Transcript) -> Iterator[RuleIssue]:
    """A string; another rule checks whether it is the right one."""
    for location in _blocks(t):
        version = location.value.get("version")
        if not isinstance(version, str) or not version.strip():
            yield Violation(
                f'Set version to the string "{t.version}".',
                location.seq,
                f"{location.pointer}/version",
            )


@rule(
    "version-asked",
    "Responses use the requested protocol version.",
    v55=should("3.4"),
    v54=should("3.4"),
    when=_has_meta,
)
def version_asked(t: Transcript) -> Iterator[RuleIssue]:
    """The specification defines the requested version and leaves open whether it binds."""
    for location in _blocks(t):
        version = location.value.get("version")
        if isinstance(version, str) and version.strip() and version != t.version:
            yield Violation(
                f"The response has version {version[:40]}, but is checked against {t.version}. "
                "Respond in the version that meta.version of the request gives.",
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
    """Callers return it unchanged as `meta.session_context`."""
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


def _sent_context(t: Transcript) -> bool:
    return t.has_response and bool(_sent(t))


def _sent(t: Transcript) -> dict[str, object]:
    meta = t.request.get("meta")
    context = meta.get("session_context") if isinstance(meta, dict) else None
    return context if isinstance(context, dict) else {}


@rule(
    "session-context-echoed",
    "Responses return the session context of the request, updated or not.",
    v55=info("4"),
    v54=info("HTTP examples, notes 3"),
    when=_sent_context,
)
def session_context_echoed(t: Transcript) -> Iterator[RuleIssue]:
    """Left open by the specification: callers keep the last one they received."""
    location = next(
        (location for location in reversed(t.metas) if isinstance(location.value, dict)), None
    )
    if t.session_context is None:
        pointer = f"{location.pointer}/session_context" if location else "/_meta"
        yield missing(
            t,
            "The request has a session context, but the response has none. Return it, or callers "
            "that keep only the latest one lose the session.",
            location.seq if location else t.last_seq,
            pointer,
        )
        return
    dropped = sorted(_storable_name(name) for name in _sent(t).keys() - t.session_context.keys())
    holder = next(
        (
            p
            for p in reversed(t.metas)
            if isinstance(p.value, dict) and "session_context" in p.value
        ),
        None,
    )
    if dropped and holder:
        yield Violation(
            f"Missing members of the session context: {', '.join(dropped[:10])}.",
            holder.seq,
            f"{holder.pointer}/session_context",
        )


RULES = (
    meta_present,
    response_type,
    response_type_lowercase,
    response_type_consistent,
    version_present,
    version_asked,
    session_context_object,
    session_context_echoed,
)
