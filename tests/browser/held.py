"""Answers that a test holds back, as they come late on a slow day."""

from __future__ import annotations

import re

from playwright.sync_api import APIResponse, Page, Response, Route


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


class Sent:
    """Requests that were answered, with answers that wait on their way to the page."""

    def __init__(self, page: Page, address: str) -> None:
        self.answers: list[tuple[Route, APIResponse]] = []
        page.route(re.compile(address), lambda route: self.answers.append((route, route.fetch())))
        self._page = page

    def arrive(self) -> None:
        """Let the first answer arrive, and wait until the page has made use of it."""
        while not self.answers:
            self._page.wait_for_timeout(10)
        route, answer = self.answers[0]
        with self._page.expect_response(lambda each: each.request == route.request) as response:
            route.fulfill(response=answer)
        response.value.finished()
        self._page.evaluate("() => new Promise(requestAnimationFrame)")


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
