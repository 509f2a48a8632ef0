"""A browser's part: send requests and forms, follow websockets, and read all pages."""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.qa.snapshots.tokens import stable
from tests.support.markup import Element, read

#: Pages that are read of one pattern: of a path without its ids and the names of its query.
PER_PATTERN = 70
#: Ids in a path: UUIDs, numbers, names of collections, requests, agents, lessons, rules.
_IDS = re.compile(
    r"(/)(?:[0-9a-f]{8}-[0-9a-f-]{27}|\d+)(?=/|$)"
    r"|(/(?:collections|agents|lessons|environments)/)(?!new/|search/|import/|shipped/)[^/]+"
    r"|(/(?:requests|folders|steps|s)/)[^/]+|(^/rules/)[^/]+/[^/]+"
)
#: Attributes whose value is the address of another page or fragment.
_ADDRESSES = ("href", "hx-get", "src", "data-address", "data-url", "data-src", "poster")
#: Pages that change with each request, or that end the login.
_LEFT_OUT = re.compile(r"^/(metrics|logout|static|demo/(?!$)|ready|\.well-known)")
_RUN = re.compile(r'id="response"[^>]* data-run="([^"]+)"')


@dataclass(frozen=True)
class Page:
    """A response to GET, or the messages of a websocket."""

    address: str
    status: int
    text: str
    is_html: bool

    @property
    def file_name(self) -> str:
        name = re.sub(r"[^\w.=-]+", "_", stable(self.address)).strip("_") or "start"
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        return name if len(name) < 150 else name[:150] + digest


class Site:
    """A playground, as a browser without scripts sees it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.Client(base_url=url, timeout=60, trust_env=False)
        self._client.get("/")

    def get(self, address: str, **headers: str) -> httpx.Response:
        return self._client.get(address, headers=headers)

    def post(self, path: str, fields: dict[str, str]) -> httpx.Response:
        """Send a form as htmx does."""
        token = self._client.cookies["playground_csrf"]
        headers = {"X-CSRFToken": token, "Origin": self._url, "HX-Request": "true"}
        return self._client.post(path, data=fields, headers=headers)

    def follow(self, path: str) -> list[str]:
        """Return the messages of a websocket until it is closed, or silent for half a minute."""
        url = self._url.replace("http", "ws", 1) + path
        messages: list[str] = []
        with (
            connect(url, origin=Origin(self._url), max_size=None) as socket,
            contextlib.suppress(TimeoutError, ConnectionClosed),
        ):
            while True:
                messages.append(str(socket.recv(timeout=30)))
        return messages


def send_all(url: str) -> None:
    """Send every saved request, then all that their responses and the pages offer."""
    site = Site(url)
    runs = [run for fields in _saved_requests(site) if (run := _send(site, fields))]
    for run in runs:
        _wait(site, run)
    for run in runs:
        _use(site, run)
    pages = {"/collection-runs/": {"collection": "tour"}, "/environments/": {"name": "Staging"}}
    for path, fields in pages.items():
        site.post(path, fields)
    for run in runs[:3]:
        site.post("/shares/", {"run": run, "comment": "Look at this."})
    site.post("/collections/duplicates/deletion/", {})
    time.sleep(20)


def _saved_requests(site: Site) -> Iterator[dict[str, str]]:
    """Yield the fields of each saved request of each collection."""
    for collection in _links(site, "/collections/", r"/collections/[\w-]+/$"):
        for request in _links(site, collection, r"/collections/[\w-]+/requests/[\w-]+/$"):
            answer = site.get(request, Accept="application/json")
            if answer.is_success and "fields" in (told := answer.json()):
                yield {**told["fields"], "saved": told["saved"], "modified": told["modified"]}


def _links(site: Site, page: str, pattern: str) -> list[str]:
    found = re.findall(r'href="([^"]+)"', site.get(page).text)
    return list(dict.fromkeys(link for link in found if re.match(pattern, link)))


def _send(site: Site, fields: dict[str, str]) -> str:
    run = _RUN.search(site.post("/runs/", fields).text)
    return run[1] if run else ""


def _wait(site: Site, run: str) -> None:
    """Wait until a run has ended, one minute at most."""
    for _ in range(60):
        if "data-final" in site.get(f"/runs/{run}/response/").text:
            return
        time.sleep(1)


def _use(site: Site, run: str) -> None:
    """Answer, poll, call and act as the response of a run offers, with the first of each choice."""
    page = read(site.get(f"/runs/{run}/response/").text)
    for form in page.find("form"):
        path = form.attributes.get("hx-post") or form.attributes.get("action") or ""
        if re.search(r"/(answers|calls|promise/\w+)/$", path):
            site.post(path, _filled(form))
    for button in page.select("button", hx_get=None)[:2]:
        if "/actions/" in (path := button.attributes["hx-get"] or ""):
            for form in read(site.get(path, **{"HX-Request": "true"}).text).find("form"):
                site.post(form.attributes.get("hx-post") or path, _filled(form))


def _filled(form: Element) -> dict[str, str]:
    """Return a form's fields: the first option of each choice, "3" where a value is missing."""
    fields: dict[str, str] = {}
    for each in form:
        name, value = each.attributes.get("name") or "", each.attributes.get("value")
        if each.tag == "select":
            value = next(iter(each.find("option"))).attributes.get("value") or ""
        elif each.tag == "textarea":
            value = each.text
        elif each.tag not in {"input", "button"}:
            continue
        if name and name not in fields:
            fields[name] = value or "3"
    return fields


