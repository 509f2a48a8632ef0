"""Problems as JSON and as bytes of a frame."""

from __future__ import annotations

import pytest

from playground.protocols.problems import Problem, Stage


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
