"""Annotated exchange: the frames of a run with the meaning of every part, beside the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.base.fields import int_param
from playground.conformance import Finding
from playground.conversation.entries import row_of
from playground.models import Run
from playground.protocols.annotations import (
    AnnotatedBlock,
    Annotation,
    AnnotationKind,
    Annotator,
)
from playground.protocols.events import Event, Placement, PlacementAssigner
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.text import shorten
from playground.stored_runs import read_events
from playground.ui.formatting import blocks_of
from playground.ui.helpers import get_run
from playground.verdicts.conformance import ReportView, RuleReport, report_on, source_of

#: Blocks and bytes on one page.
BLOCKS, PAGE_BYTES = 50, 512 * 1024
#: Meanings of a block that a page shows at first, and all that it can show.
MEANINGS, ALL_MEANINGS = 250, 5_000
#: Characters of a name.
MAX_NAME = 80
#: Levels that are indented.
MAX_INDENT = 7
#: Findings at one place.
MAX_FINDINGS = 10
#: Labels of the kinds of parts that are not simply their name.
_LABELS: Mapping[AnnotationKind, str] = {
    AnnotationKind.TARGET: "path",
    AnnotationKind.HTTP_VERSION: "version",
    AnnotationKind.FIELD: "SSE field",
    AnnotationKind.DOCUMENT: "JSON",
    AnnotationKind.PROBLEM: "JSON",
}
_JSON = frozenset({AnnotationKind.DOCUMENT, AnnotationKind.MEMBER, AnnotationKind.ELEMENT})


class FindingNote(NamedTuple):
    """A finding beside the part that it reports, and its rule."""

    rule: RuleReport
    finding: Finding


def _after(frames: Iterator[Frame], offset: int, annotator: Annotator) -> Iterator[Frame]:
    for frame in frames:
        if frame.seq > offset:
            yield frame
        else:
            annotator.skip(frame)


@dataclass(frozen=True, slots=True)
class _Reading:
    frame: Frame
    events: Sequence[Event]
    is_entry: bool


def _readings(run: Run, offset: int, last: int) -> dict[int, _Reading]:
    """Return the frames of a page with their events, and the frame after them."""
    found: dict[int, _Reading] = {}
    assigner = PlacementAssigner()
    for frame, events in read_events(run, offset):
        shown = (Placement.ENTRY, Placement.PINNED)
        is_entry = any(assigner.assign(event) in shown for event in events)
        found[frame.seq] = _Reading(frame, events, is_entry)
        if frame.seq > last:
            break
    return found


def findings_by_frame(report: ReportView | None) -> dict[int | None, list[FindingNote]]:
    """Return the failed and inconclusive rules of a report by the frame with the bytes."""
    found: dict[int | None, list[FindingNote]] = {}
    for level in report.levels if report else ():
        for rule in level.rules:
            for finding in rule.problems:
                found.setdefault(finding.seq, []).append(FindingNote(rule, finding))
    return found


def _block(
    block: AnnotatedBlock,
    reading: _Reading | None,
    findings: Iterable[FindingNote],
    *,
    most: int,
    is_open: bool,
    is_entry: bool,
) -> dict[str, Any]:
    row = row_of(reading.frame, reading.events) if reading else None
    facts = ""
    if reading and block.kind in (FrameKind.OPEN, FrameKind.ERROR):
        facts = blocks_of([reading.frame])[0].text
    here, beside = _located(block, findings)
    is_closed = block.is_repeated and not is_open and not here and not beside
    shown = [] if is_closed else block.annotations[:most]
    return {
        "block": block,
        # Kind of its first event, or of the frame; and what it is, in one line.
        "kind": row.kind if row else block.kind.name.lower(),
        "summary": row.text if row else "",
        # Facts about a frame that is no bytes of HTTP.
        "facts": facts,
        # Each part of the text with the number of the innermost meaning, 0 for none.
        "parts": [] if is_closed else list(_parts(block.text, shown)),
        "meanings": [
            _meaning(number, block, shown, beside.get(number, []))
            for number in range(1, len(shown) + 1)
        ],
        # The meanings that are not shown.
        "more": len(block.annotations) - len(shown),
        # Whether only its line is shown, because an earlier event is of the same kind.
        "is_closed": is_closed,
        "is_entry": is_entry,
        "findings": here[:MAX_FINDINGS],
    }


def _located(
    block: AnnotatedBlock, findings: Iterable[FindingNote]
) -> tuple[list[FindingNote], dict[int, list[FindingNote]]]:
    """Return the findings of a block as a whole, and the others by the number of the meaning."""
    numbers: dict[str, int] = {}
    for number, annotation in enumerate(block.annotations, 1):
        if annotation.kind in _JSON:
            numbers.setdefault(annotation.pointer, number)
    here: list[FindingNote] = []
    beside: dict[int, list[FindingNote]] = {}
    for note in findings:
        pointer = note.finding.pointer
        while pointer and pointer not in numbers:  # The innermost one around it.
            pointer = pointer.rpartition("/")[0]
        if pointer not in numbers:
            here.append(note)
        elif len(found := beside.setdefault(numbers[pointer], [])) < MAX_FINDINGS:
            found.append(note)
    return here, beside


def _meaning(
    number: int,
    block: AnnotatedBlock,
    shown: Sequence[Annotation],
    findings: list[FindingNote],
) -> dict[str, Any]:
    """Return meaning `number` of a block, from 1; `last` is that of the last one within it."""
    annotation, last = shown[number - 1], number
    while last < len(shown) and shown[last].depth > annotation.depth:
        last += 1
    excerpt = " ".join(block.text[annotation.start : annotation.end][:200].split())
    found = annotation.explanation
    return {
        "annotation": annotation,
        "number": number,
        "last": last,
        "label": _LABELS.get(annotation.kind, annotation.kind.value),
        "kind": annotation.kind.value.replace(" ", "-"),
        "name": shorten(annotation.name, MAX_NAME),
        "indent": min(annotation.depth, MAX_INDENT),
        "section": source_of(found.section) if found and found.section else "",
        "excerpt": shorten(excerpt, 60),
        "findings": findings,
    }


def _parts(text: str, annotations: Sequence[Annotation]) -> Iterator[tuple[str, int]]:
    """Yield a text divided at the edges of annotations, each part with the innermost of them."""
    at = 0
    around: list[tuple[int, int]] = []  # number, end

    def up_to(end: int) -> Iterator[tuple[str, int]]:
        nonlocal at
        if end > at:
            number = around[-1][0] if around else 0
            yield text[at:end], number
            at = end

    for number, annotation in enumerate(annotations, 1):
        while around and around[-1][1] <= annotation.start:
            yield from up_to(around[-1][1])
            around.pop()
        yield from up_to(annotation.start)
        around.append((number, annotation.end))
    while around:
        yield from up_to(around[-1][1])
        around.pop()
    yield from up_to(len(text))


@require_safe
def blocks(request: HttpRequest, pk: str) -> HttpResponse:
    """Show blocks after frame `?offset=`, `?count=` of them at most, up to `PAGE_BYTES`.

    `?open=1` shows the meanings of events like earlier ones, `?all=1` all meanings of a block.
    """
    run = get_run(request, pk)
    offset = int_param(request.GET, "offset", 0)
    is_open, shows_all = "open" in request.GET, "all" in request.GET
    found = _read_blocks(run, offset, int_param(request.GET, "count", 0) or BLOCKS)
    readings = _readings(run, offset, max(block.last for block in found)) if found else {}
    findings = findings_by_frame(report_on(run))
    views = [
        _block(
            block,
            readings.get(block.seq),
            findings.get(block.seq, ()),
            most=ALL_MEANINGS if shows_all else MEANINGS,
            is_open=is_open,
            is_entry=any(
                seq in readings and readings[seq].is_entry
                for seq in (block.seq, block.last + 1 if block.kind is FrameKind.BODY else 0)
            ),
        )
        for block in found
    ]
    context = {"run": run, "blocks": views, "single": is_open, "shows_all": shows_all}
    return render(request, "wire/annotations.html", context)


def _read_blocks(run: Run, offset: int, limit: int) -> list[AnnotatedBlock]:
    """Return at most `limit` blocks; the last one is that which exceeds `PAGE_BYTES`."""
    annotator = Annotator(run.protocol, run.binding, run.version)
    found: list[AnnotatedBlock] = []
    total = 0
    for block in annotator.blocks(_after(run.read_frames(), offset, annotator)):
        found.append(block)
        total += len(block.text)
        if len(found) >= min(limit, BLOCKS) or total > PAGE_BYTES:
            break
    if found and not run.is_final and found[-1].last >= run.frames:
        # More of it may follow.
        found[-1].annotations = [
            each for each in found[-1].annotations if each.kind is not AnnotationKind.PROBLEM
        ]
    return found
