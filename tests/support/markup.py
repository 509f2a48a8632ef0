"""Rendered HTML as a browser parses it: a tree of elements with their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

from django.http import HttpResponse

_VOID = frozenset("base img input br hr meta link".split())
#: Attributes that make a browser or htmx act.
_ACTIVE = ("hx-", "data-hx-", "on", "ws-", "style", "srcdoc", "formaction")

#: Elements that the templates of entries write.
ENTRY_TAGS = frozenset(
    "article section div p h3 span a dl dt dd details summary ul ol li code progress raw-json "
    "table caption tr th td copy-button agent-picture inline-picture bdi form button "
    "answer-form fieldset legend label input textarea datalist option svg use".split()
)  # fmt: skip


def one_line(response: HttpResponse) -> str:
    """Return a page with one space where it has white space, however its template breaks lines."""
    return " ".join(response.text.split())


@dataclass
class Element:
    """An element with its children: elements and texts. The root of a tree has no tag."""

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[Element]:
        """Iterate over all elements in it, in the order of their start tags."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child

    @property
    def elements(self) -> list[Element]:
        return list(self)

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    @property
    def words(self) -> str:
        """Return the text with single spaces."""
        return " ".join(self.text.split())

    @property
    def facts(self) -> dict[str, str]:
        """Return the terms of its description lists with their descriptions."""
        texts = [each.words for each in self if each.tag in {"dt", "dd"}]
        return dict(zip(texts[::2], texts[1::2], strict=True))

    def find(self, tag: str) -> list[Element]:
        return [each for each in self if each.tag == tag]

    def by_id(self, name: str) -> Element | None:
        return next((each for each in self if each.attributes.get("id") == name), None)

    def select(self, tag: str = "", **wanted: str | None) -> list[Element]:
        """Return the elements with this tag, and with these attributes.

        An underscore in a name is a hyphen, `class_` is one of the classes, and None any value.
        """
        names = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return [each for each in self if tag in ("", each.tag) and each._has(names)]

    def _has(self, wanted: dict[str, str | None]) -> bool:
        for name, value in wanted.items():
            found = self.attributes.get(name) or ""
            if name not in self.attributes:
                return False
            if value is not None and value not in (found.split() if name == "class" else [found]):
                return False
        return True

    def plain(self) -> object:
        """Return a value to compare: with adjacent texts joined, and no space between tags."""
        merged: list[object] = []
        for child in self.children:
            part = child if isinstance(child, str) else child.plain()
            if isinstance(part, str) and merged and isinstance(merged[-1], str):
                merged[-1] += part
            else:
                merged.append(part)
        kept = [part for part in merged if not isinstance(part, str) or part.strip()]
        return self.tag, sorted(self.attributes.items()), kept


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice on <{tag}>"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> out of place"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str | HttpResponse) -> Element:
    """Parse HTML; raise if it is not well formed, for instance after an injection."""
    reader = _Reader()
    reader.feed(page if isinstance(page, str) else page.text)
    reader.close()
    assert len(reader.open) == 1, f"left open: {reader.open[1:]}"
    return reader.root


def assert_inert(html: str | Element, tags: frozenset[str]) -> Element:
    """Assert that HTML runs, loads and requests nothing, and links only to new tabs.

    `tags` are the elements that the templates write; any other came from an agent.
    """
    markup = read(html) if isinstance(html, str) else html
    for element in markup:
        assert element.tag in tags, element
        active = [name for name in element.attributes if name.startswith(_ACTIVE)]
        assert not active, element
        if href := element.attributes.get("href"):
            _assert_link(href, element)
        assert "src" not in element.attributes, element
        if action := element.attributes.get("action"):
            assert action.startswith("/runs/"), element
    return markup


def _assert_link(href: str, element: Element) -> None:
    if href.startswith("/agents/new/?url="):
        return  # Our own form, filled with an address.
    if element.tag == "use" and href.startswith("#i-"):
        return  # An icon of the page's own sprite.
    if element.tag == "a" and href.startswith("#"):
        return  # Another entry of the same page.
    assert urlsplit(href).scheme.lower() in {"http", "https"}, element
    assert urlsplit(href).hostname, element
    relation = (element.attributes.get("rel") or "").split()
    assert {"noopener", "noreferrer"} <= set(relation), element
