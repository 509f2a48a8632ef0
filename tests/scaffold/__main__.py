"""Writes the places of a new protocol or event: `python -m tests.scaffold protocol chat`.

What it writes works and passes `make check` and `make quick`; its values are examples to replace.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

from tests.scaffold.places import event, protocol

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("write it in lower case with underscores: chat_events")
    return text


def main(arguments: list[str] | None = None) -> None:
    """Write the places and print each of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.scaffold", description=__doc__)
    parser.add_argument("kind", choices=["event", "protocol"])
    parser.add_argument("name", type=_name, help="its name in Python, such as chat_events")
    parser.add_argument("--label", help="its name on pages; without it, made from the name")
    options = parser.parse_args(arguments)
    label = options.label or options.name.replace("_", " ").capitalize()
    make = {"event": event, "protocol": protocol}[options.kind]
    try:
        written = dict.fromkeys(place.write() for place in make(options.name, label))
    except ValueError as error:
        parser.error(str(error))
    python = [str(path) for path in written if path.suffix == ".py"]
    # A long label makes lines that only the formatter divides.
    _run("-m", "ruff", "format", "--quiet", *python)
    _run("-m", "ruff", "check", "--fix", "--quiet", *python)
    _run("-m", "ruff", "format", "--quiet", *python)
    for path in written:
        print(path, flush=True)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True)


if __name__ == "__main__":
    main()
