"""Drawings of diagrams: rows below each other, labels inside, and colours of the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rendering.sequence.diagram import (
    Diagram,
    DiagramTurn,
    Item,
    Lane,
    LaneKind,
    Message,
    Note,
)
from playground.rendering.sequence.drawing import (
    COLOURS,
    COMPACT,
    LABEL_SIZE,
    WIDE,
    Columns,
    MessageRow,
    drawing_of,
)
from playground.rendering.sequence.labels import width_of

STYLES = Path(__file__).parents[3] / "static" / "css"
LANES = [
    Lane("user", LaneKind.USER, "User"),
    Lane("playground", LaneKind.PLAYGROUND, "Playground"),
    Lane("server1", LaneKind.AGENT, "Agent", "NLWeb 0.55 over HTTP"),
    Lane("server2", LaneKind.SERVER, "shop.example", "MCP server"),
]


@st.composite
def items(draw: st.DrawFn) -> Item:
    text = draw(st.text(max_size=60))
    if draw(st.booleans()):
        return Note(text)
    other = draw(st.sampled_from(["user", "server1", "server2"]))
    sender, receiver = draw(st.permutations([other, "playground"]))
    lost, detail = draw(st.booleans()), draw(st.sampled_from(["", text]))
    return Message(sender, receiver, text, detail, is_lost=lost, is_response=sender == other)


@given(st.lists(st.lists(items(), max_size=8), max_size=4), st.sampled_from([WIDE, COMPACT]))
def test_nothing_overlaps_or_is_outside(found: list[list[Item]], columns: Columns) -> None:
    turns = [DiagramTurn(n, "text", "", False, each) for n, each in enumerate(found, 1)]
    drawing = drawing_of(Diagram(LANES, turns, len(turns)), columns)
    y = 0
    for group in drawing.groups:
        assert group.y >= y
        inside = group.y
        for row in group.rows:
            assert row.y > inside
            inside = row.y
            if isinstance(row, MessageRow):
                assert 0 <= row.left < row.left + row.width <= drawing.width
                assert row.height >= 24
                half = width_of(row.label, LABEL_SIZE) / 2
                assert -1 <= row.middle - half <= row.middle + half <= drawing.width + 1
        y = group.y + group.height
        assert y <= drawing.height
    assert len({head.x for head in drawing.heads}) == len(LANES)


def test_three_lanes_fit_a_phone() -> None:
    assert drawing_of(Diagram(LANES[:3], [], 0), COMPACT).width <= 358


@pytest.mark.parametrize("is_lost", [False, True])
def test_arrowheads_point_to_the_receiver(is_lost: bool) -> None:
    both: list[Item] = [
        Message("user", "playground", "a", is_lost=is_lost),
        Message("playground", "user", "b", is_lost=is_lost),
    ]
    drawing = drawing_of(Diagram(LANES[:2], [DiagramTurn(1, "", "", True, both)], 1))
    user, playground = (head.x for head in drawing.heads)
    for row, (start, end) in zip(
        drawing.groups[0].rows, [(user, playground), (playground, user)], strict=True
    ):
        assert isinstance(row, MessageRow)
        assert (row.start, row.end) == (start, end)
        xs = [int(x) for x in re.findall(r"[ML](\d+)", row.head)]
        assert all(abs(x - end) < abs(x - start) for x in xs)


def test_colours_of_a_file_are_those_of_the_site() -> None:
    kinds = (STYLES / "kinds.css").read_text()
    tokens = dict(
        re.findall(r"--([\w-]+): light-dark\((#\w+)", (STYLES / "tokens.css").read_text())
    )
    for kind, colour in COLOURS.items():
        rule = re.search(rf'\[data-kind="{kind}"\][^{{]*{{\s*--kind: var\(--([\w-]+)\)', kinds)
        assert rule, kind
        assert tokens[rule[1]] == colour, kind
