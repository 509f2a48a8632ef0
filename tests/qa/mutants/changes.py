"""Mutants of a module: its functions, each with one small change."""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_REMOVED = (ast.AugAssign, ast.Break, ast.Continue, ast.Delete, ast.Raise)

#: Changes a node in place.
Change = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a module: node and change by their numbers."""

    node: int
    change: int
    line: int
    name: str


def _set(field: str, value: Any) -> Change:
    return lambda node: setattr(node, field, value)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change | None]]:
    """Yield the name of each change of a node, and the change; None removes a statement."""
    yield from _changes_of_operators(node)
    match node:
        case ast.Constant(value=bool(value)):
            yield f"{not value}", _set("value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value + 1}", _set("value", value + 1)
        case ast.Constant(value=str(value)) if value:
            yield "other text", _set("value", f"XX{value}")
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "never", _set("test", ast.BoolOp(ast.And(), [test, ast.Constant(False)]))
            if not isinstance(node, ast.While):
                yield "always", _set("test", ast.BoolOp(ast.Or(), [test, ast.Constant(True)]))
        case ast.Return(value=value) if value is not None:
            yield "return None", _set("value", ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "statement removed", None
        case _ if isinstance(node, _REMOVED):
            yield "statement removed", None


def _changes_of_operators(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=ops):
            for at, operator in enumerate(ops):
                if other := _COMPARISONS.get(type(operator)):
                    changed = [*ops[:at], other(), *ops[at + 1 :]]
                    yield f"{type(operator).__name__} to {other.__name__}", _set("ops", changed)
        case ast.BoolOp(op=ast.And()):
            yield "and to or", _set("op", ast.Or())
        case ast.BoolOp():
            yield "or to and", _set("op", ast.And())
        case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            yield f"other {type(operator).__name__}", _set("op", _OPERATORS[type(operator)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "no not", _set("operand", ast.UnaryOp(ast.Not(), operand))


def mutants_of(source: str) -> list[Mutant]:
    """Return every mutant of the functions of a module, in the order of the source."""
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    inside, outside = set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, functions):
            body = node.body if isinstance(node.body, list) else [node.body]
            inside.update(id(part) for each in body for part in ast.walk(each))
        outside.update(id(part) for each in _left_out(node) for part in ast.walk(each))
    return sorted(
        (
            Mutant(number, change, node.lineno, name)
            for number, node in enumerate(ast.walk(tree))
            if id(node) in inside and id(node) not in outside
            for change, (name, _) in enumerate(_changes(node))
            if isinstance(node, ast.expr | ast.stmt)
        ),
        key=lambda mutant: (mutant.line, mutant.node, mutant.change),
    )


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what says nothing when the function is called: annotations, docstrings, formats."""
    yield from filter(None, (getattr(node, name, None) for name in ("annotation", "returns")))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from node.decorator_list
        if ast.get_docstring(node, clean=False) is not None:
            yield node.body[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.args
    if isinstance(node, ast.FormattedValue) and node.format_spec:
        yield node.format_spec


def apply(mutant: Mutant, source: str, path: str) -> bool:
    """Give the function objects of a module that was imported their mutated code.

    Whoever has imported a function calls the mutant, too. Return whether there was one to change.
    """
    pairs = zip(
        _codes(ast.parse(source), path), _codes(_mutated(source, mutant), path), strict=True
    )
    changed = [(old, new) for old, new in pairs if old != new and old.co_name != "<module>"]
    gc.unfreeze()
    functions = [
        each
        for each in gc.get_objects()
        if isinstance(each, types.FunctionType) and each.__code__.co_filename == path
    ]
    found = False
    for old, new in changed:
        for function in functions:
            if function.__code__ == old and len(function.__code__.co_freevars) == len(
                new.co_freevars
            ):
                function.__code__ = new
                found = True
    return found


def _mutated(source: str, mutant: Mutant) -> ast.Module:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    node = nodes[mutant.node]
    _, change = list(_changes(node))[mutant.change]
    if change:
        change(node)
    else:
        for parent in nodes:
            for _, value in ast.iter_fields(parent):
                if isinstance(value, list) and node in value:
                    value[value.index(node)] = ast.copy_location(ast.Pass(), node)
    return ast.fix_missing_locations(tree)


def _codes(tree: ast.Module, path: str) -> Iterator[types.CodeType]:
    waiting = [compile(tree, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]
