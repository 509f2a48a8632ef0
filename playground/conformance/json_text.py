"""Rules on JSON itself (RFC 8259), the same for every protocol and binding.

The lenient reader accepts all of this; only these rules report it. Text that is no JSON even
leniently is reported by the rules of its protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from playground.conformance.rule import Inconclusive, Rule, RuleIssue, Violation, info, must, should
from playground.conformance.rule_input import MAX_DEPTH, MAX_NODES
from playground.protocols import json_decoder
from playground.protocols.json_pointer import escape
from playground.protocols.response import Message

#: The most characters of a run that are checked: a third of a second.
MAX_CHARACTERS = 16 * 1024 * 1024
_ENCODING, _NUMBER = "json-utf8", "json-numbers"
_NAME, _SURROGATE = "json-names-unique", "json-surrogates"


class JsonText(NamedTuple):
    """A text that should be JSON: a body, the data of an event, or a string in one of them."""

    #: The frame of the reader's events.
    seq: int
    text: str
    is_utf8: bool = True
    has_bom: bool = False
    #: Pointer to the string that is the text, with a `#`; "" for the JSON of a frame.
    pointer: str = ""
    #: Whether it is JSON on whose value all decoders agree; false if that is not known.
    is_clean: bool = False


class _FoundFlaw(NamedTuple):
    """Something in a JSON text that RFC 8259 forbids or advises against."""

    rule: str
    violation: Violation


@dataclass(frozen=True)
class JsonTranscript:
    """The JSON texts of a run."""

    version: str
    texts: tuple[JsonText, ...]
    is_complete: bool = True
    overflowed: bool = False

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return the pointer: rules of JSON report locations that exist."""
        return pointer

    @cached_property
    def checked(self) -> tuple[JsonText, ...]:
        """Return the texts that are JSON as far as a lenient reader is concerned."""
        return self._results[0]

    @cached_property
    def found(self) -> tuple[_FoundFlaw, ...]:
        return self._results[1]

    @cached_property
    def is_cut_off(self) -> bool:
        """Return whether there is more text than is checked."""
        return self._results[2]

    @cached_property
    def _results(self) -> tuple[tuple[JsonText, ...], tuple[_FoundFlaw, ...], bool]:
        checked: list[JsonText] = []
        found: list[_FoundFlaw] = []
        remaining = MAX_CHARACTERS
        for each in self.texts:
            remaining -= len(each.text)
            if remaining < 0:
                return tuple(checked), tuple(found), True
            if (flaws := _flaws_of(each)) is not None:
                checked.append(each)
                found += flaws
        return tuple(checked), tuple(found), False


def texts_of(messages: Iterable[Message]) -> Iterator[JsonText]:
    """Yield the texts of messages, except blank ones."""
    for each in messages:
        if each.text and not each.text.isspace():
            is_clean = each.is_clean and each.readable
            yield JsonText(each.seq, each.text, each.is_utf8, each.has_bom, is_clean=is_clean)


# Decoding


class _Constant(NamedTuple):
    """A number that Python's decoder reads although JSON has no such number."""

    name: str


class _Object(dict[str, Any]):
    """An object of which several members have the same name."""

    repeated: tuple[str, ...] = ()


