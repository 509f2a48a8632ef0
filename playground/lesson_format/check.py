"""Evaluation of a step's check on sent requests, on a composed request and on an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from playground.expectations import Check, RunFacts, StepLimit, evaluate
from playground.lesson_format.lesson import StepCheck

#: The members of a request that a check can look into.
REQUEST_MEMBERS = (
    "kind", "document", "protocol", "binding", "version", "url", "answers", "continues",
)  # fmt: skip


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

    @property
    def is_sent(self) -> bool:
        return self._read_facts is not None

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
