"""The page of a run to a wrong agent: one cause, and one button first."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.test import Client

from tests.cases import page_text
from tests.support.certificates import THIS_HOST, Certificate
from tests.support.commands import run_command
from tests.support.servers import closing, free_port, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

HTML = b"<!doctype html><title>Kitchen</title>"


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


def card_after(url: str) -> tuple[str, str, bool]:
    """Send a request; returns how it ended, the first button, and if a follow-up is offered."""
    line = run_command("send", url, "--text", "soup", "--output", "jsonl").json_lines[-1]
    page = f"/runs/{line['run']}/"
    ending = Client().get(page).content.decode().partition('id="run-ending"')[2]
    button = re.search(r'class="btn btn-primary"[^>]*>([^<]*)', ending)
    assert button
    return page_text(page, "run-ending"), button[1].strip(), 'id="follow-up-text"' in ending


@pytest.mark.parametrize(
    ("status", "headline", "button"),
    [
        ("200 OK", "This URL serves a web page", "Diagnose connection"),
        ("500 Internal Server Error", "The server failed", "Retry"),
    ],
)
def test_a_web_page(status: str, headline: str, button: str) -> None:
    with serving(closing(reply(HTML, "text/html", status=status))) as server:
        text, label, _ = card_after(server.url)
    assert headline in text
    assert label == button


def test_no_connection(tmp_path: Path) -> None:
    with web_server() as plain, web_server(Certificate(tmp_path, [THIS_HOST])) as tls:
        for url, headline, button in (
            (f"http://127.0.0.1:{free_port()}", "Nothing listens on 127.0.0.1", "Retry"),
            (f"https://{plain}", "does not speak TLS", "Use this URL and resend"),
            (f"https://{tls}", "is self-signed", "Retry"),
        ):
            text, *others = card_after(url)
            assert headline in text
            assert others == [button, False]
