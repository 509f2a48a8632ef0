"""Deep links: URLs that open the workbench with a request filled in.

The request is in the fragment, which a browser does not send with the URL, so no log and no proxy
sees what is shared. The workbench reads it in the body of a request (`composer.deep_links`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any


def workbench_link(
    workbench: str,
    *,
    address: str,
    protocol: str,
    binding: str,
    version: str,
    document: Mapping[str, Any],
    headers: Sequence[Sequence[str]] = (),
    agent: str = "",
) -> str:
    """Return the URL that opens the workbench at the URL `workbench` with a request filled in.

    The headers must be without credentials. `agent` is the slug of an agent, which is used where it
    has the same origin as `address`.
    """
    request = {
        **({"agent": agent} if agent else {}),
        "address": address,
        "protocol": protocol,
        "binding": binding,
        "version": version,
        "document": document,
        "headers": list(headers),
    }
    text = json.dumps(request, separators=(",", ":"))
    return f"{workbench}#request={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def badge(image: str, link: str) -> str:
    """Return Markdown that shows the image at `image` and links to `link`."""
    return f"[![Try it in the playground]({image})]({link})"
