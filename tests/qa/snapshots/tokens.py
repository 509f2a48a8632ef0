"""HTML as lines, one for each tag, attribute and text, so that two versions can be compared."""

from __future__ import annotations

import re
from html.parser import HTMLParser

#: What differs between two requests of one page, and what stands in its place.
_CHANGING = [
    (re.compile(r"(?<=csrfmiddlewaretoken\" value=\")\w+"), "TOKEN"),
    (re.compile(r"(X-CSRFToken\W+)\w{32,}"), r"\1TOKEN"),
    (re.compile(r"(?<=nonce-)[\w+/=-]+"), "NONCE"),
    (re.compile(r"127\.0\.0\.1(:|%3A)\d+"), "site"),
    (re.compile(r"(/static/[\w./-]+?)[.-][0-9A-Za-z]{8,12}(\.\w+)"), r"\1\2"),
    (re.compile(r"\b((\d+\s(s|min|h|d|seconds?|minutes?|hours?|days?),? )+ago|now)\b"), "AGO"),
    (re.compile(r"(?<=[?&;]page=)[0-9a-f-]{6,}"), "PAGE"),
]
#: Elements in which white space counts.
_EXACT = frozenset({"pre", "textarea"})
#: An id, as a page and as SQLite write it.
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
_VOID = frozenset("base br col hr img input link meta source wbr".split())
#: Elements that begin and end a line: white space beside their tags is not shown.
_BLOCKS = frozenset(
    "address article aside blockquote body br caption col colgroup datalist dd details dialog"
    " div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr"
    " html legend li link main meta nav ol optgroup option p script section style summary table"
    " tbody td template tfoot th thead title tr ul".split()
)


def stable(text: str) -> str:
    """Return the text without what differs from one request to the next."""
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text


def ids_in(text: str) -> set[str]:
    """Return the ids that are in a text, without their hyphens."""
    return {found.replace("-", "") for found in _UUID.findall(text)}


def without_other_ids(text: str, known: set[str]) -> str:
    """Replace the ids that are not known: they were made for this page."""
    return _UUID.sub(lambda id_: id_[0] if id_[0].replace("-", "") in known else "UUID", text)


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._text = ""
        self._exact = 0
        self._after_block = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text(tag)
        self.lines.append(f"<{tag}>")
        for name, value in sorted(attrs, key=lambda pair: pair[0]):
            words = " ".join((value or "").split())
            self.lines.append(f"  {name}={words}")
        self._exact += tag in _EXACT

    def handle_endtag(self, tag: str) -> None:
        self._end_text(tag)
        if tag not in _VOID:
            self.lines.append(f"</{tag}>")
        self._exact -= tag in _EXACT

    def handle_data(self, data: str) -> None:
        self._text += data

    def close(self) -> None:
        super().close()
        self._end_text("html")

    def _end_text(self, tag: str) -> None:
        """Add the text before a tag."""
        text = repr(self._text) if self._exact else re.sub(r"\s+", " ", self._text)
        if not self._exact and self._after_block:
            text = text.removeprefix(" ")
        if not self._exact and tag in _BLOCKS:
            text = text.removesuffix(" ")
        if text not in ("", "''"):
            self.lines.append(text)
        self._text, self._after_block = "", tag in _BLOCKS


def lines_of(html: str) -> list[str]:
    """Return a line for each tag, attribute and text.

    White space is one space, none where a line begins or ends, and as written in `pre` and
    `textarea`; comments are left out.
    """
    parser = _Lines()
    parser.feed(stable(html))
    parser.close()
    return parser.lines
