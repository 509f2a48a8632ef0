"""What is expected of a reply, and whether it came: a pure core without Django.

Expectations are a list of JSON objects, kept with a request. Each says what it is in `type`:

=================  ============================================================================
type               members
=================  ============================================================================
`state`            `equals`: completed, truncated, failed, refused, cancelled, interrupted
`outcome`          `equals`: answer, elicitation, promise, failure, none
`status`           `equals`: the HTTP status of the last response
`response_type`    `equals`: what the reply calls itself, in any capitalisation
`results`          `min`, `max`, `exact`: the number of results; one of them or more
`json`             `path`: JSONPath (RFC 9535) into the reply's document (see
                   `playground.observing`), and exactly one of `equals` (any JSON), `contains`
                   (an element, a part of a text, a member's name), `matches` (a regular
                   expression of RE2, anywhere in a text), `exists` (true or false), `is` (string,
                   number, integer, boolean, null, array, object); with `every`: true all
                   values at the path have to meet it, otherwise one is enough
`first_within`     `ms`: from the start of the request to the first event
`complete_within`  `ms`: from the start of the request to the end of a complete reply
`no_gap_over`      `ms`: the longest time without an event, from the first one to the end
`order`            `events`: kinds of events that come in this order, others between them
`conformance`      `level`: must (no must rule fails) or should (no should rule either)
`failure`          `code`: the code of a failure that the agent told
=================  ============================================================================

`check_schema(list)` says what is wrong with a list and where, `evaluate(list, observed)` gives
a `Check` for each expectation, `capture(captures, document)` takes values from a reply by path,
for the requests that follow. None of them raises on what it is given.

=============  ============================================================================
`table`        the types: one row each
`simple`       facts of a run; its results, failures and conformance
`timing`       when events came, and in which order
`reply`        values in the reply
`paths`        JSONPath: read by a library, with the limits
`walking`      the walk over a document, every step counted
`patterns`     regular expressions by RE2
`values`       equality, types and words of JSON values
`budget`       what judging may cost
`observed`     a run as expectations see it
`schema`       what an expectation may look like; `schema.json` is its JSON Schema
`evaluating`   all of it together
=============  ============================================================================
"""

from playground.expectations.evaluate import Check, capture, evaluate
from playground.expectations.facts import Failed, RunFacts, TimedEvent
from playground.expectations.schema import check_captures, check_schema, schema
from playground.expectations.table import EXPECTATION_TYPES

__all__ = [
    "EXPECTATION_TYPES",
    "Check",
    "Failed",
    "RunFacts",
    "TimedEvent",
    "capture",
    "check_captures",
    "check_schema",
    "evaluate",
    "schema",
]
