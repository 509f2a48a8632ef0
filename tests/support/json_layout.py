"""The layout of the JSON files under `playground/`; `make format` writes it.

What fits on a line of 120 characters is one line. A longer object or array has one member a line,
indented by two spaces. A string is never divided, so a long sentence is a long line of its own.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

PLAYGROUND = Path(__file__).parents[2] / "playground"

_WIDTH = 120


def laid_out(value: Any) -> str:
    """The text of a file that holds this value."""
    return _text(value, indent=0, start=0) + "\n"


def _text(value: Any, indent: int, start: int) -> str:
    """A value that begins in column `start`, in a line that is indented by `indent`."""
    line = _line(value)
    # One more for the comma.
    if not isinstance(value, dict | list) or not value or start + len(line) < _WIDTH:
        return line
    inner = indent + 2
    if isinstance(value, list):
        members = [_text(item, inner, inner) for item in value]
    else:
        names = {name: f"{_line(name)}: " for name in value}
        members = [
            names[name] + _text(item, inner, inner + len(names[name]))
            for name, item in value.items()
        ]
    begin, end = "[]" if isinstance(value, list) else "{}"
    space = " " * inner
    return f"{begin}\n{space}" + f",\n{space}".join(members) + f"\n{' ' * indent}{end}"


def _line(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False)
    # Halves of surrogate pairs, in a pattern, have no UTF-8.
    return json.dumps(value) if re.search("[\ud800-\udfff]", line) else line


def files() -> list[Path]:
    return sorted(PLAYGROUND.rglob("*.json"))


def main() -> None:
    for path in files():
        text = path.read_text("utf-8")
        if (written := laid_out(json.loads(text))) != text:
            path.write_text(written, "utf-8")
            sys.stdout.write(f"{path.relative_to(PLAYGROUND.parent)}\n")


if __name__ == "__main__":
    main()
