"""The colours of tokens.css have enough contrast in both themes (WCAG 1.4.3, 1.4.11)."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

STYLES = Path(__file__).resolve().parent.parent / "static"
THEMES = ("light", "dark")
_COLOUR = re.compile(r"--([\w-]+): (?:light-dark\((#\w+), (#\w+)\)|(#\w+));")

#: What text stands on.
SURFACES = ("canvas", "surface", "raised", "hover")
#: Text that stands on each surface, and on `sunken`: code, tables and tabs.
INKS = (
    "ink", "ink-soft", "accent-ink", "green", "teal", "blue", "pink", "amber", "red", "brown",
    "grey", "code-key", "code-string", "code-number", "code-word",
)  # fmt: skip
KINDS = ("green", "teal", "blue", "pink", "amber", "red", "grey")
TEXT = {
    *product(INKS, (*SURFACES, "sunken")),
    *product(("ink-faint",), ("canvas", "surface", "raised")),
    *((kind, f"{kind}-wash") for kind in KINDS),
    *product(("ink", "ink-soft"), (*(f"{kind}-wash" for kind in KINDS), "accent-wash")),
    ("accent-ink", "accent-wash"),
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("ink", "selection"),
    ("ink", "selection-match"),
}
#: Borders of fields, the ring around what has the focus, and what is filled to show a state.
PARTS = {*product(("line-strong", "focus", "accent"), ("canvas", "surface", "raised"))}
#: Lines between things that are apart without them, and what lies behind a dialog.
ORNAMENTS = {"line", "line-soft", "line-active", "scrim"}


def colours() -> dict[str, tuple[str, str]]:
    """The light and the dark value of each colour."""
    text = (STYLES / "site/tokens.css").read_text("utf-8")
    return {name: (one or light, one or dark) for name, light, dark, one in _COLOUR.findall(text)}


def luminance(colour: str) -> float:
    """The relative luminance of "#rgb" or "#rrggbb", as WCAG defines it."""
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    assert len(digits) == 6, f"{colour} is not opaque"
    shares = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000", "#ffffff", 21), ("#777777", "#fff", 4.48), ("#fff",) * 2 + (1,)],
)
def test_contrast(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (PARTS, 3)], ids=["text", "parts"])
def test_contrast_is_enough(pairs: set[tuple[str, str]], least: float, theme: str) -> None:
    values = {name: both[THEMES.index(theme)] for name, both in colours().items()}
    ratios = {pair: contrast(values[pair[0]], values[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < least} == {}


def test_every_colour_is_checked() -> None:
    checked = {name for pair in TEXT | PARTS for name in pair}
    assert set(colours()) - checked == ORNAMENTS


def test_colours_of_one_rule_are_checked_together() -> None:
    """What is disabled may have less contrast."""
    found = set()
    for file in STYLES.glob("[!b]*/*.css"):
        rules = re.findall(r"([^{};]*)\{([^{}]*)", file.read_text("utf-8"))
        for _selector, declarations in [each for each in rules if ":disabled" not in each[0]]:
            ink = re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", declarations)
            ground = re.findall(r"(?<![\w-])background(?:-color)?: var\(--([\w-]+)\)", declarations)
            found |= set(product(ink, ground))
    known = set(colours())
    assert {pair for pair in found if set(pair) <= known} <= TEXT
    assert len(found) > 10
