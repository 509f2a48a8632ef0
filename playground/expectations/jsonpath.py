"""JSONPath (RFC 9535): parsing by a library, evaluation step by step under a limit.

The library parses and validates paths. They are evaluated here because a response may have
millions of values and a path may visit all of them for each of them: every visited value costs a
step, and the evaluation ends when no steps are left. Filters stop as soon as they are decided,
and regular expressions are evaluated by RE2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathQuery
from jsonpath_rfc9535.filter_expressions import (
    ComparisonExpression,
    Expression,
    FilterExpression,
    FilterExpressionLiteral,
    FilterQuery,
    FunctionExtension,
    LogicalExpression,
    PrefixExpression,
    RootFilterQuery,
)
from jsonpath_rfc9535.segments import JSONPathRecursiveDescentSegment, JSONPathSegment
from jsonpath_rfc9535.selectors import (
    FilterSelector,
    IndexSelector,
    JSONPathSelector,
    NameSelector,
    SliceSelector,
)

from playground.expectations.regex import PatternError, filter_match, filter_search
from playground.expectations.step_limit import MAX_STEPS, StepLimit, StepLimitError
from playground.expectations.values import below, same

#: The most characters of a path, and values that it may select.
MAX_PATH, MAX_VALUES = 1_000, 10_000

_ENVIRONMENT = JSONPathEnvironment()


class PathError(ValueError):
    """An invalid path, or one that cannot be evaluated, with the reason as a sentence."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The values that a path selects."""

    values: list[Any]
    #: Whether the path selects more than these.
    more: bool = False

    @property
    def count(self) -> str:
        if self.more:
            return f"more than {len(self.values):,} values"
        return "1 value" if len(self.values) == 1 else f"{len(self.values):,} values"


def select(
    path: str, document: Any, limit: StepLimit | None = None, *, most: int = MAX_VALUES
) -> Selection:
    """Return the first `most` values that `path` selects in `document`.

    Raise `PathError` for an invalid path, and for one that needs more steps than are left.
    """
    query = compile_path(path)
    limit = limit or StepLimit(MAX_STEPS)
    found: list[Any] = []
    try:
        for value in PathEvaluation(document, limit).values(query):
            if len(found) == most:
                return Selection(found, more=True)
            found.append(value)
    except StepLimitError:
        raise PathError(
            "The path visits too many values in this response. Use a more specific path."
        ) from None
    except RecursionError:
        raise PathError("The path is nested too deeply.") from None
    return Selection(found)


def compile_path(path: str) -> JSONPathQuery:
    """Raise `PathError` with the position of the error in a sentence."""
    if len(path) > MAX_PATH:
        raise PathError(f"The path is longer than {MAX_PATH:,} characters.")
    return _compiled(path)


@lru_cache(maxsize=256)
def _compiled(path: str) -> JSONPathQuery:
    try:
        return _ENVIRONMENT.compile(path)
    except JSONPathError as error:
        at = error.token.index + 1 if error.token is not None else 1
        reason = error.args[0] if error.args else "syntax error"
        raise PathError(f"Invalid JSONPath at character {at}: {reason}.") from None
    except RecursionError:
        raise PathError("The path is nested too deeply.") from None
    except (ValueError, OverflowError, IndexError) as error:
        raise PathError(f"Invalid JSONPath: {error}.") from None


def member_segment(name: str) -> str:
    """Return the segment of a path that selects a member (RFC 9535 section 2.7)."""
    return f"['{_escaped(name)}']"


_ESCAPES = {
    "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\",
}  # fmt: skip


def _escaped(name: str) -> str:
    return "".join(
        _ESCAPES.get(each) or (f"\\u{ord(each):04x}" if each < " " else each) for each in name
    )


# Evaluation


class _Nothing:
    """The value of a query without results in a comparison (RFC 9535 section 2.4.1)."""


_NOTHING = _Nothing()


