"""Deep links: URLs that open the workbench with a request filled in.

The request is in the fragment, which a browser does not send, so neither a log nor a proxy sees
what is shared.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols.headers import is_credential


def workbench_link(
    workbench: str,
    *,
    address: str,
    protocol: str,
    binding: str,
    version: str,
    document: Mapping[str, Any],
    headers: Sequence[Sequence[str]] = (),
) -> str:
    """Return the URL that opens the workbench at the URL `workbench` with a request filled in.

    Headers that carry credentials are omitted, with or without a value.
    """
    request = {
        "address": address,
        "protocol": protocol,
        "binding": binding,
        "version": version,
        "document": document,
        "headers": [[name, value] for name, value in headers if not is_credential(name)],
    }
    text = json.dumps(request, separators=(",", ":"))
    return f"{workbench}#request={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def badge(image: str, link: str) -> str:
    """Return Markdown that shows the image at `image` and links to `link`."""
    return f"[![Try it in the playground]({image})]({link})"
