"""A learner, who takes lessons in a playground over HTTP as the page does."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

#: Django takes any token of this length that comes both as a cookie and as a header.
_TOKEN = "t" * 32
HTMX = {"HX-Request": "true"}
#: Artificial delays of the demo agent: next to none.
FAST = [["Demo-Pace", "0.02"]]

Fields = Mapping[str, Any]


class Learner:
    """The browser of a learner."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(
            base_url=url,
            headers={"Cookie": f"playground_csrf={_TOKEN}", "X-CSRFToken": _TOKEN},
            timeout=30,
            trust_env=False,
        )
        self._runs: set[str] = set()

    def post(self, path: str, **fields: Any) -> str:
        """Post what a button of the page posts; returns the fragment, or where it leads to."""
        response = self.http.post(path, data=fields, headers=HTMX)
        assert response.status_code == 200, (path, response.status_code, response.text)
        return response.headers.get("HX-Push-Url", response.text)

    def fields_of(self, collection: str, saved: str) -> dict[str, str]:
        """Return a saved request as the composer's fields."""
        path = f"/collections/{collection}/requests/{saved}/"
        response = self.http.get(path, headers={"Accept": "application/json"})
        assert response.status_code == 200, path
        return response.json()["fields"]

    def send(self, fields: Fields, document: Any = None, *, pace: Any = FAST) -> str:
        """Send a request as Send does, wait for its end, and return the key of its run."""
        changed = {} if document is None else {"document": json.dumps(document)}
        response = self.http.post("/runs/", data={**fields, **changed, "headers": json.dumps(pace)})
        assert response.status_code == 302, response.text
        return self.wait(response.headers["Location"])

    def wait(self, page: str) -> str:
        """Wait for the end of the run with this page, and return its key."""
        run = page.split("/")[2]
        self._runs.add(run)
        self.until(lambda: "data-final" in self.http.get(f"{page}response/").text)
        return run

    def forget(self) -> None:
        """Delete the runs, and with them the polls that a later step would count."""
        if self._runs:
            fields = {"run": sorted(self._runs)}
            path = "/history/deletion/"
            assert self.until(lambda: self.http.post(path, data=fields).status_code == 302)
            self._runs.clear()

    def until(self, is_so: Callable[[], bool], seconds: float = 20) -> bool:
        """Return whether something becomes so."""
        end = time.monotonic() + seconds
        while not (found := is_so()) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def document(self, run: str) -> str:
        """Return the response document of a run, as text of a page."""
        return self.http.get(f"/runs/{run}/document/").text.replace("&quot;", '"')

    def entry(self, run: str) -> dict[str, str]:
        """Return the entry of the first form in a response, as the fields that name it."""
        text = self.http.get(f"/runs/{run}/response/").text
        found = re.search(
            r'name="seq" value="(\d+)"><input type="hidden" name="part" value="(\d+)"', text
        )
        assert found, text
        return {"seq": found[1], "part": found[2]}

    def kinds(self, run: str, tab: str) -> set[str]:
        """Return the types of the events or frames that a tab shows."""
        text = self.http.get(f"/runs/{run}/{tab}/").text
        return set(re.findall(r'class="(?:event|wire-block|mark)" data-kind="([^"]+)"', text))


def is_passed(html: str) -> bool:
    """Return whether a fragment says that the step has passed."""
    return "Step passed." in html
