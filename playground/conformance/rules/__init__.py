"""The rules, one function each, in the order of the specification's sections.

To add one: a function under `rule(...)` in the module of its section, its name in that module's
`RULES`, and a conforming and a violating transcript in `tests/conformance/table`.
"""

from __future__ import annotations

from playground.conformance.rule import Rule
from playground.conformance.rules import answers, items, metadata, promises

RULES: tuple[Rule, ...] = (*metadata.RULES, *answers.RULES, *items.RULES, *promises.RULES)
