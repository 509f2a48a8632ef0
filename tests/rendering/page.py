"""Page without a browser: HTML as a tree to which out-of-band swaps are applied as in htmx."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset("img input br hr meta link use".split())


@dataclass
class Node:
    """An element with its children: elements and texts."""

    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def find(self, name: str) -> Node | None:
        """Return the element with this id, possibly itself; None if there is none."""
        if self.attributes.get("id") == name:
            return self
        found = (child.find(name) for child in self.children if isinstance(child, Node))
        return next(filter(None, found), None)

    @property
    def text(self) -> str:
        """Return all text in it."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

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
        self.root = Node("#root")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def tree(html: str) -> Node:
    """Return the root of a tree of HTML."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root


class Page:
    """The part of the page of a run that messages change."""

    def __init__(self, cards: list[str]) -> None:
        self.root = tree(f'<div id="cards">{"".join(cards)}</div><div id="run-usage"></div>')

    @property
    def cards(self) -> Node:
        """Return the list of entries."""
        found = self.root.find("cards")
        assert found
        return found

    def take(self, html: str) -> None:
        """Apply the out-of-band swaps; those for elements of other parts are ignored."""
        for piece in tree(html).children:
            if isinstance(piece, Node) and (where := piece.attributes.pop("hx-swap-oob", None)):
                self._put(piece, where)

    def _put(self, piece: Node, where: str) -> None:
        style, _, target = where.partition(":#")
        found = self.root.find(target or piece.attributes["id"] or "")
        if found is None:
            name = str(target or piece.attributes["id"])
            assert not name.startswith("entry-"), f"there is no {name} on the page"
            return
        if style == "beforeend":
            found.children += piece.children
        elif style == "innerHTML":
            found.children = piece.children
        else:
            found.tag, found.attributes = piece.tag, piece.attributes
            found.children = piece.children
