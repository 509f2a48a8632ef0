"""Answers that a test holds back, as they come late on a slow day."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Response, Route


class Held:
    """Requests that wait until the test lets them be answered."""

    def __init__(self, page: Page) -> None:
        self.routes: list[Route] = []
        self._page = page

    def first(self) -> Route:
        """Wait until the page has made a request; return its route."""
        while not self.routes:  # The route is reported after the request.
            self._page.wait_for_timeout(10)
        return self.routes[0]

    def let_go(self) -> Response:
        """Let the first request be answered, and wait until the page has made use of the answer."""
        route = self.first()
        with self._page.expect_response(lambda each: each.request == route.request) as response:
            route.continue_()
        response.value.finished()
        self._page.evaluate("() => new Promise(requestAnimationFrame)")
        return response.value


def hold(page: Page, address: str, method: str = "") -> Held:
    """Hold back the requests to an address, a regular expression, from now on."""
    held = Held(page)

    def keep(route: Route) -> None:
        if method in ("", route.request.method):
            held.routes.append(route)
        else:
            route.fallback()

    page.route(re.compile(address), keep)
    return held
