"""Markdown of descriptions and notes, as sanitised HTML.

Such texts may come with files from others. Two libraries protect the page: the parser ignores
HTML, and its output passes a sanitiser with a short list of elements. Links lead to pages of this
playground that are there to be read ("/demo/"), or to http and https only, and an image becomes a
link to it: no page loads anything from another site.

The work is linear in the text, bounded for a page, done once for a text, and ends when the reader
of the page has gone (`playground.base.limits`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import takewhile
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from playground.base.limits import page_budget
from playground.models.columns import storable
from playground.protocols.origins import origin_of
from playground.ui.formatting import is_local_path, safe_url

#: Characters that are parsed; a longer text is cut and ends in an ellipsis.
MAX_TEXT = 50_000
#: How deep lists and quotes may nest. Deeper ones are dropped.
_MAX_NESTING = 20
#: How deep brackets may nest: a text of opening ones is read as often as this.
_MAX_BRACKETS = 5
#: Cells that a table may have besides one for each of its characters: a row without most of its
#: cells gets them all.
_MAX_MORE_CELLS = 200
#: Characters of a short text, and the numbers of short and other texts whose HTML is kept.
_SHORT, _KEPT_SHORT, _KEPT = 4_000, 512, 32
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"data-explain"}}
#: Attributes that are set on every element of a kind, whatever the text has.
_FIXED = {"a": {"target": "_blank"}}
_SPACES = re.compile(r"\s+")
ReferenceOf = Callable[[str], str]


class _StoppedError(Exception):
    """The page has no budget left for a text, or no reader."""


def _parser(nesting: int) -> MarkdownIt:
    options = {"html": False, "linkify": False, "maxNesting": nesting}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _parse_inline(state: StateCore) -> None:
    """Parse the text in the blocks while the page has a reader."""
    budget = state.env.get("budget")
    for token in state.tokens:
        if token.type == "inline":
            if budget and budget.is_gone():
                raise _StoppedError
            token.children = []
            _INLINE.inline.parse(token.content, _INLINE, state.env, token.children)


def _parse_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table, unless most of its cells would not be in the text."""
    if not silent and table(state, start, end, True):
        columns = 1 + state.src.count("|", state.bMarks[start + 1], state.eMarks[start + 1])
        for row in takewhile(lambda row: not state.isEmpty(row), range(start, end)):
            characters = state.eMarks[row] - state.bMarks[start]
            if columns * (row - start) > characters + _MAX_MORE_CELLS:
                return False
    return table(state, start, end, silent)


_INLINE, _PARSER = _parser(_MAX_BRACKETS), _parser(_MAX_NESTING)
_PARSER.core.ruler.at("inline", _parse_inline)
_PARSER.block.ruler.at("table", _parse_table, {"alt": ["paragraph", "reference"]})


def render(text: str, *, origins: bool = False, reference_of: ReferenceOf | None = None) -> str:
    """Return the HTML of a Markdown text, safe and with headings below those of a page.

    With `origins` each link is followed by the host that it leads to. With `reference_of`, which
    returns the reference of a name or "", names in inline code offer their explanation. On a page
    without budget it is the text as it was written.
    """
    html_of = _html_of_short if len(text) <= _SHORT else _html_of_long
    try:
        html = html_of(text[:MAX_TEXT], origins, reference_of)
    except _StoppedError:
        html = f"<p>{escape(text[:MAX_TEXT])}</p>"
    return f"{html}<p>…</p>" if len(text) > MAX_TEXT else html


def _html_of(text: str, origins: bool, reference_of: ReferenceOf | None) -> str:
    if budget := page_budget.get():
        budget.characters -= len(text)
        if budget.characters < 0:
            raise _StoppedError
    tokens = _PARSER.parse(storable(text), {"budget": budget})
    for token in tokens:
        _adjust(token)
        if origins and token.type == "inline":
            token.children = list(_with_hosts(token.children or []))
        if reference_of:
            _explain(token.children or [], reference_of)
    return nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_safe_attribute,
        set_tag_attribute_values=_FIXED,
        url_schemes={"http", "https"},
        url_relative="pass_through",  # _safe_attribute decides.
        link_rel="noopener noreferrer nofollow",
    )


_html_of_short = lru_cache(_KEPT_SHORT)(_html_of)
_html_of_long = lru_cache(_KEPT)(_html_of)


def plain(text: str, limit: int = 160) -> str:
    """Return the beginning of a Markdown text as plain text, for a line of a list."""
    words: list[str] = []
    # An excerpt needs only the beginning of a long text.
    for token in _PARSER.parse(text[: limit * 5]):
        if token.type == "inline":
            words += [_text(child) for child in token.children or []] + [" "]
        elif token.type in {"fence", "code_block"}:
            words += [token.content, " "]
    text = _SPACES.sub(" ", "".join(words)).strip()
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _text(token: Token) -> str:
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    return token.content


def _adjust(token: Token) -> None:
    """Lower headings by one level, and replace images by links."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    if token.type == "inline":
        token.children = list(_without_images(token.children or []))


def _without_images(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens with links to images in place of these; within a link, only their text."""
    in_link = False
    for token in tokens:
        in_link = token.type == "link_open" or (in_link and token.type != "link_close")
        if token.type != "image":
            yield token
            continue
        text = Token("text", "", 0, content=token.content or "(picture)")
        if in_link or not (url := safe_url(token.attrGet("src"))):
            yield text
        else:
            yield Token("link_open", "a", 1, attrs={"href": url})
            yield text
            yield Token("link_close", "a", -1)


def _with_hosts(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens with the host of each link after it."""
    url, is_local = "", False
    for token in tokens:
        yield token
        if token.type == "link_open":
            is_local = is_local_path(str(token.attrGet("href")))
            url = safe_url(token.attrGet("href")) or ""
        elif token.type == "link_close" and not is_local:
            host = origin_of(url).partition("://")[2] or urlsplit(url).netloc
            yield Token("text", "", 0, content=f" ({host or 'link removed'})")


def _explain(tokens: list[Token], reference_of: ReferenceOf) -> None:
    """Add the reference of each name in inline code; the text itself has no attributes."""
    for token in tokens:
        if token.type == "code_inline" and (reference := reference_of(token.content)):
            token.attrSet("data-explain", reference)


def _safe_attribute(tag: str, attribute: str, value: str) -> str | None:
    if attribute != "href" or is_local_path(value):
        return value
    return safe_url(value)