def _flaws_of(each: JsonText) -> list[_FoundFlaw] | None:
    """Return the flaws of a text; None if it is not JSON even leniently."""
    if each.is_clean:
        return list(_encoding_flaws(each))
    text = each.text
    if json_decoder.exceeds_depth(text, MAX_DEPTH) or json_decoder.has_too_many_values(text):
        return None
    is_clean = True

    def constant(name: str) -> _Constant:
        nonlocal is_clean
        is_clean = False
        return _Constant(name)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_clean
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        is_clean = False
        marked = _Object(made)
        seen: set[str] = set()
        repeated = [name for name, _ in pairs if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        marked.repeated = tuple(dict.fromkeys(repeated))
        return marked

    decoder = json.JSONDecoder(object_pairs_hook=members, parse_constant=constant)
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        return None
    found = list(_encoding_flaws(each))
    if not is_clean or json_decoder.has_half_pair(text):
        found += _flaws_in(value, each.seq, each.pointer)
    return found


def _encoding_flaws(each: JsonText) -> Iterator[_FoundFlaw]:
    if not each.is_utf8:
        message = "Some bytes are not UTF-8. Encode JSON as UTF-8."
        yield _FoundFlaw(_ENCODING, Violation(message, each.seq))
    if each.has_bom:
        message = "Remove the byte order mark before the JSON."
        yield _FoundFlaw(_ENCODING, Violation(message, each.seq))


def _flaws_in(value: Any, seq: int, top: str) -> Iterator[_FoundFlaw]:
    pending: list[tuple[str, Any]] = [(top, value)]
    for _ in range(MAX_NODES):
        if not pending:
            return
        pointer, value = pending.pop()
        if isinstance(value, _Constant):
            message = f"JSON has no {value.name}. Send a number, a string or null."
            yield _FoundFlaw(_NUMBER, Violation(message, seq, _in_string(pointer)))
        elif isinstance(value, dict):
            for name in value.repeated if isinstance(value, _Object) else ():
                message = f'The name "{_storable(name[:60])}" occurs more than once in this object.'
                where = f"{pointer}/{_storable(escape(name))}"
                yield _FoundFlaw(_NAME, Violation(message, seq, where))
            for name, inner in reversed(value.items()):
                where = f"{pointer}/{_storable(escape(name))}"
                if _has_surrogate(name):
                    yield _surrogate(seq, where)
                pending.append((where, inner))
        elif isinstance(value, list):
            pending += [(f"{pointer}/{at}", inner) for at, inner in enumerate(value)][::-1]
        elif isinstance(value, str) and _has_surrogate(value):
            yield _surrogate(seq, _in_string(pointer))


def _in_string(pointer: str) -> str:
    """Return a pointer without the `#` of a string that is one value itself."""
    return pointer.removesuffix("#")


def _surrogate(seq: int, pointer: str) -> _FoundFlaw:
    message = "This string has half of a surrogate pair. Escape both halves, or send UTF-8."
    return _FoundFlaw(_SURROGATE, Violation(message, seq, pointer))


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _storable(name: str) -> str:
    """Return a name as the reader returns it: a lone surrogate has no UTF-8."""
    if not _has_surrogate(name):
        return name
    return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in name)


# Rules


# fmt: off
#: Name, title, requirement and reason of each rule.
_RULES = (
    (_NUMBER, "JSON contains no NaN and no Infinity.", must("RFC 8259, 6"),
        "Only some libraries read them."),
    (_ENCODING, "JSON is UTF-8 without a byte order mark.", must("RFC 8259, 8.1"),
        "Other bytes become replacement characters, or no text at all."),
    (_NAME, "The names within an object are unique.", should("RFC 8259, 4"),
        "Which of the values a client takes is unpredictable."),
    (_SURROGATE, "Strings contain no half of a surrogate pair.", info("RFC 8259, 8.2"),
        "Clients treat it differently: it does not encode a character."),
)
# fmt: on


def rules(versions: Iterable[str]) -> tuple[Rule[JsonTranscript], ...]:
    named = tuple(versions)
    return tuple(
        Rule(name, title, dict.fromkeys(named, requirement), _check(name), why, _has_text)
        for name, title, requirement, why in _RULES
    )


def _has_text(t: JsonTranscript) -> bool:
    return bool(t.checked) or t.is_cut_off


def _check(rule: str) -> Callable[[JsonTranscript], Iterator[RuleIssue]]:
    def check(t: JsonTranscript) -> Iterator[RuleIssue]:
        for found in t.found:
            if found.rule == rule:
                yield found.violation
        if t.is_cut_off:
            yield Inconclusive(f"Only the first {MAX_CHARACTERS:,} characters were checked.")

    return check
