"""A check that is suggested for a step, from a run of its teacher."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from playground.expectations import RunFacts
from playground.expectations.jsonpath import member_segment

#: Names that a JSONPath has without quotes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def suggested_check(
    run_facts: RunFacts, request: Mapping[str, Any], opened: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return `{"request": […], "run": […]}` for a step that opens a request.

    The times and the number of results of a run depend on the machine and on the query, so they
    are left out. `request` is what was sent, `opened` the request that the step opens.
    """
    run: list[dict[str, Any]] = [{"type": "outcome", "equals": run_facts.outcome}]
    if run_facts.outcome == "failure":
        codes = [code for code in run_facts.failures if code]
        run += [{"type": "failure", "code": code} for code in codes[-1:]]
    elif run_facts.results:
        run.append({"type": "results", "min": 1})
    return {"request": list(_added(request, opened, "$.document")), "run": run}


def _added(after: Any, before: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield expectations of members that were added, with their value unless it is an array, or
    whose simple value was changed."""
    known = before if isinstance(before, Mapping) else {}
    for name, value in after.items():
        at = path + (f".{name}" if _NAME.fullmatch(name) else member_segment(name))
        if isinstance(value, Mapping):
            yield from _added(value, known.get(name), at)
        elif name in known and value == known[name]:
            continue
        elif not isinstance(value, list):
            yield {"type": "json", "path": at, "equals": value}
        elif name not in known:
            yield {"type": "json", "path": at, "exists": True}
