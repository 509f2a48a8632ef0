"""JSONPath (RFC 9535): a path is read, and what it selects in a document is listed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathQuery

from playground.expectations.step_limit import StepLimit, StepLimitError
from playground.expectations.walking import Node, PathEvaluation

#: Characters of a path, and values that it may select.
MAX_PATH, MAX_NODES = 1_000, 10_000

_ENVIRONMENT = JSONPathEnvironment()


class PathError(ValueError):
    """A path that cannot be read or not be followed, with the reason as a sentence."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a path selects."""

    nodes: tuple[Node, ...]
    #: Whether there are more than these.
    more: bool = False

    @property
    def values(self) -> list[Any]:
        """The values without their places."""
        return [node.value for node in self.nodes]

    @property
    def count(self) -> str:
        """How many values there are, in words."""
        if self.more:
            return f"more than {len(self.nodes):,} values"
        return "1 value" if len(self.nodes) == 1 else f"{len(self.nodes):,} values"


def select(
    path: str, document: Any, budget: StepLimit | None = None, *, most: int = MAX_NODES
) -> Selection:
    """What `path` selects in `document`, the first `most` values of it.

    Raises `PathError` for a path that is none, and for one that takes more steps than the
    budget has.
    """
    query = compile_path(path)
    budget = StepLimit() if budget is None else budget
    found: list[Node] = []
    try:
        for node in PathEvaluation(document, budget).nodes(query):
            if len(found) == most:
                return Selection(tuple(found), more=True)
            found.append(node)
    except StepLimitError:
        raise PathError(
            "The path looks at too many values of this reply. Say more exactly where to look."
        ) from None
    except RecursionError:
        raise PathError("The path is nested too deep.") from None
    return Selection(tuple(found))


def compile_path(path: str) -> JSONPathQuery:
    """A path, read. Raises `PathError` with a sentence that says where it is wrong."""
    if len(path) > MAX_PATH:
        raise PathError(f"The path is longer than {MAX_PATH:,} characters.")
    return _compiled(path)


@lru_cache(maxsize=256)
def _compiled(path: str) -> JSONPathQuery:
    try:
        return _ENVIRONMENT.compile(path)
    except JSONPathError as error:
        at = error.token.index + 1 if error.token is not None else 1
        reason = error.args[0] if error.args else "it cannot be read"
        raise PathError(f"The path is no JSONPath, at character {at}: {reason}.") from None
    except RecursionError:
        raise PathError("The path is nested too deep.") from None
    except (ValueError, OverflowError, IndexError) as error:
        raise PathError(f"The path is no JSONPath: {error}.") from None


def normalized_path(node: Node) -> str:
    """Where a node stands, as a normalized path (RFC 9535 section 2.7)."""
    return "$" + "".join(
        f"[{step}]" if isinstance(step, int) else f"['{_escaped(step)}']"
        for step in node.location()
    )


_ESCAPES = {
    "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\",
}  # fmt: skip


def _escaped(name: str) -> str:
    return "".join(
        _ESCAPES.get(each) or (f"\\u{ord(each):04x}" if each < " " else each) for each in name
    )
