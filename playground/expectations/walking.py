"""JSONPath over a JSON value, a step at a time (RFC 9535).

The library reads paths and checks them. They are walked here, because an agent's reply may
have millions of values and a path is free to look at all of them for each of them: every value
that is looked at costs a step, and when the steps are used up it ends. Filters stop as soon as
they are decided, and regular expressions are RE2's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jsonpath_rfc9535 import JSONPathQuery
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
from playground.expectations.step_limit import StepLimit
from playground.expectations.values import below, same


class Node(NamedTuple):
    """A value and where it stands: under which node, by which name or place."""

    value: Any
    above: Any = None
    key: str | int = ""

    def location(self) -> list[str | int]:
        """The names and places that lead to it from the top."""
        steps: list[str | int] = []
        node = self
        while node.above is not None:
            steps.append(node.key)
            node = node.above
        return steps[::-1]


class _Nothing:
    """What a query that finds nothing compares as (RFC 9535 section 2.4.1)."""


_NOTHING = _Nothing()


class PathEvaluation:
    """One path over one document."""

    def __init__(self, root: Any, budget: StepLimit) -> None:
        self._root = root
        self._budget = budget

    def nodes(self, query: JSONPathQuery) -> Iterator[Node]:
        """What the path selects, in the order of the RFC. Raises `TooMuchError`."""
        return self._nodes(query, self._root)

    def _nodes(self, query: JSONPathQuery, start: Any) -> Iterator[Node]:
        found: Iterator[Node] = iter([Node(start)])
        for segment in query.segments:
            found = self._segment(segment, found)
        return found

    def _segment(self, segment: JSONPathSegment, nodes: Iterator[Node]) -> Iterator[Node]:
        descends = isinstance(segment, JSONPathRecursiveDescentSegment)
        for node in nodes:
            for one in self._descendants(node) if descends else (node,):
                for selector in segment.selectors:
                    yield from self._selected(selector, one)

    def _descendants(self, node: Node) -> Iterator[Node]:
        """A node and all below it, each before those in it (RFC 9535 section 2.5.2.2)."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            yield one
            below = [each for each in self._children(one) if isinstance(each.value, dict | list)]
            waiting += reversed(below)

    def _children(self, node: Node) -> Iterator[Node]:
        value = node.value
        if isinstance(value, dict):
            for name, inner in value.items():
                self._budget.take()
                yield Node(inner, node, name)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                self._budget.take()
                yield Node(inner, node, place)

    def _selected(self, selector: JSONPathSelector, node: Node) -> Iterator[Node]:
        self._budget.take()
        value = node.value
        if isinstance(selector, NameSelector):
            if isinstance(value, dict) and selector.name in value:
                yield Node(value[selector.name], node, selector.name)
        elif isinstance(selector, IndexSelector):
            if isinstance(value, list) and -len(value) <= selector.index < len(value):
                yield Node(value[selector.index], node, selector.index % len(value))
        elif isinstance(selector, SliceSelector):
            yield from self._slice(selector.slice, node)
        elif isinstance(selector, FilterSelector):
            for child in self._children(node):
                if self._holds(selector.expression, child.value):
                    yield child
        else:
            yield from self._children(node)

    def _slice(self, wanted: slice, node: Node) -> Iterator[Node]:
        """Elements by place (RFC 9535 section 2.3.4.2.2: a step of 0 selects none)."""
        if isinstance(node.value, list) and wanted.step != 0:
            for place in range(*wanted.indices(len(node.value))):
                self._budget.take()
                yield Node(node.value[place], node, place)

    # Filters: expressions about one value

    def _holds(self, expression: Expression, current: Any) -> bool:
        self._budget.take()
        if isinstance(expression, FilterExpression):
            return self._holds(expression.expression, current)
        if isinstance(expression, LogicalExpression):
            left = self._holds(expression.left, current)
            if left is (expression.operator == "||"):
                return left
            return self._holds(expression.right, current)
        if isinstance(expression, PrefixExpression):
            return not self._holds(expression.right, current)
        if isinstance(expression, ComparisonExpression):
            left_value = self._value(expression.left, current)
            right_value = self._value(expression.right, current)
            return self._compares(left_value, expression.operator, right_value)
        if isinstance(expression, FilterQuery):
            return next(self._query(expression, current), None) is not None
        return bool(self._value(expression, current))

    def _query(self, expression: FilterQuery, current: Any) -> Iterator[Node]:
        start = self._root if isinstance(expression, RootFilterQuery) else current
        return self._nodes(expression.query, start)

    def _value(self, expression: Expression, current: Any) -> Any:
        """The one value of an expression; `_NOTHING` where there is none."""
        self._budget.take()
        if isinstance(expression, FilterQuery):
            node = next(self._query(expression, current), None)
            return _NOTHING if node is None else node.value
        if isinstance(expression, FunctionExtension):
            return self._function(expression, current)
        if isinstance(expression, FilterExpressionLiteral):
            return expression.value
        return self._holds(expression, current)

    def _function(self, call: FunctionExtension, current: Any) -> Any:
        """The five functions of RFC 9535 section 2.4."""
        first = call.args[0]
        if call.name in ("count", "value"):
            # By the types of functions their argument is a query.
            found = self._query(first, current)  # type: ignore[arg-type]
            return sum(1 for _ in found) if call.name == "count" else _only(found)
        value = self._value(first, current)
        if call.name == "length":
            return len(value) if isinstance(value, str | list | dict) else _NOTHING
        pattern = self._value(call.args[1], current)
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        fits = filter_match if call.name == "match" else filter_search
        try:
            return fits(pattern, value, self._budget)
        except PatternError:
            return False

    def _compares(self, left: Any, operator: str, right: Any) -> bool:
        """RFC 9535 section 2.3.5.2.2."""
        if operator in ("==", "!="):
            return self._equal(left, right) is (operator == "==")
        if operator in (">", ">="):
            left, right = right, left
        if below(left, right, self._budget):
            return True
        return operator in ("<=", ">=") and self._equal(left, right)

    def _equal(self, left: Any, right: Any) -> bool:
        if left is _NOTHING or right is _NOTHING:
            return left is right
        return same(left, right, self._budget)


def _only(nodes: Iterator[Node]) -> Any:
    first, second = next(nodes, None), next(nodes, None)
    return first.value if first is not None and second is None else _NOTHING
