"""Files of collections, as `import_collection` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def collection_items(
    name: str, requests: Iterable[dict[str, Any]], folders: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the items of a file: each request is given by its differences from the default."""
    slug = name.lower()
    key = {"collection": [slug]}
    items = [{"model": "playground.collection", "fields": {"name": name, "slug": slug}}]
    for position, folder in enumerate(folders):
        fields = {**key, "name": folder, "slug": folder.lower(), "position": position}
        items.append({"model": "playground.folder", "fields": fields})
    for number, request in enumerate(requests, 1):
        fields = {
            **key, "name": f"Request {number}", "slug": f"request-{number}", "position": number,
            "protocol": "nlweb", "binding": "http", "version": "0.55",
            "document": {"query": {"text": f"{number}"}}, **request,
        }  # fmt: skip
        items.append({"model": "playground.savedrequest", "fields": fields})
    return items
