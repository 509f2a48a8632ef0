"""The page of a stored run: its parts by URL, and the messages of its websocket."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.test import Client

from playground.conversation.updates import RunMessage, RunUpdates
from playground.models import Run, Share
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import Element, one_line, read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event


def part(run: Run, path: str = "response/", **query: Any) -> Element:
    """Return a part of the run's page: the response with all its entries, or another."""
    response = Client().get(f"/runs/{run.pk}/{path}", query)
    assert response.status_code == 200, response.content
    return read(response)


def html_of(run: Run, path: str = "", **query: Any) -> str:
    """Return the page of a run, or a part of it, on one line."""
    response = Client().get(f"/runs/{run.pk}/{path}", query)
    assert response.status_code == 200, response.content
    return one_line(response)


def words(run: Run, path: str = "response/", **query: Any) -> str:
    return part(run, path, **query).words


def shared(run: Run) -> Element:
    """Return what readers of a share see: the main part of its page."""
    url = Share.objects.create(run=run).get_absolute_url()
    html = Client().get(url).text
    return read(html[html.index("<main") : html.index("</main>") + len("</main>")])


def entries(page: Element) -> list[Element]:
    """Return the entries of a response, those above the results first."""
    found = [place for name in ("summaries", "cards") if (place := page.by_id(name))]
    return [each for place in found for each in place.children if isinstance(each, Element)]


def streamed(*frames: Frame | str, state: str = "completed", **fields: Any) -> Run:
    """Return a run whose response is a stream with these events."""
    recording = Recording(**fields)
    shown = [event(each) if isinstance(each, str) else each for each in frames]
    recording.add(CALL, OPEN, HEAD, *shown, END)
    return recording.end(state)


def offered(*items: Any, **fields: Any) -> Run:
    """Return a run with one result event for each item, from frame 4 on."""
    return streamed(*(result_of(item) for item in items), **fields)


def result_of(item: Any, **more: Any) -> str:
    return f"event: result\ndata: {json.dumps({'item': item, **more})}"


def replied(
    body: bytes | str,
    status: int = 200,
    *headers: str,
    state: str = "completed",
    call: Frame = CALL,
    **fields: Any,
) -> Run:
    """Return a run whose response has this status, these headers and this body."""
    lines = "".join(f"{line}\r\n" for line in headers)
    head = Frame(0, 20, FrameKind.HEAD, f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())
    data = body.encode() if isinstance(body, str) else body
    recording = Recording(**fields)
    recording.add(call, OPEN, head, *([Frame(0, 60, FrameKind.BODY, data)] if data else []), END)
    return recording.end(state)


class Viewer:
    """A page of a run, and the messages that change it as htmx applies them."""

    def __init__(self, run: Run, *, after: int | None = None, readonly: bool = False) -> None:
        """Load the page now, or begin with an empty one `after` that many frames."""
        if after is None:
            self.page = shared(run) if readonly else part(run)
            after = int(self.page.select("run-cursor")[0].attributes["data-last"] or "")
        else:
            self.page = read('<div id="cards"></div><div id="summaries"></div>')
        self.updates = RunUpdates(run.pk, after, readonly=readonly)

    @property
    def cards(self) -> Element:
        found = self.page.by_id("cards")
        assert found
        return found

    def messages(self) -> Iterator[RunMessage]:
        """Iterate over the messages with all that is new, and apply them."""
        while message := self.updates.advance():
            self._apply(message.html)
            yield message

    def follow(self) -> str:
        """Apply all that is new; return the HTML of the messages."""
        return "".join(message.html for message in self.messages())

    def _apply(self, html: str) -> None:
        for piece in read(html).children:
            if isinstance(piece, Element) and (where := piece.attributes.pop("hx-swap-oob", None)):
                self._swap(piece, where)

    def _swap(self, piece: Element, where: str) -> None:
        style, _, target = where.partition(":#")
        name, _, child = (target or piece.attributes["id"] or "").partition(" > ")
        found = self.page.by_id(name)
        if found and child:
            found = next(iter(found.find(child)), None)
        if found is None:
            assert not name.startswith("entry-") or child, f"there is no {name} on the page"
        elif style == "delete":
            (parent,) = (each for each in [self.page, *self.page] if found in each.children)
            parent.children.remove(found)
        elif style == "beforeend":
            found.children += piece.children
        elif style == "innerHTML":
            found.children = piece.children
        else:
            found.tag, found.attributes = piece.tag, piece.attributes
            found.children = piece.children


def cursor_of(message: RunMessage) -> tuple[int, int, int, bool]:
    """Return first and last frame, number of entries, and whether the end is announced."""
    (found,) = read(message.html).find("run-cursor")
    first, last, count = (int(found.attributes[f"data-{n}"] or "")
                          for n in ("first", "last", "entries"))  # fmt: skip
    return first, last, count, "data-final" in found.attributes


def ids_of(page: Element, prefix: str = "entry-") -> list[str]:
    """Return the ids with a prefix, in their order."""
    ids: Sequence[str] = [str(each.attributes.get("id", "")) for each in page]
    return [name for name in ids if name.startswith(prefix)]
