"""Markdown of descriptions and notes: to HTML without anything that could run.

Such texts come in files from others. Two libraries stand between them and the page: the reader
knows no HTML, and whatever it makes goes through a sanitiser that knows a short list of elements.
Links lead to http and https only, and pictures are shown where those of agents are.
"""

from __future__ import annotations

import re

import nh3
from django.conf import settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from playground.models.json_text import storable
from playground.rendering.links import safe_url

#: Characters that are read; a longer text is cut, and says so.
MAX_TEXT = 50_000
#: How deep lists and quotes may nest. Deeper ones are dropped.
_MAX_NESTING = 20
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}}
#: Set on every one of them, whatever the text says.
_FIXED = {
    "a": {"target": "_blank"},
    "img": {"loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"},
}
_READER = MarkdownIt(
    "commonmark", {"html": False, "linkify": False, "maxNesting": _MAX_NESTING}
).enable(["table", "strikethrough"])
_SPACES = re.compile(r"\s+")


def render(text: str) -> str:
    """The HTML of a Markdown text, fit to stand in a page below its own heading."""
    cut = len(text) > MAX_TEXT
    tokens = _READER.parse(storable(text[:MAX_TEXT]))
    for token in tokens:
        _settle(token)
    html = nh3.clean(
        _READER.renderer.render(tokens, _READER.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_only_safe_addresses,
        set_tag_attribute_values=_FIXED,
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    return f"{html}<p>…</p>" if cut else html


def plain(text: str, limit: int = 160) -> str:
    """The beginning of a Markdown text in words, for a line of a list."""
    words: list[str] = []
    # An excerpt needs the beginning only, however long the whole is.
    for token in _READER.parse(text[: limit * 10]):
        if token.type == "inline":
            words += [_words(child) for child in token.children or []] + [" "]
        elif token.type in {"fence", "code_block"}:
            words += [token.content, " "]
    found = _SPACES.sub(" ", "".join(words)).strip()
    return found if len(found) <= limit else f"{found[: limit - 1].rstrip()}…"


def _words(token: Token) -> str:
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    return token.content


def _settle(token: Token) -> None:
    """Headings a level down, below that of the page; pictures only where they can be shown."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    if token.type == "inline":
        token.children = [_picture_or_words(child) for child in token.children or []]


def _picture_or_words(token: Token) -> Token:
    if token.type != "image" or (settings.AGENT_IMAGES and safe_url(token.attrGet("src"))):
        return token
    return Token("text", "", 0, content=token.content or "(picture)")


def _only_safe_addresses(tag: str, attribute: str, value: str) -> str | None:
    return safe_url(value) if attribute in {"href", "src"} else value
