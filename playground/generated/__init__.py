"""Data from the tables of the tests: `make examples` and the build of the package write them.

Git ignores the files. Where one is missing, pages show no examples, and `manage.py check` says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
#: A conforming and a violating response of each rule.
RULE_EXAMPLES = _FOLDER / "rule_examples.json"
#: The names of the protocols that the findings of each rule are about.
RULE_LOCATIONS = _FOLDER / "rule_locations.json"
#: Requests to the demo agent, and what their responses have.
REFERENCE_RESPONSES = _FOLDER / "reference_responses.json"
FILES = (RULE_EXAMPLES, RULE_LOCATIONS, REFERENCE_RESPONSES)


def read(path: Path) -> Any:
    """Return the value in one of the files; an empty object if it is missing."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def missing() -> list[str]:
    """Return the names of the files that are missing."""
    return [path.name for path in FILES if not path.exists()]