def read_all(url: str) -> Iterator[Page]:
    """Yield all pages that links, fragments and websockets of pages lead to, from / on."""
    site = Site(url)
    waiting, known, counts = deque(["/"]), {"/"}, dict[str, int]()
    while waiting:
        address = waiting.popleft()
        for page in _read(site, address):
            yield page
            if not page.is_html:
                continue
            for found in _addresses(page.text, address):
                pattern, name = _pattern(found), stable(found)
                if name in known or counts.get(pattern, 0) >= PER_PATTERN:
                    continue
                known.add(name)
                counts[pattern] = counts.get(pattern, 0) + 1
                waiting.append(found)


def _read(site: Site, address: str) -> Iterator[Page]:
    answer = site.get(address)
    kind = answer.headers.get("content-type", "")
    if kind.startswith(("image/", "audio/", "video/", "application/octet-stream")):
        return
    text = answer.text or f"Location: {answer.headers.get('location')}"
    yield Page(address, answer.status_code, text, "html" in kind)
    if "html" not in kind:
        return
    fragment = site.get(address, **{"HX-Request": "true"})
    if "<html" in answer.text and "<html" not in fragment.text:
        yield Page(f"{address} as a fragment", fragment.status_code, fragment.text, True)
    if run := re.fullmatch(r"/runs/([^/]+)/response/", address):
        messages = "\n".join(site.follow(f"/ws/runs/{run[1]}/?after=0"))
        yield Page(f"/ws{address}", 101, messages, True)


def _addresses(html: str, address: str) -> Iterator[str]:
    names = "|".join(_ADDRESSES)
    for value in re.findall(rf'\s(?:{names})="([^"#]+)', html):
        found = urlsplit(urljoin(address, value.replace("&amp;", "&")))
        if found.scheme or found.netloc or _LEFT_OUT.match(found.path):
            continue
        yield found.path + (f"?{found.query}" if found.query else "")
    # A run's parts are addressed by scripts, too.
    if run := re.fullmatch(r"(/runs/[^/]+/)", address):
        for part in ("response", "results", "events", "wire", "timeline", "sequence", "session"):
            yield f"{run[1]}{part}/"
        for part in ("conformance", "checks", "annotations", "turns", "server-log", "code"):
            yield f"{run[1]}{part}/"


def _pattern(address: str) -> str:
    path, _, query = address.partition("?")
    names = sorted(part.partition("=")[0] for part in query.split("&"))
    return f"{_IDS.sub('*', path)}?{'&'.join(names)}"
