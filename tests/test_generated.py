"""The files that Git ignores are what the tests' tables say, whatever process generates them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground import generated
from tests.generated import SOURCES, is_outdated, write
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


def test_a_file_is_written_whole_and_nothing_is_left(tmp_path: Path) -> None:
    """Another run may write it at the same time: a file that it left is not touched."""
    target, other = tmp_path / "a.json", tmp_path / "a.new"
    for path in (target, other):
        path.write_text("before")
    write(target, "{}")
    assert (target.read_text(), other.read_text()) == ("{}", "before")
    assert {*tmp_path.iterdir()} == {target, other}


def test_what_is_older_than_a_table_or_a_rule_is_generated_again(tmp_path: Path) -> None:
    module, file = tmp_path / "rules/table.py", tmp_path / "a.json"
    module.parent.mkdir()
    module.touch()
    assert is_outdated([file], [module.parent]), "It is missing."
    file.touch()
    for changed_at, expected in ((1, False), (3, True)):
        os.utime(module, (changed_at, changed_at))
        os.utime(file, (2, 2))
        assert is_outdated([file], [module.parent]) is expected
    assert all((ROOT / folder).is_dir() for folder in SOURCES)


@pytest.mark.parametrize("missing", generated.FILES, ids=lambda path: path.name)
def test_a_missing_file_is_an_empty_object(tmp_path: Path, missing: Path) -> None:
    assert generated.read(missing)
    assert generated.read(tmp_path / missing.name) == {}
