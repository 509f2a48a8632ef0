"""A check of a step: evaluated on requests and on an answer, and suggested from a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from playground.expectations import Check, RunFacts, StepLimit, evaluate
from playground.expectations.jsonpath import member_segment
from playground.lesson_format.lesson import StepCheck

#: The members of a request that a check can look into.
REQUEST_MEMBERS = (
    "kind", "document", "protocol", "binding", "version", "url", "answers", "continues",
)  # fmt: skip
#: Names that a JSONPath has without quotes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Subject:
    """A request that is checked: one that was sent, or one that is composed.

    `request` is the JSON object that paths of `StepCheck.request` look into: `kind` (`ask`,
    `answer`, `poll`, `cancel`, `client_response`, `action`), `document`, `protocol`, `binding`,
    `version`, `url`, `answers` (to an elicitation) and `continues` (whether it follows a turn).
    """

    def __init__(
        self, request: Mapping[str, Any], read_facts: Callable[[], RunFacts] | None = None
    ) -> None:
        self.request = request
        self._read_facts = read_facts

    @cached_property
    def facts(self) -> RunFacts | None:
        """Return the facts about its run, None for a composed request."""
        return self._read_facts() if self._read_facts is not None else None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a step's check."""

    passed: bool
    #: The checks of the subject that came closest; empty if there was none.
    checks: Sequence[Check] = ()

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.met is not True]


def evaluate_check(
    check: StepCheck, subjects: Iterable[Subject], answer: str | None = None
) -> CheckResult:
    """Evaluate a check; one subject that satisfies all of it is enough.

    `subjects` are in order of preference: of those that come equally close, the result is about
    the first. Reading the facts about a run is expensive, and done only if its request passes.
    Never raise.
    """
    if check.needs_answer:
        if answer is None:
            return CheckResult(False)
        return _result(evaluate(list(check.answer), _facts_of(answer.strip())))
    best: tuple[int, CheckResult] | None = None
    limit = StepLimit()
    for subject in subjects:
        checks = evaluate(list(check.request), _facts_of(subject.request), limit)
        if all(each.met for each in checks) and check.run:
            if subject.facts is None:
                continue
            checks += evaluate(list(check.run), subject.facts, limit)
        result = _result(checks)
        if result.passed:
            return result
        met = sum(each.met is True for each in checks)
        if best is None or met > best[0]:
            best = met, result
    return best[1] if best else CheckResult(False)


def _result(checks: list[Check]) -> CheckResult:
    return CheckResult(bool(checks) and all(check.met is True for check in checks), checks)


def _facts_of(document: Any) -> RunFacts:
    """Return facts that consist of a document."""
    return RunFacts(state="completed", outcome="none", document=document)


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
