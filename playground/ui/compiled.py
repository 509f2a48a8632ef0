"""Templates compiled to Python functions: the same HTML as Django's, in a tenth of its time.

A live message is small, and with many runs there is one for each event: rendered by Django, it
would take two thirds of the time of the event. Its templates are those of the page. Each is
compiled once, from the nodes that Django has parsed, to the source of one function.

Every value is written by `_escaped`, which escapes as Django does. Tags without a row in `_WRITERS`
cannot be compiled. There are no context processors and no request. A template that was edited is
compiled by the next process.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any
from uuid import UUID

from django.template import Context, Node
from django.template.base import (
    FilterExpression,
    TextNode,
    Variable,
    VariableNode,
    render_value_in_context,
)
from django.template.defaulttags import (
    CommentNode,
    CsrfTokenNode,
    ForNode,
    IfNode,
    LoadNode,
    TemplateLiteral,
    URLNode,
    WithNode,
)
from django.template.library import InclusionNode, SimpleNode
from django.template.loader import get_template
from django.template.loader_tags import IncludeNode
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.safestring import SafeData, SafeString  # noqa: TID251 -- what it writes is escaped
from django.utils.timezone import template_localtime  # type: ignore[attr-defined]
from template_partials.templatetags.partials import DefinePartialNode

#: Writes the HTML of a template for a context, piece by piece.
Render = Callable[[Mapping[str, Any], Callable[[str], object]], None]


def render(name: str, context: Mapping[str, Any]) -> SafeString:
    """Return the HTML of a template, or of a part of one ("conversation/cards.html#card")."""
    pieces: list[str] = []
    _compiled(name)(context, pieces.append)
    return SafeString("".join(pieces))


@cache
def _compiled(name: str) -> Render:
    return compile_template(get_template(name))


def compile_template(template: Any) -> Render:
    """Return the function of a template of Django's backend, or of a part of one."""
    return _Function().compile(template.template.name or "", template.template.nodelist)


# What the functions call


class _Missing:
    """What a template names and the context does not have."""

    def __bool__(self) -> bool:
        return False


_MISSING = _Missing()
#: The context of formats and of autoescape.
_CONTEXT = Context()
#: Whether the values of a class have keys, by class.
_has_keys: dict[type, bool] = {}


def _name(context: Mapping[str, Any], name: str) -> Any:
    value = context.get(name, _MISSING)
    return _call(value) if callable(value) else value


def _member(value: Any, name: str) -> Any:
    """Return a key, an attribute or an entry of a value, called if it can be, as Django does."""
    kind = type(value)
    has_keys = _has_keys.get(kind)
    if has_keys is None:
        has_keys = _has_keys[kind] = hasattr(kind, "__getitem__")
    if has_keys:
        try:
            found = value[name]
        except (TypeError, AttributeError, KeyError, ValueError, IndexError):
            found = _attribute(value, name)
            if found is _MISSING and name.isdigit():
                try:
                    found = value[int(name)]
                except (TypeError, KeyError, IndexError):
                    return _MISSING
    else:
        found = _attribute(value, name)
    return _call(found) if callable(found) else found


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError as error:
        # An error within a property is not a missing attribute.
        if getattr(error, "silent_variable_failure", False) or name not in dir(value):
            return _MISSING
        raise


def _call(value: Any) -> Any:
    if getattr(value, "do_not_call_in_templates", False):
        return value
    if getattr(value, "alters_data", False):
        return ""
    return value()


def _or_empty(value: Any) -> Any:
    return "" if value is _MISSING else value


def _or_none(value: Any) -> Any:
    return None if value is _MISSING else value


