"""Example requests on the demo page, from `examples.json`; a test sends every one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """A request to copy, and its response."""

    title: str
    #: Empty if the workbench cannot send it.
    request: Mapping[str, Any] = field(default_factory=dict)
    #: The expected response type of NLWeb.
    answer: str = "answer"
    #: What the response is like.
    happens: str = ""

    @property
    def text(self) -> str:
        """Return the request as JSON, with a line for each of its sections."""
        sections = (
            f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.request.items()
        )
        return "{\n" + ",\n".join(sections) + "\n}"

    @property
    def indented(self) -> str:
        """Return the request as JSON, with a line for each value."""
        return json.dumps(self.request, ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one topic."""

    title: str
    lead: str
    examples: Sequence[Example]


GROUPS: Sequence[Group] = tuple(
    Group(row["title"], row["lead"], tuple(Example(**each) for each in row["examples"]))
    for row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
)
