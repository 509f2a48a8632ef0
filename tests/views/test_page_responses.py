"""A response as the page of its run shows it: bytes in, the text of the page out."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.cases import Answer, ask, page_text
from tests.support.certificates import THIS_HOST, Certificate
from tests.support.commands import run_command
from tests.support.replay import CAPTURES, reply_bytes
from tests.support.servers import (
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    chunk,
    closing,
    free_port,
    head,
    reply,
    serving,
)

pytestmark = pytest.mark.django_db(transaction=True)


def document(body: Any, status: str = "200 OK") -> bytes:
    return reply(json.dumps(body).encode(), status=status)


def answer(**members: Any) -> bytes:
    return document({"_meta": {"version": "0.55", "response_type": "answer"}, **members})


def events(*payloads: tuple[str, Any]) -> bytes:
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in payloads)
    return reply(body.encode(), "text/event-stream")


SOUP = {"@type": "Recipe", "name": "Soup", "url": "https://soup.example/1"}
FAILURE = {
    "_meta": {"version": "0.55", "response_type": "failure"},
    "error": {"code": "INVALID_QUERY", "message": "No date.",
              "details": {"parameter": "when", "expected_format": "ISO 8601"}},
}  # fmt: skip
CHATGPT_META = {
    "version": "0.55", "response_type": "answer", "response_format": "chatgpt_app",
    "openai/outputTemplate": "ui://widget",
}  # fmt: skip
CHATGPT = {
    "_meta": CHATGPT_META, "content": [{"type": "text", "text": "In words"}],
    "structuredData": [SOUP],
}  # fmt: skip

SHOWN: dict[str, tuple[bytes, list[str]]] = {
    "a failure of NLWeb with details": (
        document(FAILURE, "400 Bad Request"),
        ["Agent error", "NLWeb failure", "INVALID_QUERY", "Meaning", "expected_formatISO 8601",
         "HTTP 400", "Retry"],
    ),
    "an empty error": (
        head("503 Service Unavailable", content_length="0"), ["is empty", "Empty", "Retry"],
    ),
    "one result where a list is expected": (answer(results=SOUP), ["Recipe", "Soup"]),
    "results that are strings": (answer(results=["Just words", 7]), ["text #0 Just words", "7"]),
    "metadata that is a list": (document({"_meta": [1], "results": [SOUP]}), ["_meta", "Soup"]),
    "results that are null": (answer(results=None), ["has no results"]),
    "the two halves of ChatGPT": (
        document(CHATGPT),
        ["For the model", "In words", "For the widget", "Soup", "ui://widget"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("response", "words"), SHOWN.values(), ids=SHOWN)
def test_what_came_is_shown_as_what_it_is(response: bytes, words: list[str]) -> None:
    page = ask(response).page
    assert [each for each in words if each not in page] == [], page


def ending(url: str) -> tuple[str, str, bool]:
    """Send a request; return how it ended, the first button, and if a follow-up is offered."""
    line = run_command("send", url, "--text", "soup", "--output", "jsonl").json_lines[-1]
    page = f"/runs/{line['run']}/"
    html = Client().get(page).text.partition('id="run-ending"')[2]
    button = re.search(r'class="btn btn-primary"[^>]*>([^<]*)', html)
    assert button
    return page_text(page, "run-ending"), button[1].strip(), 'id="follow-up-text"' in html


@pytest.mark.parametrize(
    ("status", "headline", "button"),
    [
        ("200 OK", "This URL serves a web page", "Diagnose connection"),
        ("500 Internal Server Error", "The server failed", "Retry"),
    ],
)
def test_a_web_page(status: str, headline: str, button: str) -> None:
    page = b"<!doctype html><title>Kitchen</title>"
    with serving(closing(reply(page, "text/html", status=status))) as server:
        text, label, _ = ending(server.url)
    assert headline in text
    assert label == button


@contextmanager
def web_server(certificate: Certificate | None = None) -> Iterator[str]:
    """Serve errors, over TLS with a certificate; yields host and port."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    if certificate:
        server.socket = certificate.server.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_no_connection(tmp_path: Path) -> None:
    with web_server() as plain, web_server(Certificate(tmp_path, [THIS_HOST])) as tls:
        for url, headline, button in (
            (f"http://127.0.0.1:{free_port()}", "Nothing listens on 127.0.0.1", "Retry"),
            (f"https://{plain}", "does not speak TLS", "Use this URL and resend"),
            (f"https://{tls}", "is self-signed", "Retry"),
        ):
            text, *others = ending(url)
            assert headline in text
            assert others == [button, False]


#: How a response ends, in the words of its page; there is always something to try.
ENDINGS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "cut off in an event": (
        (STREAM_HEAD, chunk(b"event: result\ndata: {"), LAST_CHUNK),
        "truncated", "middle of an event",
    ),
    "a connection that breaks": (
        (STREAM_HEAD, chunk(b'event: start\ndata: {"_meta": {}}\n\n'), RESET),
        "truncated", "connection was lost",
    ),
    "a page where JSON is expected": ((reply(b"<html>Hi", "text/html"),), "failed", "HTML"),
    "nothing": ((head(content_length="0"),), "failed", "empty"),
    "a redirect": ((head("302 Found", location="/other", content_length="0"),),
                   "failed", "redirects to"),
    "more nesting than is read": (
        (reply(b"[" * 5000 + b"]" * 5000),), "refused", "max_depth",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("script", "state", "words"), ENDINGS.values(), ids=ENDINGS)
def test_an_ending_says_what_happened_and_what_to_do(
    script: tuple[Any, ...], state: str, words: str
) -> None:
    found = ask(*script)
    assert found.end["state"] == state
    path = f"/runs/{found.end['run']}/"
    assert words in page_text(path, "response")
    html = Client().get(path).text.partition('id="run-ending"')[2]
    assert re.search(r'class="problem-fix"[^>]*>\s*\S', html)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "between", "last"])
def test_a_summary_stands_above_the_results(place: int) -> None:
    sent = [("result", {"index": number, "item": {"name": f"Dish {number}"}}) for number in (0, 1)]
    sent.insert(place, ("result", {"item": {"@type": "SearchSummary", "text": "All in all"}}))
    page = events_page(*sent)
    assert page.index("All in all") < page.index("Dish 0") < page.index("Dish 1")
    assert page.count("All in all") == 1


def events_page(*sent: tuple[str, Any]) -> str:
    meta = {"_meta": {"version": "0.55", "response_type": "answer"}}
    return ask(events(("start", meta), *sent, ("complete", meta))).page


#: Responses of real agents, as they were recorded: how each ends, and what its page shows.
CAPTURED: dict[str, tuple[str, list[str]]] = {
    "ask_agent/ask_json": ("completed", ["Veggie-Packed Scrambled Eggs"]),
    "ask_agent/ask_stream": ("completed", ["Lentil Bolognese"]),
    "ask_agent/ask_stream_elicitation": ("completed", ["What is your sauce type?"]),
    "ask_agent/rawsocket_stream_failure_midstream": ("truncated", ["HTTP/1.1 200 OK"]),
    "nlweb/get_stream": ("completed", ["Crème Brûlée 🥚"]),
}


@pytest.mark.parametrize(("name", "shown"), CAPTURED.items(), ids=CAPTURED)
def test_a_captured_response_is_shown(name: str, shown: tuple[str, list[str]]) -> None:
    state, words = shown
    found: Answer = ask(reply_bytes(CAPTURES / f"{name}.txt"))
    assert found.end["state"] == state
    assert [each for each in words if each not in found.page] == [], found.page
