"""Comparison of two responses, or of two JSON documents."""

from __future__ import annotations

import enum
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols import lenient
from playground.protocols.diff.json_values import MISSING, ValueChange, Values, moved_items
from playground.protocols.diff.response_parts import ResponsePart, response_parts
from playground.protocols.events import Event
from playground.protocols.exchange import Version

# Members that differ between two equal responses to one request: ids, tokens, times


@dataclass(frozen=True, slots=True)
class IgnoredMembers:
    """Members that a comparison ignores, whatever their value."""

    what: str
    #: Names of members; case, `_` and `-` are ignored.
    names: tuple[str, ...]
    #: Whether inside results as well: there a `duration` may be that of a film.
    in_results: bool = False


#: All ignored members, in the order in which they are shown.
IGNORED: tuple[IgnoredMembers, ...] = (
    IgnoredMembers(
        "Session and message ids",
        (
            "request_id", "query_id", "conversation_id", "session_id", "response_id",
            "message_id", "msg_id", "call_id", "trace_id", "correlation_id", "run_id", "task_id",
        ),
        in_results=True,
    ),
    IgnoredMembers("Tokens", ("promise_token", "state_token", "request_state"), in_results=True),
    IgnoredMembers("Tokens, outside of results", ("token", "cursor")),
    IgnoredMembers(
        "Timestamps, outside of results",
        (
            "timestamp", "time", "date", "created", "created_at", "updated_at", "started_at",
            "completed_at", "generated_at", "expires_at", "server_time",
        ),
    ),
    IgnoredMembers(
        "Durations, outside of results",
        (
            "processing_time", "processing_time_ms", "response_time", "response_time_ms",
            "duration", "duration_ms", "elapsed", "elapsed_ms", "latency", "latency_ms", "took",
            "took_ms", "time_to_first_result", "estimated_time",
        ),
    ),
    IgnoredMembers(
        "Stream metadata, outside of results",
        ("streaming", "total_items", "total_results", "result_count", "results_count"),
    ),
    IgnoredMembers(
        "Progress and usage, outside of results", ("progress", "usage")
    ),
)  # fmt: skip

#: What is ignored besides members, in words.
UNSEEN: tuple[str, ...] = (
    "order and index of results",
    "streaming and chunking",
    "progress, log messages, tool lists and the handshake",
)


