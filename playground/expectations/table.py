"""Every type of expectation, in the order in which a form offers them."""

from __future__ import annotations

from collections.abc import Mapping

from playground.expectations.kind import Kind
from playground.expectations.reply import Json
from playground.expectations.simple import Conformance, Failure, Results, facts
from playground.expectations.timing import CompleteWithin, FirstWithin, NoGapOver, Order

_KINDS: tuple[Kind, ...] = (
    *facts(),
    Results(),
    Json(),
    FirstWithin(),
    CompleteWithin(),
    NoGapOver(),
    Order(),
    Conformance(),
    Failure(),
)

KINDS: Mapping[str, Kind] = {kind.type: kind for kind in _KINDS}