def _escaped(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return escape(value)
    if kind is SafeString:
        return str(value)
    if kind is int:
        return str(value)
    return "" if value is _MISSING else render_value_in_context(value, _CONTEXT)


def _as_safe_as(value: Any, result: Any) -> Any:
    """Return the result of a filter that keeps a safe value safe."""
    return SafeString(result) if isinstance(value, SafeData) else result


def _compared(compare: Callable[[Any, Any], Any], value: Any, other: Any) -> bool:
    try:
        return bool(compare(value, other))
    except TypeError:
        return False


def _loop(values: Any, is_reversed: bool) -> Sequence[Any]:
    found = [] if values is None else list(values)
    return found[::-1] if is_reversed else found


def _forloop(index: int, values: Sequence[Any], parent: Any) -> dict[str, Any]:
    left = len(values) - index
    return {
        "counter0": index,
        "counter": index + 1,
        "revcounter": left,
        "revcounter0": left - 1,
        "first": index == 0,
        "last": left == 1,
        "parentloop": parent,
    }


def _url(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    if keywords or not all(map(_is_plain, arguments)):
        return reverse(name, args=arguments, kwargs=dict(keywords))
    # A card has a URL for each of its buttons, and Django takes 15 µs for one.
    template = _url_template(name, tuple(map(type, arguments)), get_script_prefix())
    return template % tuple(arguments)


#: Types of arguments that a URL contains as they are; nothing else in a URL has these texts.
_EXAMPLES: Mapping[type, Any] = {UUID: UUID(int=7**45), int: 7**45}


def _is_plain(argument: Any) -> bool:
    kind = type(argument)
    return kind is UUID or (kind is int and argument >= 0)


@cache
def _url_template(name: str, kinds: Iterable[type], _prefix: str) -> str:
    """Return the URL of a view with "%s" for arguments of these types: "/runs/%s/picture/".

    It begins with the prefix of the site, which can differ between threads.
    """
    examples = [_EXAMPLES[kind] for kind in kinds]
    url = reverse(name, args=examples).replace("%", "%%")
    for example in examples:
        url = url.replace(str(example), "%s", 1)
    return url


def _reversed_url(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Return a URL for `url … as`: an empty one where there is none."""
    try:
        return _url(name, arguments, keywords)
    except NoReverseMatch:
        return ""


def _rendered(node: Node, context: Mapping[str, Any]) -> str:
    return str(node.render_annotated(Context(dict(context))))


#: What the source of a function names.
_HELPERS: Sequence[Callable[..., Any]] = (
    *(_name, _member, _or_empty, _or_none, _escaped, _as_safe_as, _compared),
    *(_loop, _forloop, _url, _reversed_url, _rendered, _compiled, escape, template_localtime),
)

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "in": lambda value, values: value in values,
    "not in": lambda value, values: value not in values,
}


class _Function:
    """The function of one template, in progress.

    Its arguments are `c`, the context, and `w`, which writes. A name of the context is read once,
    into a variable; `for`, `with` and `as` make other variables for a name.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 1
        self._text: list[str] = []
        self._constants: dict[str, Any] = {}
        self._variables = 0
        #: Variables of the names that the context does not have, or has with another value.
        self.names: dict[str, str] = {}
        #: Those of the names that are read from the context.
        self._read: dict[str, str] = {}
        #: Those that tags set, perhaps in a branch: until then they are as in the context.
        self._set: list[tuple[str, str]] = []

    def compile(self, template: str, nodes: Iterable[Node]) -> Render:
        self.write(nodes)
        first = [*self._read.items(), *self._set]
        read = [f"    {variable} = _name(c, {name!r})" for name, variable in first]
        source = "\n".join(["def render(c, w):", *read, *self._lines, "    return"])
        namespace = {each.__name__: each for each in _HELPERS} | self._constants
        # Made of names of this class and of literals by repr(); templates are the playground's own.
        exec(compile(source, f"<{template}>", "exec"), namespace)  # noqa: S102
        function: Render = namespace["render"]
        return function

    # Source

    def write(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if isinstance(node, TextNode):
                self._text.append(node.s)
            else:
                self._write_tag(node)
        self._end_text()

    def _write_tag(self, node: Node) -> None:
        write = _WRITERS.get(type(node))
        if write is None:
            raise TypeError(f"Not compiled: {type(node).__name__}.")
        write(self, node)

    def add(self, line: str) -> None:
        self._end_text()
        self._lines.append("    " * self._depth + line)

    def _end_text(self) -> None:
        if self._text:
            text, self._text = "".join(self._text), []
            self.add(f"w({text!r})")

    def write_block(
        self,
        line: str,
        nodes: Iterable[Node],
        names: Mapping[str, str] | None = None,
        first: str = "pass",
    ) -> None:
        """Write a block of a `first` line and nodes.

        With `names` it has other variables for these, and names that are set in it are not set
        after it. A branch of `if` has none.
        """
        self.add(line)
        outer = None if names is None else self.names
        self.names = {**self.names, **(names or {})}
        self._depth += 1
        self.add(first)
        self.write(nodes)
        self._depth -= 1
        self.names = self.names if outer is None else outer

    def constant(self, value: object) -> str:
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name

    def variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def set(self, name: str) -> str:
        """Return the variable of a name that a tag sets: the same one in all branches of `if`."""
        variable = self.names.get(name, "")
        if (name, variable) not in self._set:
            self.names[name] = variable = self.variable()
            self._set.append((name, variable))
        return variable

    # Expressions

    def name(self, name: str) -> str:
        """Return the variable of a name."""
        if name in ("True", "False", "None"):
            return name
        if name in self.names:
            return self.names[name]
        if name not in self._read:
            self._read[name] = self.variable()
        return self._read[name]

    def path(self, variable: Variable) -> str:
        """Return the value of a name and members of it, `_MISSING` where there is none."""
        if variable.lookups is None:
            return self.constant(variable.literal)
        first, *rest = variable.lookups
        value = self.name(first)
        for member in rest:
            value = f"_member({value}, {member!r})"
        return value

    def value(self, expression: FilterExpression, missing: str = "_or_empty") -> str:
        """Return a value with its filters; the function `missing` replaces one that is missing."""
        if isinstance(expression.var, Variable):
            value = f"{missing}({self.path(expression.var)})"
        else:
            value = self.constant(expression.var)
        for function, arguments in expression.filters:
            values = [
                f"_or_none({self.path(each)})" if is_variable else self.constant(each)
                for is_variable, each in arguments
            ]
            if getattr(function, "expects_localtime", False):
                value = f"template_localtime({value})"
            if getattr(function, "needs_autoescape", False):
                values.append("autoescape=True")
            if getattr(function, "is_safe", False):
                given = self.variable()
                call = f"{self.constant(function)}({', '.join([given, *values])})"
                value = f"_as_safe_as({given} := {value}, {call})"
            else:
                value = f"{self.constant(function)}({', '.join([value, *values])})"
        return value

    def values(self, expressions: Mapping[str, FilterExpression]) -> str:
        """Return a dictionary of values."""
        return self.dictionary({key: self.value(each) for key, each in expressions.items()})

    def dictionary(self, values: Mapping[str, str], first: str = "") -> str:
        entries = [f"{key!r}: {value}" for key, value in values.items()]
        return f"{{{', '.join([*filter(None, [first]), *entries])}}}"

    def context(self, values: Mapping[str, str]) -> str:
        """Return the context of this place, with more `values`."""
        values = {**self.names, **values}
        return self.dictionary(values, "**c") if values else "c"

    def condition(self, condition: Any) -> str:
        if isinstance(condition, TemplateLiteral):
            expression: Any = condition.value
            return self.value(expression, "_or_none")
        first = self.condition(condition.first)
        if condition.id == "not":
            return f"(not {first})"
        second = self.condition(condition.second)
        if condition.id in _COMPARISONS:
            return f"_compared({self.constant(_COMPARISONS[condition.id])}, {first}, {second})"
        return f"({first} {condition.id} {second})"


# What writes a node


def _write_nothing(_: _Function, __: Node) -> None:
    return


def _write_value(function: _Function, node: Any) -> None:
    function.add(f"w(_escaped({function.value(node.filter_expression)}))")


def _write_if(function: _Function, node: Any) -> None:
    # A name that is read first in a branch is read before all of them.
    word = "if"
    for condition, nodes in node.conditions_nodelists:
        test = "True" if condition is None else function.condition(condition)
        function.write_block(f"{word} {test}:", nodes)
        word = "elif"


def _write_for(function: _Function, node: Any) -> None:
    values, index, loop = function.variable(), function.variable(), function.variable()
    variables = {name: function.variable() for name in node.loopvars}
    sequence = function.value(node.sequence, "_or_none")
    parent = function.names.get("forloop", "{}")
    function.add(f"{values} = _loop({sequence}, {node.is_reversed})")
    names = ", ".join(variables.values())
    names = names if len(variables) == 1 else f"({names})"
    function.write_block(
        f"for {index}, {names} in enumerate({values}):",
        node.nodelist_loop,
        {**variables, "forloop": loop},
        f"{loop} = _forloop({index}, {values}, {parent})",
    )
    if node.nodelist_empty:
        function.write_block(f"if not {values}:", node.nodelist_empty, {})


def _write_with(function: _Function, node: Any) -> None:
    variables = {}
    for name, expression in node.extra_context.items():
        variables[name] = function.variable()
        function.add(f"{variables[name]} = {function.value(expression)}")
    function.write_block("if True:", node.nodelist, variables)


def _write_include(function: _Function, node: Any) -> None:
    template = function.value(node.template)
    values = {name: function.value(each) for name, each in node.extra_context.items()}
    context = function.dictionary(values) if node.isolated_context else function.context(values)
    function.add(f"_compiled({template})({context}, w)")


def _write_url(function: _Function, node: Any) -> None:
    arguments = ", ".join(function.value(each) for each in node.args)
    given = f"{function.value(node.view_name)}, [{arguments}], {function.values(node.kwargs)}"
    if node.asvar:
        function.add(f"{function.set(node.asvar)} = _reversed_url({given})")
    else:
        function.add(f"w(escape(_url({given})))")


def _write_inclusion(function: _Function, node: Any) -> None:
    """Write a tag that includes a template with a context of its own."""
    arguments = [function.value(each) for each in node.args]
    if node.takes_context:
        arguments.insert(0, function.context({}))
    call = (
        f"{function.constant(node.func)}({', '.join(arguments)}, **{function.values(node.kwargs)})"
    )
    function.add(f"_compiled({node.filename!r})({call}, w)")


def _write_by_django(function: _Function, node: Any) -> None:
    if name := getattr(node, "target_var", None):
        raise TypeError(f"Not compiled: a tag that sets “{name}”.")
    function.add(f"w(_rendered({function.constant(node)}, {function.context({})}))")


_WRITERS: Mapping[type[Node], Callable[[_Function, Any], None]] = {
    CommentNode: _write_nothing,
    LoadNode: _write_nothing,
    DefinePartialNode: _write_nothing,
    VariableNode: _write_value,
    IfNode: _write_if,
    ForNode: _write_for,
    WithNode: _write_with,
    IncludeNode: _write_include,
    URLNode: _write_url,
    InclusionNode: _write_inclusion,
    SimpleNode: _write_by_django,
    CsrfTokenNode: _write_by_django,
}
