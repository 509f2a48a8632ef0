"""Pages of rules: a rule with its requirements and its example responses, findings marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from playground.conformance import RULESETS, EarlierResponses, Level, Rule, RuleGroup
from playground.conformance.examples import (
    Example,
    ExampleFinding,
    RuleExamples,
    examples_of,
)
from playground.protocols import registry
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.json_pointer import keys_of
from playground.ui.formatting import WireBlock, blocks_of, pretty
from playground.verdicts.conformance import RULES, PointerLocator, source_of, subject_of

#: The most frames that are all shown; of more, those at both ends and those with findings.
MAX_FRAMES = 16
EDGE_FRAMES = 4
#: The most lines of a value that are marked; of more, the first.
MAX_MARKED_LINES = 5
_CODE = re.compile(r"`([^`]+)`")
_INDENT = re.compile(r"(\n *)")
_DATA_LINE = re.compile(r"^data:[ ]?", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_DECODER = json.JSONDecoder()
_STATES = {
    "truncated": "The connection closed before the response was complete.",
    "cancelled": "The user stopped the run.",
    "interrupted": "The playground stopped during the run.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A finding beside the location that it reports."""

    message: str
    pointer: str
    is_missing: bool


@dataclass(slots=True)
class Chunk:
    """Lines of a block, as (text, whether it is marked); and the findings in the last of them."""

    is_json: bool
    pieces: list[tuple[str, bool]]
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExampleBlock:
    """The bytes of a frame with the findings in it; without `wire`, frames that are not shown."""

    wire: WireBlock | None
    chunks: list[Chunk] = field(default_factory=list)
    #: Findings of the frame as a whole.
    notes: list[Note] = field(default_factory=list)
    skipped: int = 0


def rule_context(group: RuleGroup, rule: Rule[Any]) -> dict[str, Any]:
    ids = [each.id for each in group.rules]
    at = ids.index(rule.id)
    return {
        "rule": rule,
        "group": group,
        "paragraphs": [list(_text_parts(part)) for part in rule.why.split("\n\n")],
        "requirements": _requirements(rule.id),
        **_examples_context(rule),
        # Ids of the rules before and after it in its group; "" for none.
        "previous": ids[at - 1] if at else "",
        "following": ids[at + 1] if at + 1 < len(ids) else "",
    }


@lru_cache(maxsize=1)
def rule_groups() -> tuple[RuleGroup, ...]:
    """Return the rule groups of all rule sets, each once: the first of a name has most rules."""
    groups: dict[str, RuleGroup] = {}
    for ruleset in RULESETS.values():
        for group in ruleset.groups:
            groups.setdefault(group.slug, group)
    return tuple(groups.values())


def _requirements(name: str) -> list[tuple[str, str, str]]:
    """Return the requirements of a rule in every rule set, each once: subject, level and source."""
    rows: dict[tuple[str, str, str], None] = {}
    for (protocol, binding), ruleset in RULESETS.items():
        rule: Rule[Any] | None = next((rule for rule in ruleset.rules if rule.id == name), None)
        for version in ruleset.versions if rule else ():
            demand = rule.requirements.get(version) if rule else None
            is_shared = not name.startswith(f"{binding}.")
            subject = subject_of(protocol, "http" if is_shared else binding, version)
            level, source = (demand.level.value, source_of(demand.section)) if demand else ("", "")
            rows[subject, level, source] = None
    return list(rows)


