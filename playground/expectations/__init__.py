"""Expectations of a run and their evaluation: a pure core without Django.

Expectations are a list of JSON objects, stored with a request. The member `type` selects the type:

=================  ============================================================================
type               members
=================  ============================================================================
`state`            `equals`: completed, truncated, failed, refused, cancelled, interrupted
`outcome`          `equals`: answer, elicitation, promise, failure, none
`status`           `equals`: the HTTP status of the last response
`response_type`    `equals`: the response type in the metadata, in any capitalisation
`results`          `min`, `max`, `exact`: the number of results; one of them or more
`json`             `path`: JSONPath (RFC 9535) into the response document (see
                   `playground.stored_runs`), and exactly one of `equals` (any JSON),
                   `contains` (an element, a part of a text, a member's name), `matches` (a
                   regular expression of RE2, anywhere in a text), `exists` (true or false), `is`
                   (string, number, integer, boolean, null, array, object); with `every`: true
                   all values at the path have to satisfy it, otherwise one is enough
`first_within`     `ms`: from the start of the request to the first event
`complete_within`  `ms`: from the start of the request to the end of a complete response
`no_gap_over`      `ms`: the longest time without an event, from the first one to the end
`order`            `events`: kinds of events in this order, with others between them
`conformance`      `level`: must (no MUST violations) or should (no SHOULD violations either)
`failure`          `code`: the code of a failure that the agent reported
=================  ============================================================================

`check_schema(list)` returns the problems of a list with their locations, `evaluate(list, facts)`
returns a `Check` for each expectation, and `capture(captures, document)` takes values from a
response by path, for the requests that follow. None of them raises on any input.
"""

from playground.expectations.evaluate import Check, capture, evaluate
from playground.expectations.expectation_types import (
    EXPECTATION_TYPES,
    Failed,
    RunFacts,
    TimedEvent,
)
from playground.expectations.schema import check_captures, check_schema, schema
from playground.expectations.step_limit import StepLimit

__all__ = [
    "EXPECTATION_TYPES",
    "Check",
    "Failed",
    "RunFacts",
    "StepLimit",
    "TimedEvent",
    "capture",
    "check_captures",
    "check_schema",
    "evaluate",
    "schema",
]
