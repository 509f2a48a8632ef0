"""Rules of NLWeb, in the order of the specification's sections.

The title of a rule states the requirement; its `why` gives the reason, or how the rule interprets
the specification. The page of the rule shows both. To add a rule: a row in `RULES` of the module of
its section (see `playground.conformance.shape`), a row in `tests/conformance/nlweb/table` with its
levels and responses, and `make examples`.
"""

from __future__ import annotations

import re

from playground.conformance.nlweb import actions, answers, http, metadata, parts, schema, streams
from playground.conformance.nlweb.transcript import Transcript, read
from playground.conformance.rule import Rule

_ALL = (
    *http.RULES,
    *metadata.RULES,
    *answers.RULES,
    *parts.RULES,
    *actions.RULES,
    *streams.RULES,
    *schema.RULES,
)


def _section(rule: Rule[Transcript]) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", rule.requirement("0.55").section)))


#: Every rule, in the order of the sections of 0.55; those that only 0.54 has by its sections.
RULES: tuple[Rule[Transcript], ...] = tuple(sorted(_ALL, key=_section))

_HTTP = (*http.RULES, *streams.RULES)
_OF_HTTP = {*(rule.id for rule in _HTTP), "format-named-stream", "schema-event"}
#: Rules on the content of a response: they also apply to a response over another binding.
CONTENT_RULES: tuple[Rule[Transcript], ...] = tuple(r for r in RULES if r.id not in _OF_HTTP)

__all__ = ["CONTENT_RULES", "RULES", "read"]