def _text_parts(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the parts of a paragraph: text, whether it is code, and the group of a rule's id.

    Text between backquotes is code.
    """
    for at, part in enumerate(_CODE.split(" ".join(text.split()))):
        if part:
            yield part, at % 2 == 1, RULES[part][1] if at % 2 and part in RULES else ""


# Examples


def _examples_context(rule: Rule[Any]) -> dict[str, Any]:
    """Return the part of the context about the examples; empty before they are generated."""
    examples = examples_of(rule.id)
    if examples is None:
        return {}
    level = rule.requirement(examples.version).level
    titles = ("Conforming response", "Violating response")
    if level is Level.INFO:  # Both are allowed.
        titles = ("Response without this finding", "Response with this finding")
    return {
        # What the examples were checked against, and the level of the rule there.
        "subject": subject_of(examples.protocol, examples.binding, examples.version),
        "level": level.value,
        "examples": [
            _example("conforming", titles[0], examples, examples.conforming),
            _example("violating", titles[1], examples, examples.violating),
        ],
    }


def _example(slug: str, title: str, examples: RuleExamples, example: Example) -> dict[str, Any]:
    locator = PointerLocator()
    frames = list(locator.noting(example.frames))
    found: dict[int | None, list[ExampleFinding]] = {}
    for finding in example.findings:
        found.setdefault(locator.wire(finding.seq), []).append(finding)
    # The end of a response has no bytes.
    shown = [frame for frame in frames if frame.kind is not FrameKind.END or frame.seq in found]
    operations = [each.name for each in registry.spec(examples.protocol).operations]
    path = f" /{example.operation or operations[0]}" if len(operations) > 1 else ""
    return {
        "slug": slug,
        "title": title,
        # The request as JSON and what it was sent to; "" if the frames have it, or none matters.
        "request": pretty(example.request) if example.request else "",
        "endpoint": f"POST{path}",
        "facts": list(_facts(example)),
        "blocks": list(_blocks(shown, found)),
        # Findings that concern no frame.
        "notes": [Note(finding.message, "", False) for finding in found.get(None, ())],
        # Ids and groups of the other rules that the response violates.
        "also": [(rule, RULES[rule][1]) for rule in example.also if rule in RULES],
    }


def _facts(example: Example) -> Iterator[str]:
    """Yield what an example depends on besides its frames, as sentences."""
    earlier: EarlierResponses = example.earlier
    if earlier.progress:
        values = ", ".join(f"{value:g}" for value in earlier.progress)
        yield f"Earlier responses for the same promise reported progress {values}."
    if earlier.task_end:
        yield f"According to an earlier response, the task was {earlier.task_end.value}."
    if earlier.session_names:
        names = ", ".join(sorted(earlier.session_names))
        yield f"An earlier response has a session context with {names}."
    if example.state in _STATES:
        yield _STATES[example.state]


def _blocks(
    frames: Sequence[Frame], found: dict[int | None, list[ExampleFinding]]
) -> Iterator[ExampleBlock]:
    """Yield the blocks of frames; of many, those at the beginning, at the end and with findings."""
    skipped = 0
    for at, (frame, block) in enumerate(zip(frames, blocks_of(frames), strict=True)):
        is_near_edge = at < EDGE_FRAMES or at >= len(frames) - EDGE_FRAMES
        if frame.seq not in found and len(frames) > MAX_FRAMES and not is_near_edge:
            skipped += 1
            continue
        if skipped:
            yield ExampleBlock(None, skipped=skipped)
            skipped = 0
        yield _block(frame, block, found.get(frame.seq, []))


def _block(frame: Frame, block: WireBlock, findings: list[ExampleFinding]) -> ExampleBlock:
    text, json_at = block.text.rstrip("\r\n").replace("\r\n", "\n"), 0
    if frame.kind is FrameKind.CALL:
        top, blank, _ = text.partition("\n\n")
        json_at = len(top) + len(blank)
    elif frame.kind in (FrameKind.EVENT, FrameKind.TAIL):
        lines = list(_DATA_LINE.finditer(text))
        json_at = lines[0].end() if len(lines) == 1 else 0
    located: list[tuple[Span, Note]] = []
    whole: list[Note] = []
    for finding in findings:
        span = span_of(text[json_at:], finding.pointer) if finding.pointer else None
        note = Note(finding.message, finding.pointer, bool(span and span.is_missing))
        if span is None:
            whole.append(note)
        else:
            located.append((span.moved(json_at), note))
    located.sort(key=lambda each: each[0])
    chunks: list[Chunk] = []
    at = 0
    if frame.kind is FrameKind.CALL and json_at:
        chunks.append(Chunk(False, [(text[:json_at].rstrip("\n"), False)]))
        at = json_at
    chunks += _chunks(text, at, located, is_json=frame.kind is not FrameKind.HEAD)
    return ExampleBlock(block, [chunk for chunk in chunks if chunk.pieces], whole)


def _chunks(
    text: str, at: int, located: list[tuple[Span, Note]], *, is_json: bool
) -> Iterator[Chunk]:
    """Yield the lines of a text from `at` on, divided after each line with a finding."""
    chunk = Chunk(is_json, [])
    for turn, (found, note) in enumerate(located):
        span = _shortened(text, found)
        if span.start >= at:
            chunk.pieces.append((text[at : span.start], False))
            # Line breaks and indents are not marked.
            parts = _INDENT.split(text[span.start : span.end])
            chunk.pieces += [(part, number % 2 == 0) for number, part in enumerate(parts)]
            at = span.end
        chunk.notes.append(note)
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        if turn + 1 == len(located) or located[turn + 1][0].start >= line_end:
            chunk.pieces.append((text[at:line_end], False))
            yield chunk
            chunk, at = Chunk(is_json, []), line_end + 1
    if at < len(text):
        yield Chunk(is_json, [(text[at:], False)])


def _shortened(text: str, span: Span) -> Span:
    """Return the first line of a span with many lines."""
    if text.count("\n", span.start, span.end) < MAX_MARKED_LINES:
        return span
    return span._replace(end=text.index("\n", span.start))


# Positions of JSON pointers in the text of a document


class Span(NamedTuple):
    """A part of a text, as offsets of its characters."""

    start: int
    end: int
    #: Whether the pointer leads to nothing: the span is the opening bracket of its container.
    is_missing: bool = False

    def moved(self, by: int) -> Span:
        return self._replace(start=self.start + by, end=self.end + by)


def span_of(text: str, pointer: str) -> Span | None:
    """Return the member or element that a pointer leads to; None if the text is not JSON.

    The part after a `#` is a pointer into the JSON of the string before it, unless the `#` is part
    of a name: see `Finding.pointer`.
    """
    try:
        top = _skip(text, 0)
        _end(text, top)
        found = _find(text, top, keys_of(pointer))
        outer, mark, inner = pointer.partition("#")
        if not (mark and found.is_missing):
            return found
        return _inside(text, _find(text, top, keys_of(outer), value_only=True), inner)
    except (ValueError, IndexError, StopIteration, RecursionError):
        return None


def _inside(text: str, span: Span, pointer: str) -> Span | None:
    """Return where a pointer leads in the JSON of the string at `span`."""
    if span.is_missing or text[span.start] != '"':
        return span
    raw = text[span.start + 1 : span.end - 1]
    offsets = [span.start + 1 + found.start() for found in _ESCAPE.finditer(raw)]
    offsets.append(span.end - 1)
    inner = span_of(json.loads(text[span.start : span.end], strict=False), pointer)
    if inner is None:
        return span
    return inner._replace(start=offsets[inner.start], end=offsets[inner.end])


def _find(text: str, at: int, keys: list[str], *, value_only: bool = False) -> Span:
    """Return where keys lead from the value at `at`; a member includes its name."""
    named = at
    for key in keys:
        # The last member of its name counts.
        found = [each[1:] for each in _children(text, at) if each[0] == key]
        if not found:
            return Span(at, at + 1, is_missing=True)
        named, at = found[-1]
    return Span(at if value_only else named, _end(text, at))


def _children(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the members or elements of the value at `at`: key, and where it and its value begin."""
    opening, index = text[at], 0
    at = _skip(text, at + 1)
    while opening in "{[" and text[at] not in "}]":
        named, key = at, str(index)
        if opening == "{":
            key, at = scanstring(text, at + 1, False)
            at = _skip(text, _skip(text, at) + 1)
        yield key, named, at
        index += 1
        at = _skip(text, _end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]
