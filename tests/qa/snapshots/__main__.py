"""Fill a database, take snapshots of all pages, and compare those of two versions.

    python -m tests.qa.snapshots fill DATA
    python -m tests.qa.snapshots take DATA BEFORE --tree ../before
    python -m tests.qa.snapshots take DATA AFTER
    python -m tests.qa.snapshots compare BEFORE AFTER --renamed names.txt

`fill` sends every shipped request to the demo agent and keeps what is stored. `take` serves a copy
of it and writes each page, fragment and websocket message as lines (`tests.qa.snapshots.tokens`).
`compare` prints a diff of the lines, and fails if there is one; each line of `--renamed` is a
regular expression and its replacement in what was before, separated by " => ".
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.qa.snapshots import site
from tests.qa.snapshots.tokens import ids_in, lines_of, stable, without_other_ids
from tests.support.playground_server import ROOT, PlaygroundServer


def fill(data: Path) -> None:
    """Send the shipped requests to the demo agent of a new playground in `data`."""
    with PlaygroundServer(data) as server:
        site.send_all(server.url)


def take(data: Path, into: Path, tree: Path) -> None:
    """Write what a playground of the tree shows of a copy of `data`."""
    into.mkdir(parents=True)
    stored = ids_in((data / "playground.sqlite3").read_text("latin-1"))
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(data, copy, dirs_exist_ok=True)
        if (tree / "tests/generated.py").exists():
            generate = [sys.executable, "-m", "tests.generated"]
            subprocess.run(generate, cwd=tree, check=True)
        with PlaygroundServer(Path(copy), tree=tree) as server:
            for page in site.read_all(server.url):
                lines = lines_of(page.text) if page.is_html else stable(page.text).splitlines()
                heading = f"{page.status} {stable(page.address)}"
                path = into / f"{page.file_name}.txt"
                text = without_other_ids("\n".join([heading, *lines]), stored)
                path.write_text(text + "\n")
    print(f"{len(list(into.iterdir()))} pages in {into}")


def compare(before: Path, after: Path, renamed: Path | None) -> int:
    """Print how the snapshots differ; return the number of pages that do."""
    rules = [line.split(" => ") for line in renamed.read_text().splitlines()] if renamed else []
    names = {path.name for directory in (before, after) for path in directory.iterdir()}
    different = 0
    for name in sorted(names):
        one, other = (_read(directory / name) for directory in (before, after))
        for pattern, replacement in rules:
            one = re.sub(pattern, replacement, one, flags=re.MULTILINE)
        if one == other:
            continue
        different += 1
        parts = (one.splitlines(), other.splitlines())
        print("\n".join(difflib.unified_diff(*parts, name, name, n=1, lineterm="")))
    print(f"{different} of {len(names)} pages differ", file=sys.stderr)
    return different


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def main() -> int:
    """Run a command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.snapshots")
    commands = parser.add_subparsers(dest="command", required=True)
    filling = commands.add_parser("fill")
    filling.add_argument("data", type=Path)
    taking = commands.add_parser("take")
    taking.add_argument("data", type=Path)
    taking.add_argument("into", type=Path)
    taking.add_argument("--tree", type=Path, default=ROOT)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--renamed", type=Path)
    options = parser.parse_args()
    if options.command == "fill":
        fill(options.data)
    elif options.command == "take":
        take(options.data, options.into, options.tree.resolve())
    else:
        return bool(compare(options.before, options.after, options.renamed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
