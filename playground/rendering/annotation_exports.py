"""Annotated exchange as one HTML file without scripts, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.template.loader import get_template

from playground.models import Run
from playground.protocols import registry
from playground.rendering.annotations import BlockView, FindingNote, MeaningView, annotated_page
from playground.rendering.conformance import ReportView, subject_of
from playground.rendering.run_status import status_label

#: Blocks and bytes of a file.
MAX_BLOCKS, MAX_BYTES = 2_000, 4 * 1024 * 1024
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")
_BACKTICKS = re.compile(r"`{3,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def as_html(run: Run, report: ReportView | None) -> str:
    """Return the HTML document. The template escapes everything in it."""
    blocks = _blocks(run, report)
    context = {
        "title": _title(run),
        "subject": _subject(run),
        "status": status_label(run),
        "started": _started(run),
        "blocks": blocks,
        "left_out": _left_out(run, blocks),
    }
    return get_template("runs/annotations/export.html").render(context)


def as_markdown(run: Run, report: ReportView | None) -> str:
    """Return the Markdown document: the bytes of each frame, and a table of their meanings."""
    blocks = _blocks(run, report)
    lines = [f"# {_escaped(_title(run))}", "", f"{_subject(run)}, {status_label(run)}", ""]
    for block in blocks:
        lines += _block_lines(block)
    if left_out := _left_out(run, blocks):
        lines += [f"{left_out:,} more frames are not in this file.", ""]
    return "\n".join(lines)


def _blocks(run: Run, report: ReportView | None) -> list[BlockView]:
    return annotated_page(run, report, limit=MAX_BLOCKS, max_bytes=MAX_BYTES)


def _left_out(run: Run, blocks: list[BlockView]) -> int:
    return run.frames - max((block.last for block in blocks), default=0)


def _title(run: Run) -> str:
    return run.text or "JSON request"


def _subject(run: Run) -> str:
    spec = registry.PROTOCOLS.get(run.protocol)
    subject = subject_of(run.protocol, run.binding, run.version)
    return subject if spec else f"Action over {run.binding.upper()}"


def _started(run: Run) -> str:
    return f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC" if run.started_at else ""


def _block_lines(block: BlockView) -> Iterator[str]:
    yield f"## Frame {block.seq}: {_escaped(block.label)}"
    yield ""
    yield f"At {block.at}" + (f", {block.size}" if block.size else "")
    yield ""
    if block.piece_of:
        yield f"Piece of the body in frame {block.piece_of}."
        yield ""
        return
    if block.explanation and block.kind != "event":
        yield _escaped(block.explanation.text)
        yield ""
    if block.facts:
        yield _escaped(block.facts)
        yield ""
    if block.text:
        fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(block.text))])
        # Control characters would be commands to a terminal.
        text = block.text.rstrip("\r\n").replace("\r\n", "\n")
        yield fence
        yield _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
        yield fence
        yield ""
    for finding in block.findings:
        yield f"- {_finding_text(finding)}"
        yield ""
    if block.is_closed:
        yield "Like an earlier event."
        yield ""
    if block.meanings:
        yield "| name | meaning | section |"
        yield "| --- | --- | --- |"
        yield from map(_row, block.meanings)
        yield ""
    if block.more:
        yield f"{block.more:,} more names are not shown."
        yield ""


def _row(meaning: MeaningView) -> str:
    indent = "&nbsp;&nbsp;" * meaning.indent
    texts = [meaning.text, meaning.meaning, meaning.note, meaning.otherwise]
    texts += [_plain(finding) for finding in meaning.findings]
    name = f"{indent}{_escaped(meaning.name)} ({meaning.label})"
    return f"| {name} | {_escaped(' '.join(filter(None, texts)))} | {_escaped(meaning.section)} |"


def _finding_text(finding: FindingNote) -> str:
    return _escaped(_plain(finding))


def _plain(finding: FindingNote) -> str:
    label = f"{finding.verdict_label} ({finding.level_label.lower()})"
    return f"{label}: {finding.message} [{finding.rule}]"


def _escaped(text: str) -> str:
    """Return a text on one line, without Markdown or HTML in it."""
    return _SPECIAL.sub(r"\\\1", _CONTROL.sub(" ", " ".join(text.split())))
