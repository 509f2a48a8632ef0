"""Budget of a page: how much text may be rendered for it, and whether its reader still waits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from django.http import HttpRequest

#: Extension of the scope of a request: a function that returns whether its client has disconnected.
IS_GONE = "playground.is_gone"
#: Characters of Markdown that are rendered for one page. The worst take a second.
MAX_CHARACTERS = 100_000


class PageBudget:
    """The budget of one page."""

    def __init__(self, is_gone: Callable[[], bool]) -> None:
        self.is_gone = is_gone
        self._left = MAX_CHARACTERS

    def take(self, characters: int) -> bool:
        """Return whether so much text may be rendered, and note it."""
        if characters > self._left:
            return False
        self._left -= characters
        return True


#: The budget of the page that is rendered; None outside of requests.
page_budget: ContextVar[PageBudget | None] = ContextVar("page_budget", default=None)


@contextlib.contextmanager
def limit_page(request: HttpRequest) -> Iterator[None]:
    """Have the budget of a page for the block."""
    extensions = getattr(request, "scope", {}).get("extensions") or {}
    token = page_budget.set(PageBudget(extensions.get(IS_GONE, bool)))
    try:
        yield
    finally:
        page_budget.reset(token)
