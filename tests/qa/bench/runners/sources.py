"""The same requests with the same two expectations, for each runner in its own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.collection_files import collection_items

POSTMAN = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


def document(number: int) -> dict[str, Any]:
    """What is asked."""
    return {"query": {"text": f"eggs {number}"}, "prefer": {"streaming": False}}


def for_us(folder: Path, url: str, count: int) -> Path:
    """A fixture."""
    expectations = [
        {"type": "status", "equals": 200},
        {"type": "json", "path": "$.results[0].name", "equals": "Recipe 0"},
    ]
    items = collection_items(
        "Bench",
        (
            {"address": url, "document": document(number), "expectations": expectations}
            for number in range(count)
        ),
    )
    return _written(folder / "bench.json", items)


def for_newman(folder: Path, url: str, count: int) -> Path:
    """A Postman collection."""
    script = [
        "pm.test('status', () => pm.response.to.have.status(200));",
        "pm.test('name', () =>"
        " pm.expect(pm.response.json().results[0].name).to.equal('Recipe 0'));",
    ]
    requests = [
        {
            "name": f"Request {number}",
            "event": [{"listen": "test", "script": {"exec": script}}],
            "request": {
                "method": "POST",
                "url": f"{url}/ask",
                "header": [{"key": "Content-Type", "value": "application/json"}],
                "body": {"mode": "raw", "raw": json.dumps(document(number))},
            },
        }
        for number in range(count)
    ]
    collection = {"info": {"name": "Bench", "schema": POSTMAN}, "item": requests}
    return _written(folder / "newman.json", collection)


def for_bruno(folder: Path, url: str, count: int) -> Path:
    """A folder of Bruno files."""
    place = folder / "bruno"
    place.mkdir()
    _written(place / "bruno.json", {"version": "1", "name": "Bench", "type": "collection"})
    for number in range(count):
        (place / f"request-{number:05}.bru").write_text(
            f"meta {{\n  name: Request {number}\n  type: http\n  seq: {number + 1}\n}}\n\n"
            f"post {{\n  url: {url}/ask\n  body: json\n  auth: none\n}}\n\n"
            f"body:json {{\n  {json.dumps(document(number))}\n}}\n\n"
            "assert {\n  res.status: eq 200\n  res.body.results[0].name: eq Recipe 0\n}\n"
        )
    return place


def _written(file: Path, value: Any) -> Path:
    file.write_text(json.dumps(value))
    return file
