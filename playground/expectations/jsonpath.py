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
from typing import Any, NamedTuple

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
MAX_PATH, MAX_NODES = 1_000, 10_000

_ENVIRONMENT = JSONPathEnvironment()


class PathError(ValueError):
    """An invalid path, or one that cannot be evaluated, with the reason as a sentence."""


class Node(NamedTuple):
    """A value and its location: the parent node, and the name or index in the parent."""

    value: Any
    parent: Any = None
    key: str | int = ""

    def location(self) -> list[str | int]:
        """Return the names and indexes that lead to the value from the root."""
        steps: list[str | int] = []
        node = self
        while node.parent is not None:
            steps.append(node.key)
            node = node.parent
        return steps[::-1]


@dataclass(frozen=True, slots=True)
class Selection:
    """The values that a path selects."""

    nodes: tuple[Node, ...]
    #: Whether the path selects more than these.
    more: bool = False

    @property
    def values(self) -> list[Any]:
        return [node.value for node in self.nodes]

    @property
    def count(self) -> str:
        if self.more:
            return f"more than {len(self.nodes):,} values"
        return "1 value" if len(self.nodes) == 1 else f"{len(self.nodes):,} values"


def select(
    path: str, document: Any, limit: StepLimit | None = None, *, most: int = MAX_NODES
) -> Selection:
    """Return the first `most` values that `path` selects in `document`.

    Raise `PathError` for an invalid path, and for one that needs more steps than are left.
    """
    query = compile_path(path)
    limit = limit or StepLimit(MAX_STEPS)
    found: list[Node] = []
    try:
        for node in PathEvaluation(document, limit).nodes(query):
            if len(found) == most:
                return Selection(tuple(found), more=True)
            found.append(node)
    except StepLimitError:
        raise PathError(
            "The path visits too many values in this response. Use a more specific path."
        ) from None
    except RecursionError:
        raise PathError("The path is nested too deeply.") from None
    return Selection(tuple(found))


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


def normalized_path(node: Node) -> str:
    """Return the location of a node as a normalized path (RFC 9535 section 2.7)."""
    return "$" + "".join(
        f"[{step}]" if isinstance(step, int) else member_segment(step) for step in node.location()
    )


def member_segment(name: str) -> str:
    """Return the segment of a path that selects a member, as normalized paths have it."""
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

    def nodes(self, query: JSONPathQuery) -> Iterator[Node]:
        """Return the selected nodes in the order of the RFC. Raise `StepLimitError`."""
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
        """Yield a node and its descendants, parents before children (RFC 9535 section 2.5.2.2)."""
        pending = [node]
        while pending:
            one = pending.pop()
            yield one
            below = [each for each in self._children(one) if isinstance(each.value, dict | list)]
            pending += reversed(below)

    def _children(self, node: Node) -> Iterator[Node]:
        value = node.value
        if isinstance(value, dict):
            for name, inner in value.items():
                self._limit.take()
                yield Node(inner, node, name)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self._limit.take()
                yield Node(inner, node, index)

    def _selected(self, selector: JSONPathSelector, node: Node) -> Iterator[Node]:
        self._limit.take()
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
                if self._is_true(selector.expression, child.value):
                    yield child
        else:
            yield from self._children(node)

    def _slice(self, wanted: slice, node: Node) -> Iterator[Node]:
        """Yield elements by index (RFC 9535 section 2.3.4.2.2: a step of 0 selects none)."""
        if isinstance(node.value, list) and wanted.step != 0:
            for index in range(*wanted.indices(len(node.value))):
                self._limit.take()
                yield Node(node.value[index], node, index)

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
            return next(self._query(expression, current), None) is not None
        return bool(self._value(expression, current))

    def _query(self, expression: FilterQuery, current: Any) -> Iterator[Node]:
        start = self._root if isinstance(expression, RootFilterQuery) else current
        return self._nodes(expression.query, start)

    def _value(self, expression: Expression, current: Any) -> Any:
        """Return the single value of an expression, or `_NOTHING`."""
        self._limit.take()
        if isinstance(expression, FilterQuery):
            node = next(self._query(expression, current), None)
            return _NOTHING if node is None else node.value
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


def _single_value(nodes: Iterator[Node]) -> Any:
    first, second = next(nodes, None), next(nodes, None)
    return first.value if first is not None and second is None else _NOTHING
