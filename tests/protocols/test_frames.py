"""Frames and problems, and their binary form."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind, pack, unpack
from playground.protocols.problems import Problem, Stage


class TestFrame:
    def test_milliseconds(self) -> None:
        assert Frame(1, 1500, FrameKind.END).at_ms == 1.5

    def test_the_stored_numbers_never_change(self) -> None:
        names = "CALL OPEN HEAD EVENT COMMENT BODY TAIL END ERROR".split()
        assert [(kind.name, kind.value) for kind in FrameKind] == [
            (name, number) for number, name in enumerate(names, 1)
        ]

    def test_a_blob_from_elsewhere(self) -> None:
        blob = pack([Frame(1, 0, FrameKind.BODY, b"abc")])
        with pytest.raises(struct.error):
            list(unpack(b"abc", 1))
        with pytest.raises(KeyError):
            list(unpack(b"\0" + blob[1:], 1))
        with pytest.raises(ValueError, match="truncated"):
            list(unpack(blob[:-1], 1))


@given(
    st.lists(st.tuples(st.sampled_from(FrameKind), st.integers(0, 2**63), st.binary())),
    st.integers(1, 10**6),
)
def test_frames_survive_packing(frames: list[tuple[FrameKind, int, bytes]], first: int) -> None:
    numbered = [Frame(seq, at, kind, data) for seq, (kind, at, data) in enumerate(frames, first)]
    assert list(unpack(pack(numbered), first)) == numbered


class TestProblem:
    def test_survives_the_wire(self) -> None:
        problem = Problem("failed", Stage.TLS, "Caüse.", "Fix.", "detail", "max_line")
        assert Problem.from_bytes(problem.to_bytes()) == problem
        assert Problem.from_json(problem.to_json()) == problem

    def test_from_elsewhere(self) -> None:
        with pytest.raises(KeyError):
            Problem.from_json({"state": "failed"})
        with pytest.raises(ValueError, match="not a valid Stage"):
            Problem.from_json({"state": "x", "stage": "nap", "cause": "", "fix": ""})