class PathEvaluation:
    """The evaluation of one path on one document."""

    def __init__(self, root: Any, limit: StepLimit) -> None:
        self._root = root
        self._limit = limit

    def values(self, query: JSONPathQuery) -> Iterator[Any]:
        """Return the selected values in the order of the RFC. Raise `StepLimitError`."""
        return self._values(query, self._root)

    def _values(self, query: JSONPathQuery, start: Any) -> Iterator[Any]:
        found: Iterator[Any] = iter([start])
        for segment in query.segments:
            found = self._segment(segment, found)
        return found

    def _segment(self, segment: JSONPathSegment, values: Iterator[Any]) -> Iterator[Any]:
        descends = isinstance(segment, JSONPathRecursiveDescentSegment)
        for value in values:
            for one in self._descendants(value) if descends else (value,):
                for selector in segment.selectors:
                    yield from self._selected(selector, one)

    def _descendants(self, value: Any) -> Iterator[Any]:
        """Yield a value and its descendants, parents before children (RFC 9535, 2.5.2.2)."""
        pending = [value]
        while pending:
            one = pending.pop()
            yield one
            below = [each for each in self._children(one) if isinstance(each, dict | list)]
            pending += reversed(below)

    def _children(self, value: Any) -> Iterator[Any]:
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                self._limit.take()
                yield inner

    def _selected(self, selector: JSONPathSelector, value: Any) -> Iterator[Any]:
        self._limit.take()
        if isinstance(selector, NameSelector):
            if isinstance(value, dict) and selector.name in value:
                yield value[selector.name]
        elif isinstance(selector, IndexSelector):
            if isinstance(value, list) and -len(value) <= selector.index < len(value):
                yield value[selector.index]
        elif isinstance(selector, SliceSelector):
            yield from self._slice(selector.slice, value)
        elif isinstance(selector, FilterSelector):
            for child in self._children(value):
                if self._is_true(selector.expression, child):
                    yield child
        else:
            yield from self._children(value)

    def _slice(self, wanted: slice, value: Any) -> Iterator[Any]:
        """Yield elements by index (RFC 9535 section 2.3.4.2.2: a step of 0 selects none)."""
        if isinstance(value, list) and wanted.step != 0:
            for index in range(*wanted.indices(len(value))):
                self._limit.take()
                yield value[index]

    # Filters: expressions on one value

    def _is_true(self, expression: Expression, current: Any) -> bool:
        self._limit.take()
        if isinstance(expression, FilterExpression):
            return self._is_true(expression.expression, current)
        if isinstance(expression, LogicalExpression):
            left = self._is_true(expression.left, current)
            if left is (expression.operator == "||"):
                return left
            return self._is_true(expression.right, current)
        if isinstance(expression, PrefixExpression):
            return not self._is_true(expression.right, current)
        if isinstance(expression, ComparisonExpression):
            left_value = self._value(expression.left, current)
            right_value = self._value(expression.right, current)
            return self._compares(left_value, expression.operator, right_value)
        if isinstance(expression, FilterQuery):
            return next(self._query(expression, current), _NOTHING) is not _NOTHING
        return bool(self._value(expression, current))

    def _query(self, expression: FilterQuery, current: Any) -> Iterator[Any]:
        start = self._root if isinstance(expression, RootFilterQuery) else current
        return self._values(expression.query, start)

    def _value(self, expression: Expression, current: Any) -> Any:
        """Return the single value of an expression, or `_NOTHING`."""
        self._limit.take()
        if isinstance(expression, FilterQuery):
            return next(self._query(expression, current), _NOTHING)
        if isinstance(expression, FunctionExtension):
            return self._function(expression, current)
        if isinstance(expression, FilterExpressionLiteral):
            return expression.value
        return self._is_true(expression, current)

    def _function(self, call: FunctionExtension, current: Any) -> Any:
        """Return the result of one of the five functions of RFC 9535 section 2.4."""
        first = call.args[0]
        if call.name in ("count", "value"):
            # The type system of functions guarantees a query as argument.
            found = self._query(first, current)  # type: ignore[arg-type]
            return sum(1 for _ in found) if call.name == "count" else _single_value(found)
        value = self._value(first, current)
        if call.name == "length":
            return len(value) if isinstance(value, str | list | dict) else _NOTHING
        pattern = self._value(call.args[1], current)
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        function = filter_match if call.name == "match" else filter_search
        try:
            return function(pattern, value, self._limit)
        except PatternError:
            return False

    def _compares(self, left: Any, operator: str, right: Any) -> bool:
        """Compare two values (RFC 9535 section 2.3.5.2.2)."""
        if operator in ("==", "!="):
            return self._equal(left, right) is (operator == "==")
        if operator in (">", ">="):
            left, right = right, left
        if below(left, right, self._limit):
            return True
        return operator in ("<=", ">=") and self._equal(left, right)

    def _equal(self, left: Any, right: Any) -> bool:
        if left is _NOTHING or right is _NOTHING:
            return left is right
        return same(left, right, self._limit)


def _single_value(values: Iterator[Any]) -> Any:
    first, second = next(values, _NOTHING), next(values, _NOTHING)
    return first if second is _NOTHING else _NOTHING
