"""Every type of expectation, in the order in which a form offers them."""

from __future__ import annotations

from collections.abc import Mapping

from playground.expectations.kind import ExpectationType
from playground.expectations.reply import JsonExpectation
from playground.expectations.simple import (
    ConformanceExpectation,
    FailureExpectation,
    ResultsExpectation,
    facts,
)
from playground.expectations.timing import CompleteWithin, FirstWithin, NoGapOver, Order

_KINDS: tuple[ExpectationType, ...] = (
    *facts(),
    ResultsExpectation(),
    JsonExpectation(),
    FirstWithin(),
    CompleteWithin(),
    NoGapOver(),
    Order(),
    ConformanceExpectation(),
    FailureExpectation(),
)

EXPECTATION_TYPES: Mapping[str, ExpectationType] = {kind.type: kind for kind in _KINDS}