def _normalize(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


_EVERYWHERE = frozenset(_normalize(name) for row in IGNORED if row.in_results for name in row.names)
_OUTSIDE = frozenset(_normalize(name) for row in IGNORED for name in row.names)


def _skip_in_results(name: str) -> bool:
    return _normalize(name) in _EVERYWHERE


def _skip_outside(name: str) -> bool:
    return _normalize(name) in _OUTSIDE


# Differences

#: Most differences that are listed; all of them are counted.
MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class ResponseSide:
    """One side of a comparison: events, outcome and version of the protocol."""

    events: Iterable[Event]
    outcome: str
    version: Version


class OrderScope(enum.Enum):
    """Scope within which the order of parts and elements counts."""

    #: The order of the results counts, and that within each part.
    EVERYWHERE = "everywhere"
    #: Only the order within a result, a message, ... counts.
    WITHIN = "within"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of the two sides."""

    #: `added` (only right), `removed` (only left), `changed`, or `moved`: then the values are its
    #: positions, from 1.
    change: str
    #: Kind of the part: `result`, `text`, `metadata`, ...
    kind: str
    #: Label of the part.
    label: str
    #: JSON Pointer into the part, "" for all of it.
    pointer: str
    #: The values, None on the side that has none.
    left: Any = None
    right: Any = None
    #: Why these two versions explain it, "" if they do not.
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison."""

    #: Expected differences last; at most `MAX_LISTED`.
    differences: tuple[Difference, ...]
    #: Number of differences, listed or not, and how many of them are expected.
    total: int
    expected: int
    #: Number of results on the left and on the right.
    results: tuple[int, int]
    #: Differences of ignored members, if requested: at most `MAX_LISTED`, and their number. They
    #: do not count.
    folded: tuple[Difference, ...] = ()
    folded_total: int = 0

    @property
    def same(self) -> bool:
        """Return whether both sides are equal, except for what their versions explain."""
        return self.total == self.expected


class _DifferenceList:
    """Collects differences: lists some, and counts all of them."""

    def __init__(self) -> None:
        #: Unexpected, expected and folded differences.
        self._listed: tuple[list[Difference], ...] = ([], [], [])
        self._counts = [0, 0, 0]

    def add(self, found: Difference, ignored: bool = False) -> None:
        which = 2 if ignored else 1 if found.expected else 0
        self._counts[which] += 1
        if len(self._listed[which]) < MAX_LISTED:
            self._listed[which].append(found)

    def comparison(self, results: tuple[int, int] = (0, 0)) -> Comparison:
        unexpected, expected, folded = self._counts
        shown = (*self._listed[0], *self._listed[1])[:MAX_LISTED]
        total = unexpected + expected
        return Comparison(shown, total, expected, results, tuple(self._listed[2]), folded)


def compare(
    left: ResponseSide,
    right: ResponseSide,
    order: OrderScope = OrderScope.WITHIN,
    *,
    folded: bool = False,
) -> Comparison:
    """Return the differences of two responses. Never raises on an agent's data.

    With `folded`, ignored members are compared as well, and listed apart from the rest.
    """
    ordered = order is not OrderScope.NOWHERE
    values = {
        is_result: Values(skip, ordered=ordered, folded=folded)
        for is_result, skip in ((True, _skip_in_results), (False, _skip_outside))
    }
    sides = [response_parts(side.events, side.outcome) for side in (left, right)]
    numbered = [
        [
            _NumberedPart(number, part, values[part.kind == "result"].digest(part.value))
            for number, part in enumerate(parts)
        ]
        for parts in sides
    ]
    pairs = _pairs(numbered[0], numbered[1])
    moved = _moved_parts(pairs, sides) if order is OrderScope.EVERYWHERE else {}
    listed = _DifferenceList()
    for pair in pairs:
        ours = pair[0]
        if ours and (places := moved.get(ours.number)):
            listed.add(Difference("moved", ours.part.kind, ours.part.label, "", *places))
        for found, ignored in _differences(pair, values, (left.version, right.version)):
            listed.add(found, ignored)
    counts = [sum(part.kind == "result" for part in parts) for parts in sides]
    return listed.comparison((counts[0], counts[1]))


def compare_documents(
    left: Any, right: Any, order: OrderScope = OrderScope.EVERYWHERE
) -> Comparison:
    """Return the differences of two JSON documents; those of ids and tokens are folded."""
    values = Values(_skip_in_results, ordered=order is not OrderScope.NOWHERE, folded=True)
    listed = _DifferenceList()
    for change in values.changes(left, right):
        listed.add(_difference(change, "request", "Request"), change.ignored)
    return listed.comparison()


def _moved_parts(
    pairs: Iterable[_Pair], sides: Sequence[Sequence[ResponsePart]]
) -> dict[int, tuple[int, int]]:
    """Return the parts that moved among those of their kind, by their number on the left.

    The values are their positions among those of their kind, from 1.
    """
    ranks = [_ranks(parts) for parts in sides]
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lefts: dict[tuple[str, int], int] = {}
    for ours, theirs in pairs:
        if ours and theirs:
            positions = ranks[0][ours.number], ranks[1][theirs.number]
            kinds[ours.part.kind].append(positions)
            lefts[ours.part.kind, positions[0]] = ours.number
    return {
        lefts[kind, one]: (one + 1, other + 1)
        for kind, both in kinds.items()
        for one, other in moved_items(both)
    }


def _ranks(parts: Sequence[ResponsePart]) -> dict[int, int]:
    """Return the position of each part among those of its kind, by its number among all.

    Of results it is the order of their indexes, if each has one.
    """
    kinds: dict[str, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        kinds[part.kind].append(number)
    indexes = [parts[number].index for number in kinds["result"]]
    if None not in indexes and len(set(indexes)) == len(indexes):
        kinds["result"].sort(key=lambda number: parts[number].index or 0)
    return {number: rank for numbers in kinds.values() for rank, number in enumerate(numbers)}


def _differences(
    pair: _Pair, values: dict[bool, Values], versions: tuple[Version, Version]
) -> Iterator[tuple[Difference, bool]]:
    """Yield the differences of a part and its counterpart, and whether each is folded."""
    part = next(each.part for each in pair if each)
    left, right = (each.part.value if each else MISSING for each in pair)
    for change in values[part.kind == "result"].changes(left, right):
        found = _difference(change, part.kind, part.label)
        why = _version_explanation(part.kind, change.pointer, (found.left, found.right), versions)
        yield replace(found, expected=why), change.ignored


def _difference(change: ValueChange, kind: str, label: str) -> Difference:
    left, right = (None if side is MISSING else side for side in (change.left, change.right))
    kind_of_change = "moved" if change.moved else "changed"
    if change.left is MISSING:
        kind_of_change = "added"
    elif change.right is MISSING:
        kind_of_change = "removed"
    return Difference(kind_of_change, kind, label, change.pointer, left, right)


# Pairs of parts, whatever their order. Near-linear: parts are found by their digests and keys, and
# never compared each with each.


@dataclass(frozen=True, slots=True)
class _NumberedPart:
    """A part, its number in its response, and the digest of its value."""

    number: int
    part: ResponsePart
    digest: bytes


#: A part on the left and its counterpart on the right; None where there is none.
_Pair = tuple[_NumberedPart | None, _NumberedPart | None]
_Key = tuple[Hashable, ...]


def _pairs(left: Sequence[_NumberedPart], right: Sequence[_NumberedPart]) -> list[_Pair]:
    """Return every part with its counterpart, in the order of the left and then of the right.

    Equal parts are paired first. Of the rest, parts of one kind are paired by the most specific key
    that both have; several with one key in the order of their digests, so that nothing depends on
    the order in which they were received.
    """
    waiting = [
        {each.number: each for each in sorted(side, key=lambda each: each.digest)}
        for side in (left, right)
    ]
    counterparts: dict[int, _NumberedPart] = {}
    for level in (None, *range(max((len(each.part.keys) for each in (*left, *right)), default=0))):
        ours, theirs = (_by_key(side.values(), level) for side in waiting)
        for key in ours.keys() & theirs.keys():
            del waiting[0][ours[key].number], waiting[1][theirs[key].number]
            counterparts[ours[key].number] = theirs[key]
    pairs: list[_Pair] = [(each, counterparts.get(each.number)) for each in left]
    return [*pairs, *((None, each) for each in right if each.number in waiting[1])]


def _by_key(parts: Iterable[_NumberedPart], level: int | None) -> dict[_Key, _NumberedPart]:
    """Return parts by kind, key at a level (their digest for None) and number of earlier ones."""
    counts: Counter[_Key] = Counter()
    found: dict[_Key, _NumberedPart] = {}
    for each in parts:
        keys = (each.digest,) if level is None else each.part.keys[level : level + 1]
        if keys and keys[0] is not None:
            name = (each.part.kind, keys[0])
            found[*name, counts[name]] = each
            counts[name] += 1
    return found


# Differences that the versions of a protocol explain

_QUESTION_TYPE = re.compile(r"/questions/\d+/type")


def _version_explanation(
    kind: str, pointer: str, values: tuple[Any, Any], versions: tuple[Version, Version]
) -> str:
    """Return why two values of a part differ, as a sentence, "" if no version explains it.

    `kind` is that of the part, see `response_parts`; `values` and `versions` are left and right.
    """
    if versions[0].name == versions[1].name:
        return ""
    own = {f"/{name}" for version in versions for name in _trait(version, "version_fields")}
    if kind == "metadata" and pointer in own:
        return f"Each response names its own version: {versions[0].label} and {versions[1].label}."
    if kind == "question" and _QUESTION_TYPE.fullmatch(pointer):
        return _only_one_has("question_types", "type of question", values, versions)
    if kind == "failure" and pointer == "/code":
        return _only_one_has("error_codes", "error code", values, versions)
    return ""


def _only_one_has(
    trait: str, what: str, values: tuple[Any, Any], versions: tuple[Version, Version]
) -> str:
    """Explain a value that its own version defines and the other one does not."""
    for value, own, other in (
        (values[0], versions[0], versions[1]),
        (values[1], versions[1], versions[0]),
    ):
        name = lenient.text(value)
        if name in _trait(own, trait) and name not in _trait(other, trait):
            return f"{other.label} has no {what} {name}."
    return ""


def _trait(version: Version, name: str) -> tuple[str, ...]:
    traits: Mapping[str, Any] = version.traits
    found = traits.get(name, ())
    return tuple(found) if isinstance(found, tuple | list) else ()
