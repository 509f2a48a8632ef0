"""The files that Git ignores are what the tests' tables say, whatever process generates them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground import generated
from tests.support.playground_server import ROOT

WITHOUT_PYTEST = """
import sys
sys.modules |= dict.fromkeys(("pytest", "hypothesis"))
from tests.generated import generate
from pathlib import Path
generate(Path(sys.argv[1]))
"""


@pytest.mark.process
@pytest.mark.slow
def test_another_process_generates_the_same_bytes(tmp_path: Path) -> None:
    """With another order of sets, and the packages that a build has."""
    subprocess.run(
        [sys.executable, "-c", WITHOUT_PYTEST, tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "37"},
        check=True,
    )
    again = {path.name: (tmp_path / path.name).read_bytes() for path in generated.FILES}
    for path in generated.FILES:
        assert path.read_bytes() == again[path.name], "Run `make examples`."


@pytest.mark.parametrize("missing", generated.FILES, ids=lambda path: path.name)
def test_a_missing_file_is_an_empty_object(tmp_path: Path, missing: Path) -> None:
    assert generated.read(missing)
    assert generated.read(tmp_path / missing.name) == {}
