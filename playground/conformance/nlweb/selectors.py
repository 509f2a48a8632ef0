"""What the rules of NLWeb share: their versions, and the places in a response that they look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from playground.conformance.findings import Level
from playground.conformance.shape import (
    MISSING,
    Place,
    RuleFactory,
    Selector,
    objects,
    present,
    those,
)
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text

#: The latest first.
VERSIONS = ("0.55", "0.54")

#: For rules on any response over HTTP, and for those on the content of an NLWeb response.
any_response = RuleFactory[Transcript]("", VERSIONS)
content = RuleFactory[Transcript]("", VERSIONS, lambda t: t.has_response)


def items(t: Transcript) -> Iterable[Place]:
    return t.items


def part(name: str) -> Selector[Transcript]:
    """Select the content members of a name in all messages: `promise`, `error`, …"""
    return lambda t: t.parts.get(name, ())


def absent(name: str, kind: str) -> Selector[Transcript]:
    """Select the place at the end where a response of a type lacks its content member."""

    def select(t: Transcript) -> Iterator[Place]:
        if t.kind == kind and name not in t.parts:
            yield t.last_seq, f"/{name}", MISSING

    return select


def milder_in_054(t: Transcript, _: Place | None = None) -> Level | None:
    """Return the level of a wrong type: 0.54 shows most types in examples only."""
    return Level.SHOULD if t.version == "0.54" else None


def _metas(t: Transcript) -> Iterable[Place]:
    return t.metas


# Those that are objects: metadata blocks, and the parts of a response
blocks = objects(_metas)
promises, errors = objects(part("promise")), objects(part("error"))
#: The codes of failures that are a text.
codes = those(present(errors, "code"), is_nonempty_text)
