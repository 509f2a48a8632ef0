"""The small records: calls, frames, problems; and what the package may import."""

from __future__ import annotations

import ast
import struct
import sys
from pathlib import Path

import pytest

import playground.protocols
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind, pack, unpack
from playground.protocols.problems import Problem, Stage

PACKAGE = Path(playground.protocols.__file__).parent


class TestCall:
    @pytest.mark.parametrize(
        "url", ["https://a.example.com:8443/x?y", "https://a.example.com:8443"]
    )
    def test_origin(self, url: str) -> None:
        assert HttpCall("POST", url).origin == "https://a.example.com:8443"


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
        with pytest.raises(ValueError, match="cut short"):
            list(unpack(blob[:-1], 1))


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


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_imports_the_standard_library_only(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module or "")
    foreign = {
        name
        for name in imported
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != "playground"
        and not name.startswith("playground.protocols")
    }
    assert foreign == set()
