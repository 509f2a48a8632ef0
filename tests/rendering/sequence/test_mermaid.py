"""Diagrams as Mermaid text: those of conversations with the demo, and hostile texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rendering.sequence.conversation import conversation_diagram
from playground.rendering.sequence.diagram import (
    Diagram,
    DiagramTurn,
    Lane,
    LaneKind,
    Message,
    Note,
)
from playground.rendering.sequence.labels import one_line
from playground.rendering.sequence.mermaid import MAX_TEXT, escape, mermaid_text
from tests.demo.conftest import Clock
from tests.rendering.sequence.conversations import CONVERSATIONS

#: The expected texts. To write them anew, delete them and run this test twice.
EXPECTED = Path(__file__).parent / "expected"

#: What a text consists of, by the lexer of Mermaid 11: no line breaks, and these only as codes.
TEXT = r"(?:[^#;%<>&$ﬂ¶\r\n]|#\d+;)+"
KEY = r"(?:user|playground|server\d+)"
LINE = re.compile(
    rf"sequenceDiagram"
    rf"|    (?:actor|participant) {KEY} as {TEXT}(?:<br/>{TEXT})?"
    rf"|    rect rgba\(128, 128, 160, 0\.12\)"
    rf"|    end"
    rf"|    Note over {KEY},{KEY}: {TEXT}"
    rf"|    {KEY}(?:->>|-->>|-x|--x){KEY}: {TEXT}"
)


def check(text: str) -> list[str]:
    """Check a text by the grammar of its lines, and that blocks are closed; return the lines."""
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert lines[0] == "sequenceDiagram"
    for line in lines:
        assert LINE.fullmatch(line), line
    blocks = [line.split()[0] for line in lines if line.split()[0] in ("rect", "end")]
    assert blocks == ["rect", "end"] * (len(blocks) // 2)
    return lines


# The texts have keys of rows.
@pytest.mark.django_db(transaction=True, reset_sequences=True)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversations_with_the_demo(name: str, clock: Clock) -> None:
    text = mermaid_text(conversation_diagram(CONVERSATIONS[name](clock)))
    check(text)
    path = EXPECTED / f"{name}.mmd"
    if not path.exists():
        path.write_text(text)
        pytest.fail(f"{path.name} did not exist and was written.")
    assert text == path.read_text()


def unescape(text: str) -> str:
    """Return what Mermaid shows of an escaped text."""
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain: text, 5 min", "plain: text, 5 min"),
        ("a;b #1", "a#59;b #35;1"),
        ("%%{init: {}}%%", "#37;#37;{init: {}}#37;#37;"),
        ("<br/>&amp;", "#60;br/#62;#38;amp#59;"),
        ("$$x$$", "#36;#36;x#36;#36;"),
        ("wrap: x", "wrap#58; x"),
        (":NoWrap:x", ":NoWrap#58;x"),
        ("", "#160;"),
        ("end", "end"),
    ],
)
def test_escape(text: str, escaped: str) -> None:
    assert escape(text) == escaped


_PIECES = [*"ab ;#%<>{}[]()\"'`$:,@|\\/-+ﬂ°¶ß\n\t", "end", "wrap:", "%%", "->>", "Note over"]
_texts = st.text(st.characters(), max_size=300) | st.lists(st.sampled_from(_PIECES)).map("".join)


@given(_texts, _texts)
def test_no_text_leaves_its_place(text: str, other: str) -> None:
    line, more = one_line(text, 200), one_line(other, 200)
    lanes = [Lane("user", LaneKind.USER, line), Lane("server1", LaneKind.AGENT, more or "x", line)]
    items: list[Any] = [
        Message("user", "server1", line, more, at_us=5),
        Message("server1", "user", more, is_response=True, is_lost=True),
        Note(line),
    ]
    turn = DiagramTurn(1, more, "", True, items)
    lines = check(mermaid_text(Diagram(lanes, [turn], 1)))
    assert len(lines) == 1 + 2 + 1 + 1 + 3 + 1
    note = lines[-2].partition(": ")[2]
    cut = line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"
    assert unescape(note) == (cut or "\u00a0")
