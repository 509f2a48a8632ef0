"""Counts files and lines, or what of the code a request enters.

    python -m tests.qa.size lines [--tree CHECKOUT]
    python -m tests.qa.size trip [--tree CHECKOUT]

`lines` counts the files that Git knows. `trip` sends a request to the demo agent, follows it on a
websocket to its last card, and counts the modules and functions of the playground that were
entered meanwhile, and the classes of which objects were made; the demo agent is left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.qa.size import lines, trip
from tests.support.playground_server import ROOT


def main() -> int:
    """Run a command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.size")
    parser.add_argument("what", choices=["lines", "trip"])
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("-v", "--verbose", action="store_true", help="name what is counted")
    options = parser.parse_args()
    count = {"lines": lines.count, "trip": trip.count}[options.what]
    print("\n".join(count(options.tree.resolve(), verbose=options.verbose)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
