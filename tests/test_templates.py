"""What holds for every template, whatever it is rendered with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from tests.strings import ROOT

TEMPLATES = ROOT / "templates"
#: The length of a line of a template, in characters.
MAX_LINE = 120
#: A start tag; `>` may stand in a tag or variable of Django's.
_START_TAG = re.compile(r"<([a-z][a-z-]*)\b((?:[^>{]|{(?![{%])|{{.*?}}|{%.*?%})*)>", re.S)
#: With custom elements, those whose role prohibits a name: `generic`, or one of text.
_GENERIC = set(
    "b bdi bdo caption code dd del div dt em figcaption i ins kbd label legend mark p pre q samp"
    " small span strong sub sup".split()
)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.stem)
def test_named_elements_have_a_role(path: Path) -> None:
    """ARIA 1.2, "Roles which cannot be named": a screen reader may leave such a name out."""
    unnamed = [
        tag
        for tag, attributes in _START_TAG.findall(path.read_text())
        if (tag in _GENERIC or "-" in tag)
        and re.search(r"\baria-label(?:ledby)?=", attributes)
        and not re.search(r"\brole=", attributes)
    ]
    assert unnamed == []


@pytest.mark.parametrize(
    "path",
    sorted(path for ending in ("html", "svg") for path in TEMPLATES.rglob(f"*.{ending}")),
    ids=lambda path: str(path.relative_to(TEMPLATES)),
)
def test_lines_are_short(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert [
        f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(lines, 1) if len(line) > MAX_LINE
    ] == []


#: Elements of which a style sheet asks whether they are empty, by id or class, and a page that has
#: them so: white space would give them a size.
EMPTY = {
    "msg-rest": "conversation/messages.html#remaining_text",
    "action-panel-controls": "conversation/actions.html#controls",
    "action-panel-credentials": "conversation/actions.html#credentials",
}


@pytest.mark.parametrize(("name", "template"), EMPTY.items(), ids=EMPTY)
def test_what_is_empty_has_no_white_space(name: str, template: str) -> None:
    html = render_to_string(template, {"anchor": "a"})
    assert re.search(rf'class="{name}"[^>]*></', html), html
