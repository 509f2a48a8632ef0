"""Markdown of descriptions and notes, as sanitised HTML.

Such texts may come with files from others. Two libraries protect the page: the parser ignores
HTML, and its output passes a sanitiser with a short list of elements. Links lead to pages of this
playground that are there to be read ("/demo/"), or to http and https only, and an image becomes a
link to it: no page loads anything from another site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from playground.models.json_text import storable
from playground.protocols.origins import origin_of
from playground.rendering.links import is_local_path, safe_url

#: Characters that are parsed; a longer text is cut and ends in an ellipsis.
MAX_TEXT = 50_000
#: How deep lists and quotes may nest. Deeper ones are dropped.
_MAX_NESTING = 20
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"data-explain"}}
#: Attributes that are set on every element of a kind, whatever the text has.
_FIXED = {"a": {"target": "_blank"}}
_PARSER = MarkdownIt(
    "commonmark", {"html": False, "linkify": False, "maxNesting": _MAX_NESTING}
).enable(["table", "strikethrough"])
_SPACES = re.compile(r"\s+")


def render(
    text: str, *, origins: bool = False, reference_of: Callable[[str], str] | None = None
) -> str:
    """Return the HTML of a Markdown text, safe and with headings below those of a page.

    With `origins` each link is followed by the host that it leads to. With `reference_of`, which
    returns the reference of a name or "", names in inline code offer their explanation.
    """
    cut = len(text) > MAX_TEXT
    tokens = _PARSER.parse(storable(text[:MAX_TEXT]))
    for token in tokens:
        _adjust(token)
        if origins and token.type == "inline":
            token.children = list(_with_hosts(token.children or []))
        if reference_of:
            _explain(token.children or [], reference_of)
    html = nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_safe_attribute,
        set_tag_attribute_values=_FIXED,
        url_schemes={"http", "https"},
        url_relative="pass_through",  # _safe_attribute decides.
        link_rel="noopener noreferrer nofollow",
    )
    return f"{html}<p>…</p>" if cut else html


def plain(text: str, limit: int = 160) -> str:
    """Return the beginning of a Markdown text as plain text, for a line of a list."""
    words: list[str] = []
    # An excerpt needs only the beginning of a long text.
    for token in _PARSER.parse(text[: limit * 10]):
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


def _explain(tokens: list[Token], reference_of: Callable[[str], str]) -> None:
    """Add the reference of each name in inline code; the text itself has no attributes."""
    for token in tokens:
        if token.type == "code_inline" and (reference := reference_of(token.content)):
            token.attrSet("data-explain", reference)


def _safe_attribute(tag: str, attribute: str, value: str) -> str | None:
    if attribute != "href" or is_local_path(value):
        return value
    return safe_url(value)
