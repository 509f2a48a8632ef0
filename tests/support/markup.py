"""Rendered HTML as a browser parses it: elements, attributes and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

_VOID = frozenset("base img input br hr meta link".split())
#: Attributes that make a browser or htmx act.
_ACTIVE = ("hx-", "data-hx-", "on", "ws-", "style", "srcdoc", "formaction")

#: Elements that the templates of entries write.
ENTRY_TAGS = frozenset(
    "article section div p h3 span a dl dt dd details summary ul ol li code progress raw-json "
    "table caption tr th td copy-button agent-picture inline-picture bdi form button "
    "answer-form fieldset legend label input textarea datalist option svg use".split()
)  # fmt: skip


@dataclass
class Element:
    """A start tag."""

    tag: str
    attributes: dict[str, str | None]


@dataclass
class Markup(HTMLParser):
    """The elements and the text of a piece of HTML."""

    elements: list[Element] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice on <{tag}>"
        self.elements.append(Element(tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> without a beginning"
        assert self._open.pop() == tag, f"</{tag}> out of place"

    def handle_data(self, data: str) -> None:
        self.text += data

    def find(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]


def read(html: str) -> Markup:
    """Parse HTML; raise if it is not well formed, for instance after an injection."""
    markup = Markup()
    markup.feed(html)
    markup.close()
    assert not markup._open, f"left open: {markup._open}"
    return markup


def assert_inert(html: str, tags: frozenset[str]) -> Markup:
    """Assert that HTML runs, loads and requests nothing, and links only to new tabs.

    `tags` are the elements that the templates write; any other came from an agent.
    """
    markup = read(html)
    for element in markup.elements:
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
