"""Budget of a page: the text that may be rendered for it, while its reader waits."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

#: Extension of the scope of a request: a function that returns whether its client has disconnected.
IS_GONE = "playground.is_gone"


@dataclass(slots=True)
class PageBudget:
    """Limit of the Markdown on one page; none is rendered without a reader."""

    #: Returns whether its reader has gone.
    is_gone: Callable[[], bool]
    #: Characters of Markdown. The worst take a second.
    characters: int = 100_000


#: The budget of the page that is rendered; None outside of requests.
page_budget: ContextVar[PageBudget | None] = ContextVar("page_budget", default=None)
