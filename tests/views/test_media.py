"""Data in responses, saved as files."""

from __future__ import annotations

import base64
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from playground.models import Run
from tests.support.messages import message, recording, whole
from tests.support.pictures import OTHERS, PNG
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

pytestmark = pytest.mark.django_db


def item_run(data: str, media_type: str = "image/png") -> Run:
    item = {"type": "image", "data": data, "mimeType": media_type}
    result = event(f"event: result\ndata: {json.dumps({'index': 0, 'item': item})}\n\n")
    return recorded([[CALL, OPEN, HEAD], [result], [END]])


@pytest.mark.parametrize(
    ("data", "served_as"), [(PNG, "image/png"), (OTHERS["svg"], "application/octet-stream")]
)
def test_a_content_of_a_tool(client: Client, data: bytes, served_as: str) -> None:
    run = item_run(base64.b64encode(data).decode(), "image/svg+xml")
    response = client.get(f"/runs/{run.pk}/contents/4/0/")
    assert (response.status_code, response.content) == (200, data)
    assert response["Content-Type"] == served_as
    assert response["Content-Disposition"].startswith("attachment")
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_content_of_a_message(client: Client) -> None:
    made = recording()
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    part = whole("m1", type="image", image_url=url, status="in_progress")
    made.add(CALL, OPEN, HEAD, message("m1"), part, END)
    run = made.end()
    response = client.get(f"/runs/{run.pk}/contents/4/0/0/")
    assert (response.status_code, response.content) == (200, PNG)
    assert client.get(f"/runs/{run.pk}/contents/4/0/7/").status_code == 404
    assert client.get(f"/runs/{run.pk}/contents/5/0/0/").status_code == 404


def test_what_is_none(client: Client) -> None:
    damaged = item_run("!!!")
    for path in ("4/0", "3/0", "4/7", "99/0"):
        assert client.get(f"/runs/{damaged.pk}/contents/{path}/").status_code == 404


def test_of_another_user(client: Client, settings: object) -> None:
    run = item_run(base64.b64encode(PNG).decode())
    run.owner = User.objects.create_user("stranger")
    run.save(update_fields=["owner"])
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(f"/runs/{run.pk}/contents/4/0/").status_code == 404
