"""The rules, one function each, in the order of the specification's sections.

To add one: a function under `rule(...)` in the module of its section, its name in that module's
`RULES`, and a conforming and a violating transcript in `tests/conformance/table`.
"""

from __future__ import annotations

import re

from playground.conformance.nlweb import (
    actions,
    answers,
    delivery,
    elicitations,
    failures,
    http,
    items,
    metadata,
    order,
    promises,
    responses,
    schema,
    streams,
)
from playground.conformance.rule import Rule
from playground.conformance.transcript import Transcript

_ALL = (
    *responses.RULES,
    *metadata.RULES,
    *answers.RULES,
    *items.RULES,
    *promises.RULES,
    *elicitations.RULES,
    *failures.RULES,
    *actions.RULES,
    *streams.RULES,
    *delivery.RULES,
    *order.RULES,
    *http.RULES,
    *schema.RULES,
)


def _section(rule: Rule[Transcript]) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", rule.requirements["0.55"].section)))


#: Every rule, in the order of the sections of 0.55.
RULES: tuple[Rule[Transcript], ...] = tuple(sorted(_ALL, key=_section))

_HTTP = (*responses.RULES, *streams.RULES, *delivery.RULES, *order.RULES, *http.RULES)
_OF_HTTP = {rule.id for rule in (*_HTTP, schema.schema_event)}
#: Those about what a reply says: also where another binding carries it.
CONTENT_RULES: tuple[Rule[Transcript], ...] = tuple(r for r in RULES if r.id not in _OF_HTTP)
