"""Error pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.markup import read

pytestmark = pytest.mark.django_db


def test_a_body_that_is_too_large(client: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    response = client.post("/agents/", {"notes": "a" * 1000}, "application/x-www-form-urlencoded")
    assert response.status_code == 400
    page = read(response.content.decode())
    assert "The request is too large" in page.text
    assert [link.attributes["href"] for link in page.find("a")] == ["/"]


def test_another_hosts_name(client: Client) -> None:
    response = client.get("/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "Host header is not allowed" in read(response.content.decode()).text


def test_a_page_that_is_not_there(client: Client) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    text = read(response.content.decode()).text
    assert "Page not found" in text
    assert "belongs to another user" in text
