"""What a test needs in a playground, put there by HTTP as its forms would, and removed again."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.support.playground_server import PlaygroundServer

#: Django takes any token of this length that comes both as a cookie and as a header.
_TOKEN = "t" * 32


class Client:
    """A playground, as a program posts to it."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Cookie": f"playground_csrf={_TOKEN}", "X-CSRFToken": _TOKEN},
            timeout=30,
            trust_env=False,
        )
        self._agents: list[str] = []

    def post(self, path: str, **fields: Any) -> str:
        """Post a form; returns the path that it leads to. A form with mistakes is an error."""
        response = self._http.post(path, data=fields)
        # Every request is a session of its own, so that no notes pile up.
        self._http.cookies.clear()
        assert response.status_code == 302, response.text
        return response.headers["Location"]

    def add_agent(self, name: str, url: str, **fields: str) -> str:
        """Add an agent until the end of the test; returns its slug."""
        defaults = {"version": "0.55", "auth": "none"}
        target = self.post("/agents/", **{**defaults, "name": name, "url": url, **fields})
        slug = parse_qs(urlsplit(target).query)["agent"][0]
        self.remove_later(slug)
        return slug

    def remove_later(self, agent: str) -> None:
        """Remove an agent that the test has added by its form, too."""
        self._agents.append(agent)

    def remove_agents(self) -> None:
        """Remove the agents of the test that has ended."""
        while self._agents:
            self.post(f"/agents/{self._agents.pop()}/deletion/")

    def import_collection(self, items: Iterable[Mapping[str, Any]]) -> str:
        """Import a collection; returns the path of its page."""
        return self.post("/collections/import/", text=json.dumps([*items]), confirmed="yes")


@functools.cache
def client_of(server: PlaygroundServer) -> Client:
    """The client of a server that has started."""
    return Client(server.url)
