"""What the rules of NLWeb share: their versions, and the parts of a response that they look at."""

from __future__ import annotations

from collections.abc import Iterable

from playground.conformance.shape import Place, RuleFactory, Selector
from playground.conformance.transcript import Transcript

_VERSIONS = ("0.55", "0.54")

#: For rules on any response over HTTP, and for those on the content of an NLWeb response.
any_response = RuleFactory[Transcript]("", _VERSIONS)
content = RuleFactory[Transcript]("", _VERSIONS, lambda t: t.has_response)


def items(t: Transcript) -> Iterable[Place]:
    return t.items


def parts(name: str) -> Selector[Transcript]:
    """Select the content members of a name in all messages: `promise`, `error`, …"""
    return lambda t: t.parts.get(name, ())
