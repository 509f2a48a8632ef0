"""What axe finds wrong with a page: WCAG 2.2 AA, as far as it can tell, and its best practices."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: Of what it does not find fault with, axe need not describe every element. Nor does it fetch
#: style sheets once more, for a rule about the orientation of a screen.
_LESS = {"resultTypes": ["violations"], "preload": False}
_OPTIONS = {"runOnly": {"type": "tag", "values": _TAGS}, **_LESS}
#: Scrolled to the top: axe takes what is scrolled out of view, and cut off, for something that
#: covers what stands above. Without transitions: a colour on its way is neither of the two that the
#: page means, and whether one is on its way is a matter of milliseconds.
_RUN = """async ([within, options]) => {
  const still = new CSSStyleSheet();
  still.replaceSync("*, *::before, *::after { transition: none !important; }");
  document.adoptedStyleSheets.push(still);
  const panes = [...document.querySelectorAll(".tabpanel, [data-scroller]")];
  const places = panes.map((pane) => pane.scrollTop);
  for (const pane of panes) pane.scrollTop = 0;
  const results = await axe.run(within || document, options);
  panes.forEach((pane, number) => { pane.scrollTop = places[number]; });
  document.adoptedStyleSheets.splice(document.adoptedStyleSheets.indexOf(still), 1);
  return results.violations.flatMap((violation) => violation.nodes.map(
    (node) => `${violation.id}: ${node.target} ${node.failureSummary}`
  ));
}"""

#: Show what is far off the screen, too: its style is not brought up to date before it is seen. And
#: change colours at once: those on the way would be neither of the two.
_SHOW_ALL = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`*, *::before, *::after {
    content-visibility: visible !important; transition: none !important;
  }`);
  document.adoptedStyleSheets.push(sheet);
}"""
_SHOW_AS_BEFORE = """() => {
  const root = document.documentElement;
  for (const display of ["none", ""]) {  // Takes every style anew, while all is shown.
    root.style.display = display;
    root.getBoundingClientRect();
  }
  document.adoptedStyleSheets.pop();
}"""
#: What can differ between two themes, which differ in colours alone.
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_COLOURS = {"runOnly": {"type": "rule", "values": _COLOUR_RULES}, **_LESS}


def findings(page: Page, within: str = "", *, both_themes: bool = False) -> list[str]:
    """Return the violations on a page as it is, one string for each element.

    `within` is a selector: where a screen was examined before and only one part of it has changed,
    the part is enough, and takes a fraction of the time.

    With `both_themes` its colours are examined in the dark theme as well. Their contrast is checked
    in both by `tests/test_colours.py`, so one look at each page is enough.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_RUN, [within, _OPTIONS])
    if both_themes:
        page.evaluate(_SHOW_ALL)
        page.emulate_media(color_scheme="dark")
        found += [f"dark: {each}" for each in page.evaluate(_RUN, [within, _COLOURS])]
        page.emulate_media(color_scheme="light")
        page.evaluate(_SHOW_AS_BEFORE)
    return found
